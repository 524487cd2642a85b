"""`dovetail mig`: commands for GPUs that are cut into instances."""

from __future__ import annotations

import typer

from dovetail.cli.mig.compare import mig_compare
from dovetail.cli.mig.evaluate import mig_evaluate
from dovetail.cli.mig.plan import mig_plan
from dovetail.cli.mig.simulate import mig_simulate
from dovetail.cli.mig.train import mig_train

mig = typer.Typer(
    name="mig",
    help="Simulate, learn and plan how GPUs are cut into slices and who runs where.\n\n\b\n"
    "Example:\n"
    "  dovetail mig compare --placers eft,categorical-edf --days 10 --report report.html",
    no_args_is_help=True,
    rich_markup_mode=None,
)


mig.command("plan")(mig_plan)
mig.command("simulate")(mig_simulate)
mig.command("compare")(mig_compare)
mig.command("train")(mig_train)
mig.command("evaluate")(mig_evaluate)
