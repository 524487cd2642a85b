"""Options that the live commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dovetail.live.config import LiveConfig

ConfigOption = Annotated[
    Path, typer.Option("--config", metavar="FILE", help="The daemon's configuration.")
]


def daemon_config(path: Path) -> LiveConfig:
    """The daemon's configuration; from here on the command acts as the daemon's account."""
    from dovetail.live.config import load_config
    from dovetail.live.service.account import act_as_daemon

    config = load_config(path)
    act_as_daemon(config)
    return config
