"""What can be learned on sliced GPUs, by name: how it is configured, and what trains it.

agent = MIG_AGENTS["joint"]
agent.train(agent.configure(settings), Path("model"), print)      # settings = {"epochs": 20}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry
from dovetail.mig.agents.control_config import ControlTraining
from dovetail.mig.agents.control_training import train_joint, train_repartition
from dovetail.mig.agents.placement_config import PlacementTraining
from dovetail.mig.agents.placement_training import train_placement
from dovetail.policies.learned.checkpoint import Checkpoint


class MigTrainer(Protocol):
    """Goes on where an earlier call into the same folder stopped; Ctrl-C keeps the best."""

    def __call__(
        self, config: Any, folder: Path, report: Callable[[Any], None] = ...
    ) -> Checkpoint: ...


@dataclass(frozen=True, slots=True)
class MigAgent:
    """Something that can be learned."""

    name: str
    config: type[Any]
    train: MigTrainer
    use: str  # the option that takes what comes out

    def configure(self, settings: Mapping[str, Any]) -> Any:
        """A configuration; a setting that the agent does not have is an error, not ignored.

        Clusters are given as a list, whether the agent learns on several or on one.
        """
        known = [part.name for part in fields(self.config)]
        given = dict(settings)
        if "clusters" in given and "clusters" not in known:
            only, *others = given.pop("clusters")
            if others:
                raise ConfigError(f"{self.name} is learned on one cluster; name one")
            given["cluster"] = only
        for name in given:
            if name not in known:
                raise ConfigError(f"{self.name} has no --{name}; it has {', '.join(known)}")
        return self.config(**given)


MIG_AGENTS: Registry[MigAgent] = Registry(
    "thing to learn",
    {
        agent.name: agent
        for agent in (
            MigAgent("placement", PlacementTraining, train_placement, "--placer"),
            MigAgent("repartition", ControlTraining, train_repartition, "--repartitioner"),
            MigAgent("joint", ControlTraining, train_joint, "--control"),
        )
    },
)
