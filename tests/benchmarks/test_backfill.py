"""The comparison of ways of backfilling with a real Slurm, on a Slurm that is the simulator."""

from __future__ import annotations

from benchmarks.backfill import WAYS, compare, table
from benchmarks.slurm_jobs import Observed, draw
from benchmarks.slurm_measures import simulated
from dovetail.live.twin.order import Order
from dovetail.policies.policy import Policy

WORK = draw(1, 120)


def seen_under(way: str) -> Observed:
    return simulated(WORK, Order(*Policy.parse(f"fcfs+{way}").parts()))


def test_the_way_that_was_in_force_is_found_without_error() -> None:
    for way in WAYS:
        found = compare(WORK, seen_under(way), way)
        assert (found["wait_error"], found["start_off_p90"], found["foretold"]) == (0.0, 0.0, 1.0)


def test_the_table_has_a_line_for_every_way() -> None:
    seen = seen_under("slurm")
    ways = {way: compare(WORK, seen, way) for way in WAYS}
    lines = table({"seeds": {"1": {"wait_mean": seen.wait.mean(), "ways": ways}}}).splitlines()
    assert [line.split()[0] for line in lines] == ["seed", "1", *WAYS]
