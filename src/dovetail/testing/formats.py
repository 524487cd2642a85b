"""A trace format knows its files, reads them, and refuses empty and foreign ones in words."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dovetail.domain.errors import TraceError
from dovetail.traces.source import read_head
from dovetail.traces.table import Format, RawTable, silent

EMPTY = (b"", b"\n", b" \n\n")
FOREIGN = b"%PDF-1.7\n\x00\xff\xfe binary \x80\n" * 20


def check_format(format: Format, sample: Path) -> None:
    """All that every trace format is held to; `sample` is a file of it with at least a job."""
    knows_its_sample(format, sample)
    refuses_empty_files(format)
    refuses_foreign_files(format)
    has_one_line(format)


def knows_its_sample(format: Format, sample: Path) -> None:
    """The sample is recognised, and read with the columns that every trace needs."""
    assert format.sniff(sample, read_head(sample)), f"{format.name}: does not know {sample.name}"
    table = format.read(sample, silent)
    assert isinstance(table, RawTable), f"{format.name}: read gives no RawTable"
    missing = {"line", "id", "submit", "run", "gpus"} - set(table.frame.columns)
    assert not missing, f"{format.name}: no column {', '.join(sorted(missing))}"
    assert len(table.frame), f"{format.name}: {sample.name} has no rows"


def refuses_empty_files(format: Format) -> None:
    """A file without content is not recognised, and reading it is a TraceError."""
    for content in EMPTY:
        _refuses(format, content, "an empty file")


def refuses_foreign_files(format: Format) -> None:
    """A file that is something else is not recognised, and reading it is a TraceError."""
    _refuses(format, FOREIGN, "a file that is something else")


def has_one_line(format: Format) -> None:
    """There is one line about it for lists."""
    assert format.about, f"{format.name}: give it `about`"
    assert "\n" not in format.about, f"{format.name}: `about` has more than one line"


def _refuses(format: Format, content: bytes, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        path.write_bytes(content)
        assert not format.sniff(path, content), f"{format.name}: takes {what} for one of its own"
        try:
            table = format.read(path, silent)
        except TraceError:
            return
        assert not len(table.frame), f"{format.name}: finds jobs in {what}"
