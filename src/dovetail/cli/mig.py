"""`dovetail mig`: commands for GPUs that are cut into instances."""

from __future__ import annotations

import typer

from dovetail.cli.mig_plan import mig_plan

mig = typer.Typer(
    name="mig",
    help="Plan how multi-instance GPUs are cut.\n\n\b\nExample:\n"
    '  dovetail mig plan --model a100-40 --gpus 8 --nodes mig-[1-2] --demand "1g=40,2g=10,7g=3"',
    no_args_is_help=True,
    rich_markup_mode=None,
)


@mig.callback()
def _group() -> None:
    """Keeps `plan` a command of a group, even while it is the only one."""


mig.command("plan")(mig_plan)
