"""What is chosen on all weeks before a tenth, on that tenth: six tenths of each of six traces.

The last tenth of a trace is one stretch of weeks, and one replay of it one trajectory: jobs that
come a second later can make it twice as good or bad. So each of the last six tenths is tested by
what was chosen on the weeks before it alone, over four draws of arrivals.

python -m benchmarks.run forward       # half an hour; each trace is kept as it is finished
python -m benchmarks.forward ricc      # one trace
python -m benchmarks.forward           # the tables from the result
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forecasts import stored_forecast
from benchmarks.rltune import HEURISTICS, MEDIAN, WORKLOADS, open_site
from benchmarks.rltune_arms import say
from dovetail.agents.choice.candidates import PolicyCandidate, reference, usual
from dovetail.agents.choice.cells import CellConfig, SiteHistory, choice_cells, number_cells
from dovetail.agents.choice.halving import NoQueueError, choose
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.agents.replays import ReplayCell, measure_own, rearranged
from dovetail.domain.jobs import Floats
from dovetail.prediction.distribution import Distribution

RESULT = Path(__file__).parent / "results" / "forward.json"
TENTHS = range(4, 10)
"""Tenths that are tested, from 0: before the fifth there is little to choose on."""

DRAWS = 4
"""Arrivals as recorded, and three times with each gap up to a fifth longer or shorter."""

CALM = 60.0
"""Seconds added to waits before they are compared: on an idle cluster they say nothing."""

RESAMPLED = 10_000


def run(traces: Iterable[str] = WORKLOADS) -> dict[str, Any]:
    """Measure the traces that are missing; remove a trace from the result to measure it again."""
    for name in traces:
        if name not in _kept():
            found = {**_kept(), name: measure_trace(open_site(name))}
            text = json.dumps({"traces": found}, indent=1, sort_keys=True)
            RESULT.write_text(text + "\n", encoding="utf-8")
    return {"traces": _kept()}


def measure_trace(site: Site) -> list[dict[str, Any]]:
    """What was chosen before each tenth, and how everybody fared in it."""
    trace, forecast = site.trace, stored_forecast(site.trace, "mixture")
    replays = Replays(site, forecast)
    plain = Replays(site, stored_forecast(site.trace, "median"))
    tenths = []
    for tenth in TENTHS:
        chosen = choose_before(site, forecast, len(trace) * tenth // 10)
        say(f"{trace.name}: {chosen} for tenth {tenth + 1}")
        order, place = chosen.order, chosen.placement
        figures = {"choice": replays.of(chosen)[tenth]} | {
            name: replays.of(PolicyCandidate(name, usual("predicted"), "best-fit"))[tenth]
            for name in HEURISTICS
        }
        figures["exact"] = replays.of(PolicyCandidate(order, "exact", place))[tenth]
        figures["median"] = plain.of(PolicyCandidate(order, MEDIAN, place))[tenth]
        tenths.append({"tenth": tenth + 1, "choice": str(chosen), "figures": figures})
    return tenths


def choose_before(site: Site, forecast: Distribution, row: int) -> PolicyCandidate:
    """As `dovetail train --agent choice` chooses, on the jobs before this row."""
    rows = slice(0, row)
    known = SiteHistory(site, site.trace.slice(0, row), forecast.take(rows), 0, 0)
    cells = list(choice_cells(known, CellConfig("predicted")))
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
            schedules = [draw.replay(candidate) for draw in self.draws]
            own: Floats = np.mean([measure_own(one, 0, 10) for one in schedules], axis=0)
            self._found[candidate] = own.T.round(3).tolist()
        return self._found[candidate]


def tables(traces: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The choice against everybody: means of the logarithms over tenths."""
    rivals = (*HEURISTICS, "best of these", "exact", "median")
    lines = [
        "| trace | chosen | " + " | ".join(rivals) + " |",
        "| --- | --- |" + " ---: |" * len(rivals),
    ]
    for name in [name for name in WORKLOADS if name in traces]:
        tenths = traces[name]
        kinds = dict.fromkeys(one["choice"] for one in tenths)
        cells = [_cell([tenths], rival, _mean) for rival in rivals]
        lines.append(f"| {name} | {', '.join(kinds)} | " + " | ".join(cells) + " |")
    cells = [_cell(list(traces.values()), rival, _interval) for rival in rivals]
    return [*lines, "| all | | " + " | ".join(cells) + " |", ""]


def _cell(traces: Sequence[list[dict[str, Any]]], rival: str, tell: Callable[[Floats], str]) -> str:
    """Wait and slowdown of the choice against a rival."""
    logs = np.array(
        [[compared(one["figures"], rival) for one in tenths] for tenths in traces], np.float64
    )
    return "; ".join(tell(logs[..., column]) for column in (0, 1))


def compared(figures: dict[str, list[float]], rival: str) -> tuple[float, float]:
    """Logarithms of the choice's wait and slowdown over the rival's."""
    wait, bsld = figures["choice"]
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


def _kept() -> dict[str, list[dict[str, Any]]]:
    if not RESULT.exists():
        return {}
    found: dict[str, list[dict[str, Any]]] = json.loads(RESULT.read_text("utf-8"))["traces"]
    return found


if __name__ == "__main__":
    if sys.argv[1:]:
        run(sys.argv[1].split(","))
    print("\n".join(tables(_kept())))
