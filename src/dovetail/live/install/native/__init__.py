"""What runs beside or inside Slurm, as files: a submit script, a hook, a unit.

>>> native_text("wake").splitlines()[0]
'#!/bin/sh'
>>> "/run/dovetail/wake" in rendered("wake", {"run_dir": "/run/dovetail"})
True
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_PLACE = re.compile(r"@([a-z_]+)@")


def native_text(name: str) -> str:
    """One of this package's files."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def rendered(name: str, values: Mapping[str, str]) -> str:
    """A file with every @place@ filled in; a place without a value is a KeyError."""
    return _PLACE.sub(lambda found: values[found.group(1)], native_text(name))
