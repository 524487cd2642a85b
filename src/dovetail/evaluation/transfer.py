"""What a policy trained on one cluster's history does on another's: train-on × test-on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dovetail.agents.engines import Engine
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.evaluation.statistics import Interval
from dovetail.evaluation.unseen import Draws, evaluate_unseen
from dovetail.policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Transfer:
    """One cell: a policy on the unseen part of a history, as ratios to the reference."""

    trained_on: str
    tested_on: str
    wait: Interval
    bsld: Interval


def transfer(
    models: Mapping[str, Path],
    sites: Mapping[str, Site],
    reference: Policy,
    estimates: str,
    seed: int = 1,
    seeds: int = 3,
    progress: Callable[[float], None] = lambda fraction: None,
    workers: int = 1,
    engine: Engine = LocalPlayers,
) -> list[Transfer]:
    """Every model on the last tenth of every site, against the reference there."""
    cells: list[Transfer] = []
    for tested_on, site in sites.items():
        draws = Draws(site.trace, estimates, seed, seeds)
        for trained_on, folder in models.items():
            policies = [Policy(str(folder)), reference]
            found = evaluate_unseen(
                site.trace, site.cluster, policies, draws, workers=workers, engine=engine
            )
            ours = found.rows[1]  # the first policy's ratios to the reference
            cells.append(Transfer(trained_on, tested_on, ours.wait_ratio, ours.bsld_ratio))
            progress(len(cells) / (len(models) * len(sites)))
    return cells
