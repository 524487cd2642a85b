"""The folder of models: every version, the champion among them, and a log of each change.

NAME/versions/VERSION/   policy.npz, card.json, README.md: a checkpoint
NAME/champion/           a copy of the champion's, for a daemon's `policy` or for `--order`
NAME/state.json          who is champion, and who was before
NAME/log.jsonl           what was done, when and why; lines are only added

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     ModelStore(Path(folder) / "models").names()
[]
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.domain.errors import ConfigError, DovetailError
from dovetail.files import Folder
from dovetail.models.contest import Contest, ContestVerdict
from dovetail.policies.learned.checkpoint import (
    CARD_FILE,
    README_FILE,
    WEIGHTS_FILE,
    load_checkpoint,
)

STATE, LOG = "state.json", "log.jsonl"
FILES = (WEIGHTS_FILE, CARD_FILE, README_FILE)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MOST_FORMER = 50
"""Champions that are remembered for a way back."""


class NotPromoted(DovetailError):  # noqa: N818 - reads as what happened
    """A challenger that has not won; the message says why."""


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """One model of a name."""

    name: str
    version: str
    champion: bool


class ModelStore:
    """Models by name; the folder is made where it is missing."""

    def __init__(
        self, root: Path, now: Callable[[], float] = time.time,
        announce: Callable[[str], None] = lambda sentence: None,
    ) -> None:  # fmt: skip
        self.root, self._now, self._announce = root, now, announce

    def names(self) -> list[str]:
        if not self.root.is_dir():
            return []
        return sorted(each.name for each in self.root.iterdir() if _NAME.fullmatch(each.name))

    def versions(self, name: str) -> list[ModelVersion]:
        """In order of their making."""
        folder = self._path(name) / "versions"
        champion = self._state(name)["champion"]
        found = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        return [ModelVersion(name, version, version == champion) for version in found]

    def log(self, name: str) -> list[dict[str, Any]]:
        """What was done, oldest first."""
        with Folder.make(self._path(name)) as folder:
            if folder.status(LOG) is None:
                return []
            lines = folder.read(LOG).decode().splitlines()
        return [json.loads(line) for line in lines]

    def folder(self, name: str, version: str) -> Path:
        """Of one version."""
        if version not in [each.version for each in self.versions(name)]:
            raise ConfigError(
                f"{name} has no version {version[:60]!r}; look at `dovetail models list`"
            )
        return self._path(name) / "versions" / version

    def champion(self, name: str) -> Path:
        """A folder for `--order`, whose content changes when another model is promoted."""
        if self._state(name)["champion"] is None:
            raise ConfigError(f"{name} has no champion yet; promote a version")
        return self._path(name) / "champion"

    def add(self, name: str, checkpoint: Path) -> str:
        """Take a copy of a trained model in as a challenger; its version."""
        load_checkpoint(checkpoint)  # what is not one is refused here
        content = {file: (checkpoint / file).read_bytes() for file in FILES}
        digest = hashlib.sha256(content[WEIGHTS_FILE]).hexdigest()[:8]
        version = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(self._now()))}-{digest}"
        self._write(self._path(name) / "versions" / version, content)
        self._note(name, {"did": "added", "version": version})
        return version

    def promote(self, name: str, version: str, found: Contest | None, by: str = "") -> None:
        """Make a version champion: the first needs no contest, every other must have won one."""
        state, folder = self._state(name), self.folder(name, version)
        if state["champion"] == version:
            raise NotPromoted(f"{version} is {name}'s champion already")
        if state["champion"] is not None:
            if found is None:
                raise NotPromoted(f"{name} has a champion: a contest must be won first")
            if found.verdict is not ContestVerdict.WON:
                self._note(name, {"did": "refused", "version": version, **found.to_dict()})
                raise NotPromoted(f"{version}: {found.verdict.value}: {found.reason}")
            state["former"] = [*state["former"], state["champion"]][-MOST_FORMER:]
        why = {} if found is None else found.to_dict()
        self._install(name, version, folder, state)
        self._note(name, {"did": "promoted", "version": version, "by": by, **why})

    def rollback(self, name: str, why: str, by: str = "") -> str:
        """Back to the champion before, without any condition; its version."""
        state = self._state(name)
        if not state["former"]:
            raise ConfigError(f"{name} has no earlier champion to go back to")
        version = str(state["former"].pop())
        self._install(name, version, self.folder(name, version), state)
        self._note(name, {"did": "rolled back to", "version": version, "by": by, "reason": why})
        return version

    def _install(self, name: str, version: str, folder: Path, state: dict[str, Any]) -> None:
        """Files first, then the state: a crash in between leaves a whole model in service."""
        self._write(self._path(name) / "champion", {f: (folder / f).read_bytes() for f in FILES})
        state["champion"] = version
        with Folder.make(self._path(name)) as own:
            own.write(STATE, json.dumps(state).encode())

    def _write(self, path: Path, content: dict[str, bytes]) -> None:
        with Folder.make(path) as folder:
            for file, data in content.items():
                folder.write(file, data, 0o644)

    def _state(self, name: str) -> dict[str, Any]:
        with Folder.make(self._path(name)) as folder:
            if folder.status(STATE) is None:
                return {"champion": None, "former": []}
            found: dict[str, Any] = json.loads(folder.read(STATE))
            return found

    def _note(self, name: str, event: dict[str, Any]) -> None:
        line = json.dumps({"time": self._now(), **event})
        with Folder.make(self._path(name)) as folder:
            before = folder.read(LOG) if folder.status(LOG) is not None else b""
            folder.write(LOG, before + line.encode() + b"\n")
        reason = f": {event['reason']}" if event.get("reason") else ""
        self._announce(f"{name}: {event['did']} {event['version']}{reason}")

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name[:60]!r}: names of models are small letters, digits, . _ -")
        return self.root / name
