"""Every ordering is deterministic, pure and gives scores that the queue can be sorted by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dovetail.cli.policies import about_ordering
from dovetail.compiled.tables import new_table
from dovetail.domain.policy import AccountFacts, ClusterFacts, JobFacts, Varies
from dovetail.policies.ordering import ORDERINGS, scores
from tests.conformance.functions import FUNCTIONS

EVERY = {**ORDERINGS, **FUNCTIONS}
every_ordering = pytest.mark.parametrize("name", list(EVERY))
Facts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def some_facts(now: float = 10_000.0) -> Facts:
    """A queue of 200 jobs and three accounts; extremes that traces really have come first."""
    random = np.random.default_rng(7)
    jobs = new_table(JobFacts, 200)
    jobs["submit"] = np.sort(random.uniform(0.0, 9_000.0, 200))
    jobs["estimate"] = np.exp(random.uniform(0.0, 15.0, 200))
    jobs["predicted"] = np.exp(random.uniform(0.0, 15.0, 200))
    jobs["gpus"] = 2 ** random.integers(0, 8, 200)
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


@every_ordering
def test_same_facts_give_the_same_scores(name: str) -> None:
    first, second = (scores(EVERY[name], *some_facts()) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@every_ordering
def test_scoring_changes_nothing_that_it_is_shown(name: str) -> None:
    facts = some_facts()
    before = [table.tobytes() for table in facts]
    scores(EVERY[name], *facts)
    assert [table.tobytes() for table in facts] == before


@every_ordering
def test_scores_can_be_sorted(name: str) -> None:
    """Infinite is allowed (no deadline), not-a-number is not; and not all may be alike."""
    found = scores(EVERY[name], *some_facts())
    assert not np.isnan(found).any()
    assert len(np.unique(found)) > 1


@every_ordering
def test_a_score_does_not_depend_on_who_else_waits(name: str) -> None:
    jobs, accounts, cluster = some_facts()
    together = scores(EVERY[name], jobs, accounts, cluster)
    alone = [
        scores(EVERY[name], jobs[row : row + 1].copy(), accounts, cluster)[0]
        for row in range(len(jobs))
    ]
    np.testing.assert_array_equal(together, alone)


@every_ordering
def test_only_orderings_that_say_so_change_while_jobs_wait(name: str) -> None:
    earlier, later = some_facts(now=10_000.0), some_facts(now=50_000.0)
    changed = not np.array_equal(scores(EVERY[name], *earlier), scores(EVERY[name], *later))
    assert changed == (EVERY[name].varies is not Varies.NEVER)


@pytest.mark.parametrize("name", list(ORDERINGS))
def test_is_described_in_one_line(name: str) -> None:
    about = about_ordering(name, ORDERINGS[name].score)
    assert about, f"give the score function of {name} a docstring"
    assert "\n" not in about
