"""An agent writes a checkpoint that is a policy, reports its progress, and can go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dovetail.agents.catalogue import Agent
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill
from dovetail.policies.learned.checkpoint import load_checkpoint
from dovetail.testing.schedules import check_schedule, replay
from dovetail.traces.synthetic import WORKLOADS, synthesize


def small_site() -> Site:
    """600 jobs that queue on 24 GPUs."""
    cluster = Cluster.parse("3x8")
    return Site(synthesize(WORKLOADS["helios"], 600, 0, 1.2, cluster.total_gpus), cluster)


def check_agent(agent: Agent, folder: Path, **settings: Any) -> None:
    """Trains into an empty folder; `settings` should make it short."""
    config = agent.configure(settings)
    train = agent.load(LocalPlayers)
    told: list[Any] = []
    found = train([small_site()], folder, config, told.append, 1)
    assert told, f"{agent.name}: reports no progress"
    for progress in told:
        assert 0 < progress.epoch <= progress.epochs, f"{agent.name}: epoch {progress.epoch}"
        assert "\n" not in str(progress), f"{agent.name}: a report has more than one line"
    saved = load_checkpoint(folder)
    assert saved.kind == found.kind, f"{agent.name}: returns another model than it wrote"
    known = {"epoch", "choice"} & saved.card.keys()
    assert known, f"{agent.name}: the card has neither an epoch nor a choice"
    ordering, placement = saved.policy("trained")
    check_schedule(replay(ordering, placement, Backfill.EASY))
    again = train([small_site()], folder, config, told.append, 1)
    assert dict(again.card) == dict(saved.card), (
        f"{agent.name}: a training that was finished does not stay as it is"
    )
