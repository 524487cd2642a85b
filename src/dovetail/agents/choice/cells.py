"""The cells of a history: all that is known to choose on, its last weeks to judge on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail.agents.history import Site, divide
from dovetail.agents.replays import BLOCKS, ReplayCell, rearranged
from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.knowledge import is_predicted
from dovetail.prediction.predictors import predict
from dovetail.prediction.request import Request

LOADS = (0.9, 1.0, 1.1)
"""Times the load that the history has on its cluster."""

LONGEST = 12_000
"""Jobs that are measured at most, the last ones."""

CHOSEN_ON = 8
"""Times as many jobs, the last ones, are chosen on at most: replays of long histories take long."""

CHOICE_BLOCKS = 100
"""Into how many blocks these are cut at most. On six traces, 36 choices of which each was tested on
the tenth that followed, 100 blocks gained 11 % in wait over SAF, 50 8 %, 20 7 % and 10 4 %."""

BLOCK_JOBS = 250
"""Jobs of a block that judges. Over shorter ones the ratio of two policies is mostly chance."""

JITTERS = 4
"""Ways in which arrivals of the judging part are a little other: they average the chance of single
replays away, and are no further evidence, as the jobs are the same."""

SETTLED = 0.2
"""Share of a history, at its beginning, in which predictions still learn: no choice rests on it."""


@dataclass(frozen=True, slots=True)
class CellConfig:
    """How a history is played to choose and to judge."""

    estimates: str = "predicted"
    loads: tuple[float, ...] = LOADS
    jitters: int = 2  # ways in which arrivals are a little other, at each load
    # Of replays of all that is known, which are chosen on; the first and the last are played first.
    choice_loads: tuple[float, ...] = (1.0, 0.9, 1.1, 1.0)
    longest: int = LONGEST
    before: float = 2.0  # jobs replayed before the measured ones, as a multiple of these
    seed: int = 0

    def __post_init__(self) -> None:
        if self.jitters < 1 or not self.choice_loads or not self.loads:
            raise ConfigError("expected one load, one load to choose on and one jitter or more")
        if self.longest < 1:
            raise ConfigError(f"longest is {self.longest}, expected 1 or more")


@dataclass(frozen=True, slots=True)
class SiteHistory:
    """What training may see of a site, with what was predicted of every job when it came."""

    site: Site
    trace: Trace  # all but the last tenth
    forecast: Distribution | None  # None: another kind of estimates is asked for
    learning: int  # rows to learn from; the validation part follows
    judging: int  # the first row that judges what was learned


@dataclass(frozen=True, slots=True)
class CellsOfSite:
    """Numbers of a site's cells among all."""

    numbers: tuple[int, ...]


def open_history(site: Site, estimates: str, made: Distribution | None = None) -> SiteHistory:
    """The known part of a history. Predictions are made once, for all that is played later.

    made: predictions of all jobs of the trace, if there are any. They know the past only, so that
    those of the known part are the same.
    """
    parts = divide(site.trace, 1)
    known = site.trace.slice(0, parts.known)
    forecast = None
    if is_predicted(estimates) and made is not None:
        forecast = made.take(slice(0, parts.known))
    elif is_predicted(estimates):
        forecast = predict(known.jobs, Request.parse(estimates).predictor)
    return SiteHistory(site, known, forecast, len(parts.learning), parts.known - len(parts.judging))


def hold_back(history: SiteHistory) -> SiteHistory:
    """What a learner is given: nothing of the part that will judge it."""
    rows = slice(0, history.judging)
    forecast = None if history.forecast is None else history.forecast.take(rows)
    return replace(history, trace=history.trace.slice(0, history.judging), forecast=forecast)


def validation_cells(history: SiteHistory, config: CellConfig) -> Iterator[ReplayCell]:
    """The part by which learners choose their best, at every load and jitter."""
    return _cells_of(history, history.learning, history.judging, config)


def judging_cells(history: SiteHistory, config: CellConfig) -> Iterator[ReplayCell]:
    """The part that no learner saw, in blocks of equal numbers of jobs."""
    end = len(history.trace)
    blocks = max(1, min(config.longest, end - history.judging) // BLOCK_JOBS)
    return _cells_of(history, history.judging, end, replace(config, jitters=JITTERS), blocks)


def choice_cells(history: SiteHistory, config: CellConfig) -> Iterator[ReplayCell]:
    """All that is known, several times: at loads in turn, with arrivals a little other each time.

    Nothing is fitted by a choice, and predictions know the past only, so that all that is known
    may be chosen on. In short blocks a few bad weeks, which are mostly chance, do not decide alone.
    That the choice has seen the part that judges is to its own advantage, not to the learner's.
    """
    end, random = len(history.trace), np.random.default_rng(config.seed + 1)
    from_row = max(round(SETTLED * end), end - CHOSEN_ON * config.longest)
    begin = max(0, from_row - round(config.before * config.longest))
    blocks = max(BLOCKS, min(CHOICE_BLOCKS, (end - from_row) // BLOCK_JOBS))
    for load in config.choice_loads:
        seed = int(random.integers(1 << 31))
        yield replace(cut(history, begin, end, from_row - begin, load, seed), blocks=blocks)


def _cells_of(
    history: SiteHistory, from_row: int, end: int, config: CellConfig, blocks: int = BLOCKS
) -> Iterator[ReplayCell]:
    """The last of these rows at every load and jitter, after a part of what came before them."""
    measured = min(config.longest, end - from_row)
    begin = max(0, end - measured - round(config.before * measured))
    first, random = end - measured - begin, np.random.default_rng(config.seed)
    for _ in range(config.jitters):
        for load in config.loads:
            seed = int(random.integers(1 << 31))
            yield replace(cut(history, begin, end, first, load, seed), blocks=blocks)


def cut(
    history: SiteHistory, begin: int, end: int, first: int, load: float, seed: int
) -> ReplayCell:
    """Jobs of a history at another load; the first ones fill the cluster."""
    rows = slice(begin, end)
    return ReplayCell(
        trace=rearranged(history.trace.slice(begin, end), load, seed),
        cluster=history.site.cluster,
        forecast=None if history.forecast is None else history.forecast.take(rows),
        first=first,
        seed=seed,
    )


def number_cells(cells: Sequence[Sequence[ReplayCell]]) -> tuple[CellsOfSite, ...]:
    """Which number each site's cells have when all stand in one list."""
    found, at = [], 0
    for of_site in cells:
        found.append(CellsOfSite(tuple(range(at, at + len(of_site)))))
        at += len(of_site)
    return tuple(found)
