"""The table of docs/results/adlro.md: python -m benchmarks.adlro_tables"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.run import RESULTS

NAMES = {
    "fcfs": "FCFS", "static-affinity": "static affinity", "sjf-best-fit": "SJF, best fit",
    "max-min": "max-min (as Gavel)", "earliest-finish": "earliest finish", "index": "index",
    "cnn": "DQN, CNN, from nothing", "pairs": "DQN over pairs, from the index",
    "types": "DQN per GPU type",
}  # fmt: skip


def main() -> None:
    found = json.loads((RESULTS / "adlro.json").read_text(encoding="utf-8"))
    heads = (
        "", "completion (s)", "jobs/h", "utilisation (%)", "completion against FCFS",
        "against static affinity", "throughput against FCFS", "HyperScore", "paper: s, jobs/h, %",
    )  # fmt: skip
    print("| " + " | ".join(heads) + " |")
    print("| --- " * len(heads) + "|")
    for name in (each for each in NAMES if each in found["table"]):
        row = found["table"][name]
        published = found["published"].get(name, ())
        cells = (
            NAMES[name], row["completion_time"], row["throughput"], row["utilisation"],
            _interval(row, "completion_time_against_fcfs"),
            _interval(row, "completion_time_against_static-affinity"),
            _interval(row, "throughput_against_fcfs"), row["hyper_score"],
            ", ".join(map(str, published)),
        )  # fmt: skip
        print("| " + " | ".join(map(str, cells)) + " |")


def _interval(row: dict[str, Any], name: str) -> str:
    if name not in row:
        return ""
    value, low, high = (f"{number:+.0f}".replace("-", "−") for number in row[name])
    return f"{value} [{low}, {high}]"


if __name__ == "__main__":
    main()
