"""Trains ADLRO for a site: episodes are drawn like its own jobs, on its own mix of GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.adlro.networks import PairNetwork
from dovetail.agents.adlro.settings import AdlroSettings
from dovetail.agents.adlro.training import AdlroConfig, AdlroTraining, train_adlro
from dovetail.agents.dqn.config import DqnConfig
from dovetail.agents.dqn.learner import DqnProgress
from dovetail.agents.history import Site, facts, known_jobs, refuse_other
from dovetail.domain.errors import ConfigError
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.policies.learned.arrays_file import read_card
from dovetail.policies.learned.checkpoint import (
    CARD_FILE,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)

MOST_GPUS = 32
"""Of a drawn cluster: the network values types of GPUs, and is no other for a larger one."""

LEAST_JOBS = 20


class AdlroProgress:
    """How far it is, for a progress bar."""

    def __init__(self, progress: DqnProgress) -> None:
        self.epoch, self.epochs, self._loss = progress.steps, progress.of, progress.loss

    def __str__(self) -> str:
        return f"loss {self._loss:.3f}"


def task_of(site: Site, settings: AdlroSettings) -> GpuAssignmentConfig:
    """Jobs of one GPU like those that training may look at, on the site's GPU types."""
    jobs = site.trace.jobs.take(slice(known_jobs(site.trace)))
    single = (jobs.gpus == 1) & (jobs.run > 0)
    if single.sum() < LEAST_JOBS:
        raise ConfigError(
            f"{site.trace.name}: {int(single.sum())} jobs of one GPU to learn from, "
            f"{LEAST_JOBS} are needed; ADLRO assigns these alone"
        )
    gpus = drawn_gpus(site)
    names = [jobs.kind.name(code) for code in np.unique(jobs.kind.codes[single]).tolist()]
    speeds = {
        name or "": {kind: site.cluster.speed_of(kind, name) for kind in gpus} for name in names
    }
    run = jobs.run[single]
    return GpuAssignmentConfig(
        gpus=gpus, speeds=speeds, jobs=settings.jobs, load=settings.load,
        run=float(run.mean()), spread=float(np.log(np.maximum(run, 1.0)).std()),
        noise=settings.noise,
    )  # fmt: skip


def drawn_gpus(site: Site) -> dict[str, int]:
    """GPUs of each type; of a large cluster a part with the same mix, at least one of each."""
    have: dict[str, int] = {}
    for node in site.cluster.nodes:
        if node.gpus:
            have[node.gpu_type] = have.get(node.gpu_type, 0) + node.gpus
    share = min(1.0, MOST_GPUS / sum(have.values()))
    return {name: max(1, round(count * share)) for name, count in have.items()}


def train_site(
    sites: Sequence[Site],
    folder: Path,
    config: AdlroSettings,
    report: Callable[[AdlroProgress], None] = lambda progress: None,
    workers: int = 1,
) -> Checkpoint:
    """Train on drawn episodes of one site; the folder holds the best network from the start on."""
    if len(sites) != 1:
        raise ConfigError(f"{len(sites)} sites: ADLRO is trained for one, whose GPU types it knows")
    task = task_of(sites[0], config)
    about = facts("adlro", config, sites)
    if _is_finished(folder, about):
        return load_checkpoint(folder)

    def keep(best: AdlroTraining, finished: bool = False) -> None:
        card = {**about, "validation": validation_of(best), "finished": finished}
        card["epoch"] = best.kept
        save_checkpoint(folder, checkpoint_of(best, task, card, config.estimates))

    adlro = AdlroConfig(task=task, dqn=DqnConfig(steps=config.steps, seed=config.seed))
    keep(train_adlro(adlro, lambda progress: report(AdlroProgress(progress)), keep), finished=True)
    return load_checkpoint(folder)


def _is_finished(folder: Path, about: dict[str, Any]) -> bool:
    """Whether the same training has come to its end here; one of other settings is an error."""
    if not (folder / CARD_FILE).exists():
        return False
    card = read_card(folder / CARD_FILE).content
    refuse_other(folder, {key: card.get(key) for key in about}, about)
    return card.get("finished") is True


def checkpoint_of(
    done: AdlroTraining, task: GpuAssignmentConfig, card: dict[str, Any], estimates: str = ""
) -> Checkpoint:
    """What the simulator and the daemon load; without torch."""
    if not isinstance(done.network, PairNetwork):
        raise ConfigError("only the network over pairs is exported: others are for one cluster")
    arrays = {**done.network.arrays(), "scale": np.array(float(task.run))}
    told = estimates if estimates.startswith("predicted:") else ""
    return Checkpoint("adlro", arrays, card, told)


def validation_of(done: AdlroTraining) -> dict[str, float]:
    """For the card: mean completion time of drawn episodes, in seconds."""
    return {"start": done.start, "best": done.best}
