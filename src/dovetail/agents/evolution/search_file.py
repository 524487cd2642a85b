"""A search that goes on later: the state of an evolution and what belongs to it, in one file.

save_search(folder, search, {"facts": facts, "epoch": 3})
saved = load_search(folder, facts)          # None: there is none; of other facts: an error
saved.into(search)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.evolution.search import Evolution
from dovetail.agents.history import refuse_other
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.output import replacing
from dovetail.policies.learned.arrays_file import read_arrays

FILE = "search.npz"
_STATE = ("mean", "variance", "path", "scale_path")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """What was saved: figures by name, and arrays."""

    path: Path
    about: Mapping[str, Any]
    arrays: Mapping[str, Floats]

    def into(self, search: Evolution) -> None:
        """Let a search go on from here."""
        try:
            for name in _STATE:
                found, expected = self.arrays[name], getattr(search, name)
                if np.shape(found) != np.shape(expected):
                    raise ValueError(f"{name} has shape {np.shape(found)}")
                setattr(search, name, found)
            search.spread = float(self.about["spread"])
            search.random.bit_generator.state = self.about["random"]
        except (KeyError, TypeError, ValueError) as problem:
            raise _damaged(self.path, problem) from problem


def save_search(folder: Path, search: Evolution, about: Mapping[str, Any], **more: Floats) -> None:
    """Replace the file as a whole; `about` holds the facts by which it is known again."""
    state = {"spread": search.spread, "random": search.random.bit_generator.state}
    arrays: dict[str, Any] = {**more, **{name: getattr(search, name) for name in _STATE}}
    with replacing(folder / FILE) as path, path.open("wb") as file:
        np.savez(file, about=np.array(json.dumps({**about, **state})), **arrays)


def load_search(folder: Path, facts: Mapping[str, Any]) -> SavedSearch | None:
    """An earlier search with the same facts; one with others is an error."""
    path = folder / FILE
    if not path.exists():
        return None
    arrays = read_arrays(path)
    try:
        about = json.loads(str(arrays.pop("about")))
        refuse_other(folder, about["facts"], dict(facts))
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise _damaged(path, problem) from problem
    return SavedSearch(path, about, arrays)


@contextmanager
def refuse_damage(path: Path) -> Iterator[None]:
    """Whatever a saved value is not fit for is an error in words."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise _damaged(path, problem) from problem


def _damaged(path: Path, problem: object) -> ConfigError:
    return ConfigError(
        f"{path}: not a readable training ({problem}); choose another --out, or delete this file"
    )
