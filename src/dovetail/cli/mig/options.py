"""Options that the commands for sliced GPUs share, and the days that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.domain.errors import ConfigError

if TYPE_CHECKING:
    from dovetail.mig.workload.source import MigSource

KERNEL = "engine._play"
"""The last to be compiled: the loop of the simulator for sliced GPUs."""

CLUSTER = "8xa100-40-rounded:1,1,2,2,3,3,12,12"
"""The published one: 8 GPUs, 20 slices."""

WorkloadOption = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        help="Jobs as CSV: submit, seconds_1g … seconds_7g, and if there are any id, deadline, "
        "memory_gb, kind. Default: the published MIG day, drawn.",
        show_default=False,
    ),
]
PodsOption = Annotated[
    Path | None,
    typer.Option(
        "--pods",
        metavar="FILE",
        help="Recorded pods that share GPUs (Alibaba's openb); their deadlines are drawn.",
        show_default=False,
    ),
]
CompressOption = Annotated[
    float,
    typer.Option(
        "--compress", metavar="X", help="Divide the time between pods, for a busier cluster."
    ),
]
SLACK = "Deadlines: so many times the run time on a whole GPU after arrival, drawn evenly."
SlackOption = Annotated[
    str | None,
    typer.Option(
        "--slack",
        metavar="LOW,HIGH",
        help=f"{SLACK} Default: 2,4; the harder original is 1,1.5.",
        show_default=False,
    ),
]
RateOption = Annotated[
    float | None,
    typer.Option(
        "--rate",
        metavar="X",
        help="Arrivals of a drawn day, against 0.1 to 0.2 a minute. Default: 20.",
        show_default=False,
    ),
]
HoursOption = Annotated[
    float | None,
    typer.Option(
        "--hours",
        metavar="H",
        help="Only the first hours of a drawn day. Default: 24.",
        show_default=False,
    ),
]
WeightOption = Annotated[
    float | None,
    typer.Option(
        "--energy-weight",
        metavar="A",
        help="Of ET: minutes of mean tardiness that a W·min counts for. Default: 2e-7.",
        show_default=False,
    ),
]

EstimatesOption = Annotated[
    str,
    typer.Option(
        "--estimates",
        metavar="KIND",
        help="What policies are told of run times: exact, noisy:SIGMA or predicted (from ended "
        "jobs of the same kind and class).",
    ),
]


def source_of(
    workload: Path | None,
    pods: Path | None,
    compress: float,
    slack: str | None,
    rate: float | None,
    hours: float | None,
) -> MigSource:
    """Where the days come from, by the options of a command."""
    from dovetail.mig.workload.source import MigSource

    drawn = drawn_settings(slack, rate, hours)
    if workload is not None and drawn:
        raise ConfigError(f"--{next(iter(drawn))} is for drawn days; a workload is as it is")
    if pods is not None and drawn.keys() - {"slack"}:
        raise ConfigError("--rate and --hours are for drawn days; pods have --compress")
    return MigSource(workload=workload, pods=pods, compress=compress, **drawn)


def drawn_settings(slack: str | None, rate: float | None, hours: float | None) -> dict[str, Any]:
    """What was said of drawn days."""
    given = {"slack": None if slack is None else slack_of(slack), "rate": rate, "hours": hours}
    return {name: value for name, value in given.items() if value is not None}


def slack_of(text: str) -> tuple[float, float]:
    """The two numbers of `LOW,HIGH`."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--slack {text!r}: write two numbers, as 2,4") from None
    return low, high


def weight_of(weight: float | None) -> float:
    """The weight of energy in ET."""
    from dovetail.mig.metrics import ENERGY_WEIGHT

    if weight is None:
        return ENERGY_WEIGHT
    if not 0 < weight < float("inf"):
        raise ConfigError(f"--energy-weight is {weight}, expected above 0")
    return weight
