"""Options that several commands share, so that they read and behave alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.domain.errors import ConfigError

TraceArgument = Annotated[
    str,
    typer.Argument(
        metavar="TRACE",
        help="A trace file of any format (see `dovetail trace formats`), or synth:NAME "
        "for a drawn one (philly, helios, pai, lublin).",
        show_default=False,
    ),
]
ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster",
        metavar="SPEC",
        help="Nodes x GPUs : type, for example 64x8:v100,20x4:p100, or a .toml file.",
        show_default=False,
    ),
]
PlacementOption = Annotated[
    str,
    typer.Option(
        "--placement",
        metavar="NAME",
        help="On which GPUs (see `dovetail policies`).",
        show_default="best-fit, or what a checkpoint was trained with",
    ),
]
BackfillOption = Annotated[
    str,
    typer.Option(
        "--backfill",
        metavar="KIND",
        help="What may pass a blocked job: none, easy, conservative, or slurm (what Slurm's own "
        "backfill does; slurm:interval=30,resolution=60 changes its parameters).",
    ),
]
EstimatesOption = Annotated[
    str | None,
    typer.Option(
        "--estimates",
        metavar="KIND",
        help="What the scheduler is told of run times: exact (the truth, for bounds), limit (the "
        "users'; limit:power=0.5 believes them less), noisy:SIGMA or predicted (from ended jobs; "
        "predicted:NAME by another predictor). "
        "Default: limit where every job has one, else predicted.",
        show_default=False,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of all chance.")]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The file's format; guessed from its content if not given.",
        show_default=False,
    ),
]
RepairOption = Annotated[
    str,
    typer.Option(
        "--repair",
        metavar="NAMES",
        help="Repairs to make, with commas: clamp, drop, dedupe, sort or all. Each is counted "
        "and noted; without them a bad row is an error.",
        show_default=False,
    ),
]
MapOption = Annotated[
    str,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN,...",
        help="For a CSV with columns of its own: which of them is submit, duration, gpus, ... "
        "(see `dovetail trace formats`).",
        show_default=False,
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        help="The first N jobs of a file, or how many to draw (10,000 if not given).",
        show_default=False,
    ),
]
LoadOption = Annotated[
    float | None,
    typer.Option(
        "--load",
        metavar="X",
        help="For synth:NAME only: GPU time asked for, as a share of what the cluster has. "
        "Default: 0.9.",
        show_default=False,
    ),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", metavar="NAME", help="Where it is played: local, or ray (a cluster)."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="A running Ray cluster. Default: one of its own, on this machine.",
        show_default=False,
    ),
]
PromisesOption = Annotated[
    str,
    typer.Option(
        "--promises",
        metavar="LIST",
        help="Look at promises against Slurm's order: size_p95=10%,user_mean=25%.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write all figures as JSON.", show_default=False),
]


def columns_in(text: str) -> dict[str, str]:
    """The columns of `submit=Submitted,gpus=GPUs`, by field."""
    found: dict[str, str] = {}
    for part in names_in(text, "--map"):
        field, sign, column = part.partition("=")
        if not (sign and field.strip() and column.strip()):
            raise ConfigError(f"--map {part!r}: write FIELD=COLUMN, for example submit=Submitted")
        if field.strip() in found:
            raise ConfigError(f"--map {text!r}: {field.strip()} is mapped twice")
        found[field.strip()] = column.strip()
    return found


def names_in(text: str, option: str) -> tuple[str, ...]:
    """The names of `a,b,c`."""
    names = tuple(name.strip() for name in text.split(",")) if text.strip() else ()
    if not all(names):
        raise ConfigError(f"{option} {text!r}: an empty name between commas")
    return names
