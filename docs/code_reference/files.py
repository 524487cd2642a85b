"""What can be read: trace and cluster formats, the fields of a job, repairs."""

from __future__ import annotations

from docs.code_reference.markdown import code, first_sentence, plain, table
from dovetail.traces.clusters import CLUSTER_FORMATS
from dovetail.traces.clusters.additions import ADDITIONS
from dovetail.traces.fields import FIELDS, Holds
from dovetail.traces.formats import FORMATS
from dovetail.traces.formats.csv import END
from dovetail.traces.repair import REPAIRS


def trace_formats() -> str:
    rows = ((code(part.name), plain(part.about)) for part in FORMATS.values())
    return table(("`--format`", "file"), rows)


def cluster_formats() -> str:
    rows = [(code(part.name), plain(part.about)) for part in CLUSTER_FORMATS.values()]
    rows += [("further files", plain(part.about)) for part in ADDITIONS.values()]
    return table(("`--format`", "file"), rows)


def fields() -> str:
    rows = [
        (code(part.parquet), code(part.name), part.holds.value, plain(part.about))
        for part in FIELDS.values()
    ]
    ended = "when it ended; with start, in place of duration"
    rows.append(("", code(END), Holds.TIME.value, ended))
    return table(("Parquet column", "CSV column, `--map`", "holds", "about the job"), rows)


def repairs() -> str:
    rows = ((code(name), plain(first_sentence(part.__doc__))) for name, part in REPAIRS.items())
    return table(("`--repair`", "what it does"), rows)
