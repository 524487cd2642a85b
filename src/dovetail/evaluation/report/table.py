"""A comparison as a grid of texts, for the terminal and the report, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dovetail.domain.measures import MEASURES, Better
from dovetail.domain.units import UNKNOWN, count, duration, factor, share
from dovetail.evaluation.comparison import Comparison
from dovetail.evaluation.recorded import LABEL

BOUND = "clairvoyant bound"


@dataclass(frozen=True, slots=True)
class Column:
    """A metric, its heading and how to write it."""

    key: str
    title: str
    write: Callable[[float], str]


COLUMNS = (
    Column("wait_mean", "wait mean", duration),
    Column("wait_p95", "wait p95", duration),
    Column("jct_mean", "JCT", duration),
    Column("bsld_mean", "bsld", factor),
    Column("bsld_p95", "bsld p95", factor),
    Column("gpu_utilization", "utilisation", share),
    Column("fragmentation_mean", "fragmentation", share),
    Column("fairness_jain_users", "fairness", factor),
    Column("backfilled", "backfilled", count),
    Column("unfinished", "unfinished", count),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as text; the best of its column is marked."""

    text: str
    best: bool = False

    @property
    def marked(self) -> str:
        """The text with a star that survives without colour and bold."""
        return f"{self.text}*" if self.best else self.text


def grid(comparison: Comparison) -> list[tuple[str, list[Cell]]]:
    """Label and cells of every row; what was recorded comes first, the bound last."""
    columns = [_cells(comparison, column) for column in COLUMNS]
    rows = [
        (row.label, [column[number] for column in columns])
        for number, row in enumerate(comparison.rows)
    ]
    bound = asdict(comparison.bound)
    last = [Cell(c.write(bound[c.key]) if c.key in bound else UNKNOWN) for c in COLUMNS]
    return [*_recorded(comparison), *rows, (BOUND, last)]


def _recorded(comparison: Comparison) -> list[tuple[str, list[Cell]]]:
    """No policy: it takes no part in being the best."""
    if comparison.recorded is None:
        return []
    metrics = comparison.recorded.metrics
    return [(LABEL, [Cell(column.write(metrics[column.key])) for column in COLUMNS])]


def _cells(comparison: Comparison, column: Column) -> list[Cell]:
    """Best is what reads as best: values that look the same in the table are all marked."""
    values = [row.metrics[column.key] for row in comparison.rows]
    texts = [column.write(value) for value in values]
    known = [value for value in values if not math.isnan(value)]
    better = MEASURES[column.key].better
    if better is Better.NEITHER or len(set(texts)) < 2 or not known:
        return [Cell(text) for text in texts]
    best = column.write(max(known) if better is Better.HIGHER else min(known))
    return [Cell(text, text == best) for text in texts]


def estimates_told(config: Mapping[str, Any]) -> str:
    """What all are told of run times, and which trained policies have their own way with it."""
    own = ", ".join(f"{label}: {spec}" for label, spec in config["own_estimates"].items())
    return f"{config['estimates']} ({own})" if own else str(config["estimates"])


def caption(comparison: Comparison) -> str:
    """What the figures rest on, in a sentence or two."""
    config = comparison.config
    jobs = f"{comparison.trace_facts['jobs']:,} jobs"
    how = "the whole trace"
    if config["sequences"] is not None:
        kept = len(config["window_starts"])
        how = (
            f"means over {kept} random windows of {config['length']:,} jobs, seed {config['seed']}"
        )
    text = (
        f"{config['trace']} ({jobs}) on {config['cluster']} ({config['cluster_gpus']:,} GPUs); "
        f"{how}; estimates: {estimates_told(config)}. * best in its column."
    )
    told = comparison.recorded
    if told is not None and told.gap is not None:
        text = f"{told.gap.sentence}\n{text}"
    return text if comparison.complete else f"{text} Interrupted: not all runs are included."


def markdown(comparison: Comparison) -> str:
    """For a README: aligned, so that it reads well as plain text too."""
    lines = [["policy", *(column.title for column in COLUMNS)]]
    for label, cells in grid(comparison):
        lines.append([_bar(label), *(f"**{c.text}**\\*" if c.best else c.text for c in cells)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    text = [_line(lines[0], widths), _line(ruler, widths)]
    text += [_line(line, widths) for line in lines[1:]]
    return "\n".join([*text, "", _bar(caption(comparison)).replace("*", "\\*", 1)]) + "\n"


def _line(cells: list[str], widths: list[int]) -> str:
    padded = [cells[0].ljust(widths[0])]
    padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join(padded)} |"


def _bar(text: str) -> str:
    """A bar would end the cell."""
    return text.replace("|", "\\|")
