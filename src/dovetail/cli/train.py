"""`dovetail train`: learn a policy from a cluster's own history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import INTERRUPTED
from dovetail.cli.interruption import tell_what_was_kept
from dovetail.cli.options import (
    AddressOption,
    EngineOption,
    JobsOption,
    LoadOption,
    SeedOption,
)

if TYPE_CHECKING:
    from dovetail.agents.training_run import TrainingProgress


def _of(agent: str, metavar: str, flag: str, text: str, **more: Any) -> Any:
    """An option that is the agent's own unless it is given."""
    return typer.Option(flag, metavar=metavar, help=text, show_default=agent, **more)


def train(
    traces: Annotated[
        list[str],
        typer.Option(
            "--trace",
            metavar="TRACE",
            help="A trace file, or synth:NAME. Several are learned from together.",
        ),
    ],
    clusters: Annotated[
        list[str],
        typer.Option("--cluster", metavar="CLUSTER", help="One for all traces, or one for each."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The checkpoint's folder.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="How to learn: evolution (of an index of fifteen weighed terms, or of a network), "
            "rltune (PPO against a base policy), selector-allocator (PPO of two agents: jobs and "
            "nodes), choice (not at all), or one of another package "
            "(`dovetail policies`).",
        ),
    ] = "evolution",
    epochs: Annotated[
        int | None,
        _of(
            "evolution 16, rltune 100, selector-allocator 30",
            "N",
            "--epochs",
            "Rounds of playing and learning.",
            min=1,
        ),
    ] = None,
    estimates: Annotated[
        str,
        typer.Option(
            "--estimates",
            metavar="KIND",
            help="What is known of run times: predicted (what of the prediction is used is chosen "
            "too), limit, noisy:SIGMA or exact.",
        ),
    ] = "predicted",
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            metavar="LIST",
            help="What is wanted, by weight: wait, slowdown, tail (95th percentile of waits), "
            "makespan, utilisation. PPO learns by wait and slowdown alone.",
            show_default="wait=1,slowdown=1",
        ),
    ] = None,
    promises: Annotated[
        str | None,
        typer.Option(
            "--promises",
            metavar="LIST",
            help="What must not get worse than under Slurm's order: size_p95=10%. What breaks it "
            "is neither chosen nor kept.",
            show_default=False,
        ),
    ] = None,
    length: Annotated[
        int | None,
        _of("evolution 20000, others 256", "N", "--length", "Jobs of one replay.", min=1),
    ] = None,
    family: Annotated[
        str | None,
        _of(
            "evolution index",
            "NAME",
            "--family",
            "What is learned: index, forecast-index, network.",
        ),
    ] = None,
    base: Annotated[
        str | None, _of("rltune fcfs", "NAME", "--base", "The policy to be better than.")
    ] = None,
    metric: Annotated[
        str | None, _of("rltune bsld", "NAME", "--metric", "bsld, wait, jct or utilisation.")
    ] = None,
    features: Annotated[
        str | None,
        _of(
            "rltune sampled",
            "NAME",
            "--features",
            "What is seen of a job: sampled, raw, all or forecast.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        _of("rltune saf", "NAME", "--start", "What the network begins as: saf or random."),
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting of the agent; may be given several times.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=1, help="Processes or threads that play."),
    ] = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    load: LoadOption = None,
) -> None:
    """Choose the policy and estimates that suit a history, then learn to do better.

    What was learned is written only if it is clearly ahead of the choice on jobs that no learner
    saw, in more blocks of time than chance explains, and no size of jobs pays for it; else the
    choice is. That takes a history of 12,500 jobs or more. The last tenth of the trace stays
    unseen. Goes on where an earlier run into the same folder stopped; Ctrl-C keeps the best
    that passed.

    \b
    Example:
      dovetail train --trace history.parquet --cluster cluster.toml --workers 2 --out model
      dovetail train --objective wait=1,tail=0.5,utilisation=10 --promises size_p95=10% \\
          --trace history.parquet --cluster cluster.toml --out model
      dovetail train --objective slowdown --trace history.parquet \\
          --cluster cluster.toml --out model       (orders that favour slowdown, too)
      dovetail train --agent selector-allocator --trace history.parquet \\
          --cluster cluster.toml --out model       (jobs and nodes, each by an agent)
      dovetail train --agent rltune --base fcfs --metric bsld --trace history.parquet \\
          --cluster cluster.toml --out model       (watch: tensorboard --logdir model/logs)
      dovetail evaluate model history.parquet --cluster cluster.toml
    """
    from dovetail.agents.catalogue import AGENTS
    from dovetail.agents.engines import ENGINES
    from dovetail.cli.inputs import open_sites
    from dovetail.cli.screen import progress_bar, warn_of_compiling

    chosen = AGENTS[agent]
    settings = {
        "epochs": epochs, "length": length, "family": family, "base": base, "metric": metric,
        "features": features, "start": start, "estimates": estimates, "promises": promises,
        "objective": objective, "seed": seed,
    }  # fmt: skip
    given = {name: value for name, value in settings.items() if value is not None}
    config = chosen.configure({**given, **chosen.parse_settings(more or ())})
    learn = chosen.load(ENGINES[engine](address))
    sites = open_sites(traces, clusters, jobs, load, seed)
    count = sum(len(site.trace) for site in sites)
    warn_of_compiling()
    last = None
    with progress_bar(f"training on {count:,} jobs") as fraction:

        def report(progress: TrainingProgress) -> None:
            nonlocal last
            last = progress
            fraction(progress.epoch / progress.epochs, str(progress))

        try:
            found = learn(sites, out, config, report, workers)
        except KeyboardInterrupt:
            found = None
    if last is not None:
        typer.echo(f"on the validation part: {last}")
    if found is None:
        tell_what_was_kept(out, f"--order {out}")
        raise typer.Exit(INTERRUPTED)
    gate = found.card.get("gate")
    if gate is not None:
        typer.echo(gate["sentence"])
    epoch = f" (epoch {found.card['epoch']})" if "epoch" in found.card else ""
    typer.echo(f"wrote {out}, a policy: --order {out} --estimates {_kind(estimates)}{epoch}")


def _kind(estimates: str) -> str:
    """Plain `predicted` makes a policy use what it was chosen with."""
    return "predicted" if estimates.startswith("predicted") else estimates
