"""`dovetail live replay`: what the journal recorded, in the figures of every other command."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.files import refuse_bad_targets, write_whole
from dovetail.cli.options import JsonOption
from dovetail.domain.errors import ConfigError

_UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}


def live_replay(
    journal: Annotated[
        Path,
        typer.Option("--journal", metavar="FILE", help="The daemon's journal."),
    ] = Path("/var/lib/dovetail/journal.sqlite"),
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="The daemon's configuration, which names its journal.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str,
        typer.Option("--since", metavar="AGE", help="How far back: 90m, 12h, 7d, 4w."),
    ] = "7d",
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Write a report as HTML.", show_default=False
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Show how jobs fared on the real cluster, from the daemon's journal.

    Reads only; the daemon may be running. Jobs count that ended in that time.

    \b
    Example:
      dovetail live replay --since 7d --report week.html
      dovetail live replay --config /etc/dovetail/dovetail.toml
    """
    refuse_bad_targets(report=report, json=json)
    from dovetail.cli.comparison_table import print_comparison
    from dovetail.cli.screen import print_notes, results
    from dovetail.live.journal.comparison import recorded_comparison
    from dovetail.live.journal.reader import JournalReader
    from dovetail.live.journal.replay import RECORDED, recorded_schedule
    from dovetail.live.service.account import acting_as_owner_of

    if config is not None:
        from dovetail.live.config import load_config

        journal = Path(load_config(config).journal.path)
    now = time.time()
    with acting_as_owner_of(journal.parent), JournalReader.open(journal) as past:
        schedule = recorded_schedule(past, now - seconds_in(since), now)
    found = recorded_comparison(schedule)
    print_comparison(found, results())
    print_notes(schedule.trace.notes)
    if json is not None:
        write_whole(json, lambda part: part.write_text(found.to_json(), encoding="utf-8"))
        typer.echo(f"figures: {json}")
    if report is not None:
        from dovetail.evaluation.report.report import write_report

        write_report(found, report, {RECORDED: schedule})
        typer.echo(f"report:  {report}")


def seconds_in(text: str) -> float:
    """Seconds of an age.

    >>> [seconds_in(text) for text in ("90m", "12h", "7d")]
    [5400.0, 43200.0, 604800.0]
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text.strip())
    if match is None:
        raise ConfigError(f"--since {text!r}: write a number and m, h, d or w, for example 7d")
    return float(match[1]) * _UNITS[match[2]]
