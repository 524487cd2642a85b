"""Predictions as one HTML file: scores, and whether quantiles hold what they say."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from dovetail.domain.output import write_whole
from dovetail.domain.provenance import version
from dovetail.domain.units import count, share
from dovetail.evaluation.predictions import Judged
from dovetail.evaluation.report.drawing import GRID, canvas, line, short
from dovetail.evaluation.report.page import figure, page, table
from dovetail.prediction.distribution import LEVELS

TITLES = ("predictor", "part", "pinball loss", "of the median", "within 2x", "80 % holds", "rank")


def write_predictions(judged: Judged, path: Path) -> None:
    """Write the page, whole or not at all."""
    text = predictions_html(judged)
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def predictions_html(judged: Judged) -> str:
    """The page; names come from outside and are escaped where they are put in."""
    title = f"Run times of {judged.trace}"
    lead = f"How well the run times of {count(judged.jobs)} jobs are predicted on their submission."
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in TITLES)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in score_rows(judged)
    )
    note = (
        "On the diagonal a quantile holds what it says: 80 % of the jobs run no longer than "
        "their 80th percentile. Above it predictions are too long, below too short."
    )
    drawing = figure("Calibration", calibration(judged), "share of jobs by quantile", note)
    return page(
        title,
        f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(lead)}</p></header>"
        f"<main>{table('scores', head, rows)}{drawing}</main>"
        f"<footer>Made by Dovetail {escape(version())}.</footer>",
    )


def score_rows(judged: Judged) -> list[list[str]]:
    """One line per predictor and part, in the order of TITLES."""
    return [
        [
            name,
            part,
            f"{found.pinball:.3f}",
            f"{found.pinball_median:.3f}",
            share(found.within_twofold),
            share(found.coverage),
            f"{found.rank_correlation:.2f}",
        ]
        for name, parts in judged.scores.items()
        for part, found in parts.items()
    ]


def calibration(judged: Judged) -> str:
    """Share of jobs (upwards) within each quantile (to the right), over the longer part."""
    with canvas(height=4.6) as (axes, svg):
        axes.plot([0, 1], [0, 1], color=GRID, linewidth=1.5)
        for number, (name, parts) in enumerate(judged.scores.items()):
            reached = next(iter(parts.values())).reached
            axes.plot(LEVELS, reached, marker="o", markersize=3, label=short(name), **line(number))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes.set_xlabel("predicted quantile")
        axes.set_ylabel("jobs that ran no longer")
        axes.grid(color=GRID)
        whole: Any = axes.figure
        whole.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9.5)
    return svg()
