"""`dovetail trace formats`: what `--format` may say."""

from __future__ import annotations

import typer


def trace_formats() -> None:
    """List the trace and cluster formats that can be imported, and the fields of a job.

    \b
    Example:
      dovetail trace formats
    """
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.traces.clusters import CLUSTER_FORMATS
    from dovetail.traces.clusters.additions import ADDITIONS
    from dovetail.traces.fields import FIELDS, Holds
    from dovetail.traces.formats import FORMATS
    from dovetail.traces.formats.csv import END

    console = results()
    traces = columns("trace format", "file")
    for part in FORMATS.values():
        traces.add_row(part.name, cell(part.about))
    clusters = columns("cluster format", "file")
    for shape in CLUSTER_FORMATS.values():
        clusters.add_row(shape.name, cell(shape.about))
    for addition in ADDITIONS.values():
        clusters.add_row(f"+ {addition.name}", cell(addition.about))
    fields = columns("Parquet column", "--map field", "holds", "about the job")
    for field in FIELDS.values():
        fields.add_row(field.parquet, field.name, field.holds.value, cell(field.about))
    fields.add_row("", END, Holds.TIME.value, "when it ended; with start, in place of duration")
    for table in (traces, clusters, fields):
        console.print(table)
        console.print()
    typer.echo(
        "Times are seconds or 2024-05-01T12:00:00, with or without a zone; durations seconds or "
        "1-12:30:00 in a CSV."
    )
