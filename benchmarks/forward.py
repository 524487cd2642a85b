"""What is chosen on all weeks before a tenth, on that tenth: six tenths of each of six traces.

The last tenth of a trace is one stretch of weeks, and one replay of it one trajectory: jobs that
come a second later can make it twice as good or bad. So each of the last six tenths is tested by
what was chosen on the weeks before it alone, over four draws of arrivals.

python -m benchmarks.run forward       # most of an hour; each trace is kept as it is finished
python -m benchmarks.forward ricc               # one trace
python -m benchmarks.forward ricc evolution     # and what evolution learns from the choice on
python -m benchmarks.forward                    # the tables from the result
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forecasts import stored_forecast
from benchmarks.rltune import HEURISTICS, MEDIAN, WORKLOADS, Workload, open_workload
from benchmarks.rltune_arms import say, train_arm, ungated
from dovetail.agents.choice.candidates import PolicyCandidate, reference, usual
from dovetail.agents.choice.cells import (
    CellConfig,
    SiteHistory,
    choice_cells,
    number_cells,
    open_history,
)
from dovetail.agents.choice.halving import NoQueueError, PolicyChoice, choose
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.agents.replays import Contestant, ReplayCell, measure_own, rearranged
from dovetail.domain.jobs import Floats
from dovetail.policies.learned.checkpoint import load_checkpoint
from dovetail.prediction.distribution import Distribution

RESULT = Path(__file__).parent / "results" / "forward.json"
HELD_OUT = {
    "ricc-first": Workload("pwa_ricc_2010", "1024x8", (0, 75_000)),
    "ricc-later": Workload("pwa_ricc_2010", "1024x8", (150_000, 225_000)),
}
"""Histories on which nothing of how a choice is made was settled: docs/decisions/0123."""

EVERY = WORKLOADS | HELD_OUT
TENTHS = range(4, 10)
"""Tenths that are tested, from 0: before the fifth there is little to choose on."""

DRAWS = 4
"""Arrivals as recorded, and three times with each gap up to a fifth longer or shorter."""

CALM = 60.0
"""Seconds added to waits before they are compared: on an idle cluster they say nothing."""

RESAMPLED = 10_000


def run(traces: Iterable[str] = EVERY, arms: Sequence[str] = ()) -> dict[str, Any]:
    """Measure the traces that are missing; remove a trace from the result to measure it again."""
    for name in traces:
        if not _has(_kept().get(name), arms):
            found = measure_trace(open_workload(EVERY[name]), arms)
            kept = {**_kept(), name: found}  # read only now: another process may have added some
            text = json.dumps({"traces": kept}, indent=1, sort_keys=True)
            RESULT.write_text(text + "\n", encoding="utf-8")
    return {"traces": _kept()}


def measure_trace(site: Site, arms: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What was chosen and learned before each tenth, and how everybody fared in it."""
    trace, forecast = site.trace, stored_forecast(site.trace, "mixture")
    replays = Replays(site, forecast)
    plain = Replays(site, stored_forecast(site.trace, "median"))
    tenths = []
    for tenth in TENTHS:
        before, history = open_before(site, forecast, len(trace) * tenth // 10)
        chosen = choose_before(history)
        say(f"{trace.name}: {chosen} for tenth {tenth + 1}")
        order, place = chosen.order, chosen.placement
        figures = {
            "choice": replays.of(chosen)[tenth],
            "exact": replays.of(PolicyCandidate(order, "exact", place))[tenth],
            "median": plain.of(PolicyCandidate(order, MEDIAN, place))[tenth],
        }
        for name in HEURISTICS:
            rival = PolicyCandidate(name, usual("predicted"), "best-fit")
            figures[name] = replays.of(rival)[tenth]
        gates = {}
        for arm in arms:
            folder = train_arm(arm, 0, before, history, PolicyChoice(chosen, ()).facts())
            figures[arm] = replays.play(load_checkpoint(ungated(folder)))[tenth]
            gates[arm] = load_checkpoint(folder).card["gate"]
        found = {"tenth": tenth + 1, "choice": str(chosen), "figures": figures, "gates": gates}
        tenths.append(found)
    return tenths


def open_before(site: Site, forecast: Distribution, row: int) -> tuple[Site, SiteHistory]:
    """The history up to a row as a training opens it, which leaves a last tenth alone."""
    before = Site(site.trace.slice(0, row * 10 // 9), site.cluster)
    return before, open_history(before, "predicted", forecast)


def choose_before(history: SiteHistory) -> PolicyCandidate:
    """As `dovetail train --agent choice` chooses."""
    cells = list(choice_cells(history, CellConfig("predicted")))
    try:
        with LocalPlayers(cells) as players:
            return choose(number_cells([cells]), "predicted", players).best
    except NoQueueError:  # nothing to choose by yet
        return reference("predicted")


class Replays:
    """Replays of a whole trace, each candidate once: mean wait and slowdown of every tenth."""

    def __init__(self, site: Site, forecast: Distribution) -> None:
        seeds = range(1, DRAWS)
        traces = [site.trace, *(rearranged(site.trace, 1.0, seed) for seed in seeds)]
        self.draws = [ReplayCell(trace, site.cluster, forecast, 0) for trace in traces]
        self._found: dict[PolicyCandidate, list[list[float]]] = {}

    def of(self, candidate: PolicyCandidate) -> list[list[float]]:
        if candidate not in self._found:
            self._found[candidate] = self.play(candidate)
        return self._found[candidate]

    def play(self, contestant: Contestant) -> list[list[float]]:
        schedules = [draw.replay(contestant) for draw in self.draws]
        own: Floats = np.mean([measure_own(one, 0, 10) for one in schedules], axis=0)
        figures: list[list[float]] = own.T.round(3).tolist()
        return figures


def tables(traces: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The choice against everybody: means of the logarithms over tenths."""
    rivals = (*HEURISTICS, "best of these", "exact", "median")
    lines = [
        "| trace | chosen | " + " | ".join(rivals) + " |",
        "| --- | --- |" + " ---: |" * len(rivals),
    ]
    for name, tenths in traces.items():
        kinds = Counter(one["choice"].partition("@")[0] for one in tenths).most_common()
        chosen = ", ".join(f"{order} {times}" for order, times in kinds)
        cells = [_cell([tenths], rival, _mean) for rival in rivals]
        lines.append(f"| {name} | {chosen} | " + " | ".join(cells) + " |")
    cells = [_cell(list(traces.values()), rival, _interval) for rival in rivals]
    return [*lines, "| all | | " + " | ".join(cells) + " |", ""]


def _cell(traces: Sequence[list[dict[str, Any]]], rival: str, tell: Callable[[Floats], str]) -> str:
    """Wait and slowdown of the choice against a rival."""
    logs = np.array(
        [[compared(one["figures"], rival) for one in tenths] for tenths in traces], np.float64
    )
    return _both(logs, tell)


def _both(logs: Floats, tell: Callable[[Floats], str]) -> str:
    return "; ".join(tell(logs[..., column]) for column in (0, 1))


def compared(
    figures: dict[str, list[float]], rival: str, own: str = "choice"
) -> tuple[float, float]:
    """Logarithms of our wait and slowdown over the rival's."""
    wait, bsld = figures[own]
    if rival == "best of these":  # in hindsight, for each tenth and each measure another
        others = [figures[name] for name in HEURISTICS]
        their_wait, their_bsld = (min(values) for values in zip(*others, strict=True))
    else:
        their_wait, their_bsld = figures[rival]
    return math.log((wait + CALM) / (their_wait + CALM)), math.log(bsld / their_bsld)


def _mean(logs: Floats) -> str:
    return f"{math.expm1(logs.mean()):+.0%}"


def _interval(logs: Floats) -> str:
    """With 95 % from a bootstrap of tenths within each trace."""
    random = np.random.default_rng(0)
    drawn = random.integers(logs.shape[1], size=(RESAMPLED, *logs.shape))
    means = np.take_along_axis(logs[None], drawn, axis=2).mean(axis=(1, 2))
    low, high = np.expm1(np.quantile(means, (0.025, 0.975)))
    return f"{_mean(logs)} [{100 * low:+.0f}, {100 * high:+.0f}]"


def learned(traces: dict[str, list[dict[str, Any]]], arm: str = "evolution") -> list[str]:
    """What was learned from the choice on, whatever the gate said of it, against the choice."""
    lines = [
        f"| trace | {arm} | its worst tenth | passed the gate | those that passed | written |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    known = {name: traces[name] for name in WORKLOADS if _has(traces.get(name), [arm])}
    if not known:
        return []
    logs = np.array(
        [[compared(one["figures"], "choice", arm) for one in tenths] for tenths in known.values()]
    )
    passed = np.array(
        [[one["gates"][arm]["passed"] for one in tenths] for tenths in known.values()]
    )
    written = np.where(passed[..., None], logs, 0.0)
    for at, name in enumerate(known):
        worst = logs[at, logs[at].sum(axis=1).argmax()]
        cells = [_both(logs[at], _mean), _both(worst[None], _mean)]
        cells += [f"{passed[at].sum()} of {len(passed[at])}"]
        cells += [_both(logs[at, passed[at]], _mean) if passed[at].any() else ""]
        lines.append(f"| {name} | {' | '.join(cells)} | {_both(written[at], _mean)} |")
    cells = [_both(logs, _interval), "", f"{passed.sum()} of {passed.size}", ""]
    return [*lines, f"| all | {' | '.join(cells)} | {_both(written, _interval)} |", ""]


def _has(tenths: list[dict[str, Any]] | None, arms: Sequence[str]) -> bool:
    """Whether a trace is measured, and with these arms."""
    return bool(tenths) and all(set(arms) <= one.get("gates", {}).keys() for one in tenths or ())


def _kept() -> dict[str, list[dict[str, Any]]]:
    if not RESULT.exists():
        return {}
    found: dict[str, list[dict[str, Any]]] = json.loads(RESULT.read_text("utf-8"))["traces"]
    return found


if __name__ == "__main__":
    if sys.argv[1:]:
        run(sys.argv[1].split(","), sys.argv[2].split(",") if sys.argv[2:] else ())
    for group in (WORKLOADS, HELD_OUT):
        known = {name: _kept()[name] for name in group if name in _kept()}
        print("\n".join(tables(known)) if known else "")
    print("\n".join(learned(_kept())))
