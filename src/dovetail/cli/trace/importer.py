"""`dovetail trace import`: a file of any known format to Dovetail's Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import FormatOption, MapOption, RepairOption, columns_in, names_in


def trace_import(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The Parquet to write.", show_default=False),
    ],
    format: FormatOption = None,
    repair: RepairOption = "",
    map: MapOption = "",
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise",
            help="Hash the names of users, accounts, jobs, directories and submit lines, with a "
            "key that is kept nowhere.",
        ),
    ] = False,
) -> None:
    """Read a job history, check every row, and write it as Parquet.

    Nothing is changed silently: jobs left out and values repaired are counted and noted.

    \b
    Example:
      SLURM_TIME_FORMAT=%s sacct -a -X -P --noconvert -S 2024-01-01 -o \\
    JobID,JobIDRaw,User,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,\\
    TimelimitRaw,State,ReqTRES,AllocTRES,NNodes,Priority,Account,Restarts,\\
    JobName,WorkDir,SubmitLine,Constraints,Reservation > sacct.txt
      dovetail trace import sacct.txt --out history.parquet
      dovetail trace import jobs.csv --map submit=Submitted,duration=Elapsed,gpus=GPUs \\
        --out history.parquet
    """
    refuse_bad_targets(out=out)
    from dovetail.cli.screen import print_notes, progress_bar
    from dovetail.traces.anonymity import anonymise as without_names
    from dovetail.traces.reader import read_trace
    from dovetail.traces.writer import write_trace

    with progress_bar(f"reading {file.name}") as report:
        trace = read_trace(file, format, names_in(repair, "--repair"), report, columns_in(map))
    if anonymise:
        trace = without_names(trace)
    write_trace(trace, out)
    print_notes(trace.notes)
    typer.echo(f"{len(trace):,} jobs in {out} (digest {trace.digest()})")
