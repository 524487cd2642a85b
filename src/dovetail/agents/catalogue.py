"""The agents by name: how each is configured, and what trains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dovetail.agents.adlro.settings import AdlroSettings
from dovetail.agents.aim import USUAL_TEXT, aim_of
from dovetail.agents.choice.cells import LONGEST
from dovetail.agents.engines import Engine
from dovetail.agents.evolution.training import TrainingConfig
from dovetail.agents.evolution.training import learn as evolve
from dovetail.agents.history import Site
from dovetail.agents.promised import promised_tail
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.selector_allocator.config import SelectorAllocatorSettings
from dovetail.agents.training import train
from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry, instances_of
from dovetail.policies.learned.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class ChoiceConfig:
    """What a choice without learning depends on; stored with the checkpoint."""

    estimates: str = "predicted"
    longest: int = LONGEST  # jobs that candidates are measured on at most, at each load
    objective: str = USUAL_TEXT  # what is wanted, by weight
    promises: str = ""  # to be kept against Slurm's own order: size_p95=10%
    seed: int = 0

    def __post_init__(self) -> None:
        aim_of(self.objective)
        promised_tail(self.promises)


class Train(Protocol):
    """Goes on where an earlier call into the same folder stopped."""

    def __call__(
        self,
        sites: Sequence[Site],
        folder: Path,
        config: Any,
        report: Callable[[Any], None] = ...,
        workers: int = ...,
    ) -> Checkpoint: ...


@dataclass(frozen=True, slots=True)
class Agent:
    """A way to learn; what it needs is imported when `load` is called."""

    name: str
    config: type[Any]
    load: Callable[[Engine], Train]
    about: str  # one line for lists

    def parse_settings(self, texts: Iterable[str]) -> dict[str, Any]:
        """Settings written NAME=VALUE, as the types of their defaults; others cannot be written."""
        known = {part.name: part.default for part in fields(self.config)}
        found: dict[str, Any] = {}
        for text in texts:
            name, sign, value = text.partition("=")
            kind = type(known.get(name))
            if not sign or kind not in (int, float, str):
                written = [n for n, default in known.items() if type(default) in (int, float, str)]
                raise ConfigError(
                    f"--set {text!r}: write NAME=VALUE with one of {', '.join(written)}"
                )
            try:
                found[name] = kind(value)
            except ValueError:
                raise ConfigError(
                    f"--set {text!r}: expected {name}={known[name]!r} or so"
                ) from None
        return found

    def configure(self, settings: Mapping[str, Any]) -> Any:
        """A configuration; a setting that the agent does not have is an error, not ignored."""
        known = [part.name for part in fields(self.config)]
        for name in settings:
            if name not in known:
                raise ConfigError(
                    f"the agent {self.name} has no --{name}; it has {', '.join(known)}"
                )
        return self.config(**settings)


def _choice(engine: Engine) -> Train:
    return partial(train, "choice", None, engine=engine)


def _evolution(engine: Engine) -> Train:
    return partial(train, "evolution", evolve, engine=engine)


def _rltune(engine: Engine) -> Train:
    try:
        from dovetail.agents.rltune.training import learn
    except ImportError as problem:
        raise ConfigError(
            f"the agent rltune needs PyTorch and TensorBoard ({problem}): "
            "pip install 'dovetail-scheduler[train]'"
        ) from problem
    return partial(train, "rltune", learn, engine=engine)


def _selector_allocator(engine: Engine) -> Train:
    try:
        from dovetail.agents.selector_allocator.training import learn
    except ImportError as problem:
        raise ConfigError(
            f"the agent selector-allocator needs PyTorch and TensorBoard ({problem}): "
            "pip install 'dovetail-scheduler[train]'"
        ) from problem
    return partial(train, "selector-allocator", learn, engine=engine)


def _adlro(engine: Engine) -> Train:
    try:
        from dovetail.agents.adlro.site_training import train_site
    except ImportError as problem:
        raise ConfigError(
            f"the agent adlro needs PyTorch ({problem}): pip install 'dovetail-scheduler[train]'"
        ) from problem
    return train_site


AGENTS: Registry[Agent] = Registry(
    "agent",
    {
        "evolution": Agent(
            "evolution",
            TrainingConfig,
            _evolution,
            "the choice; then evolution of an index of fifteen weighed terms, or of a network",
        ),
        "rltune": Agent(
            "rltune", RltuneConfig, _rltune, "the choice; then PPO against a base policy"
        ),
        "selector-allocator": Agent(
            "selector-allocator",
            SelectorAllocatorSettings,
            _selector_allocator,
            "the choice; then two agents by PPO: which job goes next, and on which nodes",
        ),
        "adlro": Agent(
            "adlro",
            AdlroSettings,
            _adlro,
            "deep Q-learning: which job of one GPU goes on which type of GPU, or waits",
        ),
        "choice": Agent(
            "choice", ChoiceConfig, _choice, "the best ordering, estimates and placement, no more"
        ),
    },
    group="dovetail.agents",
    admit=instances_of(Agent),
)
