"""`dovetail models challenge`: train a challenger in the background and let it try."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail.cli.models.options import (
    DEFAULT_STORE,
    ClusterOption,
    NameArgument,
    StoreOption,
    TraceOption,
    open_store,
    who,
)
from dovetail.cli.models.promote import held


def models_challenge(
    name: NameArgument,
    trace: TraceOption,
    cluster: ClusterOption,
    store: StoreOption = DEFAULT_STORE,
    agent: Annotated[
        str,
        typer.Option("--agent", metavar="NAME", help="What trains it, as in `dovetail train`."),
    ] = "evolution",
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the agent; may be repeated.",
            show_default=False,
        ),
    ] = None,
    memory: Annotated[
        float, typer.Option("--memory", metavar="GB", help="That the training may take.")
    ] = 4.0,
    minutes: Annotated[
        float, typer.Option("--minutes", metavar="N", help="After which it is stopped.")
    ] = 60.0,
) -> None:
    """Train a model on recent history, in a process of its own, and promote it if it wins.

    The process is niced and its memory capped. What it leaves is added to the store whether it wins
    or not; the champion stays unless it is beaten on days held back.

    \b
    Example:
      dovetail models challenge index --trace recent.parquet --cluster cluster.toml
      dovetail models challenge mixed --agent adlro --trace recent.parquet --cluster cluster.toml
    """
    import tempfile
    from pathlib import Path

    from dovetail.agents.catalogue import AGENTS
    from dovetail.models.background import BackgroundTraining, train_in_background

    settings = AGENTS[agent].parse_settings(more or ())
    opened = open_store(store)
    with tempfile.TemporaryDirectory() as folder:
        task = BackgroundTraining(
            trace, cluster, str(Path(folder) / "model"),
            agent, settings, memory_gb=memory, seconds=60.0 * minutes,
        )  # fmt: skip
        version = opened.add(name, train_in_background(task))
    opened.promote(name, version, held(opened, name, version, trace, cluster), who())
