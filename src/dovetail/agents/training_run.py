"""A training that goes on where it stopped: epochs, validation, patience, files and Ctrl-C."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar


class TrainingProgress(Protocol):
    """How far a training is; its text says how good the best network is."""

    @property
    def epoch(self) -> int: ...
    @property
    def epochs(self) -> int: ...


class TrainingSchedule(Protocol):
    """What the configuration of every agent has."""

    @property
    def epochs(self) -> int: ...
    @property
    def validate_every(self) -> int: ...
    @property
    def patience(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FixedSchedule:
    """All epochs, however little they bring."""

    epochs: int
    validate_every: int

    @property
    def patience(self) -> int:
        return self.epochs + 1  # more validations than there can be


P = TypeVar("P", bound=TrainingProgress)


class TrainingRun(ABC, Generic[P]):
    """The state of a training and the one loop of all agents.

    Every epoch ends by writing its state, and all chance of an epoch is its own: after Ctrl-C, at
    whatever moment, the folder holds the best so far, and the same command repeats nothing but the
    epoch that was broken off.
    """

    def __init__(self, folder: Path, schedule: TrainingSchedule, facts: dict[str, Any]) -> None:
        self.folder, self.schedule, self.facts = folder, schedule, facts
        self.epoch, self.stale = 0, 0  # stale: validations since the best one

    def go_on(self, report: Callable[[P], None]) -> None:
        """Learn until all epochs are done, or nothing gets better."""
        schedule = self.schedule
        if not self.resume():
            self.validate()  # the start is what there is to beat
        while self.epoch < schedule.epochs and self.stale < schedule.patience:
            loss = self.learn()
            self.epoch += 1
            if self.epoch % schedule.validate_every == 0 or self.epoch == schedule.epochs:
                self.validate()
            self.save()
            report(self.progress(loss))

    def validate(self) -> None:
        """Keep what was learned if it is the best on jobs that it never learned from."""
        self.stale = 0 if self.keep_if_best() else self.stale + 1

    @abstractmethod
    def resume(self) -> bool:
        """Take up an earlier training of the same facts, if there is one; of others: an error."""

    @abstractmethod
    def learn(self) -> float:
        """One epoch; what it says is reported."""

    @abstractmethod
    def keep_if_best(self) -> bool:
        """Measure what was learned so far; write the checkpoint if there was no better one."""

    @abstractmethod
    def save(self) -> None:
        """Write all that the next epoch needs."""

    @abstractmethod
    def progress(self, loss: float) -> P:
        """What is told after an epoch."""
