"""Arrays and JSON of a model's folder, read as a stranger's: bounded, typed, never unpickled.

arrays = read_arrays(folder / "policy.npz")
card = read_card(folder / "card.json")
card.whole("config", "seed")        # an error in words where the card has none
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError

MAX_BYTES = 256 << 20
"""A thousand times the largest policy; an archive that unpacks to more is damaged or an attack."""

KINDS = "fiubU"
"""Numbers, truth values and text; nothing that could hold an object."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an .npz file; whatever is wrong with it is a ConfigError."""
    try:
        # Opened here: NumPy leaves the file of a damaged archive open.
        with path.open("rb") as file:
            _refuse_large(path, file)
            file.seek(0)
            with np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
    except ConfigError:
        raise
    except Exception as problem:  # zipfile, zlib and NumPy document no list of what they raise
        raise _unreadable(path, problem) from problem
    for name, array in arrays.items():
        # NumPy hands over bytes for what is in the archive, but no array.
        if not isinstance(array, np.ndarray) or array.dtype.kind not in KINDS:
            raise _unreadable(path, f"{name!r} is not an array of numbers or text")
    return arrays


def _refuse_large(path: Path, file: Any) -> None:
    with ZipFile(file) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > MAX_BYTES:
        raise _unreadable(path, f"larger than {MAX_BYTES >> 20} MiB")


@dataclass(frozen=True, slots=True)
class Card:
    """What a JSON file says, read by the path that leads to a value."""

    path: Path
    content: Mapping[str, Any]

    def value(self, *keys: str) -> Any:
        found: Any = self.content
        for key in keys:
            if not isinstance(found, Mapping) or key not in found:
                raise ConfigError(f"{self.path}: has no {'.'.join(keys)}; train the model again")
            found = found[key]
        return found

    def whole(self, *keys: str) -> int:
        found = self.value(*keys)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self._wrong(keys, found, "a whole number")
        return found

    def text(self, *keys: str) -> str:
        found = self.value(*keys)
        if not isinstance(found, str):
            raise self._wrong(keys, found, "text")
        return found

    def texts_of_each(self, key: str, part: str) -> list[str]:
        """The text `part` of each entry of the list `key`."""
        found = self.value(key)
        entries = found if isinstance(found, list) else [found]
        texts = [entry.get(part) if isinstance(entry, Mapping) else None for entry in entries]
        if not all(isinstance(text, str) for text in texts):
            raise self._wrong((key,), found, f"a list of tables with {part}")
        return [str(text) for text in texts]

    def _wrong(self, keys: tuple[str, ...], found: object, expected: str) -> ConfigError:
        shown = repr(found)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        return ConfigError(
            f"{self.path}: {'.'.join(keys)} is {shown}, expected {expected}; train the model again"
        )


def read_card(path: Path) -> Card:
    """The JSON object of a file."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise _unreadable(path, f"larger than {MAX_BYTES >> 20} MiB")
        content = json.loads(text.decode())
    except (OSError, ValueError, RecursionError) as problem:
        raise _unreadable(path, problem) from problem
    if not isinstance(content, dict):
        raise _unreadable(path, "expected an object in braces")
    return Card(path, content)


def _unreadable(path: Path, problem: object) -> ConfigError:
    words = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return ConfigError(
        f"{path.parent}: not a readable checkpoint: {path.name}: {' '.join(words.split())[:200]}"
    )
