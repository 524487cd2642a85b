"""`dovetail live install`: shows what it would put where, and does it when told."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.options import names_in
from dovetail.cli.plain import visible
from dovetail.domain.errors import ConfigError

if TYPE_CHECKING:
    from dovetail.live.install.execution import Check
    from dovetail.live.install.places import SlurmSite
    from dovetail.live.install.plan import FileChange, InstallPart


def live_install(
    slurm_conf: Annotated[
        Path | None,
        typer.Option(
            "--slurm-conf",
            metavar="FILE",
            help="Slurm's configuration. Default: $SLURM_CONF, or /etc/slurm/slurm.conf.",
            show_default=False,
        ),
    ] = None,
    parts: Annotated[
        str,
        typer.Option(
            "--parts",
            metavar="NAMES",
            help="With commas: service (configuration and systemd unit), hooks (wake the daemon "
            "when jobs start and end), submit (tags and first factors for new jobs).",
        ),
    ] = "service,hooks,submit",
    plugin: Annotated[
        bool,
        typer.Option(
            "--plugin",
            help="Also build site_factor/dovetail for the Slurm at hand, try it on a throw-away "
            "controller, and have slurmctld load it.",
        ),
    ] = False,
    slurm_source: Annotated[
        Path | None,
        typer.Option(
            "--slurm-source",
            metavar="DIR",
            help="For --plugin: the unpacked source of exactly this Slurm. "
            "Default: /usr/src/slurm-VERSION.",
            show_default=False,
        ),
    ] = None,
    prefix: Annotated[
        Path,
        typer.Option("--prefix", metavar="DIR", help="Write below this folder, for packages."),
    ] = Path("/"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, as without --yes.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do what is shown.")] = False,
    accounting: Annotated[
        bool,
        typer.Option(
            "--accounting", help="With --yes: also run the sacctmgr command for the rights."
        ),
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Take everything out again.")
    ] = False,
) -> None:
    """Put Dovetail beside Slurm, or take it away; without --yes only show how.

    \b
    Example:
      dovetail live install --dry-run
    """
    from dovetail.live.install.execution import no_check
    from dovetail.live.install.places import Places, look_at_site
    from dovetail.live.install.plan import (
        InstallPart,
        diff,
        left_behind,
        next_steps,
        plan_install,
        plan_uninstall,
    )
    from dovetail.live.install.slurm_checks import plugin_folders, read_by_slurm

    if dry_run and yes:
        raise ConfigError("--dry-run and --yes contradict each other; give one of them")
    if accounting and not yes:
        raise ConfigError("--accounting changes rights; it needs --yes")
    conf = slurm_conf or Path(os.environ.get("SLURM_CONF") or Places().slurm_conf)
    places = Places(slurm_conf=conf.absolute(), prefix=prefix.absolute())
    whole = places.prefix == Path("/")  # of a package only its own files can be looked at
    site = look_at_site(places, _own_path(), plugin_folders(conf) if whole else None)
    chosen = _parts(parts)
    if plugin and not uninstall:
        site = _with_plugin(site, slurm_source)
        chosen |= {InstallPart.PLUGIN}
    plan = plan_uninstall(site) if uninstall else plan_install(site, chosen)
    for line in diff(plan).splitlines():
        typer.echo(visible(line))
    if not plan:
        typer.echo("every file is as it should be")
    elif yes:
        _do(plan, read_by_slurm(places.slurm_conf) if whole else no_check)
    else:
        typer.echo(f"\n{len(plan)} files would change; nothing was done. --yes does it.")
    if uninstall:
        _say_after_uninstall(left_behind(site))
    else:
        _say_next(next_steps(site, chosen))
        if accounting:
            _give_rights(str(conf))


def _with_plugin(site: SlurmSite, source: Path | None) -> SlurmSite:
    """Built and rehearsed even where it is only shown: who says --yes has seen it work."""
    from dovetail.live.install.plugin_part import prepare_plugin

    if site.plugin_folders is None:
        raise ConfigError("--plugin is built for the Slurm at hand; leave --prefix out")
    built, said = prepare_plugin(source, site.plugin_folders)
    typer.echo(f"site_factor/dovetail: {said}")
    return replace(site, plugin=built)


def _parts(text: str) -> frozenset[InstallPart]:
    from dovetail.live.install.plan import ALL_PARTS, InstallPart

    known = {part.value: part for part in InstallPart if part in ALL_PARTS}
    names = names_in(text, "--parts")
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ConfigError(f"--parts {text!r}: expected some of {', '.join(known)}")
    return frozenset(known[name] for name in names)


def _own_path() -> str:
    """The command that the unit starts: this one, or what PATH has."""
    beside = Path(sys.executable).with_name("dovetail")
    return str(beside) if beside.exists() else shutil.which("dovetail") or str(beside)


def _do(plan: tuple[FileChange, ...], check: Check) -> None:
    from dovetail.live.install.execution import carry_out

    steps = carry_out(plan, time.strftime("%Y%m%dT%H%M%S"), check)
    typer.echo(f"\n{len(plan)} files changed.")
    for step in steps:
        typer.echo(visible(f"{step.path}: {step.said}"))
        if step.copy is not None:
            typer.echo(f"  as it was before: {step.copy}")


def _say_next(steps: tuple[tuple[str, ...], ...]) -> None:
    typer.echo("\nThen, as root:")
    for step in steps:
        typer.echo(f"  {shlex.join(step)}")


def _say_after_uninstall(notes: tuple[str, ...]) -> None:
    for note in notes:
        typer.echo(visible(note))
    typer.echo("\nBefore it, as root:\n  systemctl disable --now dovetail-live")
    typer.echo("after it:\n  scontrol reconfigure\n  systemctl daemon-reload")


def _give_rights(conf: str) -> None:
    from dovetail.live.backends.slurm.process import Commands
    from dovetail.live.config import SlurmConfig
    from dovetail.live.install.plan import OPERATOR

    answer = Commands(SlurmConfig(conf=conf)).run(*OPERATOR)
    if answer.code != 0:
        raise ConfigError(f"{shlex.join(OPERATOR)}: {answer.words}")
    typer.echo(f"done: {shlex.join(OPERATOR)}")
