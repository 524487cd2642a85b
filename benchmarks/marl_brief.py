"""The short tables of docs/results/selector-allocator.md from benchmarks/results/marl.json.

python -m benchmarks.marl_brief
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from benchmarks.marl_speeds import BY_SPEED
from benchmarks.marl_tables import RESULT

ARMS = {
    "pair": "the pair",
    "selector": "the selector, best-fit",
    "allocator-saf": "the allocator, SAF",
    "allocator-fcfs": "the allocator, FCFS",
    "written": "what `train` writes",
}
RIVALS = {
    "fcfs@best-fit": "FCFS, best-fit",
    "saf@best-fit": "SAF, best-fit",
    "dovetail": "`dovetail`",
    "choice": "the choice",
}
FIRST = "fcfs@first-available"
LOADS = RESULT.with_name("marl_loads.json")
OWN, QUEUE = ("wait", "bsld"), ("queue_wait", "queue_bsld")

MEASURES = {"bsld": "own jobs", "queue_bsld": "all who wait", "whole_bsld": "whole history"}


def lines(result: dict[str, Any]) -> Iterator[str]:
    parts = [
        (f"{name}, {kind}", part)
        for name, site in result["traces"].items()
        for kind, part in site["knowledge"].items()
    ]
    equal = [(name, part) for name, part in parts if not set(BY_SPEED) & set(part["rows"])]
    yield from _arms(equal)
    yield from _measures(equal)
    yield from _utilisation(equal)
    yield from _gates(parts)
    yield from _speeds([one for one in parts if one not in equal])


def _arms(parts: list[tuple[str, Any]]) -> Iterator[str]:
    """What all who wait are charged in the tenth, against the rivals, with 95 % intervals.

    The last column is of own jobs of the tenth.
    """
    names = ["against the best of nine", *(f"against {name}" for name in RIVALS.values())]
    yield f"| history | arm | {' | '.join(names)} | against the choice, own jobs |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, part in parts:
        for arm, words in ARMS.items():
            if arm not in part["against"]["unseen"]:
                continue
            found = part["against"]["unseen"][arm]
            rivals = (part["best_of_nine"]["queue_bsld"], *RIVALS)
            cells = [_changes(found[rival], QUEUE) for rival in rivals]
            yield (f"| {name} | {words} | {' | '.join(cells)} | {_changes(found['choice'], OWN)} |")
    yield ""


def _measures(parts: list[tuple[str, Any]]) -> Iterator[str]:
    """Slowdown by three measures: what LCFS gains on its own jobs, others pay."""
    yield f"| history | policy | {' | '.join(MEASURES.values())} | wait, whole history |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for name, part in parts:
        best, rows = part["best_of_nine"], part["rows"]
        for policy in dict.fromkeys((*best.values(), "lcfs@best-fit", "saf@best-fit", "choice")):
            yield f"| {name} | {policy} | {_measured([rows[policy]], policy, best)} |"
        pairs = [row for policy, row in rows.items() if policy.startswith("pair-")]
        if pairs:
            yield f"| {name} | the pair | {_measured(pairs, '', best)} |"
    yield ""


def _measured(rows: list[dict[str, float]], policy: str, best: dict[str, str]) -> str:
    """Means over seeds; the best of nine by a measure stands out."""
    cells = []
    for by in (*MEASURES, "whole_wait"):
        text = f"{sum(row[by] for row in rows) / len(rows):,.{0 if by == 'whole_wait' else 1}f}"
        cells.append(f"**{text}**" if best.get(by) == policy else text)
    return f"{' | '.join(cells)} s"


def _utilisation(parts: list[tuple[str, Any]]) -> Iterator[str]:
    """On the tenth and, where more comes than fits, from `benchmarks.marl_loads`."""
    cases = json.loads(LOADS.read_text(encoding="utf-8"))["cases"]
    yield (
        "| history | the choice, tenth | best of nine, tenth | the choice, load 1.2 | the pair, "
        "load 1.2 | FCFS with first-available, load 1.2 | no schedule above |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, part in parts:
        rows, loaded = part["rows"], cases[name]["cells"]["recorded, 1.2"]
        used = {policy: row["utilisation"] for policy, row in loaded["rows"].items()}
        pairs = [share for policy, share in used.items() if policy.startswith("pair-")]
        cells = (
            rows["choice"]["utilisation"],
            rows[part["best_of_nine"]["queue_bsld"]]["utilisation"],
            used["choice"],
            sum(pairs) / len(pairs) if pairs else math.nan,
            used[FIRST],
            loaded["most_utilisation"],
        )
        texts = ("" if math.isnan(cell) else f"{100 * cell:.1f} %" for cell in cells)
        yield f"| {name} | {' | '.join(texts)} |"
    yield ""


def _gates(parts: list[tuple[str, Any]]) -> Iterator[str]:
    """What became of each training on the part that chose it, that judged it, and after.

    All by what all who wait are charged, against the choice.
    """
    yield (
        "| history | training | CPU | kept | on the part that chose it | on the part held back | "
        "at worst by chance | gate | on the tenth |"
    )
    yield "| --- | --- | ---: | --- | --- | --- | ---: | --- | --- |"
    for name, part in parts:
        choice = part["rows"]["choice"]
        for training, row in part["training"].items():
            gate, chosen, later = row["gate"], row["halves"][row["kept"]], part["rows"][training]
            after = [later[metric] / choice[metric] - 1.0 for metric in QUEUE]
            yield (
                f"| {name} | {training} | {row['cpu_seconds']:.0f} s | {row['kept']} | "
                f"{_both(chosen['wait'], chosen['bsld'])} | {_both(gate['wait'], gate['bsld'])} | "
                f"{_signed(gate['upper'])} | {'passed' if gate['passed'] else 'not passed'} | "
                f"{_both(*after)} |"
            )
    yield ""


def _speeds(parts: list[tuple[str, Any]]) -> Iterator[str]:
    """Where GPUs differ in speed: against rivals that know it, too; and turnaround of own jobs."""
    yield "| history | arm | against | all who wait: wait; slowdown | own jobs: turnaround |"
    yield "| --- | --- | --- | --- | --- |"
    for name, part in parts:
        rivals = (part["best_of_nine"]["queue_bsld"], "saf@best-fit", *BY_SPEED)
        for arm in ARMS:
            found = part["against"]["unseen"].get(arm, {})
            for rival in dict.fromkeys(one for one in rivals if one in found):
                label = f"{rival} (best of nine)" if rival == rivals[0] else rival
                yield (
                    f"| {name} | {ARMS[arm]} | {label} | {_changes(found[rival], QUEUE)} | "
                    f"{_change(found[rival]['turnaround'])} |"
                )
    yield ""


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _both(wait: float, bsld: float) -> str:
    return f"{100 * wait:+.0f}; {100 * bsld:+.0f}".replace("-", "−")


def _changes(ratios: dict[str, Any], metrics: tuple[str, str]) -> str:
    return "; ".join(_change(ratios[metric]) for metric in metrics)


def _change(ratio: dict[str, float]) -> str:
    value, low, high = (100 * (ratio[name] - 1) for name in ("value", "low", "high"))
    return f"{value:+.0f} [{low:+.0f}, {high:+.0f}]".replace("-", "−")


if __name__ == "__main__":
    print("\n".join(lines(json.loads(RESULT.read_text(encoding="utf-8")))))
