"""`dovetail live`: the daemon and what steers it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.live.demo import live_demo
from dovetail.cli.live.doctor import live_doctor
from dovetail.cli.live.install import live_install
from dovetail.cli.live.mode import live_mode
from dovetail.cli.live.options import daemon_config
from dovetail.cli.live.replay import live_replay
from dovetail.cli.live.report import live_report
from dovetail.cli.live.restore import live_restore
from dovetail.cli.live.status import live_status

DEFAULT = Path("/etc/dovetail/dovetail.toml")

live = typer.Typer(name="live", invoke_without_command=True, rich_markup_mode=None)


@live.callback()
def run(
    ctx: typer.Context,
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="The daemon's configuration.")
    ] = DEFAULT,
    cycles: Annotated[
        int | None,
        typer.Option("--cycles", metavar="N", help="Stop after N cycles.", show_default=False),
    ] = None,
) -> None:
    """Steer a live Slurm cluster: in shadow first, then for real.

    Without a command this is the daemon itself. It changes nothing in shadow mode, which is the
    default; in active mode it gives every job back when it stops.

    \b
    Example:
      dovetail live --config dovetail.toml
      dovetail live mode active --config dovetail.toml
    """
    if ctx.invoked_subcommand is not None:
        return
    import logging

    from dovetail.cli.live.log import log_to_stderr
    from dovetail.cli.screen import COMPILING, is_compiled

    log_to_stderr()
    settings = daemon_config(config)
    if not is_compiled():
        logging.getLogger("dovetail.live").info(COMPILING)
    from dovetail.live.service.daemon import Daemon  # compiles, and so after the account is known

    Daemon(settings, config).run(cycles)


live.command("mode")(live_mode)
live.command("status")(live_status)
live.command("restore")(live_restore)
live.command("report")(live_report)
live.command("replay")(live_replay)
live.command("demo")(live_demo)
live.command("doctor")(live_doctor)
live.command("install")(live_install)
