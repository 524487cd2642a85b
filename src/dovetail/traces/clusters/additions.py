"""What a site's other files add to the nodes of a cluster: partitions, QOS, accounts, limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.domain.errors import ClusterError
from dovetail.domain.limits import Each, Limit
from dovetail.domain.registry import Registry
from dovetail.slurm.amounts import amount_of
from dovetail.slurm.show import records_of
from dovetail.traces.clusters.closures import is_reservations, read_events, read_reservations
from dovetail.traces.clusters.limit_columns import (
    ASSOCIATION_COLUMNS,
    QOS_COLUMNS,
    READ_OF_ASSOCIATIONS,
    READ_OF_QOS,
    add_limit,
)
from dovetail.traces.clusters.partition_fields import add_partition
from dovetail.traces.clusters.shape import Shape
from dovetail.traces.clusters.unread import (
    PARTITION_KEYS,
    QUIET_IN_ASSOCIATIONS,
    QUIET_IN_QOS,
    SacctmgrRow,
)
from dovetail.traces.source import column_names, read_head, read_text

Row = dict[str, str]

_PARTITION_FIELDS = (
    "PartitionName", "QoS", "MaxNodes", "MaxTime", "Nodes", "PriorityJobFactor", "PriorityTier",
    "OverSubscribe", "TRESBillingWeights", "DefaultTime", "AllowAccounts", "AllowQos",
    "DenyAccounts", "DenyQos", "MaxCPUsPerNode", "MaxMemPerNode", *PARTITION_KEYS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClusterAddition:
    """One kind of file that adds to a cluster: how to know it, and how to read it."""

    name: str
    about: str
    sniff: Callable[[Path, bytes], bool]
    read: Callable[[Path, Shape], None]


def add_file(shape: Shape, path: Path) -> None:
    """Read one more file of a site into a shape."""
    head = read_head(path)
    for addition in ADDITIONS.values():
        if addition.sniff(path, head):
            addition.read(path, shape)
            return
    known = ", ".join(f"{part.name} ({part.about})" for part in ADDITIONS.values())
    raise ClusterError(f"{path.name}: adds nothing that is known to a cluster; known are {known}")


def _is_partitions(path: Path, head: bytes) -> bool:
    return head.lstrip().startswith(b"PartitionName=")


def _read_partitions(path: Path, shape: Shape) -> None:
    for fields in records_of(read_text(path), _PARTITION_FIELDS):
        add_partition(shape, {name.lower(): value for name, value in fields.items()})


def _has_columns(*wanted: str) -> Callable[[Path, bytes], bool]:
    def sniff(path: Path, head: bytes) -> bool:
        return set(wanted) <= {_column(name) for name in column_names(head, "|")}

    return sniff


def _read_qos(path: Path, shape: Shape) -> None:
    titles = _titles(path)
    for row in _rows(path):
        name = row.get("name", "")
        own, words = (name,), f"QOS {name}"
        shape.qos[name] = _number(row.get("priority", "")) or 0.0
        if _number(row.get("usagefactor", "1")) not in (None, 1.0):
            shape.notes.append(f"QOS {name}: its UsageFactor is not replayed, use counts once")
        for each, columns in QOS_COLUMNS.items():
            add_limit(shape, row, words, Limit(qos=own, each=each), columns)
        shape.unread.add_row(SacctmgrRow(row, titles), READ_OF_QOS | QUIET_IN_QOS, words)


def _read_events(path: Path, shape: Shape) -> None:
    read_events(shape, _rows(path))


def _read_associations(path: Path, shape: Shape) -> None:
    """Limits of accounts count what is below them together; MaxJobs of an account is each user's.

    A user's own MaxJobs replaces the account's, as sacctmgr shows it: already inherited.
    """
    rows, titles = list(_rows(path)), _titles(path)
    known = READ_OF_ASSOCIATIONS | QUIET_IN_ASSOCIATIONS
    parents = _parents(rows)
    shape.associations += _tree(rows, parents, shape)
    for row in rows:
        account, user = row.get("account", "").strip(), row.get("user", "")
        parts = (row["partition"],) if row.get("partition") else ()
        below = () if account == "root" else _below(account, parents)
        users = (user,) if user else ()
        words = f"user {user} of {account}" if user else f"account {account}"
        whole = Limit(users=users, accounts=below, partitions=parts)
        add_limit(shape, row, words, whole, ASSOCIATION_COLUMNS[Each.ALL])
        if user:
            own = Limit(users=users, accounts=(account,), partitions=parts)
            for each in (Each.USER, Each.JOB, Each.NODE):
                add_limit(shape, row, words, replace(own, each=each), ASSOCIATION_COLUMNS[each])
        shape.unread.add_row(SacctmgrRow(row, titles), known, words)


def _tree(rows: list[Row], parents: dict[str, str], shape: Shape) -> Iterator[Association]:
    """Shares of accounts and users; those of single partitions are left out."""
    seen = set()
    told = {*parents, *(row.get("account", "").strip() for row in rows), *parents.values()}
    yield from (Association(name) for name in sorted(told - {*parents, ROOT, ""}))
    for row in rows:
        account, user = row.get("account", "").strip(), row.get("user", "").strip()
        if row.get("partition") or (account, user) in seen or not row.get("share"):
            continue
        seen.add((account, user))
        if user or account != ROOT:
            above = ROOT if user else parents.get(account) or ROOT
            own = _number(row["share"])
            shares = AS_PARENT if row["share"].strip().lower() == "parent" else own
            yield Association(account, user, above, 1.0 if shares is None else shares)
    if any(row.get("partition") for row in rows):
        shape.notes.append("associations of single partitions: their shares are not replayed")


def _parents(rows: list[Row]) -> dict[str, str]:
    """Account -> the one above it: by its own column, or by the indentation of `tree`."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for row in rows:
        if row.get("user"):
            continue
        given = row.get("account", "")
        name, depth = given.strip(), len(given) - len(given.lstrip())
        while above and above[-1][0] >= depth:
            above.pop()
        parents[name] = row.get("parname") or (above[-1][1] if above else "")
        above.append((depth, name))
    return parents


