"""Windows made ready to be played: those where the choice matters, with the base's score."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.tables import Table, dtype_of, new_table
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.domain.policy import Ordering, Placement
from dovetail.envs.batch_kernel import ADDRESSES, EpisodeRules, Windows, begin, finish
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.observation import LastingFacts, note_lasting
from dovetail.envs.windows import PLACEMENT, Episode
from dovetail.simulator.build import Tables
from dovetail.simulator.engine import NO_OBSERVATION, NO_PREDICTION
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules, make_rules
from dovetail.simulator.warm import resume

ALIGNMENT = 8
"""Words: every table begins on a cache line."""

TRIES = 30
"""Scenes looked at per window wanted, before the workload is held to have no queue."""

OTHER_RANKS = (1.0, 0.5)
"""If always choosing the last, or the middle, gives the base's score, no choice matters."""


class Ready(NamedTuple):
    """A window to be copied."""

    world: Ints  # words of its World
    block: Ints  # words of its tables
    carried: int
    begin: float
    base: float  # the base policy's score
    lasting: Table  # LastingFacts of its jobs


class Pool:
    """A configuration's windows; environments may share one, as nothing here changes."""

    def __init__(self, config: QueuePriorityConfig) -> None:
        self.config = config
        base, measure = config.base, config.reward.measure.pointer
        rules = rules_of(base)
        looks_at_use = config.observation.selection.looks_at_use
        scenes = config.windows.episodes(base, np.random.default_rng(config.seed))
        found: list[Ready] = []
        for episode in islice(scenes, TRIES * config.pool):
            ready = _ready(episode, base, rules, measure, looks_at_use)
            if ready is not None:
                found.append(ready)
            if len(found) == config.pool:
                break
        if len(found) < config.pool:
            raise ConfigError(
                f"only {len(found)} of {TRIES * config.pool} windows have a choice that matters, "
                f"{config.pool} are wanted; raise the load, or ask for a smaller pool or cluster"
            )
        look = config.observation
        self.play = EpisodeRules(
            rules, look.write.pointer, look.selection.table(), measure, config.dense
        )
        self.windows = side_by_side(found)

    def __len__(self) -> int:
        return len(self.windows.base)

    @property
    def most_jobs(self) -> int:
        """Of any window, those carried into it included."""
        return self._most("job_count")

    @property
    def most_demands(self) -> int:
        """That the jobs of any window have."""
        return self._most("demand_count")

    def _most(self, count: str) -> int:
        return int(self.windows.worlds.view(dtype_of(World))[count].max())

    def __deepcopy__(self, memo: Any) -> Pool:
        return self  # Gymnasium copies what an environment is made with


def _ready(
    episode: Episode, base: Ordering, rules: Rules, measure: Any, looks_at_use: bool
) -> Ready | None:
    """A window at its first decision; None if every way to choose is as good as the base's."""
    carried, now = episode.window.carried, episode.window.now
    tables = tables_of(episode, base, rules, looks_at_use=looks_at_use)
    if not begin(tables.world, rules):
        return None
    world, block = pack(tables)
    score = finish(tables.world, rules, measure, carried, now, 0.0)
    for rank in OTHER_RANKS:
        tables = tables_of(episode, base, rules)
        begin(tables.world, rules)
        if finish(tables.world, rules, measure, carried, now, rank) != score:
            return Ready(world, block, carried, now, score, lasting_of(tables))
    return None


def lasting_of(tables: Tables) -> Table:
    """What observations read of a window's jobs; see `observation`."""
    found = new_table(LastingFacts, len(tables.jobs))
    note_lasting(tables.jobs, tables.cluster, found)
    return found


def _refuse_regulated(cluster: Cluster) -> None:
    """An agent's choice would break what a site has laid down, and nobody would see it."""
    if cluster.limits or len({part.tier for part in cluster.partitions}) > 1:
        raise ConfigError(
            "environments know neither limits nor tiers of partitions: leave them out of the "
            "cluster's file to train in one; simulations and the agents evolution and choice "
            "know both"
        )
    if cluster.outages or cluster.reservations or cluster.licenses:
        raise ConfigError(
            "environments know neither outages and reservations of nodes nor licences: leave them "
            "out of the cluster's file to train in one; simulations know them"
        )


def rules_of(base: Ordering, placement: Placement = PLACEMENT) -> Rules:
    """The base policy with EASY backfilling; estimates are told, so that no history is kept."""
    base = replace(base, uses_prediction=False)  # an episode brings what was predicted on arrival
    return make_rules(base, placement, NO_PREDICTION, NO_OBSERVATION)


def tables_of(
    episode: Episode,
    base: Ordering,
    rules: Rules,
    placement: Placement = PLACEMENT,
    looks_at_use: bool = False,
) -> Tables:
    """Tables in the state in which the window begins.

    looks_at_use: an agent is shown what accounts use, or when GPUs in use come free.
    """
    _refuse_regulated(episode.cluster)
    window = episode.window
    tables = Tables(window.trace.jobs, episode.cluster, base, placement, episode.estimates)
    tables.jobs["predicted"] = episode.predicted
    if looks_at_use:
        tables.world["charged"] = True
    resume(
        tables.world, rules, window.now,
        window.start, window.chunk_offset, window.chunk_node, window.chunk_gpus,
    )  # fmt: skip
    return tables


def pack(tables: Tables) -> tuple[Ints, Ints]:
    """All tables in one block; the addresses in the world count from its start.

    What never changes, the facts of jobs, comes last: see `load_window`.
    """
    world = tables.world.copy()
    names = (world.dtype.names or ())[-_address_count(world) :]
    names = (*(name for name in names if name != "jobs"), "jobs")
    at, parts = 0, []
    for name in names:
        if name not in vars(tables):
            continue  # what only other ways of backfilling need
        words = _words(getattr(tables, name))
        world[name] = 8 * at
        padding = np.zeros(-len(words) % ALIGNMENT, np.int64)
        parts += [words, padding]
        at += len(words) + len(padding)
    return _words(world), np.concatenate(parts)


def _address_count(world: NDArray[Any]) -> int:
    return int(world.dtype.itemsize) // 8 - ADDRESSES


def _words(table: NDArray[Any]) -> Ints:
    """The memory of a table as whole words."""
    return np.frombuffer(table.tobytes(), np.int64)


def side_by_side(found: list[Ready]) -> Windows:
    """The windows in one block of memory."""
    sizes = [len(ready.block) for ready in found]
    jobs = [len(ready.lasting) for ready in found]
    return Windows(
        worlds=np.stack([ready.world for ready in found]),
        blocks=np.concatenate([ready.block for ready in found]),
        offset=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        carried=np.array([ready.carried for ready in found], np.int64),
        begin=np.array([ready.begin for ready in found]),
        base=np.array([ready.base for ready in found]),
        lasting=np.concatenate([ready.lasting for ready in found]),
        first_job=np.concatenate(([0], np.cumsum(jobs))).astype(np.int64),
    )
