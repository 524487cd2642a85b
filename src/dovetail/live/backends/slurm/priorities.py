"""How priorities are made up and what accounts used, as sprio and sshare print it.

>>> rows = [HEADER, "17 1200 200 0 1000 0 0 0 0 0 |"]
>>> factors_of("\\n".join(rows))[17]  # by LiveJob.id: sprio counts records, too
Factor(priority=1200, site=200, frozen=False, qos=0)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.live.backends.base import Unreadable
from dovetail.live.model.factors import FactorColumns
from dovetail.live.model.snapshot import Share
from dovetail.slurm.tables import rows_of

# Number, priority, site, nice, age, association, fair-share, size, partition, QOS | TRES.
SPRIO = ("-o", "%i %Y %S %N %A %B %F %J %P %Q |%T")
SSHARE = ("-a", "-P", "-o", "Account,User,RawShares,RawUsage")
HEADER = "JOBID PRIORITY SITE NICE"
"""How every answer of sprio begins, that for an empty queue, too."""
MOST_SITE = 2_147_483_645
"""The largest site factor, above 0 or below, that Slurm takes."""
_SHARES = "Account|User|RawShares|RawUsage"
_COLUMNS, _QOS = 11, 9
_TRES = re.compile(r"\|(.*)$", re.MULTILINE)
_AFTER_EQUALS = re.compile(r"=(\d+)")


def factors_of(text: str) -> FactorColumns:
    """Jobs that are held or not yet eligible have none.

    A job whose priority was set by hand shows no factors at all, not even its site factor; then
    nothing adds up to its priority. Priority 1 with no factors is also what Slurm itself gives.
    """
    header, _, text = text.partition("\n")
    if not header.startswith(HEADER):
        raise Unreadable(f"sprio: no header, but {header[:200]!a}: is it Slurm's own sprio?")
    # The TRES factors are words, few of which differ; they matter only for whether there are any.
    parts = _TRES.split(text) if "=" in text else [text.replace("|", " ")]
    table = _table(" ".join(parts[::2]), parts[1::2] or [""] * text.count("|"))
    # Slurm 24.11 tells of jobs before it has computed them after a restart; no factor is that low.
    table = table[np.abs(table[:, 2]) <= MOST_SITE]
    # Mostly they come by number: looking for two of one takes ten times as long.
    if np.any(np.diff(table[:, 0]) <= 0) and len(np.unique(table[:, 0])) < len(table):
        # A job in several partitions has a row for each; the best one counts, as it does for Slurm.
        table = table[np.argsort(-table[:, 1], kind="stable")]
        table = table[np.unique(table[:, 0], return_index=True)[1]]
    priority, site, nice = table[:, 1], table[:, 2], table[:, 3]
    alone = np.maximum(site - nice, 1)
    frozen = ~table[:, 4:].any(axis=1) & (priority != alone)
    columns = np.ascontiguousarray(table[:, [0, 1, 2, _QOS]].T)
    return FactorColumns(columns[0], columns[1], columns[2], frozen, columns[3])


def _table(text: str, words: Sequence[str]) -> NDArray[np.int64]:
    """A row of numbers for each, the sum of its words last.

    All numbers of the text at once: 7 times as fast as splitting it and converting each.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            numbers = np.fromstring(text, dtype=np.int64, sep=" ")
    except (DeprecationWarning, ValueError):
        raise Unreadable(f"sprio: expected numbers, got {text[:200]!a}") from None
    if numbers.size != len(words) * (_COLUMNS - 1):
        raise Unreadable(
            f"sprio: {numbers.size} numbers are not {len(words)} rows of {_COLUMNS - 1}"
        )
    total = {word: sum(map(int, _AFTER_EQUALS.findall(word))) for word in set(words)}
    sums = np.fromiter(map(total.__getitem__, words), np.int64, len(words))
    return np.column_stack((numbers.reshape(-1, _COLUMNS - 1), sums))


def shares_of(text: str) -> tuple[Share, ...]:
    """Each account's part of all shares and of all usage, whatever the fair-share algorithm.

    Slurm's own normalised columns mean other things with fair tree than without it; the raw ones
    are the same. Indentation tells who belongs to whom.
    """
    header, _, text = text.partition("\n")
    if header != _SHARES:
        raise Unreadable(f"sshare: no header, but {header[:200]!a}: is it Slurm's own sshare?")
    accounts: list[tuple[int, str, float, float]] = []  # depth, name, shares, usage
    for indented, user, shares, usage in rows_of(text, 4):
        name = indented.lstrip(" ")
        depth = len(indented) - len(name)
        accounts.append((depth, "" if user else name, _number(shares), _number(usage)))
    return tuple(_spread(accounts))


def associations_of(text: str) -> tuple[Association, ...]:
    """The tree of accounts and users with their shares, as sshare shows it."""
    header, _, text = text.partition("\n")
    if header != _SHARES:
        raise Unreadable(f"sshare: no header, but {header[:200]!a}: is it Slurm's own sshare?")
    found: dict[tuple[str, str], Association] = {}
    above: list[str] = []  # accounts from the root down
    for indented, user, shares, _ in rows_of(text, 4):
        name = indented.lstrip(" ")
        depth = len(indented) - len(name)
        del above[depth:]
        if not user:
            above.append(name)
        if user or depth:
            parent = ROOT if user or not above[:-1] else above[-2]
            own = AS_PARENT if shares == "parent" else _number(shares)
            # A user has a row for each partition that an association is bound to.
            found.setdefault((name, user), Association(name, user, parent, own))
    return tuple(found.values())


def _number(text: str) -> float:
    """0 for the share that a user has of the parent's, and for none."""
    return float(text) if text.isdecimal() else 0.0


def _spread(rows: list[tuple[int, str, float, float]]) -> list[Share]:
    total = rows[0][3] if rows else 0.0
    siblings: dict[int, float] = {}  # row of the parent -> shares of all its children
    parents: list[int] = []
    stack: list[int] = []
    for number, (depth, _, raw, _) in enumerate(rows):
        del stack[depth:]
        parents.append(stack[-1] if stack else -1)
        siblings[parents[-1]] = siblings.get(parents[-1], 0.0) + raw
        stack.append(number)
    parts = [1.0] * len(rows)
    found = []
    for number, (depth, name, raw, usage) in enumerate(rows):
        if depth:
            together = siblings[parents[number]]
            parts[number] = parts[parents[number]] * (raw / together if together else 0.0)
            if name:
                found.append(Share(name, parts[number], usage / total if total else 0.0))
    return found