def _below(account: str, parents: dict[str, str]) -> tuple[str, ...]:
    """An account and all that are under it."""
    found = [account]
    for name in found:  # grows while it is walked
        found += [child for child, parent in parents.items() if parent == name != child]
        if len(found) > len(parents) + 1:
            raise ClusterError(f"account {account}: is above itself")
    return tuple(found)


def _rows(path: Path) -> Iterator[Row]:
    lines = read_text(path).splitlines() or [""]
    names = [_column(name) for name in lines[0].split("|")]
    for line in lines[1:]:
        cells = line.split("|")
        if len(cells) >= len(names) - 1 and line.strip():
            yield dict(zip(names, cells, strict=False))


def _titles(path: Path) -> Row:
    """Columns as the file spells them."""
    first, _, _ = read_text(path).partition("\n")
    return {_column(name): name.strip() for name in first.split("|")}


def _column(name: str) -> str:
    """As sacctmgr names it, whatever its case and blanks: `Par Name`, `MaxJobsPerUser`."""
    plain = name.strip().lower().replace(" ", "")
    for long, short in (("peruser", "pu"), ("peraccount", "pa")):
        plain = plain.replace(long, short)
    plain = plain.removesuffix("perjob").removesuffix("pj")
    other = {
        "maxtrespn": "maxtrespernode",
        "maxwallduration": "maxwall",
        "maxsubmitjobs": "maxsubmit",
        "grpsubmitjobs": "grpsubmit",
        "start": "timestart",
        "end": "timeend",
    }
    return other.get(plain, plain)


def _number(text: str) -> float | None:
    value = amount_of(text.strip())
    return None if math.isnan(value) else value


ADDITIONS: Registry[ClusterAddition] = Registry(
    "addition to a cluster",
    {
        part.name: part
        for part in (
            ClusterAddition(
                "partitions", "scontrol show partition", _is_partitions, _read_partitions
            ),
            ClusterAddition(
                "associations",
                "sacctmgr -P show assoc",
                _has_columns("account", "user", "maxjobs"),
                _read_associations,
            ),
            ClusterAddition(
                "qos",
                "sacctmgr -P show qos",
                _has_columns("name", "priority", "grptres"),
                _read_qos,
            ),
            ClusterAddition(
                "events",
                "sacctmgr -P show event format=NodeName,Start,End,State,Reason",
                _has_columns("nodename", "timestart", "timeend", "state"),
                _read_events,
            ),
            ClusterAddition(
                "reservations",
                "scontrol show reservation",
                is_reservations,
                read_reservations,
            ),
        )
    },
)
