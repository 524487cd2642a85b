"""Assignment environments side by side in memory, stepped by one kernel call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.native import Kept
from dovetail.compiled.tables import new_table
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.envs.batch import InvalidAction, Seen, whole_numbers
from dovetail.envs.gpu_assignment import kernel
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.envs.pool import pack, rules_of
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel.rows import World

POOL = 256
"""Episodes that are drawn and then played again and again, each with its own number."""


class AssignmentPool:
    """Episodes drawn from one configuration; environments may share a pool."""

    def __init__(self, config: GpuAssignmentConfig, seeds: Sequence[int]) -> None:
        if not len(seeds):
            raise ConfigError("a pool needs at least one seed")
        self.config, self.seeds = config, tuple(seeds)
        cluster, fcfs = config.cluster(), ORDERINGS["fcfs"]
        codes = {kind: code for code, kind in enumerate(config.kinds)}
        worlds, blocks, kinds = [], [], []
        for seed in self.seeds:
            drawn = config.draw(np.random.default_rng(seed))
            estimates = Estimates("told", drawn.estimates)
            tables = Tables(
                drawn.trace.jobs, cluster, fcfs, PLACEMENTS["first-available"], estimates
            )
            world, block = pack(tables)
            worlds.append(world)
            blocks.append(block)
            kinds.append([codes[name or ""] for name in drawn.trace.jobs.kind.names()])
        sizes = [len(block) for block in blocks]
        self.episodes = kernel.AssignmentEpisodes(
            np.stack(worlds),
            np.concatenate(blocks),
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            np.array(kinds, np.int64),
        )
        types = list(dict.fromkeys(config.types))
        self.play = kernel.AssignmentRules(
            rules_of(fcfs),
            np.array([types.index(name) for name in config.types]),
            np.ascontiguousarray(config.believed_speeds()),
            float(config.run),
            float(config.idle_weight),
        )

    def __len__(self) -> int:
        return len(self.seeds)

    def __deepcopy__(self, memo: Any) -> AssignmentPool:
        return self  # Gymnasium copies what an environment is made with


class GpuAssignmentBatch:
    """`count` environments; what is seen lies in arrays that every step writes anew."""

    def __init__(self, pool: AssignmentPool, count: int = 1) -> None:
        self.pool, self.count = pool, count
        self.state = state = _new_state(pool, count)
        self.seen: Seen = {
            name: getattr(state, name) for name in ("gpus", "jobs", "speeds", "queue", "mask")
        }
        self.rewards, self.dones, self.elapsed = state.rewards, state.dones, state.elapsed
        arguments = kernel.AssignmentArguments(state, pool.episodes, pool.play)
        self._kept = Kept(arguments, kernel.ASSIGNMENT_ARGUMENTS)

    def believe(self, speeds: NDArray[np.float64]) -> None:
        """Speeds [kinds, GPUs] that are shown from now on, as when a GPU is found to be slow."""
        if speeds.shape != self.pool.play.believed.shape or not np.all(speeds > 0):
            raise ConfigError(f"speeds of shape {speeds.shape}: expected one per kind and GPU")
        self.pool.play.believed[:] = speeds

    def follow(self, environment: int, random: np.random.Generator) -> None:
        self.state.following[environment] = random.integers(len(self.pool))

    def begin(self, options: Mapping[str, Any] | None = None) -> None:
        """Begin the episodes that follow, or those numbered in `options["episode"]`."""
        if options and "episode" in options:
            wanted = whole_numbers("episodes", options["episode"])
            known = (wanted >= 0) & (wanted < len(self.pool))
            if wanted.shape not in ((), (self.count,)) or not np.all(known):
                raise ConfigError(f"episode: expected 0 to {len(self.pool) - 1}, one for each")
            self.state.following[:] = wanted
        kernel.reset(self._kept.address)

    def step(self, actions: Any) -> None:
        if np.shape(actions) != (self.count,):
            raise InvalidAction(f"actions of shape {np.shape(actions)}, expected ({self.count},)")
        chosen = whole_numbers("actions", actions)
        width = self.state.mask.shape[1]
        inside = (chosen >= 0) & (chosen < width)
        legal = inside & (self.state.mask[np.arange(self.count), np.where(inside, chosen, 0)] > 0)
        if not legal.all():
            at = int(np.argmin(legal))
            raise InvalidAction(
                f"environment {at}: action {int(chosen[at])} names no waiting job with a free GPU; "
                "look at the mask"
            )
        self.state.actions[:] = chosen
        kernel.step(self._kept.address)

    def charged(self, horizon: float) -> NDArray[np.float64]:
        """Rewards of the last step for a learner with this horizon, in seconds: what a job costs
        while it runs is charged when it starts.

        Discounted, that is the same sum as seconds charged as they pass; but the choice that
        caused them gets them at once, not mixed with those of all other jobs.
        """
        state, play = self.state, self.pool.play
        ahead = -horizon * np.expm1(-state.begun / horizon)
        spent = ahead + state.waited + play.idle_weight * state.idle
        charged: NDArray[np.float64] = -spent / play.scale
        return charged

    def running(self) -> dict[str, NDArray[Any]]:
        return {"episode": self.state.playing.copy()}

    def ended(self) -> dict[str, NDArray[Any]]:
        """Of episodes that ended with the last step."""
        spent, jobs, length, busy, idle = self.state.measures.T
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "episode": self.state.played.copy(),
                "completion_time": spent / jobs,
                "throughput": 3600.0 * jobs / length,
                "utilisation": busy / (busy + idle),
            }

    def close(self) -> None:
        """Nothing is held."""


def _new_state(pool: AssignmentPool, count: int) -> kernel.AssignmentState:
    config, episodes = pool.config, pool.episodes
    gpus, shown, types = config.count, config.shown, len(config.gpus)
    worlds = new_table(World, count)
    capacity = int(np.diff(episodes.offset).max())
    arenas = np.empty((count, capacity), np.int64)
    seen = np.zeros((count, gpus, kernel.GPU_FEATURES + types), np.float32)
    seen[:, np.arange(gpus), kernel.GPU_FEATURES + pool.play.types] = 1.0
    return kernel.AssignmentState(
        worlds=worlds,
        words=worlds.view(np.int64).reshape(count, -1),
        arenas=arenas,
        home=arenas.ctypes.data + 8 * capacity * np.arange(count),
        playing=np.zeros(count, np.int64),
        following=np.zeros(count, np.int64),
        rows=np.zeros((count, shown), np.int64),
        counts=np.zeros(count, np.int64),
        recent=np.zeros((count, gpus)),
        idle=np.zeros(count),
        waited=np.zeros(count),
        ran=np.zeros(count),
        begun=np.zeros(count),
        gpus=seen,
        jobs=np.zeros((count, shown, kernel.JOB_FEATURES + len(config.kinds)), np.float32),
        speeds=np.zeros((count, shown, gpus), np.float32),
        queue=np.zeros((count, 1), np.float32),
        mask=np.zeros((count, shown * gpus + 1), np.int8),
        rewards=np.zeros(count),
        elapsed=np.zeros(count),
        dones=np.zeros(count, np.bool_),
        actions=np.zeros(count, np.int64),
        measures=np.zeros((count, kernel.MEASURES)),
        played=np.zeros(count, np.int64),
    )
