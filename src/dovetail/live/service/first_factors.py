"""The table that job_submit.lua gives new jobs their first site factor from.

>>> print(table_text([FirstFactor("gpu", gpus=4, factor=120_000)], serial=1, until=9), end="")
dovetail-first-factors 2 1 9
gpu 4 120000
end

A row holds for jobs of its partition with at least so many GPUs; of several the one with the most
counts. The serial number in the first line tells the reader in slurmctld whether to read on; after
the time beside it, seconds since 1970, the table says nothing: a daemon that was killed gives new
jobs no factors.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from dovetail.domain.errors import ConfigError
from dovetail.files import Folder
from dovetail.live.cycle.plan import CyclePlan
from dovetail.live.model.decision import Knob
from dovetail.live.model.snapshot import Snapshot

FILE = "first_factors"
MOST_BYTES = 65_536
"""A larger table is ignored by the reader, which runs inside slurmctld."""
MOST_ROWS = 1000
ENOUGH = 5
"""Waiting jobs of a kind from which on their middle says something."""
MOST_FACTOR = 2_147_483_645


class FirstFactor(NamedTuple):
    partition: str
    gpus: int  # at least so many
    factor: int


def typical_factors(snapshot: Snapshot, plan: CyclePlan) -> tuple[FirstFactor, ...]:
    """For each partition and number of GPUs the factor in the middle of those that wait now.

    A job that has just come gets it until the next cycle knows better.
    """
    after = {
        change.job: change.after
        for change in plan.changes
        if change.knob is Knob.SITE_FACTOR and isinstance(change.after, int)
    }
    groups: dict[tuple[str, int], list[int]] = {}
    for number in plan.decision.order:
        job = snapshot.by_id[number]
        if len(job.partitions) == 1 and job.partitions[0].split() == list(job.partitions):
            factor = after.get(number, snapshot.site_of(number))
            groups.setdefault((job.partitions[0], job.gpus), []).append(factor)
    usual = {key: int(median(each)) for key, each in groups.items() if len(each) >= ENOUGH}
    return tuple(FirstFactor(*key, factor) for key, factor in sorted(usual.items()))[:MOST_ROWS]


def table_text(rows: Iterable[FirstFactor], serial: int, until: int) -> str:
    """The file's text; rows that the reader could not understand are an error."""
    lines = [f"dovetail-first-factors 2 {serial} {until}"]
    for row in rows:
        if row.partition.split() != [row.partition]:
            raise ConfigError(f"first factors: partition {row.partition!r} has white space")
        if row.gpus < 0 or abs(row.factor) > MOST_FACTOR:
            raise ConfigError(f"first factors: {row} is out of range")
        lines.append(f"{row.partition} {row.gpus} {row.factor}")
    text = "\n".join([*lines, "end"]) + "\n"
    if len(text.encode()) > MOST_BYTES:
        raise ConfigError(f"first factors: more than {MOST_BYTES:,} bytes; keep fewer rows")
    return text


def write_first_factors(run_dir: Path, rows: Iterable[FirstFactor], seconds: float) -> None:
    """Replace the table as a whole, for so long; readable by Slurm's user whatever the umask."""
    text = table_text(rows, time.time_ns(), int(time.time() + seconds) + 1)
    with Folder.open(run_dir) as folder:
        folder.write(FILE, text.encode(), 0o644)


def remove_first_factors(run_dir: Path) -> None:
    """New jobs get no factor from now on."""
    with suppress(FileNotFoundError), Folder.open(run_dir) as folder:
        folder.remove(FILE)
