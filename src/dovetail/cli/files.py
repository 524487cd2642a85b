"""Files that commands write: checked before the work starts, and whole or not there at all."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from dovetail.domain.errors import ConfigError
from dovetail.domain.output import real_target
from dovetail.domain.output import write_whole as write_whole


def refuse_bad_targets(**targets: Path | None) -> None:
    """Raise before an hour's simulation, not after it, if an option names a hopeless file."""
    for option, path in targets.items():
        if path is None:
            continue
        if os.path.isdir(path):
            raise ConfigError(f"--{option} {path}: is a folder; name a file")
        try:
            target = real_target(path)
        except OSError as problem:
            raise ConfigError(f"--{option} {path}: {problem.strerror or problem}") from problem
        if target is not None and not target.parent.is_dir():
            folder = path.parent if not path.is_symlink() else target.parent
            raise ConfigError(
                f"--{option} {path}: no folder {folder}; make it first: mkdir -p {folder}"
            )


def write_json(path: Path, data: Any) -> None:
    """Write data as JSON text; the same data gives the same bytes."""
    write_whole(path, lambda part: part.write_text(json_text(data), encoding="utf-8"))


def json_text(data: Any) -> str:
    """Indented JSON; what is not a finite number becomes null, since JSON has no NaN."""
    return json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
