"""`dovetail live status`: what the daemon does, and what it would do next."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.cli.live.options import ConfigOption, daemon_config

NOT_RUNNING = 3
"""The exit code that service tools use for a program that does not run."""


def live_status(
    config: ConfigOption = Path("/etc/dovetail/dovetail.toml"),
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the daemon's mode, its last cycle, and the head of its order with reasons.

    \b
    Example:
      dovetail live status --config dovetail.toml
    """
    import json

    from dovetail.live.service.switchboard import Switchboard

    board = Switchboard(Path(daemon_config(config).run_dir))
    status = board.status()
    running = board.wake() if status is None else _alive(status)
    killed = board.stopped and not board.lost
    if as_json:
        typer.echo(json.dumps({"running": running, "killed": killed, **(status or {})}))
    elif status is None:
        typer.echo(f"no daemon has run on {board.folder} yet")
    else:
        _show(status, running, killed)
    if not running:
        raise typer.Exit(NOT_RUNNING)


def _alive(status: dict[str, Any]) -> bool:
    """Whether the process that wrote the status still runs."""
    import os

    pid = status.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _aim(status: dict[str, Any]) -> str:
    return f", trained for {status['trained_for']}" if status.get("trained_for") else ""


def _show(status: dict[str, Any], running: bool, stopped: bool) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, facts, results

    console = results()
    ago = time.time() - float(status.get("wall") or 0.0)
    console.print(
        facts(
            [
                ("daemon", "running" if running else "NOT running"),
                ("mode", f"{status.get('mode')}" + (", kill switch ON" if stopped else "")),
                ("policy", f"{status.get('policy')}{_aim(status)}"),
                ("last cycle", f"{ago:.0f} s ago"),
                ("it said", f"{status.get('sentence')}"),
            ]
        )
    )
    idle = status.get("idle")
    if isinstance(idle, list) and idle:
        console.print()
        for sentence in idle:
            console.print(cell(str(sentence)))
    advice = status.get("advice")
    if isinstance(advice, list) and advice:
        table = columns("next", "job", "why", right=("next",))
        for place, row in enumerate(advice, start=1):
            table.add_row(str(place), cell(str(row[0])), cell(str(row[1])))
        console.print()
        console.print(table)
