"""`dovetail models rollback`: back to the champion before."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail.cli.models.options import (
    DEFAULT_STORE,
    NameArgument,
    StoreOption,
    open_store,
    who,
)


def models_rollback(
    name: NameArgument,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="For the log.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Go back to the champion before, at once and without any condition.

    \b
    Example:
      dovetail models rollback index --why 'waits rose on Monday'
    """
    open_store(store).rollback(name, why, who())
