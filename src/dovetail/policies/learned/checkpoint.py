"""A checkpoint is a folder: weights, and a card that says where they come from.

policy.npz   the weights; NumPy reads them, no training library is needed
card.json    configuration, trace and cluster digests, results
README.md    the same for people
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.output import make_folder, replacing
from dovetail.domain.trace import DRAWN
from dovetail.policies.learned.arrays_file import read_arrays, read_card
from dovetail.policies.learned.families import Learned
from dovetail.policies.learned.models import MODELS

WEIGHTS_FILE, CARD_FILE, README_FILE = "policy.npz", "card.json", "README.md"
Models = Mapping[str, Callable[..., Any]]
"""Kinds of models; the first line of their docstrings says what they are."""

KIND = "kind"
"""Name of the array that says which of MODELS the others belong to."""

ESTIMATES = "estimates"
"""Name of the array that says what of run times the policy goes by, if it says so."""

LIMITS = "limits"
"""Name of the array that says how far it believes limits, if it says so."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A trained policy and what is known of it."""

    kind: str  # one of MODELS
    arrays: Mapping[str, NDArray[Any]]
    card: Mapping[str, Any]
    estimates: str = ""  # such as "predicted:mixture,order=mean,reserve=q80"; empty: any
    limits: str = ""  # where it is told limits, such as "limit:power=0.5"; empty: as they are

    def policy(self, name: str) -> Learned:
        return MODELS[self.kind](self.arrays, name)


def load_checkpoint(folder: Path, models: Models = MODELS) -> Checkpoint:
    """Read a checkpoint; a file that is not one is a clear error."""
    arrays = read_arrays(folder / WEIGHTS_FILE)
    if KIND not in arrays:
        raise ConfigError(f"{folder}: not a readable checkpoint: {WEIGHTS_FILE} has no {KIND!r}")
    kind = str(arrays.pop(KIND))
    estimates, limits = (str(arrays.pop(name, "")) for name in (ESTIMATES, LIMITS))
    card = read_card(folder / CARD_FILE).content
    if kind not in models:
        raise ConfigError(
            f"{folder}: a model of unknown kind {kind[:40]!r}; known are {', '.join(models)}: "
            "update Dovetail, or train it again"
        )
    return Checkpoint(kind, arrays, card, estimates, limits)


def save_checkpoint(
    folder: Path, checkpoint: Checkpoint, models: Models = MODELS, use: str = "--order FOLDER"
) -> None:
    """Write a checkpoint; each file is replaced as a whole, so that Ctrl-C leaves a good one.

    `use` is how the model is given to a command.
    """
    make_folder(folder)
    arrays: dict[str, Any] = {KIND: np.array(checkpoint.kind), **checkpoint.arrays}
    for name, told in ((ESTIMATES, checkpoint.estimates), (LIMITS, checkpoint.limits)):
        if told:
            arrays[name] = np.array(told)
    with replacing(folder / WEIGHTS_FILE) as path, path.open("wb") as file:
        np.savez(file, **arrays)
    for name, text in (
        (CARD_FILE, json.dumps(checkpoint.card, indent=1, sort_keys=True) + "\n"),
        (README_FILE, _readme(checkpoint, models, use)),
    ):
        with replacing(folder / name) as path:
            path.write_text(text, encoding="utf-8")


def _readme(checkpoint: Checkpoint, models: Models, use: str) -> str:
    """A model card in the usual form."""
    about = (models[checkpoint.kind].__doc__ or "").partition("\n")[0]
    lines = [
        "---",
        "library_name: dovetail",
        "tags: [scheduling, gpu-cluster]",
        "---",
        "# A learned scheduling policy",
        "",
        f"{about} Use it as `{use}`.",
        "",
        "| | |",
        "| --- | --- |",
        *(f"| {key} | {_cell(value)} |" for key, value in _flat(checkpoint.card)),
        "",
        *_again(checkpoint.card),
    ]
    return "\n".join(lines)


def _again(card: Mapping[str, Any]) -> list[str]:
    """How to make it again, if the card knows its origin."""
    if not {"agent", "config", "sites"} <= card.keys():
        return []
    words = ["dovetail", "train", "--agent", card["agent"]]
    for site in card["sites"]:
        words += ["--trace", _source(str(site["trace"])), "--cluster", site["cluster"]]
    config = card["config"]
    for name in ("epochs", "estimates", "seed"):
        words += [f"--{name}", config[name]] if name in config else []
    for name in ("objective", "promises"):
        words += [f"--{name}", config[name]] if config.get(name) else []
    words += ["--set", f"longest={config['longest']}"] if "longest" in config else []
    command = " ".join(shlex.quote(_cell(word)) for word in words)
    return [
        "To make it again, with the files of these traces (and the `--jobs` and `--load` that "
        "drawn ones were given):",
        "",
        f"    {command} --out DIR",
        "",
    ]


def _source(trace: str) -> str:
    """What a command is given for a trace of that name: drawn ones have no file."""
    return f"synth:{trace.removesuffix(DRAWN)}" if trace.endswith(DRAWN) else trace


def _flat(card: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """All values of a card with the names that lead to them, such as `sites 1 cluster`."""
    for key, value in card.items():
        if key == "trained_on":  # a hundred numbers that say nothing to people
            continue
        if isinstance(value, list):
            value = {str(number): part for number, part in enumerate(value, start=1)}
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key} ")
        else:
            yield f"{prefix}{key}", value


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
