"""`dovetail trace formats`: what `--format` may say."""

from __future__ import annotations


def trace_formats() -> None:
    """List the trace and cluster file formats that can be imported.

    \b
    Example:
      dovetail trace formats
    """
    from dovetail.cli.screen import columns, results
    from dovetail.traces.clusters import CLUSTER_FORMATS
    from dovetail.traces.formats import FORMATS

    console = results()
    traces = columns("trace format", "file")
    for part in FORMATS.values():
        traces.add_row(part.name, part.about)
    clusters = columns("cluster format", "file")
    for shape in CLUSTER_FORMATS.values():
        clusters.add_row(shape.name, shape.about)
    console.print(traces)
    console.print()
    console.print(clusters)
