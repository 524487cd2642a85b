"""`dovetail evaluate`: a learned policy against heuristics, on jobs it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import (
    AddressOption,
    ClusterOption,
    EngineOption,
    JobsOption,
    JsonOption,
    LoadOption,
    PromisesOption,
    SeedOption,
    TraceArgument,
    names_in,
)
from dovetail.domain.units import duration, factor

if TYPE_CHECKING:
    from dovetail.agents.engines import Engine
    from dovetail.domain.cluster import Cluster
    from dovetail.domain.objective import Objective
    from dovetail.domain.trace import Trace
    from dovetail.evaluation.standing import Unseen
    from dovetail.evaluation.unseen import AgainstSlurm, Draws
    from dovetail.policies.policy import Policy

RIVALS = "saf,saf+none,sjf,sjf+none,unicep,f1,wfp3,qssf,slurm-multifactor,fcfs"

_TITLES = {
    "unseen": "{jobs:,} unseen jobs, intervals over {groups} blocks of them",
    "windows": "windows of the unseen part: {groups} with {jobs:,} jobs, intervals over windows",
}


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A checkpoint's folder, or `dovetail`: the policy that is shipped.",
            show_default=False,
        ),
    ],
    trace: TraceArgument,
    cluster: ClusterOption,
    rivals: Annotated[
        str, typer.Option("--policies", metavar="NAMES", help="Policies to compare with.")
    ] = RIVALS,
    estimates: Annotated[
        str | None,
        typer.Option(
            "--estimates",
            metavar="KIND",
            help="What is known of run times, kinds with semicolons. Default: predicted, and limit "
            "where every job has one.",
            show_default=False,
        ),
    ] = None,
    windows: Annotated[
        int,
        typer.Option(
            "--windows",
            metavar="N",
            min=0,
            help="Windows of the unseen part, from the cluster as it was then; 0: none.",
        ),
    ] = 10,
    length: Annotated[
        int, typer.Option("--length", metavar="N", min=1, help="Jobs per window.")
    ] = 1024,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", metavar="N", min=1, help="Draws of the estimates' noise to average over."
        ),
    ] = 3,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, help="Processes that replay.")
    ] = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            metavar="LIST",
            help="What is wanted, by weight: wait=1,tail=0.5. Default: what the policy was "
            "trained for.",
            show_default=False,
        ),
    ] = None,
    promises: PromisesOption = "",
    seed: SeedOption = 1,
    jobs: JobsOption = None,
    load: LoadOption = None,
    json: JsonOption = None,
) -> None:
    """Compare a learned policy with heuristics on the last tenth of a trace.

    Twice: on the whole tenth, each policy finding the cluster as it left it itself, and on windows
    of it that start from the same state for all. Then against Slurm's own order: who gains and who
    pays, by size and run time of jobs, QOS, account and user, and how the policy stands by its
    objective.

    \b
    Example:
      dovetail evaluate model history.parquet --cluster cluster.toml
    """
    refuse_bad_targets(json=json)
    from dovetail import api
    from dovetail.agents.aim import USUAL
    from dovetail.agents.engines import ENGINES
    from dovetail.cli.files import write_json
    from dovetail.cli.inputs import open_trace
    from dovetail.cli.screen import results, warn_of_compiling
    from dovetail.cli.who_pays import print_promises
    from dovetail.domain.objective import Objective
    from dovetail.domain.promises import Promises
    from dovetail.evaluation.unseen import Draws, kinds_known
    from dovetail.policies.learned.arrays_file import Card
    from dovetail.policies.learned.checkpoint import load_checkpoint
    from dovetail.policies.policy import Policy, checkpoint_folder
    from dovetail.policies.trained_objective import objective_of
    from dovetail.prediction.knowledge import Knowledge

    players = _PlayedBy(workers, ENGINES[engine](address))
    asked = Promises.parse(promises)
    wanted = None if objective is None else Objective.parse(objective)
    folder = checkpoint_folder(model) or Path(model)
    card = Card(folder, load_checkpoint(folder).card)
    wanted = wanted or objective_of(card.content) or USUAL
    site = api.load_cluster(cluster)
    history = open_trace(trace, site, jobs, load, seed=card.whole("config", "seed"))
    kinds = kinds_known(history) if estimates is None else estimates.split(";")
    policies = [Policy(model)] + [Policy.parse(n) for n in names_in(rivals, "--policies")]
    if history.digest() not in card.texts_of_each("sites", "trace_digest"):
        typer.echo("note: another trace than in training", err=True)
    warn_of_compiling()
    everything: dict[str, Any] = {}
    knowledge = Knowledge(history)
    for kind in kinds:
        draws = Draws(history, kind.strip(), seed, seeds, knowledge)
        found = _measure(history, site, policies, draws, windows, length, players)
        everything[draws.spec] = _plain(found, wanted)
        _tell(found, draws, policies[0])
        typer.echo(standing_by(wanted, found.slurm))
        if asked:
            print_promises(results(), asked.check(found.slurm.groups, found.slurm.used))
    typer.echo(
        "ratios: the first policy to this one, below 1 the first is better, with 95 % intervals; "
        "the bound is that of these jobs alone on an idle cluster"
    )
    if json is not None:
        write_json(json, {"seed": seed, "knowledge": everything})
        typer.echo(f"wrote {json}")


class _PlayedBy(NamedTuple):
    """Who replays."""

    workers: int
    engine: Engine


class _Found(NamedTuple):
    """All that is measured under one kind of estimates."""

    parts: dict[str, Unseen]
    slurm: AgainstSlurm


def _measure(
    history: Trace,
    site: Cluster,
    policies: list[Policy],
    draws: Draws,
    windows: int,
    length: int,
    players: _PlayedBy,
) -> _Found:
    from dovetail.cli.screen import progress_bar
    from dovetail.evaluation.unseen import against_slurm, evaluate_unseen, first_unseen
    from dovetail.evaluation.warm_windows import evaluate_windows

    with progress_bar(f"replaying {len(history):,} jobs") as report:
        unseen = evaluate_unseen(
            history, site, policies, draws, progress=report, **players._asdict()
        )
    parts = {"unseen": unseen}
    if windows > 0:
        first = first_unseen(history)
        with progress_bar(f"replaying {windows} windows") as report:
            parts["windows"] = evaluate_windows(
                history, site, policies, draws, first, windows, length, report,
                **players._asdict(),
            )  # fmt: skip
    return _Found(parts, against_slurm(history, site, policies[0], draws))


def _tell(found: _Found, draws: Draws, policy: Policy) -> None:
    from dovetail.cli.group_table import group_table
    from dovetail.cli.screen import print_notes, results

    print_notes(draws.of(policy)[0].notes)
    told = policy.told(draws.spec)
    own = "" if told == draws.spec else f" (the first policy: {told})"
    typer.echo(f"{draws.spec} estimates{own}, mean of {len(draws)} draws")
    for name, part in found.parts.items():
        _show(part, _TITLES[name].format(jobs=part.jobs, groups=part.groups))
    results().print("who gains, who pays: waits under slurm-multifactor and under the first policy")
    results().print(group_table(found.slurm.groups))


def standing_by(objective: Objective, slurm: AgainstSlurm) -> str:
    """By how much the policy is better than Slurm's own order, and what that is made of."""
    better = objective.improvement(slurm.before, slurm.after)
    changes = objective.changes(slurm.before, slurm.after)
    parts = ", ".join(f"{name} {change:+.1%}" for name, change in changes.items())
    word = "better" if better >= 0 else "worse"
    return (
        f"by the objective {objective}: {abs(better):.1%} {word} than slurm-multifactor ({parts})"
    )


def _plain(found: _Found, objective: Objective) -> dict[str, Any]:
    from dataclasses import asdict

    parts = {name: asdict(part) for name, part in found.parts.items()}
    slurm = found.slurm
    stands = {
        "weights": str(objective),
        "improvement": objective.improvement(slurm.before, slurm.after),
        "slurm": slurm.before,
        "policy": slurm.after,
    }
    groups = [asdict(group) for group in slurm.groups]
    return {**parts, "who_pays": groups, "objective": stands}


def _show(found: Unseen, title: str) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results

    heads = ("wait", "over bound", "JCT", "bsld", "wait ratio", "bsld ratio")
    table = columns("policy", *heads, right=heads)
    for row in found.rows:
        table.add_row(
            cell(row.label),
            duration(row.wait),
            factor(row.wait_over_bound),
            duration(row.jct),
            factor(row.bsld),
            str(row.wait_ratio),
            str(row.bsld_ratio),
        )
    bound = found.bound
    table.add_section()
    table.add_row(
        "clairvoyant bound", duration(bound.wait_mean), "", duration(bound.jct_mean),
        factor(bound.bsld_mean), style="italic",
    )  # fmt: skip
    console = results()
    console.print(title, style="bold")
    console.print(table)
    console.print()
