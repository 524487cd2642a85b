"""What is left of a training that Ctrl-C has ended."""

from __future__ import annotations

from pathlib import Path

import typer


def tell_what_was_kept(out: Path, use: str) -> None:
    """Say what the folder holds; `use` is how a command is given it."""
    from dovetail.policies.learned.arrays_file import read_card
    from dovetail.policies.learned.checkpoint import CARD_FILE, WEIGHTS_FILE

    if not (out / WEIGHTS_FILE).exists():
        typer.echo("interrupted before anything was chosen; nothing was written", err=True)
        return
    card = read_card(out / CARD_FILE).content
    best = f"the best so far (epoch {card['epoch']})" if "epoch" in card else "the choice"
    typer.echo(
        f"interrupted: {out} holds {best}: {use}; the same command goes on",
        err=True,
    )
