"""`dovetail mig evaluate`: a learned placement or control, on days it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.mig.compare import ReportOption, play_all, write_all
from dovetail.cli.mig.options import KERNEL, EstimatesOption, WeightOption, weight_of
from dovetail.cli.options import JsonOption, SeedOption, names_in

if TYPE_CHECKING:
    from dovetail.mig.evaluation.comparison import MigComparison

RIVALS = "eft,smallest-first,edf-most-packed,marginal-et,categorical-edf"


def mig_evaluate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A checkpoint's folder, or `dovetail`: the placement that is shipped.",
            show_default=False,
        ),
    ],
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="SPEC",
            help="GPUs as they are cut at first. Default: as in training.",
            show_default=False,
        ),
    ] = None,
    placers: Annotated[
        str, typer.Option("--placers", metavar="LIST", help="Placements to compare with.")
    ] = RIVALS,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, help="Unseen days.")] = 10,
    estimates: EstimatesOption = "exact",
    energy_weight: WeightOption = None,
    seed: SeedOption = 0,
    json: JsonOption = None,
    report: ReportOption = None,
) -> None:
    """Compare what was learned with heuristics and with the best static cut, on unseen days.

    The days are drawn as in training, with other seeds. The static cut is searched for
    categorical-edf on days of its own.

    \b
    Example:
      dovetail mig evaluate joint --days 10 --report report.html
    """
    refuse_bad_targets(json=json, report=report)
    from dovetail.cli.mig.table import print_mig_comparison
    from dovetail.cli.screen import progress_bar, results, warn_of_compiling
    from dovetail.mig.evaluation.unseen import LearnedContender, rivals
    from dovetail.mig.workload.estimates import check_estimates
    from dovetail.mig.workload.seeds import EvaluationDays

    chosen = EvaluationDays(seed, days)
    check_estimates(estimates)
    learned = LearnedContender.load(model, cluster)
    names = names_in(placers, "--placers")
    weight = learned.weight if energy_weight is None else weight_of(energy_weight)
    warn_of_compiling(KERNEL)
    with progress_bar("searching the best static cut") as advance:
        others = rivals(
            learned,
            names,
            weight,
            lambda tried: advance(0.0, f"searching the best static cut: {tried} tried"),
            estimates,
        )
    played = learned.source.days(chosen)
    found = play_all(played, [learned.contender(), *others], seed, weight, estimates)
    print_mig_comparison(found, results())
    _show_ratios(found)
    write_all(found, played, json, report)


def _show_ratios(found: MigComparison) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.mig.evaluation.comparison import paired

    first, *others = found.rows
    heads = {"ET": "energy_tardiness", "tardiness": "tardiness_mean", "late": "late_share",
             "energy": "energy_kwh"}  # fmt: skip
    table = columns(f"{cell(first.label)} against", *heads, right=list(heads))
    for row in others:
        # The interval below its value: side by side, four of them fill 100 columns.
        ratios = (str(paired(first, row, key)).split(" ", 1) for key in heads.values())
        table.add_row(cell(row.label), *("\n".join(map(cell, ratio)) for ratio in ratios))
    console = results()
    console.print()
    console.print(table)
    console.print(
        "\nRatios of means, paired by day, with 95 % intervals; below 1 the first is better.",
        style="dim",
    )
