"""`dovetail models drift`: whether recent history is still what a model was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.models.options import TraceOption


def models_drift(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A checkpoint's folder.")],
    trace: TraceOption,
) -> None:
    """Say whether recent jobs are still like those that a model was trained on.

    \b
    Example:
      dovetail models drift models/index/champion --trace recent.parquet
    """
    from dovetail.domain.errors import ConfigError
    from dovetail.policies.learned.arrays_file import read_card
    from dovetail.policies.learned.checkpoint import CARD_FILE
    from dovetail.telemetry.drift import DriftReference, workload_columns
    from dovetail.traces.loader import load_trace

    card = read_card(model / CARD_FILE)
    if "trained_on" not in card.content:
        raise ConfigError(f"{model}: its card does not say what it was trained on; train it again")
    seen = DriftReference.from_dict(card.value("trained_on"))
    typer.echo(seen.compare(workload_columns(load_trace(trace).jobs)).sentence())
