"""The placement optimiser against exhaustive search and a checker of its own."""

from __future__ import annotations

from itertools import combinations
from statistics import mean

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.policies.optimiser import (
    EXACT,
    ChunkDemand,
    JobAsk,
    JobPlan,
    JobShape,
    NodeState,
    Plan,
    Problem,
    Releases,
    has_choice,
    multistart_greedy,
    optimise,
    rltune_way,
    value,
    weights_by_rank,
)
from tests.policies.test_optimiser import seeded_problem

GAP = 0.005
SEARCH_LIMIT = 15_000
"""Partial plans; beyond it a case is left out, as few are."""

chunks = st.builds(
    ChunkDemand,
    st.sampled_from([1, 1, 2, 3, 4]),
    st.integers(0, 4).map(lambda cpus: 1000 * cpus),
    st.integers(0, 20),
)


@st.composite
def job_asks(draw: st.DrawFn, weight: int) -> JobAsk:
    large, kinds = draw(chunks), draw(st.sampled_from([1, 2, 3, 3]))
    estimate = draw(st.sampled_from([5.0, 10.0, 20.0, 40.0]))
    speed = draw(st.sampled_from([1.0, 2.0]))
    match draw(st.sampled_from(["one node", "gang", "with remainder", "two shapes"])):
        case "gang":
            shapes = [JobShape(2, large, kinds=kinds, speed=speed)]
        case "with remainder":
            small = ChunkDemand(1, large.cpus // 2, large.memory // 2)
            shapes = [JobShape(draw(st.integers(1, 2)), large, 1, small, kinds, speed)]
        case "two shapes":
            half = ChunkDemand(large.gpus, large.cpus // 2, large.memory)
            whole = ChunkDemand(2 * large.gpus, large.cpus, large.memory)
            shapes = [JobShape(1, whole, kinds=1), JobShape(2, half, kinds=2, speed=speed)]
        case _:
            shapes = [JobShape(1, large, kinds=kinds, speed=speed)]
    return JobAsk(tuple(shapes), estimate, weight)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    nodes = draw(st.integers(1, 5))
    amount = st.tuples(st.integers(0, 4), st.sampled_from([4000, 16_000]), st.integers(10, 80))
    # Few different nodes, so that classes have several members.
    some = draw(st.lists(amount, min_size=1, max_size=3))
    free = draw(st.lists(st.sampled_from(some), min_size=nodes, max_size=nodes))
    ends = draw(st.lists(st.sampled_from([5.0, 10.0, 20.0]), max_size=4))
    where = [draw(st.integers(0, nodes - 1)) for _ in ends]
    back = [(draw(st.integers(1, 4)), 4000, 10) for _ in ends]
    releases = Releases(
        np.array(ends), np.array(where, np.int64), np.array(back, np.int64).reshape(-1, 3)
    )
    codes = [draw(st.integers(0, 1)) for _ in free]
    switch = [draw(st.integers(0, min(1, nodes - 1))) for _ in free]
    state = NodeState(
        np.array(free, np.int64), np.array(codes, np.int64), np.array(switch, np.int64), releases
    )
    weights = weights_by_rank(draw(st.integers(1, 5)))
    return Problem(state, tuple(draw(job_asks(weight)) for weight in weights))


def free_at(problem: Problem, time: float) -> list[list[int]]:
    """What the nodes have free at a slot if nothing starts."""
    free = [[int(have) for have in row] for row in problem.nodes.free]
    back = problem.nodes.releases
    for end, node, amount in zip(back.end, back.node, back.amount, strict=True):
        if end <= time and time > problem.now:
            free[int(node)] = [a + int(b) for a, b in zip(free[int(node)], amount, strict=True)]
    return free


def is_legal(problem: Problem, plan: Plan) -> bool:
    """Gangs whole, distinct and allowed nodes, and at every slot no more taken than is there."""
    times = [float(time) for time in problem.slots]
    for part in plan.jobs:
        if part.slot is None or part.shape is None:
            assert part.nodes == ()
            continue
        shape = problem.jobs[part.job].shapes[part.shape]
        assert list(part.chunks) == [shape.large] * shape.many + [shape.small] * shape.few
        assert len(set(part.nodes)) == len(part.nodes) == shape.nodes
        assert all(shape.kinds >> int(problem.nodes.kind[node]) & 1 for node in part.nodes)
    for time in times:
        left = free_at(problem, time)
        for part in plan.jobs:
            if part.slot is None or part.shape is None or times[part.slot] > time:
                continue
            ask = problem.jobs[part.job]
            if times[part.slot] + ask.estimate / ask.shapes[part.shape].speed > time:
                for node, chunk in zip(part.nodes, part.chunks, strict=True):
                    left[node] = [have - take for have, take in zip(left[node], chunk, strict=True)]
        assert all(have >= 0 for row in left for have in row)
    return [part.job for part in plan.jobs] == list(range(len(problem.jobs)))


class Search:
    """The best value of all plans, by trying them all; stops with None beyond a limit."""

    def __init__(self, problem: Problem, at_least: int) -> None:
        self.problem, self.best, self.visited = problem, at_least, 0
        self.times = [float(time) for time in problem.slots]
        self.left = [free_at(problem, time) for time in self.times]
        # Starting on a node may free it of stranded GPUs, at most 1,000 points for each.
        self.slack = 1010 * sum(int(gpus) for gpus in problem.nodes.free[:, 0])

    def run(self) -> int | None:
        self._try([], 0)
        return None if self.visited > SEARCH_LIMIT else self.best

    def _try(self, parts: list[JobPlan], sure: int) -> None:
        self.visited += 1
        if self.visited > SEARCH_LIMIT:
            return
        jobs = self.problem.jobs
        rest = sum(1000 * ask.weight * ask.gpus for ask in jobs[len(parts) :])
        if sure + rest + self.slack <= self.best:
            return
        number = len(parts)
        if number == len(jobs):
            self.best = max(self.best, value(self.problem, plan_of(parts)))
            return
        for part in self._ways(number):
            assert part.slot is not None
            if self._hold(part, -1):
                ask = jobs[number]
                points = ask.weight * ask.gpus * (1000, 500, 350, 250)[part.slot]
                self._try([*parts, part], sure + points)
            self._hold(part, 1)
        self._try([*parts, JobPlan(number)], sure)

    def _ways(self, number: int) -> list[JobPlan]:
        ways = []
        for row, shape in enumerate(self.problem.jobs[number].shapes):
            allowed = [
                node
                for node, kind in enumerate(self.problem.nodes.kind)
                if shape.kinds >> int(kind) & 1
            ]
            sizes = (shape.large,) * shape.many + (shape.small,) * shape.few
            for large in combinations(allowed, shape.many):
                others = [node for node in allowed if node not in large]
                for small in combinations(others, shape.few):
                    for slot in range(len(self.times)):
                        ways.append(JobPlan(number, slot, row, large + small, sizes))
        return ways

    def _hold(self, part: JobPlan, sign: int) -> bool:
        """Take (or give back) the chunks' amounts; whether all is still there."""
        ask, fits = self.problem.jobs[part.job], True
        assert part.slot is not None
        assert part.shape is not None
        end = self.times[part.slot] + ask.estimate / ask.shapes[part.shape].speed
        for slot in range(part.slot, len(self.times)):
            if self.times[slot] < end:
                for node, chunk in zip(part.nodes, part.chunks, strict=True):
                    have = self.left[slot][node]
                    for what in range(3):
                        have[what] += sign * chunk[what]
                        fits = fits and have[what] >= 0
        return fits


def plan_of(parts: list[JobPlan]) -> Plan:
    return Plan(tuple(parts), 0, "search", None, 0.0, "")


@settings(max_examples=150, deadline=None)
@given(problems())
def test_every_plan_is_legal_and_says_its_true_value(problem: Problem) -> None:
    for plan in (
        multistart_greedy(problem, starts=8),
        multistart_greedy(problem, starts=8, reduction=EXACT),
        optimise(problem),
        rltune_way(problem),
    ):
        assert is_legal(problem, plan)
        assert value(problem, plan) == plan.value


@settings(max_examples=80, deadline=None)
@given(problems())
def test_optimise_finds_the_best_plan_of_all(problem: Problem) -> None:
    plan = optimise(problem, GAP, EXACT)
    if not has_choice(problem):
        return
    best = Search(problem, plan.value).run()
    if best is not None:
        assert best - GAP * abs(best) - 1 <= plan.value <= best


def test_the_greedy_is_never_above_the_best_and_on_average_within_three_percent() -> None:
    shares = []
    for seed in range(40):
        problem = seeded_problem(seed)
        best = optimise(problem, 0.0, EXACT).value
        found = multistart_greedy(problem).value
        assert found <= best
        shares.append(found / best)
    assert mean(shares) > 0.97


def test_the_kernel_counts_points_as_the_objective_does() -> None:
    from dovetail.policies.optimiser.greedy import fill_often
    from dovetail.policies.optimiser.solvers import reduce_problem

    for seed in range(20):
        problem = seeded_problem(seed)
        points, _ = fill_often(reduce_problem(problem), 16, seed)
        assert points == multistart_greedy(problem, 16, seed).value
