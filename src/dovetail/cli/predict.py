"""`dovetail predict`: how well run times can be known from a history, and why one job's is so."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.files import refuse_bad_targets
from dovetail.cli.options import JobsOption, JsonOption, TraceArgument, names_in


def predict(
    trace: TraceArgument,
    predictors: Annotated[
        str,
        typer.Option(
            "--predictors", metavar="NAMES", help="With commas; `dovetail policies` lists them."
        ),
    ] = "median,mixture",
    job: Annotated[
        str | None,
        typer.Option(
            "--job",
            metavar="ID",
            help="Explain the prediction of one job by the last of the predictors.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write scores and a calibration plot as one HTML file.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = None,
    jobs: JobsOption = None,
) -> None:
    """Predict every job of a history from those that had ended before, and say how well.

    Losses count logarithms, so that a factor of two counts the same for every job; lower is better.

    \b
    Example:
      dovetail predict history.parquet --report predictions.html
      dovetail predict history.parquet --job 4711
    """
    refuse_bad_targets(report=report, json=json)
    from rich.table import Table

    from dovetail.cli.screen import facts, progress_bar, results, warn_of_compiling
    from dovetail.domain.output import write_whole
    from dovetail.evaluation.predictions import explain, judge, row_of
    from dovetail.evaluation.report.predictions import TITLES, score_rows, write_predictions
    from dovetail.prediction import PREDICTORS
    from dovetail.traces.loader import load_trace

    names = names_in(predictors, "--predictors")
    for name in names:
        PREDICTORS[name]  # a misspelt name should not cost the reading
    with progress_bar(f"reading {trace}") as progress:
        history = load_trace(trace, jobs=jobs, progress=progress)
    row = None if job is None else row_of(history, job)
    warn_of_compiling()
    judged = judge(history, names)
    if row is not None:
        results().print(facts(explain(history, judged.forecasts[names[-1]], row)))
    else:
        table = Table(*TITLES, box=None, pad_edge=False)
        for cells in score_rows(judged):
            table.add_row(*cells)
        results().print(table)
    if report is not None:
        write_predictions(judged, report)
    if json is not None:
        text = judged.to_json()
        write_whole(json, lambda part: part.write_text(text, encoding="utf-8"))
    for path in (report, json):
        if path is not None:
            typer.echo(f"wrote {path}")
