"""`dovetail mig simulate`: one day on sliced GPUs under one placement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.mig.options import (
    CLUSTER,
    KERNEL,
    CompressOption,
    EstimatesOption,
    HoursOption,
    PodsOption,
    RateOption,
    SlackOption,
    WeightOption,
    WorkloadOption,
    source_of,
    weight_of,
)
from dovetail.cli.options import JsonOption, SeedOption
from dovetail.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dovetail.mig.evaluation.contenders import Contender


def mig_simulate(
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="SPEC",
            help="GPUs, their model, and a configuration for each, models joined by +; or a "
            "cluster file. Models: a100-40, a100-80, h100-80, h100-94, h100-96, h200-141, "
            "gh200-144, b200-180, gb200-186, rtx-pro-6000-96, a30-24.",
        ),
    ] = CLUSTER,
    placer: Annotated[
        str | None,
        typer.Option(
            "--placer",
            metavar="NAME",
            help="On which slice a job goes: dovetail (learned, shipped), eft, largest-first, "
            "smallest-first, random, edf-most-packed, marginal-et, categorical-edf, prices, "
            "known-prices, unsure-prices, or a checkpoint's folder.",
            show_default="eft",
        ),
    ] = None,
    repartitioner: Annotated[
        str | None,
        typer.Option(
            "--repartitioner",
            metavar="DIR",
            help="Who cuts GPUs anew: a checkpoint's folder, or none.",
            show_default="none",
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            metavar="DIR",
            help="A checkpoint that does both, instead of --placer and --repartitioner.",
            show_default=False,
        ),
    ] = None,
    workload: WorkloadOption = None,
    pods: PodsOption = None,
    compress: CompressOption = 1.0,
    slack: SlackOption = None,
    rate: RateOption = None,
    hours: HoursOption = None,
    estimates: EstimatesOption = "exact",
    energy_weight: WeightOption = None,
    seed: SeedOption = 0,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Write the jobs as CSV, for --workload.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Play one day on GPUs that are cut into slices, and show what it cost.

    \b
    Example:
      dovetail mig simulate --cluster 8xa100-40:1,1,2,2,3,3,12,12 --placer categorical-edf
    """
    refuse_bad_targets(json=json, save=save)
    from dovetail.cli.files import write_json, write_whole
    from dovetail.cli.screen import print_notes, warn_of_compiling
    from dovetail.mig.evaluation.bounds import mig_bounds
    from dovetail.mig.evaluation.comparison import bound_figures
    from dovetail.mig.evaluation.contenders import Contender
    from dovetail.mig.metrics import summary
    from dovetail.mig.workload.estimates import mig_estimates
    from dovetail.mig.workload.file import write_mig_workload

    weight = weight_of(energy_weight)
    if control is not None and (placer or repartitioner):
        raise ConfigError("--control places and cuts; leave out --placer and --repartitioner")
    who = Contender(control or placer or "eft", cluster, control or repartitioner or "none")
    parts = who.parts()
    day = source_of(workload, pods, compress, slack, rate, hours).day(seed)
    told = mig_estimates(day, estimates, seed).name
    print_notes(day.trace.notes)
    warn_of_compiling(KERNEL)
    figures = summary(parts.run(day, seed, estimates=told), weight)
    bound = mig_bounds(day, parts.cluster)
    bounds = bound_figures(bound.energy_joules, bound.tardiness_mean, weight)
    _show(day.trace.name, who, figures, bounds)
    if json is not None:
        config = {**figures.pop("config"), "cluster": cluster, "workload": day.trace.name}
        write_json(json, {**figures, "bounds": bounds, "config": config})
        typer.echo(f"wrote {json}")
    if save is not None:
        write_whole(save, lambda part: write_mig_workload(day, part))
        typer.echo(f"wrote {save}")


def _show(
    name: str, who: Contender, figures: Mapping[str, Any], bounds: Mapping[str, float]
) -> None:
    from dovetail.cli.screen import facts, results
    from dovetail.domain.units import share

    over = figures["energy_joules"] / bounds["energy_joules"] - 1.0
    results().print(
        facts(
            [
                ("workload", f"{name}, {figures['jobs']:,} jobs"),
                ("cluster", who.cluster),
                ("policy", who.label()),
                ("run times told", str(figures["config"]["estimates"])),
                ("late", f"{share(figures['late_share'])} of jobs"),
                (
                    "tardiness",
                    f"mean {figures['tardiness_mean']:.3f} min "
                    f"(no schedule is below {bounds['tardiness_mean']:.3f})",
                ),
                (
                    "energy",
                    f"{figures['energy_joules']:,.0f} J, {figures['energy_kwh']:.2f} kWh, "
                    f"{figures['energy_watt_minutes']:,.0f} W·min",
                ),
                (
                    "energy bound",
                    f"{bounds['energy_kwh']:.2f} kWh, {bounds['energy_watt_minutes']:,.0f} W·min; "
                    f"this is {share(over)} above it",
                ),
                (
                    "ET",
                    f"{figures['energy_tardiness']:.4f} with a = {figures['energy_weight']:g} "
                    f"(no schedule is below {bounds['energy_tardiness']:.4f})",
                ),
                ("idle slices", f"{share(figures['idle_slice_share'])} of compute slices"),
                ("repartitions", f"{figures['repartitions']:,}"),
                ("never ran", f"{figures['unfinished']:,} jobs"),
                (
                    "simulated in",
                    f"{figures['sim_seconds']:.3f} s ({figures['events']:,} events)",
                ),
            ]
        )
    )
