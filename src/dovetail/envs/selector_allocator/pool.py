"""Windows made ready for two agents: those in which jobs wait, with what the base pair makes."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from dovetail.compiled.tables import Table
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.envs.pool import TRIES, Ready, lasting_of, pack, rules_of, side_by_side, tables_of
from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.reward import METRIC_NAMES, measure_all
from dovetail.envs.windows import STEPS, Episode
from dovetail.simulator.kernel.loop import advance_easy
from dovetail.simulator.node_classes import add_node_classes


class SelectorAllocatorPool:
    """A configuration's windows; environments may share one."""

    def __init__(self, config: SelectorAllocatorConfig) -> None:
        self.config = config
        self._order, self._place = config.base, config.place
        self.rules = rules_of(self._order, self._place)
        episodes = config.windows.episodes(self._order, np.random.default_rng(config.seed))
        found: list[Ready] = []
        scores: list[Floats] = []
        runs: list[Table] = []
        for episode in islice(episodes, TRIES * config.pool):
            base, ran = self._played(episode)
            if base[0] >= config.calm:
                found.append(self._ready(episode))
                scores.append(base)
                runs.append(ran)
            if len(found) == config.pool:
                break
        if len(found) < config.pool:
            raise ConfigError(
                f"only {len(found)} of {TRIES * config.pool} windows have jobs that wait "
                f"{config.calm:g} s or more on average, "
                f"{config.pool} are wanted; raise the load, or ask for a smaller pool or cluster"
            )
        self.windows = side_by_side(found)
        self.base = np.stack(scores)  # [windows, metrics]
        self.base_runs = np.concatenate(runs)
        counts = [len(part) for part in runs]
        self.base_first = np.concatenate(([0], np.cumsum(counts[:-1]))).astype(np.int64)
        self.playable: Ints | None = None  # windows with a decision, once a batch has looked

    def __len__(self) -> int:
        return len(self.base)

    def __deepcopy__(self, memo: Any) -> SelectorAllocatorPool:
        return self

    def _played(self, episode: Episode) -> tuple[Floats, Table]:
        """The metrics of the base pair, and how it ran the jobs."""
        tables = tables_of(episode, self._order, self.rules, self._place)
        while advance_easy(tables.world, self.rules, STEPS):
            pass
        found = measure_all(tables.world, episode.window.carried, episode.window.now)
        return found, tables.runs.copy()

    def _ready(self, episode: Episode) -> Ready:
        tables = tables_of(episode, self._order, self.rules, self._place)
        add_node_classes(tables)
        world, block = pack(tables)
        carried, now = episode.window.carried, episode.window.now
        return Ready(world, block, carried, now, 0.0, lasting_of(tables))


assert METRIC_NAMES[0] == "wait"  # what `calm` is about
