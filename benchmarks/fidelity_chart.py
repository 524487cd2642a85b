"""The picture of docs/fidelity.md, from benchmarks/results/fidelity.json.

python -m benchmarks.fidelity_chart
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.domain.units import duration
from dovetail.evaluation.report.drawing import TICKS, canvas, line

RESULT = Path(__file__).parent / "results" / "fidelity.json"
PICTURE = Path(__file__).parents[1] / "docs" / "fidelity.svg"


def draw(found: Mapping[str, Any]) -> str:
    """Which share of the jobs waits, and is off, by at most so long: curves over seconds."""
    recorded = np.array(found["recorded"])
    with canvas(height=3.6) as (axes, svg):
        parts = np.arange(1, len(recorded) + 1) / len(recorded)
        curves = {"wait in Slurm": recorded}
        for number, (label, waits) in enumerate(found["replays"].items()):
            replayed = np.array(waits)
            if number == len(found["replays"]) - 1:
                curves["wait in the replay"] = replayed
            curves[f"start off by, {label}"] = np.abs(replayed - recorded)
        for number, (label, seconds) in enumerate(curves.items()):
            axes.plot(np.sort(np.maximum(seconds, 1.0)), parts, label=label, **line(number))
        axes.set_xscale("log")
        longest = max(float(values.max()) for values in curves.values())
        axes.set_xlim(1.0, longest)
        axes.set_ylim(0.0, 1.0)
        axes.set_xticks([t for t in TICKS if 1.0 <= t <= longest])
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda value, _: duration(float(value)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_ylabel("of the jobs, at most so long")
        axes.legend(frameon=False, loc="lower right")
    return svg()


def main() -> None:
    PICTURE.write_text(draw(json.loads(RESULT.read_text())["runs"]["1"]), encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
