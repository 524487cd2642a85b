"""One environment of two agents, as both of PettingZoo's interfaces need it."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from dovetail.domain.node_classes import CLASSES
from dovetail.envs.batch import IllegalActions
from dovetail.envs.renderers import RENDERERS, moment, table_of
from dovetail.envs.selector_allocator.batch import SelectorAllocatorBatch
from dovetail.envs.selector_allocator.config import (
    AGENT_NAMES,
    ALLOCATOR,
    SELECTOR,
    SelectorAllocatorConfig,
)
from dovetail.envs.selector_allocator.kernel import ALLOCATES, SUMMARY
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.visible_jobs import SHOWN
from dovetail.policies.features import FEATURES
from dovetail.policies.node_features import NODE_FEATURES
from dovetail.simulator.kernel.rows import KindRow, NodeRow

KINDS = 16
"""Kinds of nodes that the selector is shown; further ones it does not see one by one."""

KIND_NUMBERS = 4
"""Of a kind: its share of the GPUs, free GPUs, idle nodes, and how scattered the free ones are."""

Look = dict[str, NDArray[Any]]
METADATA = {"name": "selector_allocator_v0", "render_modes": list(RENDERERS), "render_fps": 4}


class Game:
    """A window that is played; begins when `begin` is called."""

    def __init__(
        self,
        config: SelectorAllocatorConfig | None = None,
        pool: SelectorAllocatorPool | None = None,
        render_mode: str | None = None,
        illegal_actions: IllegalActions | str = IllegalActions.ERROR,
    ) -> None:
        if render_mode is not None:
            _ = RENDERERS[render_mode]  # an unknown mode answers "did you mean"
        self.pool = pool or SelectorAllocatorPool(config or SelectorAllocatorConfig())
        self.render_mode, self.over = render_mode, True
        self._one = SelectorAllocatorBatch(self.pool)
        self._lenient = IllegalActions(illegal_actions) is IllegalActions.WAIT
        self._random = seeding.np_random(None)[0]

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """A random window of the pool, or the one in `options["window"]`."""
        if seed is not None:
            self._random = seeding.np_random(seed)[0]
        self._one.follow(0, self._random)
        self._one.begin(options)
        self.over = False

    @property
    def agent(self) -> str:
        """Whose turn it is."""
        return AGENT_NAMES[int(self._one.turn[0] == ALLOCATES)]

    def act(self, action: Any) -> tuple[float, dict[str, Any]]:
        """The shared reward; at the end the metrics, ours and the base pair's."""
        if self._lenient:
            action = self._legal(action)
        self._one.step(np.array([action]))
        self.over = bool(self._one.dones[0])
        ended = self._one.ended() if self.over else {}
        return float(self._one.rewards[0]), {name: part[0].item() for name, part in ended.items()}

    def look(self, agent: str) -> Look:
        """What an agent sees; one that is not asked sees nothing and has its last action only."""
        space = observation_space(agent)
        seen: Look = {name: np.zeros_like(part.low) for name, part in space.items()}
        if self.over or agent != self.agent:
            seen["action_mask"][-1] = 1
            return seen
        count = int(self._one.pair.filled[0])
        wide = seen["observation"].shape[1]
        seen["observation"][:count] = self._one.stage.jobs[0, :count, :wide]
        seen["action_mask"][:count] = 1
        if agent == SELECTOR:
            seen["action_mask"][-1] = self._one.stage.mask[0, -1]
            seen["kinds"][:] = self._kinds()
        return seen

    def state(self) -> NDArray[np.float32]:
        """The whole state in a few numbers, for a critic of both."""
        found: NDArray[np.float32] = self._one.stage.critic[0, 0].copy()
        return found * np.float32(not self.over)

    def render(self) -> Any:
        """The nodes and the jobs to choose from; None without a render mode."""
        if self.render_mode is None:
            return None
        drawn = RENDERERS[self.render_mode](moment(self._one, 0))
        if self.render_mode == "ansi" and self.agent == ALLOCATOR and not self.over:
            hand, count = int(self._one.pair.hand[0]), int(self._one.pair.class_count[0])
            drawn += f"the allocator places job {hand}: {count} classes of nodes to choose from\n"
        return drawn

    def _legal(self, action: Any) -> Any:
        """Instead of an action that the mask rules out: waiting, or else the base pair's."""
        mask = self._one.stage.mask[0]
        if 0 <= action < len(mask) and mask[action]:
            return action
        return len(mask) - 1 if mask[-1] else 0

    def _kinds(self) -> NDArray[np.float32]:
        world = self._one.stage.worlds[0]
        kinds = table_of(world, "kinds", KindRow, "kind_count")
        nodes = table_of(world, "nodes", NodeRow, "node_count")
        found = np.zeros((KINDS, KIND_NUMBERS), np.float32)
        total = max(1, int(kinds["gpus"][nodes["kind"]].sum()))
        for number, row in enumerate(found[: len(kinds)]):
            free = nodes["gpus"][nodes["kind"] == number].astype(float)
            whole = float(max(1, kinds["gpus"][number]))
            row[0] = whole * len(free) / total
            row[1] = free.sum() / (whole * len(free))
            row[2] = float((free == whole).mean())
            row[3] = 1.0 - (free**2 / whole).sum() / free.sum() if free.sum() > 0 else 0.0
        return found


def observation_space(agent: str) -> Any:
    """Rows to choose from and which of them are legal; for the selector the cluster by kinds."""
    jobs = agent == SELECTOR
    rows, width = (SHOWN, len(FEATURES)) if jobs else (CLASSES, len(NODE_FEATURES))
    parts: dict[str, spaces.Space[Any]] = {
        "observation": spaces.Box(-1.0, 1.0, (rows, width), np.float32),
        "action_mask": spaces.Box(0, 1, (rows + 1,), np.int8),
    }
    if jobs:
        parts["kinds"] = spaces.Box(0.0, 1.0, (KINDS, KIND_NUMBERS), np.float32)
    return spaces.Dict(parts)


def action_space(agent: str) -> spaces.Discrete:
    """The rows, then waiting (selector) or nothing to do (allocator)."""
    return spaces.Discrete((SHOWN if agent == SELECTOR else CLASSES) + 1)


def state_space() -> spaces.Box:
    return spaces.Box(0.0, 1.0, (SUMMARY,), np.float32)
