"""`dovetail train`: learn a policy from a cluster's own history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.options import ClusterOption, JobsOption, LoadOption, SeedOption
from dovetail.domain.registry import Registry

AGENTS: Registry[str] = Registry(
    "agent", {"evolution": "evolution strategies on a network that corrects SAF, with a gate"}
)


def train(
    trace: Annotated[
        str, typer.Option("--trace", metavar="TRACE", help="A trace file, or synth:NAME.")
    ],
    cluster: ClusterOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The checkpoint's folder.")],
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="How to learn: evolution.")
    ] = "evolution",
    epochs: Annotated[
        int, typer.Option("--epochs", metavar="N", min=1, help="Generations of candidates.")
    ] = 200,
    estimates: Annotated[
        str,
        typer.Option(
            "--estimates",
            metavar="KIND",
            help="What the agent is told of run times: limit, noisy:SIGMA, predicted or exact.",
        ),
    ] = "noisy:1",
    length: Annotated[
        int, typer.Option("--length", metavar="N", min=1, help="Jobs of one episode.")
    ] = 1500,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, help="Processes that play episodes.")
    ] = 1,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    load: LoadOption = None,
) -> None:
    """Learn which job goes next and what to backfill; the last tenth of the trace stays unseen.

    Goes on where an earlier run into the same folder stopped. Ctrl-C keeps the best so far.

    \b
    Example:
      dovetail train --trace history.parquet --cluster cluster.toml --epochs 200 --out model
      dovetail evaluate model history.parquet --cluster cluster.toml
    """
    AGENTS[agent]
    from dovetail import api
    from dovetail.agents.training import Progress, TrainingConfig
    from dovetail.agents.training import train as learn
    from dovetail.cli.loading import open_trace
    from dovetail.cli.screen import progress_bar, warn_of_compiling

    site = api.load_cluster(cluster)
    history = open_trace(trace, site, jobs, load, seed)
    config = TrainingConfig(epochs=epochs, length=length, estimates=estimates, seed=seed)
    warn_of_compiling()
    last = None
    with progress_bar(f"learning from {len(history):,} jobs") as fraction:

        def report(progress: Progress) -> None:
            nonlocal last
            last = progress
            fraction(progress.epoch / progress.epochs)

        found = learn(history, site, out, config, report, workers)
    if last is not None:
        typer.echo(f"on validation episodes, {last}")
    typer.echo(f"wrote {out}; it is a policy: --order {out} (epoch {found.card['epoch']})")
