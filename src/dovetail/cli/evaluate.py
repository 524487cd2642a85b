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
from dovetail.domain.units import duration, factor

if TYPE_CHECKING:
    from dovetail.evaluation.standing import Unseen

RIVALS = "saf,saf+none,sjf,sjf+none,unicep,f1,wfp3,qssf,slurm-multifactor,fcfs"

_TITLES = {
    "unseen": "{jobs:,} unseen jobs, intervals over {groups} blocks of them",
    "windows": "windows of the unseen part: {groups} with {jobs:,} jobs, intervals over windows",
}


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A checkpoint's folder, or `dovetail`: the policy that is shipped.",
            show_default=False,
        ),
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
    windows: Annotated[
        int,
        typer.Option(
            "--windows",
            metavar="N",
            min=0,
            help="Windows of the unseen part, from the cluster as it was then; 0: none.",
        ),
    ] = 10,
    length: Annotated[
        int, typer.Option("--length", metavar="N", min=1, help="Jobs per window.")
    ] = 1024,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", metavar="N", min=1, help="Draws of the estimates' noise to average over."
        ),
    ] = 3,
    seed: SeedOption = 1,
    jobs: JobsOption = None,
    load: LoadOption = None,
    json: JsonOption = None,
) -> None:
    """Compare a learned policy with heuristics on the last tenth of a trace.

    Twice: on the whole tenth, each policy finding the cluster as it left it itself, and on windows
    of it that start from the same state for all.

    \b
    Example:
      dovetail evaluate model history.parquet --cluster cluster.toml
    """
    refuse_bad_targets(json=json)
    from dataclasses import asdict

    from dovetail import api
    from dovetail.cli.files import write_json
    from dovetail.cli.inputs import open_trace
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.evaluation.unseen import draw_estimates, evaluate_unseen, first_unseen
    from dovetail.evaluation.warm_windows import evaluate_windows
    from dovetail.policies.learned.arrays_file import Card
    from dovetail.policies.learned.checkpoint import load_checkpoint
    from dovetail.policies.policy import Policy, checkpoint_folder

    folder = checkpoint_folder(model) or Path(model)
    card = Card(folder, load_checkpoint(folder).card)
    site = api.load_cluster(cluster)
    history = open_trace(trace, site, jobs, load, seed=card.whole("config", "seed"))
    kind = estimates or card.text("config", "estimates")
    draws = draw_estimates(history, kind, seed, seeds)
    policies = [Policy(model)] + [Policy.parse(n) for n in names_in(rivals, "--policies")]
    warn_of_compiling()
    with progress_bar(f"replaying {len(history):,} jobs") as report:
        found = {"unseen": evaluate_unseen(history, site, policies, draws, progress=report)}
    if windows > 0:
        first = first_unseen(history)
        with progress_bar(f"replaying {windows} windows") as report:
            found["windows"] = evaluate_windows(
                history, site, policies, draws, first, windows, length, report
            )
    if history.digest() not in card.texts_of_each("sites", "trace_digest"):
        typer.echo("note: another trace than in training", err=True)
    for name, part in found.items():
        _show(part, _TITLES[name].format(jobs=part.jobs, groups=part.groups))
    typer.echo(
        f"{draws[0].name} estimates, mean of {len(draws)} draws; ratios: the first policy to this "
        "one, below 1 the first is better, with 95 % intervals; the bound is that of these jobs "
        "alone on an idle cluster"
    )
    if json is not None:
        parts = {name: asdict(part) for name, part in found.items()}
        write_json(json, {"estimates": draws[0].name, "seed": seed, **parts})
        typer.echo(f"wrote {json}")


def _show(found: Unseen, title: str) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results

    heads = ("wait", "over bound", "JCT", "bsld", "wait ratio", "bsld ratio")
    table = columns("policy", *heads, right=heads)
    for row in found.rows:
        table.add_row(
            cell(row.label),
            duration(row.wait),
            factor(row.wait_over_bound),
            duration(row.jct),
            factor(row.bsld),
            str(row.wait_ratio),
            str(row.bsld_ratio),
        )
    bound = found.bound
    table.add_section()
    table.add_row(
        "clairvoyant bound", duration(bound.wait_mean), "", duration(bound.jct_mean),
        factor(bound.bsld_mean), style="italic",
    )  # fmt: skip
    console = results()
    console.print(title, style="bold")
    console.print(table)
    console.print()
