"""On nodes that are all alike and hold one GPU, or on one node, nodes do not matter.

There the simulator must start every job when a simulator does that only counts processors and
was written from the papers (`tests/oracles/counting.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.policy import Backfill
from tests.builders import JobRow, cluster_of, estimates_of, trace_of
from tests.simulator.counted import STATIC, WAYS, counted
from tests.simulator.runs import compiled_schedule

GAPS = (0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.5, 7.25)
RUNS = (0.0, 0.001, 0.3, 1.0, 3.0, 5.0, 10.0, 10.0, 20.0, 33.3, 60.0, 250.0)
WRONG = (1.0, 1.0, 0.05, 0.5, 0.9, 1.5, 2.0, 10.0)


@dataclass(frozen=True)
class Case:
    """Jobs, and how many GPUs there are for them."""

    gpus: int
    rows: tuple[JobRow, ...]

    def parting(self, ordering: str, backfill: Backfill) -> str | None:
        """The first job that the two start at different times."""
        trace, estimates = trace_of(*self.rows), estimates_of(*self.rows)
        one, many = cluster_of(f"1x{self.gpus}"), cluster_of(f"{self.gpus}x1")
        expected = counted(trace, one, ordering, backfill, estimates)
        for site in (many, one):
            got = compiled_schedule(trace, site, ordering, "best-fit", backfill, estimates).start
            wrong = np.flatnonzero(~np.isclose(expected, got, rtol=0, atol=0, equal_nan=True))
            if len(wrong):
                row = min(wrong, key=lambda row: min(expected[row], got[row]))
                return f"{site}: job {row} starts at {got[row]}, by counting at {expected[row]}"
        return None


def cases() -> st.SearchStrategy[Case]:
    return st.integers(0, 2**63 - 1).map(lambda seed: random_case(Random(seed)))


def random_case(random: Random) -> Case:
    """Many jobs for few GPUs, with ties in everything; half of the cases have wrong estimates."""
    gpus = random.choice((1, 2, 3, 4, 6, 8))
    wrong, now = random.random() < 0.5, 0.0
    rows = []
    for _ in range(random.randint(4, 25)):
        now += random.choice(GAPS)
        run = random.choice(RUNS)
        rows.append(
            JobRow(
                now,
                run,
                random.choice((*range(1, gpus + 1), 1, 1, gpus, gpus + 1)),
                estimate=run * random.choice(WRONG) if wrong else None,
                priority=random.choice((0.0, 1.0, -2.0)),
                deadline=now + random.choice((math.nan, 5.0, 20.0)),
                user=random.choice(("ann", "bob")),
            )
        )
    return Case(gpus, tuple(rows))


@pytest.mark.parametrize("backfill", list(WAYS), ids=lambda backfill: backfill.value)
@pytest.mark.parametrize("ordering", STATIC)
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_jobs_start_when_counting_says_so(ordering: str, backfill: Backfill, case: Case) -> None:
    if case.parting(ordering, backfill) is not None:
        case = _reduced(case, ordering, backfill)
        pytest.fail(f"{case.parting(ordering, backfill)}\n{case}")


def _reduced(case: Case, ordering: str, backfill: Backfill) -> Case:
    """A case that still fails, without the jobs that it does not need."""
    for index in reversed(range(len(case.rows))):
        fewer = replace(case, rows=case.rows[:index] + case.rows[index + 1 :])
        if fewer.rows and fewer.parting(ordering, backfill) is not None:
            case = fewer
    return case
