"""`dovetail evaluate`: a learned policy against heuristics, on jobs it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import (
    ClusterOption,
    JobsOption,
    JsonOption,
    LoadOption,
    SeedOption,
    TraceArgument,
    names_in,
)
from dovetail.evaluation.units import duration, factor

if TYPE_CHECKING:
    from dovetail.evaluation.unseen import Unseen

RIVALS = "saf,saf+none,sjf,sjf+none,unicep,f1,wfp3,qssf,slurm-multifactor,fcfs"


def evaluate(
    model: Annotated[
        Path, typer.Argument(metavar="DIR", help="A checkpoint's folder.", show_default=False)
    ],
    trace: TraceArgument,
    cluster: ClusterOption,
    rivals: Annotated[
        str, typer.Option("--policies", metavar="NAMES", help="Policies to compare with.")
    ] = RIVALS,
    estimates: Annotated[
        str | None,
        typer.Option(
            "--estimates",
            metavar="KIND",
            help="What all policies are told of run times. Default: as in training.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 1,
    jobs: JobsOption = None,
    load: LoadOption = None,
    json: JsonOption = None,
) -> None:
    """Compare a learned policy with heuristics on the last tenth of a trace.

    \b
    Example:
      dovetail evaluate model history.parquet --cluster cluster.toml
    """
    refuse_bad_targets(json=json)
    from dataclasses import asdict

    from dovetail import api
    from dovetail.agents.checkpoint import load_checkpoint
    from dovetail.cli.files import write_json
    from dovetail.cli.loading import open_trace
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.evaluation.policy import Policy
    from dovetail.evaluation.unseen import evaluate_unseen
    from dovetail.traces.estimates import make_estimates

    card = load_checkpoint(model).card
    site = api.load_cluster(cluster)
    history = open_trace(trace, site, jobs, load, seed=int(card["config"]["seed"]))
    told = make_estimates(history, estimates or str(card["config"]["estimates"]), seed)
    policies = [Policy(str(model))] + [Policy.parse(n) for n in names_in(rivals, "--policies")]
    warn_of_compiling()
    with progress_bar(f"replaying {len(history):,} jobs") as fraction:
        found = evaluate_unseen(
            history, site, policies, told, progress=lambda done, total: fraction(done / total)
        )
    if history.digest() != card["trace_digest"]:
        typer.echo("note: another trace than in training", err=True)
    _show(found, told.name)
    if json is not None:
        write_json(json, {"estimates": told.name, "policies": [asdict(row) for row in found]})
        typer.echo(f"wrote {json}")


def _show(found: list[Unseen], estimates: str) -> None:
    from rich.markup import escape

    from dovetail.cli.screen import columns, results

    heads = ("wait", "JCT", "bsld", "wait ratio", "bsld ratio")
    table = columns("policy", *heads, right=heads)
    for row in found:
        table.add_row(
            escape(row.label),
            duration(row.wait),
            duration(row.jct),
            factor(row.bsld),
            str(row.wait_ratio),
            str(row.bsld_ratio),
        )
    console = results()
    console.print(table)
    typer.echo(
        f"{found[0].jobs:,} unseen jobs, {estimates} estimates; ratios: the first policy to this "
        "one, below 1 the first is better, with 95 % intervals over blocks of jobs"
    )
