"""The door to a placement that starts jobs of one GPU on GPUs of its choice, or lets them wait."""

from __future__ import annotations

import numpy as np

from dovetail.simulator.kernel.planned import NO_OPINION
from dovetail.simulator.planner import NOT_PLANNED, Planner


class AssigningPlanner(Planner):
    """Plans once a pass; jobs that the plan has looked at and does not start wait.

    asked: passes in which it was asked; refused: starts that a reservation forbade.
    """

    entry = "assigner"
    looks_at = 32

    def _option_for(self, job: int) -> int:
        now = float(self._tables.world["now"][0])
        if now != self._planned_at:
            self.asked += 1
            self._plan, self._planned_at = self._new_plan(job, now), now
        planned = job in self._plan
        option = self._accepted(job)
        self.refused += planned and option == NOT_PLANNED
        if option == NOT_PLANNED and not self._tables.nodes["running"].any():
            return NO_OPINION  # without an end to come there would be no other pass
        if not self._plan:
            self._tables.world["assigned_at"] = now
        return option

    def _next_jobs(self, job: int) -> list[int]:
        """Of one GPU, as the job in hand is."""
        found = np.array(super()._next_jobs(job), np.int64)
        return found[self._tables.jobs["gpus"][found] == 1].tolist()
