"""Prometheus' text format to readings, quickly.

prometheus-client's parser takes some seconds for the 70,000 samples of 10,000 GPUs. All series of a
GPU carry the same labels, so these are read once and remembered by their text; of further lines
only name and value are read. Labels with escapes or odd blanks go through that parser.
"""

from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families

from dovetail.telemetry.quantities import COLUMN, EXPORTED, JOB_NUMBER
from dovetail.telemetry.readings import GpuLabels, GpuName, ReadingsBuilder
from dovetail.telemetry.sources.labels import read_labels

MOST_REMEMBERED = 200_000
"""Sets of labels; a source that invents new ones all the time fills no memory."""

BLANK = frozenset(
    [float(0x7FFFFFF0 + n) for n in range(6)]
    + [float(0x7FFFFFFFFFFFFFF0)]  # as a float, all six of them are this one
    + [2.0**47 + n for n in range(6)]
)
"""What DCGM writes for "no value", "not supported", "no permission" and the like."""

_PAIR = r'([a-zA-Z_][a-zA-Z0-9_]*)="([^"\\]*)"'
_PAIRS = re.compile(_PAIR)
_PLAIN = re.compile(rf"(?:{_PAIR},)*{_PAIR},?")

Known = tuple[GpuName, GpuLabels]


class ExpositionReader:
    """Reads pages of one source; what labels mean is remembered from page to page."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Known | None] = {}

    def read(self, text: str, builder: ReadingsBuilder, host: str = "") -> None:
        """Put all samples that mean something into the builder."""
        rows: dict[str, int] = {}
        for line in text.split("\n"):
            name, brace, rest = line.partition("{")
            name = name.strip()
            what = EXPORTED.get(name)
            if not brace or (what is None and name != JOB_NUMBER):
                continue
            labels, brace, after = rest.rpartition("}")
            row = rows.get(labels)
            if row is None:
                gpu = self._gpu(labels, host)
                if not brace or gpu is None:
                    builder.pass_over("unreadable lines")
                    continue
                row = rows[labels] = builder.row(*gpu)
            numbers = after.split()
            try:
                value = float(numbers[0])
                taken = float(numbers[1]) / 1000.0 if len(numbers) > 1 else builder.time
            except (ValueError, IndexError):
                builder.pass_over("unreadable lines")
                continue
            if what is None:
                builder.label_job(row, job_number(value))
            elif value not in BLANK:
                builder.put(row, COLUMN[what.quantity], value * what.factor, taken)

    def _gpu(self, labels: str, host: str) -> Known | None:
        key = (host, labels)
        if key not in self._known:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            found = parse_labels(labels)
            self._known[key] = None if found is None else read_labels(found, host)
        return self._known[key]


def parse_labels(text: str) -> dict[str, str] | None:
    """What stands between the braces of a line; None: not labels.

    >>> parse_labels('gpu="0",Hostname="n1"')
    {'gpu': '0', 'Hostname': 'n1'}
    """
    if _PLAIN.fullmatch(text):
        pairs = _PAIRS.findall(text)
        found = dict(pairs)
        return found if len(found) == len(pairs) else None
    try:
        (family,) = text_string_to_metric_families(f"gpu{{{text}}} 0\n")
        (sample,) = family.samples
    except Exception:  # it raises IndexError, too, and documents no list
        return None
    return dict(sample.labels)


def job_number(value: float) -> str:
    """jobstats writes numbers of jobs as floats, and 0 for none."""
    return str(int(value)) if 0 < value < 2**53 else ""
