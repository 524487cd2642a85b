"""A GPU cluster's workload: sizes, heavy-tailed run times, users with habits, batches, limits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints, Names
from dovetail.traces.synthetic.arrivals import Arrivals
from dovetail.traces.synthetic.limits import Limits
from dovetail.traces.synthetic.people import People, Shares, choose_name
from dovetail.traces.synthetic.rhythm import Rhythm
from dovetail.traces.synthetic.run_times import SizeClass, Sizes
from dovetail.traces.synthetic.streams import Streams
from dovetail.traces.synthetic.workload import Draft


@dataclass(frozen=True, slots=True)
class ClusterWorkload:
    """Parameters of one cluster; `dataclasses.replace` makes variants of the published ones."""

    name: str
    cluster_gpus: int
    sizes: tuple[SizeClass, ...]
    arrivals: Arrivals
    rhythm: Rhythm
    people: People = field(default_factory=People)
    limits: Limits | None = field(default_factory=Limits)  # None: limits unknown
    kinds_of_one: Shares = ()  # of jobs with one GPU; empty: kinds unknown
    kinds_of_many: Shares = ()
    partitions: Shares = ()  # of users, who keep to one; empty: no partitions
    cpus_per_gpu: float = 0.0  # 0: no demand
    memory_per_gpu: float = 0.0  # GB; 0: no demand

    def __post_init__(self) -> None:
        if bool(self.kinds_of_one) != bool(self.kinds_of_many):
            raise ConfigError(f"{self.name}: give kinds_of_one and kinds_of_many, or neither")
        if self.cpus_per_gpu < 0 or self.memory_per_gpu < 0:
            raise ConfigError(f"{self.name}: CPUs and memory per GPU must be 0 or more")

    def draw(self, jobs: int, streams: Streams, largest: int) -> Draft:
        """Arrivals first, then who, how large, how long, and what they asked for."""
        due, batch_of = self.arrivals.draw(jobs, streams)
        batch = self.people.submit(int(batch_of.max()) + 1, streams)
        sizes = Sizes.of(self.sizes, largest)
        size = sizes.assign(self.people.size_latent(batch, streams)[batch_of])
        gpus = sizes.gpus[size]
        latent = self.people.run_latent(batch, batch_of, streams)
        run = sizes.run_times(size, latent, streams("run"))
        habit, user = batch.habit[batch_of], batch.user[batch_of]
        return Draft(
            due=due,
            run=run,
            gpus=gpus,
            limit=self._limits(run, habit, streams),
            cpus=gpus.astype(np.float64) * self.cpus_per_gpu,
            memory=gpus.astype(np.float64) * self.memory_per_gpu,
            user=Names(user, tuple(f"user-{i + 1}" for i in range(self.people.users))),
            partition=self._partitions(user, streams),
            kind=self._kinds(gpus, habit, streams),
        )

    def _limits(self, run: Floats, habit: Ints, streams: Streams) -> Floats | None:
        return None if self.limits is None else self.limits.draw(run, habit, streams("limit"))

    def _partitions(self, user: Ints, streams: Streams) -> Names | None:
        if not self.partitions:
            return None
        home = choose_name(self.partitions, streams("partition").random(self.people.users))
        return Names(home[user], tuple(name for name, _ in self.partitions))

    def _kinds(self, gpus: Ints, habit: Ints, streams: Streams) -> Names | None:
        """A habit keeps its kind; it has one for single GPUs and one for several."""
        if not self.kinds_of_one:
            return None
        uniform = streams("kind").random(self.people.users * self.people.habits)
        names = tuple(dict.fromkeys(name for name, _ in self.kinds_of_one + self.kinds_of_many))
        one, many = (
            np.array([names.index(name) for name, _ in shares])[choose_name(shares, uniform)]
            for shares in (self.kinds_of_one, self.kinds_of_many)
        )
        return Names(np.where(gpus == 1, one[habit], many[habit]), names)
