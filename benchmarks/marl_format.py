"""How the tables of two agents write ratios: in per cent, below 0 is better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
OWN, QUEUE = ("wait", "bsld"), ("queue_wait", "queue_bsld")
"""Of own jobs of the tenth, and of all who wait while it lasts."""

ARMS = {
    "choice": "the choice",
    "pair": "the pair",
    "selector": "the selector, best-fit",
    "allocator-saf": "the allocator, SAF",
    "allocator-fcfs": "the allocator, FCFS",
    "written": "what `train` writes",
}


def read(name: str) -> dict[str, Any]:
    """A committed result."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def cases(result: dict[str, Any]) -> dict[str, Any]:
    """What was measured, by history and kind of knowledge."""
    return {
        f"{name}, {kind}": part
        for name, site in result["traces"].items()
        for kind, part in site["knowledge"].items()
    }


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def both(wait: float, bsld: float) -> str:
    return f"{100 * wait:+.0f}; {100 * bsld:+.0f}".replace("-", "−")


def change(ratio: dict[str, float]) -> str:
    """With its interval of 95 %."""
    value, low, high = (100 * (ratio[name] - 1) for name in ("value", "low", "high"))
    return f"{value:+.0f} [{low:+.0f}, {high:+.0f}]".replace("-", "−")


def changes(ratios: dict[str, Any], metrics: tuple[str, str]) -> str:
    return "; ".join(change(ratios[metric]) for metric in metrics)
