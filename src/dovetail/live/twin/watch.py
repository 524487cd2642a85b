"""The value of shadow mode: from the journal, what our order would have changed."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace

from dovetail.domain.errors import DovetailError
from dovetail.domain.objective import Objective
from dovetail.live.config import LiveConfig
from dovetail.live.cycle.controller import LiveController
from dovetail.live.cycle.policy import load_policy
from dovetail.live.journal import JournalReader
from dovetail.live.journal.replay import recorded_schedule
from dovetail.live.model.mode import Mode
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import LiveJob
from dovetail.live.twin.comparison import Twin, summarised
from dovetail.live.twin.model_drift import model_drift
from dovetail.live.twin.order import order_of, slurm_order
from dovetail.live.twin.promise_watch import look_at_promises
from dovetail.live.twin.rehearsal import rehearse_twin
from dovetail.live.twin.replay import TwinWaits, twin_waits
from dovetail.live.twin.unfinished import UsualRun, unfinished_runs
from dovetail.live.twin.wanted import wanted_ratio

LOG = logging.getLogger("dovetail.live")
DAY, HOUR = 86_400.0, 3600.0
CHECK = 900.0
"""Seconds between two looks at how jobs fare in active mode, unless looking takes long."""
SHARE = 0.05
"""The part of its time that the daemon spends on such looks at most."""
MOST_BIAS = 3.0
"""A twin that is further off than this excuses nothing."""


def shadow_report(past: JournalReader, config: LiveConfig, days: float, site: SiteSettings) -> Twin:
    """Replay the last days of the journal; `site`: how Slurm itself makes priorities."""
    until = past.last_wall()
    since = until - days * DAY
    return summarised(_waits(past, config, since, until, site), since)


def _waits(
    past: JournalReader,
    config: LiveConfig,
    since: float,
    until: float,
    site: SiteSettings,
    waiting: Sequence[LiveJob] = (),
    mode: Mode = Mode.SHADOW,
) -> TwinWaits:
    """`waiting`: the queue as it is, where that is known, and the mode in which it waits."""
    # Jobs of a day before are read as well: they ran or waited when the window begins.
    usual = UsualRun.of_ended(past.ended(since - DAY, until))
    unfinished = unfinished_runs(usual, past.unended(), waiting, until, mode)
    recorded = recorded_schedule(past, since - DAY, until, unfinished, without_gpus=True)
    recorded = replace(recorded, cluster=site.added_to(recorded.cluster))
    order = order_of(load_policy(config.policy))
    return twin_waits(recorded, since, order, slurm_order(recorded.cluster), until)


def _wanted(config: LiveConfig, twin: Twin, bias: float) -> float:
    """NaN where nothing but the mean wait is wanted, which is compared by itself."""
    if config.objective == Objective():
        return math.nan
    return wanted_ratio(config.objective, twin.slurm_measures, twin.real_measures, bias)


def bias_of(twin: Twin) -> float:
    """How much longer jobs wait than the twin says; never less than what it says."""
    return min(MOST_BIAS, max(1.0, twin.recorded / max(1.0, twin.slurm)))


class TwinWatch:
    """Looks at the twin from time to time, and feeds the trip-wire."""

    def __init__(self, controller: LiveController) -> None:
        self._controller = controller
        self._next_report = self._next_check = controller.clocks.steady()
        self._rehearsed = False

    def rehearse(self) -> None:
        """Compile what looks need, before we act: a minute without a kill switch is too long."""
        if self._rehearsed:
            return
        self._rehearsed = True
        try:
            rehearse_twin(
                load_policy(self._controller.config.policy), self._controller.backend.site()
            )
        except Exception as error:  # as with the twin itself
            LOG.warning("the twin was not rehearsed: %s: %s", type(error).__name__, error)

    def look(self) -> None:
        """Whatever is due; a twin that fails is said and changes nothing."""
        controller, steady = self._controller, self._controller.clocks.steady()
        config = controller.config
        if steady >= self._next_report:
            self._next_report = steady + config.twin.every_hours * HOUR
            waits = self._waits(config.twin.days * 24.0)
            if waits is not None:
                twin = summarised(waits, -math.inf)
                LOG.info("twin: %s", twin)
                drift = self._drift(config.twin.days * 24.0)
                controller.comparison = replace(
                    controller.comparison,
                    drift=drift,
                    difference=twin.ours / max(1.0, twin.slurm) - 1.0,
                    error=twin.error,
                    bias=controller.comparison.bias if twin.active else bias_of(twin),
                )
        if controller.mode is Mode.ACTIVE and steady >= self._next_check:
            waits = self._waits(max(controller.active_hours, config.guardrails.trip_hours))
            if waits is not None:
                twin = summarised(waits, -math.inf)
                controller.comparison = replace(
                    controller.comparison,
                    actual_wait=twin.recorded,
                    # What shadow mode has shown the twin to miss makes waits longer in truth.
                    slurm_wait=twin.slurm * controller.comparison.bias,
                    jobs=twin.jobs,
                    wanted=_wanted(config, twin, controller.comparison.bias),
                )
                controller.comparison = look_at_promises(
                    controller.comparison, config.promises, waits, steady
                )
            spent = controller.clocks.steady() - steady
            self._next_check = steady + max(CHECK, spent / SHARE)

    def _drift(self, hours: float) -> float:
        """How far recent jobs are from those of the training; it is logged in words."""
        past, policy = self._controller.journal.past, self._controller.config.policy
        try:
            until = past.last_wall()
            recent = recorded_schedule(past, until - hours * HOUR, until)
            found = model_drift(policy, recent.trace.jobs)
        except Exception as error:  # as with the twin
            LOG.warning("drift is not known: %s: %s", type(error).__name__, error)
            return math.nan
        if found is None:
            return math.nan
        LOG.info("jobs of late against those that the model was trained on: %s", found.sentence())
        return found.distance

    def _waits(self, hours: float) -> TwinWaits | None:
        past = self._controller.journal.past
        try:
            site = self._controller.backend.site()
            until, snapshot = past.last_wall(), self._controller.snapshot
            waiting = snapshot.pending if snapshot is not None else ()
            return _waits(
                past, self._controller.config, until - hours * HOUR, until, site, waiting,
                self._controller.mode,
            )  # fmt: skip
        except DovetailError as error:
            LOG.info("no comparison with the twin: %s", error)
        except Exception as error:  # an opinion is not worth the daemon's life
            LOG.warning("the twin failed: %s: %s", type(error).__name__, error)
        return None
