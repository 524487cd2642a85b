"""What the placement optimiser promises: choices, budget, determinism, errors in words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.policies.optimiser import (
    ChunkDemand,
    JobAsk,
    JobShape,
    NodeState,
    Plan,
    Problem,
    Releases,
    has_choice,
    kind_mask,
    kinds_by,
    multistart_greedy,
    optimise,
    rltune_way,
    weights_by_rank,
)


def cluster(
    *free: int,
    releases: tuple[tuple[float, int, int], ...] = (),
    switch: tuple[int, ...] | None = None,
) -> NodeState:
    """Nodes with so many free GPUs, 4 CPUs and 10 MB each; releases (end, node, GPUs)."""
    amounts = np.array([(gpus, 4000 * gpus, 10 * gpus) for gpus in free], np.int64)
    given_back = np.array([(g, 4000 * g, 10 * g) for _, _, g in releases], np.int64)
    return NodeState(
        amounts.reshape(-1, 3),
        np.zeros(len(free), np.int64),
        np.array(switch or [0] * len(free), np.int64),
        Releases(
            np.array([end for end, _, _ in releases], np.float64),
            np.array([node for _, node, _ in releases], np.int64),
            given_back.reshape(-1, 3),
        ),
    )


def job(gpus: int, nodes: int = 1, weight: int = 100, estimate: float = 100.0) -> JobAsk:
    return JobAsk((JobShape(nodes, ChunkDemand(gpus, 1000 * gpus, gpus)),), estimate, weight)


def seeded_problem(seed: int) -> Problem:
    """A small problem with more jobs than room, from a seed."""
    random = np.random.default_rng(seed)
    ends = tuple(
        (float(random.choice([5, 10, 20])), int(random.integers(4)), int(random.integers(1, 4)))
        for _ in range(3)
    )
    state = cluster(*random.integers(1, 9, 4).tolist(), releases=ends, switch=(0, 0, 1, 1))
    jobs = tuple(
        job(
            int(random.integers(1, 5)),
            int(random.choice([1, 1, 2])),
            weight,
            float(random.choice([5, 10, 40])),
        )
        for weight in weights_by_rank(5)
    )
    return Problem(state, jobs)


def test_the_same_problem_gives_the_same_plan() -> None:
    for seed in range(5):
        first, second = (optimise(seeded_problem(seed)) for _ in range(2))
        assert replace(first, seconds=0.0) == replace(second, seconds=0.0)
        one, two = (multistart_greedy(seeded_problem(seed)) for _ in range(2))
        assert one.jobs == two.jobs


def test_more_starts_never_give_less() -> None:
    for seed in range(10):
        problem = seeded_problem(seed)
        values = [multistart_greedy(problem, starts).value for starts in (1, 4, 64, 256)]
        assert values == sorted(values)


def test_a_plan_that_the_clock_ended_says_so() -> None:
    problem = Problem(cluster(4, 4, 3), (job(2), job(3), job(3), job(4)))
    plan = optimise(problem, budget_seconds=0.0)
    assert plan.timed_out
    assert plan.solver == "greedy"
    assert "when the time ran out" in plan.reason
    assert plan.jobs == multistart_greedy(problem).jobs


def test_work_ends_the_search_on_a_thousand_nodes_and_gives_the_same_plan_again() -> None:
    random = np.random.default_rng(3)
    ends = tuple(
        (float(random.lognormal(8, 1)), node, int(random.integers(1, 5))) for node in range(1000)
    )
    state = cluster(*random.integers(0, 5, 1000).tolist(), releases=ends, switch=tuple(range(1000)))
    jobs = tuple(
        job(int(random.integers(1, 6)), int(random.choice([1, 1, 1, 4])), weight)
        for weight in weights_by_rank(16)
    )
    first, second = (optimise(Problem(state, jobs), budget_seconds=300.0) for _ in range(2))
    assert not first.timed_out
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)


def test_nothing_is_solved_where_nothing_can_start() -> None:
    problem = Problem(cluster(1, 1, releases=((5.0, 0, 3),)), (job(4), job(2)))
    assert not has_choice(problem)
    plan = optimise(problem)
    assert plan.solver == "greedy"
    assert "not solved" in plan.reason
    assert plan.jobs[0].slot == 1


def test_equal_nodes_are_no_choice_for_one_job_but_sharing_them_is() -> None:
    assert not has_choice(Problem(cluster(*[8] * 6), (job(2),)))
    assert not has_choice(Problem(cluster(*[8] * 6), (job(8, nodes=2),)))
    assert has_choice(Problem(cluster(*[8] * 6), (job(2), job(2))))
    assert has_choice(Problem(cluster(8, 4), (job(2),)))


def test_equal_nodes_are_taken_lowest_first() -> None:
    plan = optimise(Problem(cluster(*[8] * 9), (job(8, nodes=3), job(8, nodes=2))))
    assert plan.jobs[0].nodes + plan.jobs[1].nodes in ((0, 1, 2, 3, 4), (2, 3, 4, 0, 1))


def test_a_small_job_leaves_the_empty_node_to_the_large_one() -> None:
    problem = Problem(cluster(8, 2), (job(2), job(8)))
    for plan in (optimise(problem), multistart_greedy(problem)):
        assert [part.nodes for part in plan.starts] == [(1,), (0,)]


def test_a_gang_stays_on_one_switch_if_it_can() -> None:
    problem = Problem(cluster(8, 8, 8, 8, switch=(0, 1, 2, 1)), (job(8, nodes=2),))
    assert optimise(problem).jobs[0].nodes == (1, 3)
    assert multistart_greedy(problem).jobs[0].nodes == (1, 3)


def test_a_long_job_waits_where_it_would_hold_up_a_worthier_one() -> None:
    """Node 0 is soon whole: the 8-GPU job is worth more there than a long small one now."""
    state = cluster(1, releases=((5.0, 0, 7), (6.0, 0, 0)))
    long_job, large = job(1, weight=40, estimate=1000.0), job(8, weight=100)
    plan = optimise(Problem(state, (large, long_job)))
    assert [part.slot for part in plan.jobs] == [1, None]
    quick = job(1, weight=40, estimate=4.0)
    assert [p.slot for p in optimise(Problem(state, (large, quick))).jobs] == [1, 0]


def test_types_and_partitions_become_kinds() -> None:
    kinds = kinds_by(np.array([0, 0, 1]), np.array([1, 2, 1]))
    assert kinds.tolist() == [0, 1, 2]
    only_last = JobShape(1, ChunkDemand(1), kinds=kind_mask(kinds, [False, False, True]))
    state = replace(cluster(4, 4, 4), kind=kinds)
    plan = multistart_greedy(Problem(state, (JobAsk((only_last,), 10.0, 100),)))
    assert plan.jobs[0].nodes == (2,)


def test_rltune_packs_if_spreading_would_leave_less_room() -> None:
    """Two jobs of 2 and 8: spreading the first breaks the only empty node."""
    plan = rltune_way(Problem(cluster(4, 8), (job(2), job(8))))
    assert plan.jobs[0].nodes == (0,)
    assert plan.reason == ("packs the first job: packing occupies 10 GPUs, spreading 2")
    assert not plan.jobs[1].starts_now


def test_a_missing_solver_is_an_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ConfigError, match=r"dovetail-scheduler\[milp\]"):
        optimise(Problem(cluster(4), (job(1),)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: JobAsk((), 1.0, 1), "without shapes"),
        (lambda: job(1, weight=0), "weight 0"),
        (
            lambda: JobAsk((JobShape(1, ChunkDemand(2)), JobShape(1, ChunkDemand(3))), 1.0, 1),
            "2 and 3 GPUs",
        ),
        (lambda: cluster(1, releases=((1.0, 5, 1),)), "outside 0..0"),
        (lambda: cluster(1, 1, switch=(0, 9)), "switches are numbered"),
        (lambda: multistart_greedy(Problem(cluster(1), ())), "at least one job"),
    ],
)
def test_nonsense_is_refused_in_words(make: object, said: str) -> None:
    assert callable(make)
    with pytest.raises(ConfigError, match=said):
        make()


@pytest.mark.parametrize("solver", [multistart_greedy, optimise])
def test_a_job_that_is_due_starts_now_whatever_it_costs_others(
    solver: Callable[[Problem], Plan],
) -> None:
    due = replace(job(1, weight=40), due=True)
    plan = solver(Problem(cluster(8), (due, job(8, weight=100))))
    assert [part.job for part in plan.starts] == [0]
    plan = solver(Problem(cluster(8), (replace(due, due=False), job(8, weight=100))))
    assert [part.job for part in plan.starts] == [1]
