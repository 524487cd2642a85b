"""What the optimiser answers: for each job where it starts now, or when it could."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.domain.problem import ChunkDemand


@dataclass(frozen=True, slots=True)
class JobPlan:
    """One job's part: slot 0 is now, later slots are a forecast, None is beyond the look-ahead."""

    job: int
    slot: int | None = None
    shape: int | None = None
    nodes: tuple[int, ...] = ()
    chunks: tuple[ChunkDemand, ...] = ()

    @property
    def starts_now(self) -> bool:
        return self.slot == 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A legal plan under the estimates, with the reason for it in words."""

    jobs: tuple[JobPlan, ...]
    value: int
    solver: str
    gap: float | None
    seconds: float
    reason: str
    timed_out: bool = False
    """The clock decided, not the work done: another run may plan otherwise."""

    @property
    def starts(self) -> tuple[JobPlan, ...]:
        """The jobs to start now, in order of priority."""
        return tuple(part for part in self.jobs if part.starts_now)
