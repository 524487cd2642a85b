"""`dovetail simulate`: one policy over a whole trace, with every job's start and GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import (
    BackfillOption,
    ClusterOption,
    EstimatesOption,
    JobsOption,
    JsonOption,
    LoadOption,
    PlacementOption,
    SeedOption,
    TraceArgument,
)
from dovetail.domain.units import duration, factor, share

if TYPE_CHECKING:
    from dovetail.domain.cluster import Cluster
    from dovetail.domain.schedule import Schedule
    from dovetail.domain.trace import Trace
    from dovetail.policies.policy import Policy


def simulate(
    trace: TraceArgument,
    cluster: ClusterOption,
    order: Annotated[
        str,
        typer.Option(
            "--order", metavar="NAME", help="Which job goes next (see `dovetail policies`)."
        ),
    ] = "fcfs",
    placement: PlacementOption = "",
    backfill: BackfillOption = "easy",
    estimates: EstimatesOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    load: LoadOption = None,
    json: JsonOption = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            metavar="FILE",
            help="Write one row per job as Parquet: start, end, wait, nodes, GPUs.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Debug: test the whole state after every event (slow).",
        ),
    ] = False,
) -> None:
    """Replay a trace on a cluster under one policy.

    \b
    Example:
      dovetail simulate history.parquet --cluster cluster.toml --order saf \\
        --json saf.json --schedule saf.parquet
    """
    refuse_bad_targets(json=json, schedule=schedule)
    from dovetail.cli.files import write_json
    from dovetail.cli.inputs import open_trace
    from dovetail.domain.metrics import summary
    from dovetail.policies.policy import Policy
    from dovetail.traces.cluster_loader import load_cluster

    policy = Policy(order, backfill, placement)  # a misspelt name should not cost the reading
    site = load_cluster(cluster)
    jobs_of = open_trace(trace, site, jobs, load, seed)
    found = _replay(jobs_of, site, policy, estimates, seed, check)
    figures = summary(found)
    if json is not None:
        write_json(json, figures)
    if schedule is not None:
        from dovetail.cli.schedule_file import write_schedule  # with Polars: a tenth of a start

        write_schedule(found, schedule)
    _show(found, figures)
    for path in (json, schedule):
        if path is not None:
            typer.echo(f"wrote {path}")


def _replay(
    trace: Trace, cluster: Cluster, policy: Policy, estimates: str | None, seed: int, check: bool
) -> Schedule:
    from dovetail.cli import INTERRUPTED
    from dovetail.cli.screen import print_notes, progress_bar, warn_of_compiling
    from dovetail.evaluation.run import Run

    run = Run.of(trace, cluster, policy, estimates, seed)
    print_notes(run.estimates.notes)
    warn_of_compiling()
    submitted = 0.0
    try:
        with progress_bar(f"simulating {len(trace):,} jobs") as report:

            def advance(fraction: float) -> None:
                nonlocal submitted
                submitted = fraction
                report(fraction)

            return run.replay(advance, check)
    except KeyboardInterrupt:
        done = f"{round(submitted * len(trace)):,} of {len(trace):,} jobs had been submitted"
        typer.echo(f"interrupted: {done}; nothing was written", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _show(schedule: Schedule, figures: dict[str, Any]) -> None:
    from dovetail.cli.screen import facts, results
    from dovetail.cli.wishes import wish_lines

    config, jobs = figures["config"], figures["jobs"]
    console = results()
    console.print(
        facts(
            [
                ("trace", f"{config['trace']}, {jobs:,} jobs"),
                ("cluster", f"{config['cluster']}, {schedule.cluster.total_gpus:,} GPUs"),
                (
                    "policy",
                    f"{config['order']}+{config['backfill']}@{config['placement']}, "
                    f"{config['estimates']} estimates",
                ),
                (
                    "wait",
                    f"mean {duration(figures['wait_mean'])}, median "
                    f"{duration(figures['wait_p50'])}, p95 {duration(figures['wait_p95'])}, "
                    f"p99 {duration(figures['wait_p99'])}",
                ),
                ("job completion", f"mean {duration(figures['jct_mean'])} from submission"),
                (
                    "bounded slowdown",
                    f"mean {factor(figures['bsld_mean'])}, p95 {factor(figures['bsld_p95'])}",
                ),
                ("GPUs in use", f"{share(figures['gpu_utilization'])} of {_span(figures)}"),
                (
                    "fragmentation",
                    f"{share(figures['fragmentation_mean'])} of free GPUs are on partly used nodes",
                ),
                ("fairness", f"{figures['fairness_jain_users']:.2f} (Jain, over users; 1 is even)"),
                ("backfilled", f"{figures['backfilled']:,} jobs"),
                (
                    "simulated in",
                    f"{figures['sim_seconds']:.2f} s ({figures['events']:,} events)",
                ),
            ]
        )
    )
    for reason, count in schedule.rejections().items():
        jobs_were = "job was" if count == 1 else "jobs were"
        typer.echo(f"rejected: {count:,} {jobs_were} not started: {reason}")
    for line in wish_lines(config):
        typer.echo(line)


def _span(figures: dict[str, Any]) -> str:
    throughput = f"{figures['throughput_jobs_per_hour']:,.1f} jobs ended per hour"
    return f"{duration(figures['makespan'])}; {throughput}"
