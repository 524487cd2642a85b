"""`dovetail mig evaluate`: a learned placement or control, on days it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.mig_compare import ReportOption, finish, play_all
from dovetail.cli.mig_options import KERNEL, WeightOption, weight_of
from dovetail.cli.options import JsonOption, SeedOption, names_in

if TYPE_CHECKING:
    from dovetail.evaluation.mig_comparison import MigComparison

RIVALS = "eft,smallest-first,edf-most-packed,marginal-et,categorical-edf"


def mig_evaluate(
    model: Annotated[
        Path, typer.Argument(metavar="DIR", help="A checkpoint's folder.", show_default=False)
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
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.evaluation.mig_unseen import Learned, refuse_trained, rivals

    refuse_trained(seed, days)
    learned = Learned.load(model, cluster)
    names = names_in(placers, "--placers")
    weight = learned.weight if energy_weight is None else weight_of(energy_weight)
    warn_of_compiling(KERNEL)
    with progress_bar("searching the best static cut") as advance:
        others = rivals(
            learned,
            names,
            weight,
            lambda tried: advance(0.0, f"searching the best static cut: {tried} tried"),
        )
    played = learned.source.days(days, seed)
    found = play_all(played, [learned.contender(), *others], seed, weight)
    _show_ratios(found)
    finish(found, played, json, report)


def _show_ratios(found: MigComparison) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.evaluation.mig_comparison import paired

    first, *others = found.rows
    heads = {"ET": "energy_tardiness", "tardiness": "tardiness_mean", "late": "late_share",
             "energy": "energy_kwh"}  # fmt: skip
    table = columns(f"{cell(first.label)} against", *heads, right=list(heads))
    for row in others:
        table.add_row(cell(row.label), *(str(paired(first, row, key)) for key in heads.values()))
    console = results()
    console.print(table)
    console.print(
        "\nRatios of means, paired by day, with 95 % intervals; below 1 the learned one is "
        "better.\n",
        style="dim",
    )
