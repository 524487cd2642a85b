"""`dovetail trace synth`: a drawn workload as a trace file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import SeedOption


def trace_synth(
    name: Annotated[str, typer.Argument(metavar="NAME", help="philly, helios, pai or lublin.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The Parquet to write.", show_default=False),
    ],
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="How many.")] = 10_000,
    seed: SeedOption = 0,
    load: Annotated[
        float | None,
        typer.Option(
            "--load",
            metavar="X",
            help="Offered load: 1 asks for every GPU all the time. Default: the rate of the "
            "cluster that was measured.",
            show_default=False,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="SPEC",
            help="The cluster that the load is meant for, as 64x8:v100 or a .toml file; jobs "
            "beyond its size are not drawn.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw jobs like those of a published cluster; the same seed draws the same jobs.

    \b
    Example:
      dovetail trace synth helios --jobs 50000 --load 0.9 --cluster 80x8 --out t.parquet
    """
    refuse_bad_targets(out=out)
    from dovetail.api import load_cluster
    from dovetail.cli.screen import print_notes
    from dovetail.traces.synthetic import WORKLOADS, synthesize
    from dovetail.traces.writer import write_trace

    gpus = None if cluster is None else load_cluster(cluster).total_gpus
    trace = synthesize(WORKLOADS[name], jobs, seed, load, gpus)
    write_trace(trace, out)
    print_notes(trace.notes)
    typer.echo(f"{len(trace):,} jobs in {out} (digest {trace.digest()})")
