"""A small package with one part of every kind, installed into a folder as pip would do it."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
"""One part of every kind."""
from dataclasses import dataclass

import gymnasium
import numpy as np

from dovetail.agents.catalogue import Agent
from dovetail.domain.policy import Placement, preferring
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.prediction import PREDICTORS
from dovetail.traces.formats.csv import CSV
from dataclasses import replace


def widest(job):
    """-g: the widest job first"""
    return -float(job.gpus)


@preferring
def _emptiest(p, chunk, free, run, busy, seen):
    """the node with the most free GPUs, by another package"""
    return -float(free)


EMPTIEST = Placement("emptiest", _emptiest)


def _sniff(path, head):
    return head.startswith(b"# mine")


def _read(path, progress):
    from dovetail.domain.errors import TraceError
    lines = path.read_text(errors="replace").split("\\n", 1)
    if not lines[0].startswith("# mine"):
        raise TraceError(f"{path.name}: does not begin with # mine")
    body = path.with_name(path.name + ".csv")
    body.write_text(lines[1])
    return CSV.read(body, progress)


MINE = replace(CSV, name="mine", about="a CSV below a line of our own", sniff=_sniff, read=_read)
SECOND = replace(PREDICTORS["median"], name="second")


@dataclass(frozen=True)
class GuessConfig:
    epochs: int = 2
    estimates: str = "noisy:1"
    scale: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Told:
    epoch: int
    epochs: int


def train(sites, folder, config, report=lambda told: None, workers=1):
    weights = FAMILIES["index"].start * config.scale
    for epoch in range(config.epochs):
        report(Told(epoch + 1, config.epochs))
    save_checkpoint(folder, Checkpoint("index", {"weights": weights}, {"epoch": config.epochs}))
    return load_checkpoint(folder)


GUESS = Agent("guess", GuessConfig, lambda engine: train, "the start of the search, scaled")


class Coin(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 3
        return self._seen(), {}

    def step(self, action):
        self.left -= 1
        return self._seen(), float(action), self.left == 0, False, {}

    def _seen(self):
        return self.np_random.random(1).astype(np.float32)
'''

GOOD = {
    "dovetail.orderings": {"widest": "mine:widest"},
    "dovetail.placements": {"emptiest": "mine:EMPTIEST"},
    "dovetail.predictors": {"second": "mine:SECOND"},
    "dovetail.trace_formats": {"mine": "mine:MINE"},
    "dovetail.agents": {"guess": "mine:GUESS"},
    "dovetail.environments": {"mine/Coin-v0": "mine:Coin"},
}
BROKEN = {
    "dovetail.orderings": {
        "absent": "no_such_module:X",
        "raises": "spoilt:X",
        "wrong": "rightful:NUMBER",
        "saf": "rightful:area",
    },
    "dovetail.placements": {"absent-place": "no_such_module:X"},
    "dovetail.trace_formats": {"absent-format": "no_such_module:X", "crashing": "crashing:FORMAT"},
    "dovetail.agents": {"absent-agent": "no_such_module:X"},
    "dovetail.environments": {"broken/Absent-v0": "no_such_module:X"},
}


CRASHING = """
from dovetail.traces.table import Format

def _read(path, progress):
    return {}["submit"]

FORMAT = Format("crashing", "fails", lambda path, head: head.startswith(b"# crash"), _read)
"""


def install(folder: Path, name: str, groups: dict[str, dict[str, str]], **modules: str) -> None:
    """Modules and a dist-info, which is all that an installed package is."""
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    info = folder / f"{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))


def install_good(folder: Path) -> None:
    install(folder, "mine", GOOD, mine=MODULE)


def install_broken(folder: Path) -> None:
    install(
        folder,
        "spoilt-parts",
        BROKEN,
        crashing=CRASHING,
        spoilt="raise RuntimeError('no licence\\nserver')\n",
        rightful="NUMBER = 3\ndef area(job): return job.gpus\n",
    )
