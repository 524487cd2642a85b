"""What is assigned where: the GPUs, how fast each type is for each kind of job, and the jobs drawn.

>>> config = GpuAssignmentConfig()
>>> config.cluster().total_gpus, config.kinds
(16, ('simulation', 'learning', 'data'))
>>> config.believed_speeds().shape  # kinds, GPUs
(3, 16)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.domain.trace import Trace

SPEEDS: Mapping[str, Mapping[str, float]] = {
    "simulation": {"volta": 1.0, "turing": 0.35, "radeon": 0.9},
    "learning": {"volta": 1.0, "turing": 0.7, "radeon": 0.35},
    "data": {"volta": 0.6, "turing": 1.0, "radeon": 0.5},
}
"""Made up after what the models are known for: a Turing has a thirtieth of a Volta's FP64 units, a
Radeon of that time no tensor cores, and data jobs gain from clock rates."""


class Drawn(NamedTuple):
    """The jobs of one episode, and what is told of their lengths."""

    trace: Trace
    estimates: Floats  # seconds at speed 1


@dataclass(frozen=True)
class GpuAssignmentConfig:
    """One environment; GPUs are nodes of one GPU each."""

    gpus: Mapping[str, int] = field(
        default_factory=lambda: {"volta": 8, "turing": 4, "radeon": 4}
    )  # type -> how many
    speeds: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: SPEEDS)
    slow: Mapping[int, float] = field(default_factory=dict)  # GPU -> factor that nobody is told
    jobs: int = 160  # of an episode
    load: float = 0.95  # work that arrives, as a share of what the GPUs could do at their best
    run: float = 60.0  # seconds, mean at speed 1
    spread: float = 1.0  # standard deviation of log run times
    noise: float = 0.5  # of log(estimate / run); 0: estimates are exact
    idle_weight: float = 0.1  # λ, of idle GPU time against completion time
    shown: int = 32  # waiting jobs that a decision shows, the oldest

    def __post_init__(self) -> None:
        if not self.gpus or min(self.gpus.values()) < 1:
            raise ConfigError(f"gpus is {dict(self.gpus)}, expected at least one of each type")
        for kind, speeds in self.speeds.items():
            missing = set(self.gpus) - set(speeds)
            if missing:
                raise ConfigError(f"speeds of {kind} lack {', '.join(sorted(missing))}")
        if not 0 < self.idle_weight < 1:
            raise ConfigError(f"idle_weight is {self.idle_weight}, expected between 0 and 1")
        if min(self.jobs, self.shown) < 1 or min(self.load, self.run) <= 0:
            raise ConfigError("jobs, shown, load and run need to be above 0")
        if min(self.spread, self.noise) < 0:
            raise ConfigError("spread and noise cannot be below 0")
        if any(not 0 <= gpu < self.count for gpu in self.slow):
            raise ConfigError(f"slow names a GPU beyond 0 to {self.count - 1}")

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.speeds)

    @property
    def count(self) -> int:
        """GPUs in all."""
        return sum(self.gpus.values())

    @property
    def types(self) -> tuple[str, ...]:
        """The type of each GPU."""
        return tuple(name for name, count in self.gpus.items() for _ in range(count))

    def believed_speeds(self) -> Floats:
        """[kinds, GPUs]: what a scheduler is told; a slow GPU does not show here."""
        return np.array([[self.speeds[kind][name] for name in self.types] for kind in self.kinds])

    def cluster(self) -> Cluster:
        """As it truly is: a slow GPU is of a type of its own."""
        true_types = [
            f"{name}-slow-{gpu}" if gpu in self.slow else name
            for gpu, name in enumerate(self.types)
        ]
        nodes = tuple(Node(f"gpu-{gpu}", 1, name) for gpu, name in enumerate(true_types))
        speeds = {
            kind: {
                true: self.speeds[kind][name] * self.slow.get(gpu, 1.0)
                for gpu, (true, name) in enumerate(zip(true_types, self.types, strict=True))
            }
            for kind in self.kinds
        }
        return Cluster(nodes, kind_speed=speeds, name=f"{self.count} GPUs")

    def draw(self, random: np.random.Generator) -> Drawn:
        """Jobs that arrive at random; kinds, lengths and priorities are independent."""
        kinds = random.integers(0, len(self.kinds), self.jobs)
        # Divided by its mean, so that `run` is the mean whatever the spread.
        run = self.run * np.exp(random.normal(-(self.spread**2) / 2, self.spread, self.jobs))
        best = self.believed_speeds().max(axis=1)
        rate = self.load * self.count / (self.run * float(np.mean(1.0 / best)))
        submit = np.cumsum(random.exponential(1.0 / rate, self.jobs))
        told = run * np.exp(random.normal(0.0, self.noise, self.jobs))
        jobs = JobColumns(
            submit=submit,
            run=run,
            gpus=np.ones(self.jobs, np.int64),
            kind=[self.kinds[code] for code in kinds.tolist()],
            priority=random.random(self.jobs),
        ).build()
        return Drawn(Trace(jobs, name="drawn"), told)
