"""The daemon's keys, guardrails, metrics and journal, from the code that reads and writes them."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from itertools import groupby

from prometheus_client.core import Metric

from docs.code_reference.markdown import code, first_sentence, plain, table
from dovetail.live.backends import BACKENDS
from dovetail.live.cycle.report import CycleReport, Load
from dovetail.live.guardrails import GUARDRAILS, limit_changes
from dovetail.live.guardrails.base import GuardrailOutcome, Verdict
from dovetail.live.install.sample_config import settings
from dovetail.live.journal.schema import ABOUT, TABLES, create
from dovetail.live.model.mode import Mode
from dovetail.live.service.metrics.families import families
from dovetail.live.service.metrics.totals import Totals


def configuration() -> str:
    """A heading and a table for each [table] of the TOML file."""
    parts = []
    for (name, about), keys in groupby(settings(), key=lambda setting: setting[:2]):
        head = f"## `[{name}]`\n\n{plain(about)}" if name else "## Above the first table"
        rows = ((code(item.key), code(item.default), plain(item.about)) for item in keys)
        parts.append(f"{head}\n\n{table(('key', 'default', 'what it means'), rows)}")
    return "\n\n".join(parts)


def guardrails() -> str:
    parts = {**GUARDRAILS, "rate": limit_changes}
    rows = ((code(name), plain(first_sentence(part.__doc__))) for name, part in parts.items())
    return table(("guardrail", "what it does"), rows)


def backends() -> str:
    rows = ((code(name), plain(first_sentence(part.__doc__))) for name, part in BACKENDS.items())
    return table(("`slurm.backend`", "how Slurm is asked"), rows)


def prometheus() -> str:
    rows = (
        (code(_exposed(metric)), metric.type, code(", ".join(_labels(metric))),
         plain(metric.documentation))
        for metric in _metrics()
    )  # fmt: skip
    return table(("metric", "type", "labels", "help"), rows)


def _metrics() -> Iterator[Metric]:
    """What the endpoint serves after a cycle in which everything happened."""
    report = CycleReport(
        Mode.SHADOW,
        "an example",
        partitions={"gpu": Load(1, 1, 1, 1, 60.0, 60.0)},
        untouched={"held": 1},
        verdicts=(Verdict("pins", GuardrailOutcome.PASS, ""),),
    )
    return families(Totals().after(report), report, math.nan)


def _exposed(metric: Metric) -> str:
    """The name that a query uses: a counter's ends in _total."""
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def _labels(metric: Metric) -> list[str]:
    return sorted({name for sample in metric.samples for name in sample.labels} - {"le"})


def journal() -> str:
    """A heading and a table of columns for each table and view of the journal."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        create(connection)
        return "\n\n".join(_columns(connection, name) for name in ABOUT)
    finally:
        connection.close()


def _columns(connection: sqlite3.Connection, name: str) -> str:
    kind = "" if name in TABLES else " (view)"
    rows = (
        (code(column), kind_of, "" if needed or key else "may be NULL", "yes" if key else "")
        for _, column, kind_of, needed, _, key in connection.execute(f"PRAGMA table_info({name})")
    )
    head = f"## `{name}`{kind}\n\n{plain(ABOUT[name])}"
    return f"{head}\n\n{table(('column', 'type', 'empty', 'key'), rows)}"
