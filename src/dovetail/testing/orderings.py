"""An ordering is deterministic, pure, and gives scores that a queue can be sorted by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.tables import new_table
from dovetail.domain.policy import AccountFacts, ClusterFacts, JobFacts, Ordering, Varies
from dovetail.policies.placement import PLACEMENTS
from dovetail.testing.schedules import check_replays
from dovetail.testing.scores import scores

Facts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def some_facts(now: float = 10_000.0) -> Facts:
    """A queue of 200 jobs and three accounts; extremes that traces really have come first."""
    random = np.random.default_rng(7)
    jobs = new_table(JobFacts, 200)
    jobs["submit"] = np.sort(random.uniform(0.0, 9_000.0, 200))
    jobs["estimate"] = np.exp(random.uniform(0.0, 15.0, 200))
    jobs["predicted"] = np.exp(random.uniform(0.0, 15.0, 200))
    jobs["gpus"] = jobs["size"] = 2 ** random.integers(0, 8, 200)
    jobs["deadline"] = np.where(random.random(200) < 0.5, np.nan, 20_000.0)
    jobs["priority"] = random.uniform(-5.0, 5.0, 200)
    jobs["partition_factor"], jobs["qos_factor"] = random.random((2, 200))
    jobs["account"] = random.integers(0, 3, 200)
    jobs["estimate"][:2] = 1.0, 3.15e8  # a second, ten years
    jobs["submit"][-1] = 10_000.0  # not waited at all
    accounts = new_table(AccountFacts, 3)
    accounts["fair_share"] = 0.0, 0.5, 1.0
    cluster = new_table(ClusterFacts, 1)
    cluster["now"], cluster["origin"], cluster["total_gpus"] = now, jobs["submit"][0], 256.0
    return jobs, accounts, cluster


def scores_alike_twice(ordering: Ordering) -> None:
    """The same facts give the same scores."""
    first, second = (scores(ordering, *some_facts()) for _ in range(2))
    assert np.array_equal(first, second, equal_nan=True), (
        f"{ordering.name}: the same jobs got other scores the second time"
    )


def changes_nothing(ordering: Ordering) -> None:
    """Scoring changes nothing that it is shown."""
    facts = some_facts()
    before = [table.tobytes() for table in facts]
    scores(ordering, *facts)
    assert [table.tobytes() for table in facts] == before, (
        f"{ordering.name}: the score function changes the facts that it is shown"
    )


def can_be_sorted(ordering: Ordering) -> None:
    """Infinite is allowed (no deadline), not-a-number is not; and not all may be alike."""
    found = scores(ordering, *some_facts())
    assert not np.isnan(found).any(), f"{ordering.name}: a score is not a number"
    assert len(np.unique(found)) > 1, f"{ordering.name}: all jobs get the same score"


def scores_each_job_by_itself(ordering: Ordering) -> None:
    """A score does not depend on who else is scored in the same call."""
    jobs, accounts, cluster = some_facts()
    together = scores(ordering, jobs, accounts, cluster)
    alone = [
        scores(ordering, jobs[row : row + 1].copy(), accounts, cluster)[0]
        for row in range(len(jobs))
    ]
    assert np.array_equal(together, alone), (
        f"{ordering.name}: a job's score depends on who else is scored"
    )


def says_whether_it_varies(ordering: Ordering) -> None:
    """Only orderings that say so change while jobs wait."""
    earlier, later = some_facts(now=10_000.0), some_facts(now=50_000.0)
    changed = not np.array_equal(scores(ordering, *earlier), scores(ordering, *later))
    said = ordering.varies is not Varies.NEVER
    assert changed == said, (
        f"{ordering.name}: its scores {'change' if changed else 'never change'} while jobs wait, "
        f"but varies is {ordering.varies.value!r}"
    )


def has_one_line(ordering: Ordering) -> None:
    """There is one line about it for lists."""
    assert ordering.description, (
        f"{ordering.name}: give it `about`, or its score function a docstring"
    )
    assert "\n" not in ordering.description, f"{ordering.name}: `about` has more than one line"


def gives_legal_schedules(ordering: Ordering) -> None:
    """With every backfill, a crowded replay ends and breaks no rule, and the same twice."""
    check_replays(ordering, PLACEMENTS["best-fit"])


CHECKS: tuple[Callable[[Ordering], None], ...] = (
    scores_alike_twice,
    changes_nothing,
    can_be_sorted,
    scores_each_job_by_itself,
    says_whether_it_varies,
    has_one_line,
    gives_legal_schedules,
)


def check_ordering(ordering: Ordering) -> None:
    """All that every ordering is held to."""
    for check in CHECKS:
        check(ordering)
