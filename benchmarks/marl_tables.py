"""All that was measured of two agents, at length, from what lies in benchmarks/results.

python -m benchmarks.marl_tables                 # by the usual objective
python -m benchmarks.marl_tables marl_slowdown
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.marl_format import ARMS, OWN, QUEUE, both, cases, change, changes, read, signed

RIVALS = {
    "fcfs@best-fit": "FCFS, best-fit",
    "saf@best-fit": "SAF, best-fit",
    "dovetail": "`dovetail`",
    "choice": "the choice",
}
MEASURES = {"bsld": "own jobs", "queue_bsld": "all who wait", "whole_bsld": "whole history"}


def lines(result: dict[str, Any]) -> Iterator[str]:
    parts = cases(result)
    yield from _arms(parts)
    yield from _measures(parts)
    yield from _gates(parts)
    for name, site in result["traces"].items():
        for kind, part in site["knowledge"].items():
            yield from _site(name, kind, site, part)


def _arms(parts: dict[str, Any]) -> Iterator[str]:
    """What all who wait are charged in the tenth, against the rivals, with 95 % intervals.

    The last column is of own jobs of the tenth.
    """
    names = ["against the best of nine", *(f"against {name}" for name in RIVALS.values())]
    yield f"| history | arm | {' | '.join(names)} | against the choice, own jobs |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, part in parts.items():
        for arm, words in ARMS.items():
            found = part["against"]["unseen"].get(arm, {})
            rivals = (part["best_of_nine"]["queue_bsld"], *RIVALS)
            cells = [changes(found[one], QUEUE) if one in found else "" for one in rivals]
            cells.append(changes(found["choice"], OWN) if "choice" in found else "")
            if found:
                yield f"| {name} | {words} | {' | '.join(cells)} |"
    yield ""


def _measures(parts: dict[str, Any]) -> Iterator[str]:
    """Slowdown by three measures: what LCFS gains on its own jobs, others pay."""
    yield f"| history | policy | {' | '.join(MEASURES.values())} | wait, whole history |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for name, part in parts.items():
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


def _gates(parts: dict[str, Any]) -> Iterator[str]:
    """What became of each training on the part that chose it, that judged it, and after.

    All by what all who wait are charged, against the choice.
    """
    yield (
        "| history | training | CPU | kept | on the part that chose it | on the part held back | "
        "at worst by chance | gate | on the tenth |"
    )
    yield "| --- | --- | ---: | --- | --- | --- | ---: | --- | --- |"
    for name, part in parts.items():
        choice = part["rows"]["choice"]
        for training, row in part["training"].items():
            gate, chosen, later = row["gate"], row["halves"][row["kept"]], part["rows"][training]
            after = [later[metric] / choice[metric] - 1.0 for metric in QUEUE]
            yield (
                f"| {name} | {training} | {row['cpu_seconds']:.0f} s | {row['kept']} | "
                f"{both(chosen['wait'], chosen['bsld'])} | {both(gate['wait'], gate['bsld'])} | "
                f"{signed(gate['upper'])} | {'passed' if gate['passed'] else 'not passed'} | "
                f"{both(*after)} |"
            )
    yield ""


def _site(name: str, kind: str, site: dict[str, Any], part: dict[str, Any]) -> Iterator[str]:
    """Every policy, and every arm against every rival: own jobs, and ten warm windows."""
    chosen, size = part["choice"], site["size"]
    yield (
        f"**{name}**, {kind}; the choice is {chosen['order']}@{chosen['placement']} with "
        f"{chosen['estimates']}; {site['jobs']:,} jobs at load {size['load']:g}, "
        f"{size['seeds']} seeds (halves {size['half_seeds']}), search of {size['search_epochs']} "
        f"epochs, PPO of {size['epochs']} epochs of {size['episodes']} episodes. Of the nine, "
        f"{', '.join(f'{name} by {by}' for by, name in part['best_of_nine'].items())} is best."
    )
    yield ""
    yield "| policy | wait | bsld | utilisation | wait, windows | bsld, windows |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for policy, row in sorted(part["rows"].items()):
        yield (
            f"| {policy} | {row['wait']:,.0f} s | {row['bsld']:.2f} | "
            f"{100 * row['utilisation']:.1f} % | {row['windows_wait']:,.0f} s | "
            f"{row['windows_bsld']:.2f} |"
        )
    yield ""
    yield "| arm, all seeds | against | wait, tenth | bsld, tenth | wait, windows | bsld, windows |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    windows = part["against"]["windows"]
    for arm, rivals in part["against"]["unseen"].items():
        for rival, ratios in rivals.items():
            label = f"{rival} (best of nine)" if rival in part["best_of_nine"].values() else rival
            both_parts = (ratios, windows[arm][rival])
            cells = (change(found[metric]) for found in both_parts for metric in OWN)
            yield f"| {arm} | {label} | {' | '.join(cells)} |"
    yield ""


if __name__ == "__main__":
    print("\n".join(lines(read(*(sys.argv[1:] or ["marl"])))))
