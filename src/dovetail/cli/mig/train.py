"""`dovetail mig train`: learn where jobs go, how GPUs are cut, or both."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.cli import INTERRUPTED
from dovetail.cli.interruption import tell_what_was_kept
from dovetail.cli.mig.options import KERNEL, SLACK, HoursOption, RateOption, drawn_settings
from dovetail.cli.options import SeedOption


def _own(metavar: str, flag: str, text: str, **more: Any) -> Any:
    """An option that is the agent's own unless it is given."""
    return typer.Option(flag, metavar=metavar, help=text, show_default=False, **more)


def mig_train(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="placement (which slice), repartition (how GPUs are cut) or joint (both).",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The checkpoint's folder.")],
    clusters: Annotated[
        list[str] | None,
        _own(
            "SPEC",
            "--cluster",
            "GPUs as they are cut at first. A placement may be learned on several: repeat it. "
            "Default: the published cluster; for repartition and joint its best static cut.",
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        _own(
            "N",
            "--epochs",
            "Rounds of playing and learning; of repartition and joint so many for each of "
            "their two or three turns. Default: 60.",
            min=1,
        ),
    ] = None,
    population: Annotated[
        int | None,
        _own("N", "--population", "Candidates. Default: placement 14, others 20.", min=4),
    ] = None,
    batch: Annotated[
        int | None,
        _own("N", "--batch", "Days that each plays. Default: placement 6, others 12.", min=1),
    ] = None,
    days: Annotated[
        int | None, _own("N", "--days", "Days to learn from. Default: 32.", min=1)
    ] = None,
    validation_days: Annotated[
        int | None,
        _own("N", "--validation-days", "Days to choose the best by. Default: 16.", min=1),
    ] = None,
    slack: Annotated[
        str | None,
        _own(
            "LOW,HIGH",
            "--slack",
            f"{SLACK} Default: placement 2,4, others 1,1.5.",
        ),
    ] = None,
    rate: RateOption = None,
    hours: HoursOption = None,
    estimates: Annotated[
        str | None,
        _own(
            "KIND",
            "--estimates",
            "What is told of run times: exact, noisy:SIGMA, noisy:LOW..HIGH (another sigma each "
            "day) or predicted; several take turns, with commas. Default: placement "
            "exact,noisy:0..1.5,noisy:0..1.5,predicted, others exact.",
        ),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Learn on drawn days, by evolution; no GPU is needed.

    Goes on where an earlier run into the same folder stopped. Ctrl-C keeps the best so far.

    \b
    Example:
      dovetail mig train placement --out placement
      dovetail mig train joint --cluster 8xa100-40:2,2,2,2,8,8,8,8 --slack 1,1.5 --out joint
      dovetail mig evaluate joint
    """
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.mig.agents.catalogue import MIG_AGENTS

    agent = MIG_AGENTS[what]
    settings = {
        "clusters": None if clusters is None else tuple(clusters),
        "epochs": epochs, "population": population, "batch": batch, "days": days,
        "validation_days": validation_days, "seed": seed, "estimates": estimates,
        **drawn_settings(slack, rate, hours),
    }  # fmt: skip
    config = agent.configure({name: v for name, v in settings.items() if v is not None})
    warn_of_compiling(KERNEL)
    last = None
    with progress_bar(f"learning {what}") as fraction:

        def report(progress: Any) -> None:
            nonlocal last
            last = progress
            fraction(progress.epoch / progress.epochs, str(progress))

        try:
            found = agent.train(config, out, report)
        except KeyboardInterrupt:
            found = None
    if last is not None:
        typer.echo(f"on the validation days, {last}")
    if found is None:
        tell_what_was_kept(out, f"{agent.use} {out}")
        raise typer.Exit(INTERRUPTED)
    typer.echo(f"wrote {out}; use it: {agent.use} {out} (best at epoch {found.card['epoch']})")
