"""`dovetail transfer`: train on each history, test on every one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import AddressOption, EngineOption, JsonOption, SeedOption
from dovetail.domain.errors import ConfigError

if TYPE_CHECKING:
    from dovetail.agents.training_run import TrainingProgress
    from dovetail.evaluation.transfer import Transfer


def transfer(
    traces: Annotated[
        list[str],
        typer.Option("--trace", metavar="TRACE", help="Two or more: files, or synth:NAME."),
    ],
    clusters: Annotated[
        list[str],
        typer.Option("--cluster", metavar="CLUSTER", help="One for all traces, or one for each."),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="A folder for the checkpoints.")
    ],
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="How to learn: evolution, rltune, selector-allocator, adlro, choice (not at all), "
            "or one of another package; `dovetail train` says what each does.",
        ),
    ] = "evolution",
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            metavar="N",
            min=1,
            help="Rounds of each training; an agent that has rounds makes 30.",
            show_default=False,
        ),
    ] = None,
    base: Annotated[
        str, typer.Option("--base", metavar="POLICY", help="The policy that ratios compare with.")
    ] = "saf",
    estimates: Annotated[
        str, typer.Option("--estimates", metavar="KIND", help="What is told of run times.")
    ] = "predicted",
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, help="Processes that play.")
    ] = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Train a policy on each history and test it on the unseen tenth of every one.

    A row is what was trained on, a column what was tested on. A training that was interrupted goes
    on; one that is complete is not repeated.

    \b
    Example:
      dovetail transfer --trace a.parquet --cluster a.toml --trace b.parquet --cluster b.toml \\
          --out models
    """
    refuse_bad_targets(json=json)
    from dataclasses import asdict, fields

    from dovetail.agents.catalogue import AGENTS
    from dovetail.agents.engines import ENGINES
    from dovetail.cli.files import write_json
    from dovetail.cli.inputs import open_sites
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.evaluation.transfer import transfer as matrix
    from dovetail.policies.policy import Policy

    reference = Policy.parse(base)
    sites = {
        f"{number}-{_safe(site.trace.name)}": site
        for number, site in enumerate(open_sites(traces, clusters, None, None, seed), start=1)
    }
    if len(sites) < 2:
        raise ConfigError("one history to train and test on; name two or more with --trace")
    chosen, away = AGENTS[agent], ENGINES[engine](address)
    usual = {"epochs": 30, "estimates": estimates, "seed": seed, "base": reference.order}
    given = {} if epochs is None else {"epochs": epochs}
    own = {part.name for part in fields(chosen.config)}
    config = chosen.configure({name: usual[name] for name in usual if name in own} | given)
    learn = chosen.load(away)
    warn_of_compiling()
    models = {}
    for name, site in sites.items():
        models[name] = out / name
        with progress_bar(f"learning from {name}") as fraction:

            def report(progress: TrainingProgress, fraction: Any = fraction) -> None:
                fraction(progress.epoch / progress.epochs, str(progress))

            learn([site], models[name], config, report, workers)
    with progress_bar("testing") as tested:
        cells = matrix(
            models, sites, reference, estimates, progress=tested, workers=workers, engine=away
        )
    _show(cells, reference.label(placement="best-fit"), estimates)
    if json is not None:
        write_json(json, {"base": base, "estimates": estimates, "cells": [*map(asdict, cells)]})
        typer.echo(f"wrote {json}")


def _safe(name: str) -> str:
    """A trace's name may come from its file: nothing in it may lead out of the folder."""
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name)[:60]


def _show(cells: list[Transfer], base: str, estimates: str) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results

    tested = [*dict.fromkeys(one.tested_on for one in cells)]
    found = {(one.trained_on, one.tested_on): one for one in cells}
    for measure in ("wait", "bsld"):
        table = columns("trained on", *map(cell, tested), right=[*map(cell, tested)])
        for trained in dict.fromkeys(one.trained_on for one in cells):
            ratios = [str(getattr(found[trained, where], measure)) for where in tested]
            table.add_row(cell(trained), *ratios)
        console = results()
        title = f"{measure}, ratio to {cell(base)} on the last tenth of each history"
        console.print(title, style="bold")
        console.print(table)
        console.print()
    typer.echo(f"{estimates} estimates; below 1 the learned policy is better, with 95 % intervals")
