"""The picture of docs/results/selector-allocator.md: waits and use of the partitions over time.

The drawn sacct history, by predictions, with the pair that `benchmarks.marl` trained first.

python -m benchmarks.marl_chart           # needs what benchmarks.marl has kept
python -m benchmarks.marl_chart --draw    # from benchmarks/results/marl_curves.json alone
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.marl import MODELS, contestants, knowledge_of
from benchmarks.marl_sites import DRAWN, open_site
from dovetail.domain.units import duration
from dovetail.evaluation.report.drawing import GRID, TICKS, canvas, line, tick
from dovetail.evaluation.run import Run
from dovetail.evaluation.timeline import timeline_of
from dovetail.evaluation.unseen import Draws, first_unseen
from dovetail.policies.learned.checkpoint import load_checkpoint

RESULT = Path(__file__).parent / "results" / "marl_curves.json"
PICTURE = Path(__file__).parents[1] / "docs" / "results" / "selector-allocator.svg"
KIND, PAIR = "predicted", "pair-0"
LABELS = {
    "fcfs@first-available": "FCFS, first-available",
    "saf@best-fit": "SAF, best-fit",
    "choice": "the choice",
    PAIR: "the pair",
}


def measure() -> dict[str, Any]:
    """The timelines of replays of the whole history."""
    found = json.loads((MODELS / DRAWN / "result.json").read_text(encoding="utf-8"))
    site = open_site(DRAWN, found["jobs"], found["size"]["load"])
    folder = MODELS / DRAWN / KIND
    chosen = load_checkpoint(folder / "choice").card["choice"]
    draws = Draws(site.trace, KIND, 0, 1, knowledge_of(site, KIND))
    told = contestants(draws, chosen, {PAIR: folder / PAIR})
    submit = site.trace.jobs.submit
    timelines = {}
    for name in LABELS:
        one = told[name]
        schedule = Run(site.trace, site.cluster, one.policy, one.estimates).replay()
        timelines[name] = asdict(timeline_of(schedule))
        waits = timelines[name]["wait"]
        timelines[name]["wait"] = [None if math.isnan(wait) else wait for wait in waits]
    return {
        "jobs": len(site.trace),
        "unseen_from_day": (submit[first_unseen(site.trace)] - submit[0]) / 86_400.0,
        "timelines": timelines,
    }


def draw(found: dict[str, Any]) -> str:
    """Above, how long jobs that come at a time wait; below, use of the partitions by the pair."""
    curves = found["timelines"]
    with canvas(height=7.0) as (axes, svg):
        figure: Any = axes.figure
        axes.remove()
        above, below = figure.subplots(2, sharex=True)
        longest = 60.0
        for number, (name, label) in enumerate(_labels(curves).items()):
            wait = np.array(curves[name]["wait"], dtype=float)
            longest = max(longest, float(np.nanmax(wait)))
            above.plot(curves[name]["days"], wait, label=label, **line(number))
        above.set_yscale("symlog", linthresh=60.0)
        above.set_ylim(0, longest * 1.3)
        ticks = [t for t in TICKS if t == 0 or 60 <= t <= longest]
        above.set_yticks(ticks, [tick(t, duration) for t in ticks])
        above.minorticks_off()
        above.set_ylabel("mean wait (logarithmic)")
        for number, (name, share) in enumerate(curves[PAIR]["utilisation"]):
            below.plot(curves[PAIR]["days"], 100.0 * np.array(share), label=name, **line(number))
        below.set_ylim(0, 101)
        below.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        below.set_ylabel("GPUs in use, by partition")
        below.set_xlabel("days since the first job; shaded: not learned from")
        for part in (above, below):
            part.set_xlim(0, curves[PAIR]["days"][-1])
            part.axvspan(found["unseen_from_day"], curves[PAIR]["days"][-1], color="#00000012")
            part.grid(color=GRID)
            part.legend(
                frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, columnspacing=1.0
            )
    return svg()


def _labels(curves: dict[str, Any]) -> dict[str, str]:
    """One for each curve that is another: the choice may be SAF with best-fit itself."""
    found: dict[str, str] = {}
    for name, label in LABELS.items():
        same = [other for other in found if curves[other]["wait"] == curves[name]["wait"]]
        if same:
            found[same[0]] += f" = {label}"
        else:
            found[name] = label
    return found


def main() -> None:
    if "--draw" not in sys.argv[1:]:
        RESULT.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(draw(json.loads(RESULT.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
