"""`dovetail mig compare`: placements, configurations and repartitioners on the same days."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli import INTERRUPTED
from dovetail.cli.files import refuse_bad_targets, write_whole
from dovetail.cli.mig.options import (
    CLUSTER,
    KERNEL,
    CompressOption,
    EstimatesOption,
    HoursOption,
    PodsOption,
    RateOption,
    SlackOption,
    WeightOption,
    WorkloadOption,
    source_of,
    weight_of,
)
from dovetail.cli.options import JsonOption, SeedOption, names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail.mig.evaluation.comparison import MigComparison
    from dovetail.mig.evaluation.contenders import Contender
    from dovetail.mig.workload.jobs import MigWorkload

PLACERS = "eft,smallest-first,random,edf-most-packed,marginal-et,categorical-edf,dovetail"

ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a report as HTML.", show_default=False),
]
DaysOption = Annotated[
    int | None,
    typer.Option(
        "--days",
        metavar="N",
        min=1,
        help="Days with seeds from --seed on. Default: 10 drawn ones, 1 of a file.",
        show_default=False,
    ),
]


def mig_compare(
    clusters: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster",
            metavar="SPEC",
            help="GPUs as they are cut at first. May be repeated.",
            show_default=CLUSTER,
        ),
    ] = None,
    placers: Annotated[
        str,
        typer.Option(
            "--placers", metavar="LIST", help="Names or checkpoints' folders, with commas."
        ),
    ] = PLACERS,
    repartitioners: Annotated[
        str,
        typer.Option(
            "--repartitioners",
            metavar="LIST",
            help="none, or checkpoints' folders, with commas; each with every placer.",
        ),
    ] = "none",
    controls: Annotated[
        str,
        typer.Option(
            "--controls",
            metavar="LIST",
            help="Checkpoints that place and cut, with commas.",
            show_default=False,
        ),
    ] = "",
    workload: WorkloadOption = None,
    pods: PodsOption = None,
    compress: CompressOption = 1.0,
    slack: SlackOption = None,
    rate: RateOption = None,
    hours: HoursOption = None,
    days: DaysOption = None,
    estimates: EstimatesOption = "exact",
    energy_weight: WeightOption = None,
    seed: SeedOption = 0,
    json: JsonOption = None,
    report: ReportOption = None,
) -> None:
    """Play the same days under several placements, configurations and repartitioners.

    Means and standard deviations over days; the best of each column is marked. Ctrl-C keeps what
    is finished.

    \b
    Example:
      dovetail mig compare --placers eft,categorical-edf --days 10 \\
        --cluster 8xa100-40:1,1,2,2,3,3,12,12 --cluster 8xa100-40:2,2,2,2,8,8,8,8 \\
        --report report.html
    """
    refuse_bad_targets(json=json, report=report)
    from dovetail.cli.mig.table import print_mig_comparison
    from dovetail.cli.screen import results
    from dovetail.mig.evaluation.contenders import Contender, cross
    from dovetail.mig.workload.estimates import check_estimates
    from dovetail.mig.workload.seeds import EvaluationDays

    weight = weight_of(energy_weight)
    check_estimates(estimates)
    source = source_of(workload, pods, compress, slack, rate, hours)
    specs = clusters or [CLUSTER]
    contenders = cross(
        names_in(placers, "--placers"), specs, names_in(repartitioners, "--repartitioners")
    )
    contenders += [
        Contender(folder, spec, folder)
        for spec in specs
        for folder in names_in(controls, "--controls")
    ]
    for contender in contenders:
        contender.parts()  # a misspelt name should not cost the drawing of days
    drawn = workload is None and pods is None
    chosen = EvaluationDays(seed, days or (10 if drawn else 1))
    played = source.days(chosen)
    found = play_all(played, contenders, seed, weight, estimates)
    print_mig_comparison(found, results())
    write_all(found, played, json, report)


def play_all(
    days: Sequence[MigWorkload],
    contenders: Sequence[Contender],
    seed: int,
    weight: float,
    estimates: str,
) -> MigComparison:
    """Compare with a progress bar."""
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.mig.evaluation.comparison import compare_mig

    warn_of_compiling(KERNEL)
    try:
        with progress_bar(f"comparing {len(contenders)} policies") as advance:
            return compare_mig(
                days,
                contenders,
                seed,
                weight,
                lambda done, total, who: advance(done / total, f"{done} of {total} runs, {who}"),
                estimates,
            )
    except KeyboardInterrupt:
        typer.echo("interrupted before the first run was finished; nothing was written", err=True)
        raise typer.Exit(INTERRUPTED) from None


def write_all(
    found: MigComparison, days: Sequence[MigWorkload], json: Path | None, report: Path | None
) -> None:
    """Write what was asked for; an interrupted comparison ends the command as Ctrl-C does."""
    if json is not None:
        write_whole(json, lambda part: part.write_text(found.to_json(), encoding="utf-8"))
        typer.echo(f"figures: {json}")
    if report is not None:
        from dovetail.mig.evaluation.report import write_mig_report

        write_whole(report, lambda part: write_mig_report(found, days[0], part))
        typer.echo(f"report:  {report}")
    if not found.complete:
        typer.echo("interrupted: the table holds what was finished", err=True)
        raise typer.Exit(INTERRUPTED)
