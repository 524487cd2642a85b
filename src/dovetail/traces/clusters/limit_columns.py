"""Which columns of sacctmgr tell limits, and the limits that a row of them tells."""

from __future__ import annotations

from typing import NamedTuple

from dovetail.domain.limits import BOUNDS, Each, Limit
from dovetail.slurm.amounts import amount_of, gigabytes_of
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.tres import amounts_of
from dovetail.traces.clusters.shape import Shape


class LimitColumns(NamedTuple):
    """Names of columns; empty: there is none."""

    jobs: str = ""
    submitted: str = ""
    tres: str = ""
    work: str = ""  # of TRES times minutes
    least: str = ""
    wall: str = ""


QOS_COLUMNS = {
    Each.ALL: LimitColumns("grpjobs", "grpsubmit", "grptres", "grptresrunmins"),
    Each.USER: LimitColumns("maxjobspu", "maxsubmitpu", "maxtrespu", "maxtresrunminspu"),
    Each.ACCOUNT: LimitColumns("maxjobspa", "maxsubmitpa", "maxtrespa", "maxtresrunminspa"),
    Each.JOB: LimitColumns("", "", "maxtres", "maxtresmins", "mintres", "maxwall"),
    Each.NODE: LimitColumns("", "", "maxtrespernode"),
}
ASSOCIATION_COLUMNS = {
    Each.ALL: LimitColumns("grpjobs", "grpsubmit", "grptres", "grptresrunmins"),
    Each.USER: LimitColumns("maxjobs", "maxsubmit"),
    Each.JOB: LimitColumns("", "", "maxtres", "maxtresmins", "", "maxwall"),
    Each.NODE: LimitColumns("", "", "maxtrespernode"),
}
READ_OF_QOS = frozenset({"priority", *(name for part in QOS_COLUMNS.values() for name in part)})
READ_OF_ASSOCIATIONS = frozenset(name for part in ASSOCIATION_COLUMNS.values() for name in part)

_TRES = {"cpu": "cpus", "mem": "memory_gb", "node": "nodes", "gres/gpu": "gpus"}
_WORK = {"cpu": "cpu_minutes", "mem": "memory_gb_minutes", "node": "node_minutes",
         "gres/gpu": "gpu_minutes"}  # fmt: skip
_LEAST = {name: f"least_{amount}" for name, amount in _TRES.items()}


def add_limit(
    shape: Shape, row: dict[str, str], words: str, about: Limit, columns: LimitColumns
) -> None:
    """What a row says of those whom the limit is about; what cannot be replayed is noted."""
    amounts = {
        "jobs": amount_of(row.get(columns.jobs, "").strip()),
        "submitted": amount_of(row.get(columns.submitted, "").strip()),
        "minutes": seconds_of(row.get(columns.wall, "")) / 60.0,
    }
    for column, known in (
        (
            columns.tres,
            {n: a for n, a in _TRES.items() if about.each is not Each.NODE or n != "node"},
        ),
        (columns.work, _WORK),
        (columns.least, _LEAST),
    ):
        for name, text in amounts_of(row.get(column, "")).items():
            if name in known:
                amounts[known[name]] = gigabytes_of(text) if name == "mem" else amount_of(text)
            else:
                what = "limit" if column == columns.tres else column
                shape.notes.append(f"{words}: {what} of {name} is not replayed")
    told = {name: most for name, most in amounts.items() if most == most and most != BOUNDS[name]}
    if told:
        shape.limits.append(
            Limit(about.users, about.accounts, about.qos, about.partitions, about.each, **told)
        )
