"""`dovetail compare`: policies side by side, on the same jobs with the same knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli import INTERRUPTED
from dovetail.cli.files import refuse_bad_targets, write_whole
from dovetail.cli.options import (
    AddressOption,
    BackfillOption,
    ClusterOption,
    EngineOption,
    EstimatesOption,
    JobsOption,
    JsonOption,
    LoadOption,
    PlacementOption,
    PromisesOption,
    SeedOption,
    TraceArgument,
    names_in,
)

if TYPE_CHECKING:
    from dovetail.agents.engines import Engine
    from dovetail.domain.cluster import Cluster
    from dovetail.domain.trace import Trace
    from dovetail.evaluation.comparison import Comparison
    from dovetail.policies.policy import Policy

POLICIES = "fcfs,slurm-multifactor,sjf,saf,wfp3,f1,qssf,dovetail"
"""The usual baseline, what Slurm does, the best known simple rules, and the shipped policy."""


def compare(
    trace: TraceArgument,
    cluster: ClusterOption,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            metavar="LIST",
            help="With commas, each ORDER[+BACKFILL][@PLACEMENT]: fcfs,saf+none,sjf@fgd.",
        ),
    ] = POLICIES,
    backfill: BackfillOption = "easy",
    placement: PlacementOption = "",
    estimates: EstimatesOption = None,
    sequences: Annotated[
        int | None,
        typer.Option(
            "--sequences",
            metavar="N",
            min=1,
            help="Means over N random windows, as in the literature. Default: the whole trace.",
            show_default=False,
        ),
    ] = None,
    length: Annotated[
        int, typer.Option("--length", metavar="N", min=1, help="Jobs per window.")
    ] = 1024,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    load: LoadOption = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="Processes. Default: one, or one per core where that pays.",
            show_default=False,
        ),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    promises: PromisesOption = "",
    who: Annotated[
        str,
        typer.Option(
            "--who",
            metavar="POLICY",
            help="Who gains, who pays under this policy: waits by size, QOS, account, user.",
            show_default=False,
        ),
    ] = "",
    json: JsonOption = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Write a report as HTML.", show_default=False
        ),
    ] = None,
) -> None:
    """Replay a trace under several policies, side by side.

    What was recorded and, where the cluster file holds the settings of slurm.conf, Slurm as
    configured come first, and how far these two are apart. The best of each column is marked.
    Ctrl-C keeps what is finished.

    \b
    Example:
      dovetail compare history.parquet --cluster cluster.toml \\
        --policies slurm-multifactor,fcfs,saf --sequences 10 --report report.html
    """
    refuse_bad_targets(json=json, report=report)
    from dovetail import api
    from dovetail.agents.engines import ENGINES, LOCAL
    from dovetail.cli.comparison_table import print_comparison
    from dovetail.cli.inputs import open_trace
    from dovetail.cli.screen import print_notes, results
    from dovetail.cli.wishes import wish_lines
    from dovetail.domain.promises import Promises
    from dovetail.policies.configured import configured_policy
    from dovetail.policies.policy import Policy

    asked = Promises.parse(promises)
    away = ENGINES[engine](address)
    chosen = [Policy.parse(text, backfill, placement) for text in names_in(policies, "--policies")]
    site = api.load_cluster(cluster)
    history = open_trace(trace, site, jobs, load, seed)
    configured = configured_policy(site)
    if configured is not None:
        chosen = [configured, *chosen]
    played = None if engine == LOCAL else away
    found = _replay(history, site, chosen, estimates, seed, sequences, length, workers, played)
    print_notes(found.config["estimates_notes"])
    print_comparison(found, results())
    for line in wish_lines(found.config["wishes"]):
        typer.echo(line)
    if who:
        from dovetail.cli.who_pays import print_who_pays

        row = found[Policy.parse(who, backfill, placement).label()]
        print_who_pays(results(), row.groups, f"{row.label} against {found.reference}")
    if asked:
        from dovetail.cli.who_pays import print_promises

        for row in found.rows:
            typer.echo(f"{row.label}:")
            print_promises(results(), found.check(asked, row))
    if json is not None:
        write_whole(json, lambda part: part.write_text(found.to_json(), encoding="utf-8"))
        typer.echo(f"figures: {json}")
    if report is not None:
        from dovetail.evaluation.report.report import write_report

        write_report(found, report)
        typer.echo(f"report:  {report}")
    if not found.complete:
        typer.echo("interrupted: the table holds what was finished", err=True)
        raise typer.Exit(INTERRUPTED)


def _replay(
    trace: Trace,
    cluster: Cluster,
    policies: list[Policy],
    estimates: str | None,
    seed: int,
    sequences: int | None,
    length: int,
    workers: int | None,
    engine: Engine | None,
) -> Comparison:
    from dovetail import api
    from dovetail.cli.screen import progress_bar, warn_of_compiling

    warn_of_compiling()
    try:
        with progress_bar(f"comparing {len(policies)} policies") as report:

            def advance(done: int, total: int, policy: str) -> None:
                report(done / total, f"{done} of {total} runs, {policy}")

            return api.compare(
                trace,
                cluster,
                policies,
                estimates=estimates,
                seed=seed,
                sequences=sequences,
                length=length,
                workers=workers,
                progress=advance,
                engine=engine,
            )
    except KeyboardInterrupt:
        typer.echo("interrupted before the first run was finished; nothing was written", err=True)
        raise typer.Exit(INTERRUPTED) from None
