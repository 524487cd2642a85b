"""Trains a challenger in a process of its own: niced, with a cap on memory, stopped after a time.

python -m dovetail.models.background TASK.json     # what `train_in_background` starts
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dovetail.domain.errors import ConfigError, DovetailError


class TrainingFailed(DovetailError):  # noqa: N818 - reads as what happened
    """A background training that left no model; the message says why."""


@dataclass(frozen=True, slots=True)
class BackgroundTraining:
    """What to train on, and what it may use."""

    trace: str
    cluster: str
    out: str
    agent: str = "evolution"
    settings: dict[str, Any] = field(default_factory=dict)  # of the agent's configuration
    niceness: int = 10
    memory_gb: float = 4.0  # of address space
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        if not 0 <= self.niceness <= 19 or self.memory_gb <= 0 or self.seconds <= 0:
            raise ConfigError("niceness is 0 to 19; memory and seconds are above 0")


def train_in_background(task: BackgroundTraining) -> Path:
    """Run it and wait; the folder with the model."""
    out = Path(task.out)
    out.mkdir(parents=True, exist_ok=True)
    described = out / "task.json"
    described.write_text(json.dumps(asdict(task)), encoding="utf-8")
    words = [sys.executable, "-m", "dovetail.models.background", str(described)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=task.seconds)
    except subprocess.TimeoutExpired as problem:
        raise TrainingFailed(f"no model after {task.seconds:g} s; give it more time") from problem
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise TrainingFailed(f"the training failed: {said[-1][:300]}")
    return out


def main(described: Path) -> None:
    """In the new process: limits first, then everything else."""
    task = BackgroundTraining(**json.loads(described.read_text(encoding="utf-8")))
    os.nice(task.niceness)
    most = int(task.memory_gb * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    from dovetail.agents.catalogue import AGENTS
    from dovetail.agents.history import Site
    from dovetail.agents.players import LocalPlayers
    from dovetail.traces.cluster_loader import load_cluster
    from dovetail.traces.loader import load_trace

    agent = AGENTS[task.agent]
    site = Site(load_trace(task.trace), load_cluster(task.cluster))
    agent.load(LocalPlayers)([site], Path(task.out), agent.configure(task.settings))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
