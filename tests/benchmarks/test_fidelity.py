"""A recorded run of a real Slurm, replayed: the error of the simulator is held."""

from __future__ import annotations

from pathlib import Path

import benchmarks
from benchmarks.fidelity import PAUSES, PLAIN, replayed, table
from benchmarks.fidelity_chart import draw as picture
from benchmarks.fidelity_jobs import draw

RECORDED = Path(benchmarks.__file__).parent / "recordings" / "fidelity"


def test_the_mean_wait_of_a_replay_is_within_a_tenth_of_a_real_slurms() -> None:
    found = replayed(RECORDED)
    assert found["jobs"] == 1000
    for name in (PLAIN, PAUSES):
        assert abs(found["gaps"][name]["error"]) < 0.1
        assert found["gaps"][name]["error_p50"] < 30
    # What is replayed without the site's settings is far off: the comparison can tell.
    assert found["gaps"]["fcfs + easy"]["error"] < -0.25
    assert "mean wait 687 s" in table(found)
    assert picture(found).startswith("<?xml")


def test_the_same_seed_draws_the_same_jobs() -> None:
    asks = draw(3, 200)
    assert asks == draw(3, 200)
    assert sum(ask.tasks for ask in asks) == 200
    assert {ask.partition for ask in asks} == {"batch", "gpu", "urgent"}
