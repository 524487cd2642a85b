"""What the parts of registries about sliced GPUs are held to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.mig.agents.scores import PlayedDays
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.days import MigDays
from dovetail.mig.envs.placement import MigPlacement
from dovetail.mig.policies.learned.control import PARTS
from dovetail.mig.policy import Placer
from dovetail.mig.workload.seeds import TrainingDays


@cache
def day() -> PlayedDays:
    """Two hours on the eight GPUs of the published day."""
    return PlayedDays.of("8xa100-40:1,1,2,2,3,3,12,12", TrainingDays(0, 1), hours=2.0)


def plays(placer: Placer) -> None:
    """A day ends, and goes alike twice."""
    first, second = day().play(placer), day().play(placer)
    assert np.isfinite(first).all()
    assert np.array_equal(first, second)


def placer(name: str, part: Any, folder: Path) -> None:
    plays(part)


def waiting_rule(name: str, part: Any, folder: Path) -> None:
    assert part.start.shape == part.scale.shape == (len(part.varied),)
    plays(part.placer(part.start, "untrained"))
    with pytest.raises(ConfigError, match="train it again"):
        part.weights(np.zeros(1))


def model(name: str, part: Any, folder: Path) -> None:
    assert part.__doc__
    with pytest.raises(ConfigError, match="spoilt"):
        part({}, "spoilt")


def vector_part(name: str, part: Any, folder: Path) -> None:
    assert part.start.shape == part.scale.shape
    assert np.all(part.scale > 0)


def control(name: str, part: Any, folder: Path) -> None:
    assert set(part.split(part.start)) == set(part.parts) <= set(PARTS)
    for turn in part.parts:
        assert part.learns(turn).shape == part.start.shape
    assert part.policy(part.start, "untrained", 5, 3) is not None


def agent(name: str, part: Any, folder: Path) -> None:
    assert part.configure({"seed": 3}).seed == 3
    with pytest.raises(ConfigError, match="has no --nothing"):
        part.configure({"nothing": 1})


def environment_part(option: str) -> Callable[[str, Any, Path], None]:
    """An environment with this part can be played to its end, the same way twice."""

    def check(name: str, part: Any, folder: Path) -> None:
        config = MigPlacementConfig(days=MigDays(hours=1.0), pool=1, **{option: part})
        rewards = []
        for _ in range(2):
            env = MigPlacement(config)
            seen, _ = env.reset(seed=0)
            over, total = False, 0.0
            while not over:
                assert env.observation_space.contains(seen)
                action = int(np.flatnonzero(env.action_masks())[0])
                seen, reward, over, _, _ = env.step(action)
                total += float(reward)
            rewards.append(total)
        assert np.isfinite(rewards[0])
        assert rewards[0] == rewards[1]

    return check


def gpu_model(name: str, part: Any, folder: Path) -> None:
    assert part.configurations
    for configuration in part.configurations:
        assert sum(each.compute for each in configuration.slices) <= part.compute_slices
        part.place([profile.name for profile, _ in part.layout(configuration.number)])
    assert np.all(np.diff(part.watts) >= 0)


def repartitioner(name: str, part: Any, folder: Path) -> None:
    assert part is None  # the learned ones lie in folders


def activation(name: str, part: Any, folder: Path) -> None:
    values = part(np.array([-1.0, 0.0, 2.0]))
    assert np.all(np.diff(values) >= 0)
    assert values[1] == 0.0


def method(name: str, part: Any, folder: Path) -> None:
    assert callable(part)  # tests/mig/agents trains with each of them


CHECKS = {
    "PLACERS": placer,
    "WAITING_RULES": waiting_rule,
    "PLACER_MODELS": model,
    "CONTROL_MODELS": model,
    "SLOT_MODELS": model,
    "PARTS": vector_part,
    "CONTROLS": control,
    "MIG_AGENTS": agent,
    "MIG_OBSERVATIONS": environment_part("observation"),
    "MIG_REWARDS": environment_part("reward"),
    "GPU_MODELS": gpu_model,
    "REPARTITIONERS": repartitioner,
    "ACTIVATIONS": activation,
    "METHODS": method,
}
