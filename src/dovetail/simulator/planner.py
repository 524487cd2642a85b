"""The bridge from a running pass to a placement that plans in Python, and back.

A kernel cannot stop in the middle of a pass, but it can call an address. Behind this one the tables
become a `Problem`, the optimiser makes a `Plan` of it, and the nodes go back into the tables.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int64, c_void_p, cast

import numpy as np

from dovetail.domain.plan import JobPlan
from dovetail.domain.policy import Optimiser
from dovetail.domain.problem import (
    ChunkDemand,
    JobAsk,
    JobShape,
    NodeState,
    Problem,
    Releases,
    weights_by_rank,
)
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel.outlook import next_jobs, room_for, running_chunks
from dovetail.simulator.kernel.parts import PLANNED
from dovetail.simulator.kernel.planned import accept
from dovetail.simulator.kernel.rules import Rules

NOT_PLANNED = -1
_DOOR = CFUNCTYPE(c_int64, c_int64)


class Planner:
    """Plans for one simulation.

    asked: plans made; planned: jobs that started as planned; refused: plans whose first job
    could not start so; timed_out: plans that the clock ended, which another run may not repeat.
    """

    entry = "planner"  # of the world: where the kernel finds the door
    looks_at = 16  # jobs: the one that starts, and the next in order

    def __init__(self, tables: Tables, rules: Rules, optimiser: Optimiser) -> None:
        self.asked = self.planned = self.refused = self.timed_out = 0
        self._tables, self._rules, self._optimiser = tables, rules, optimiser
        self._shapes: dict[int, tuple[JobShape, ...]] = {}
        self._plan: dict[int, JobPlan] = {}
        self._planned_at = -np.inf
        self._failure: BaseException | None = None
        self._door = _DOOR(self._answer)  # lives as long as the tables that hold its address
        tables.world[self.entry] = cast(self._door, c_void_p).value
        tables.use(PLANNED)

    def counts(self) -> dict[str, int]:
        return {
            "asked": self.asked,
            "planned": self.planned,
            "refused": self.refused,
            "timed_out": self.timed_out,
        }

    def raise_failure(self) -> None:
        """Raise what went wrong in the planner: an exception cannot pass through a kernel."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _answer(self, job: int) -> int:
        """The option in which a job starts, its nodes picked, or NOT_PLANNED."""
        if self._failure is not None:
            return NOT_PLANNED
        try:
            return self._option_for(job)
        except BaseException as failure:  # also Ctrl-C: it is raised again outside
            self._failure = failure
            return NOT_PLANNED

    def _option_for(self, job: int) -> int:
        # One plan serves all the jobs of a pass that it lets start, as long as they fit.
        now = float(self._tables.world["now"][0])
        if now == self._planned_at and job in self._plan:
            option = self._accepted(job)
            if option != NOT_PLANNED:
                return option
        self.asked += 1
        self._plan, self._planned_at = self._new_plan(job, now), now
        option = self._accepted(job)
        self.refused += option == NOT_PLANNED
        return option

    def _accepted(self, job: int) -> int:
        part = self._plan.pop(job, None)
        if part is None or part.shape is None:
            return NOT_PLANNED
        option = int(self._tables.demands["option_first"][self._demand(job)]) + part.shape
        if not accept(self._tables.world, job, option, np.array(part.nodes, np.int64)):
            return NOT_PLANNED
        self.planned += 1
        return option

    def _new_plan(self, job: int, now: float) -> dict[int, JobPlan]:
        jobs = [job, *self._next_jobs(job)]
        plan = self._optimiser(Problem(self._nodes(job), self._asks(jobs), now))
        self.timed_out += plan.timed_out
        return {jobs[part.job]: part for part in plan.starts}

    def _next_jobs(self, job: int) -> list[int]:
        rows, scores = np.empty(self.looks_at - 1, np.int64), np.empty(self.looks_at - 1)
        count = next_jobs(self._tables.world, self._rules, job, rows, scores)
        return rows[:count].tolist()

    def _nodes(self, job: int) -> NodeState:
        tables = self._tables
        free = np.empty((len(tables.nodes), 3), np.int64)
        room_for(tables.world, job, free)
        most = int(tables.nodes["running"].sum())
        end, node = np.empty(most), np.empty(most, np.int64)
        amount = np.empty((most, 3), np.int64)
        running_chunks(tables.world, end, node, amount)
        kind, switch = (np.ascontiguousarray(tables.nodes[name]) for name in ("kind", "switch"))
        return NodeState(free, kind, switch, Releases(end, node, amount))

    def _asks(self, jobs: list[int]) -> tuple[JobAsk, ...]:
        weights = weights_by_rank(len(jobs))
        facts, now = self._tables.jobs, float(self._tables.world["now"][0])
        return tuple(
            JobAsk(
                self._shapes_of(self._demand(row)), float(facts["reserve"][row]), weight, rank == 0,
                now - float(facts["submit"][row]), float(facts["priority"][row]),
            )
            for rank, (row, weight) in enumerate(zip(jobs, weights, strict=True))
        )  # fmt: skip

    def _shapes_of(self, demand: int) -> tuple[JobShape, ...]:
        if demand not in self._shapes:
            mine = self._tables.demands[demand]
            options = range(mine["option_first"], mine["option_last"])
            self._shapes[demand] = tuple(map(self._shape, options))
        return self._shapes[demand]

    def _shape(self, number: int) -> JobShape:
        option, chunks = self._tables.options[number], self._tables.chunks
        return JobShape(
            int(option["many"]),
            ChunkDemand(*chunks[2 * number].tolist()),
            int(option["few"]),
            ChunkDemand(*chunks[2 * number + 1].tolist()),
            int(option["large_kinds"] | option["small_kinds"]),
            float(option["speed"]),
        )

    def _demand(self, job: int) -> int:
        return int(self._tables.runs["demand"][job])
