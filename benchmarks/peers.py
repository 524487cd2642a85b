"""How fast other simulators of job scheduling are: measured rates to stand beside ours.

Each is the authors' published code, run by this project on two cores; a range is what different
runs gave. They differ in what they model (RLScheduler counts processors and places nothing; Gavel
and Sia go in rounds), so that a rate says what a study with that code costs. They are not measured
anew here: the code is not ours to ship.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Peer:
    """A measured rate of published code, lowest and highest."""

    name: str
    case: str
    low: float
    high: float


SIMULATORS = (
    Peer("RLScheduler", "EASY, 10,000 jobs; the low end with 50,000", 4_200, 15_200),
    Peer("RLTune", "EASY, 10,000 jobs of Philly", 206, 206),
    Peer("RLTune", "no backfilling, 10,000 jobs; the low end with 45,000", 550, 3_500),
    Peer("Helios", "", 220, 2_200),
    Peer("Lucid", "", 420, 420),
    Peer("Alibaba GPU simulator", "", 264, 1_350),
    Peer("CQSim", "", 212, 968),
    Peer("CQGym", "", 680, 950),
    Peer("AccaSim", "", 179, 863),
    Peer("Gavel", "rounds", 1.5, 99),
    Peer("Sia", "rounds", 0.6, 6),
)
"""Jobs per second."""

ENVIRONMENTS = (
    Peer("RLScheduler", "", 309, 6_776),
    Peer("RLTune", "", 116, 1_357),
    Peer("RLTune", "with its MILP placement", 50, 165),
)
"""Decisions per second."""


def show_peers(peers: tuple[Peer, ...], unit: str, say: Callable[[str], None]) -> list[Any]:
    """Print the rates, and return them for the results."""
    say(f"others, their published code as measured before, {unit}:")
    for peer in peers:
        span = f"{peer.low:g}" if peer.low == peer.high else f"{peer.low:,g} to {peer.high:,g}"
        say(f"  {peer.name}{f' ({peer.case})' if peer.case else ''}: {span}")
    return [asdict(peer) for peer in peers]
