"""`dovetail live mode`: ask a running daemon to look, to tell or to act."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config


def live_mode(
    mode: Annotated[
        str, typer.Argument(metavar="MODE", help="shadow, advise or active.", show_default=False)
    ],
    config: ConfigOption = Path("/etc/dovetail/dovetail.toml"),
) -> None:
    """Switch the daemon to another mode; leaving active gives every job back to Slurm.

    \b
    Example:
      dovetail live mode active --config dovetail.toml
    """
    import getpass

    from dovetail.domain.errors import ConfigError
    from dovetail.live.model.mode import Mode
    from dovetail.live.service.switchboard import Switchboard

    names = [each.value for each in Mode]
    if mode not in names:
        raise ConfigError(f"mode {mode!r}: expected one of {', '.join(names)}")
    who = getpass.getuser()
    board = Switchboard(Path(daemon_config(config).run_dir))
    if Mode(mode) is Mode.ACTIVE and board.lost:
        raise ConfigError(board.lost)
    if Mode(mode) is Mode.ACTIVE and board.stopped:
        raise ConfigError(
            f"the kill switch is on: rm {board.folder / 'stop'} first, then ask for active again"
        )
    listening = board.wake()
    board.ask_for(Mode(mode), who)
    typer.echo(
        f"asked for {mode} mode; see `dovetail live status`"
        if listening
        else f"no daemon runs on {board.folder}; it will start in {mode} mode"
    )
