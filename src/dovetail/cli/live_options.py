"""Options that the live commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path, typer.Option("--config", metavar="FILE", help="The daemon's configuration.")
]
