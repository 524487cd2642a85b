"""Who shares a cluster with whom: Slurm's tree of accounts and users, with their shares.

>>> ann = Association("optics", user="ann", shares=3)
>>> ann.title
'user ann of optics'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from dovetail.domain.errors import ClusterError

ROOT = "root"
"""The account above all others."""

AS_PARENT = inf
"""Shares of a user or account that has none of its own: Slurm's `parent`."""


@dataclass(frozen=True, slots=True)
class Association:
    """An account, or a user in one."""

    account: str
    user: str = ""  # empty: the account itself
    parent: str = ROOT  # of an account: the one above it
    shares: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", float(self.shares))
        if not self.account:
            raise ClusterError("an association names no account")
        if not self.shares >= 0:
            raise ClusterError(f"{self.title}: shares are {self.shares:g}, expected 0 or more")

    @property
    def title(self) -> str:
        """For messages."""
        return f"user {self.user} of {self.account}" if self.user else f"account {self.account}"


def check_tree(associations: Iterable[Association]) -> None:
    """Nobody twice, and every account below root."""
    parents: dict[str, str] = {}
    users: set[tuple[str, str]] = set()
    for one in associations:
        known = (one.account, one.user) in users if one.user else one.account in parents
        if known:
            raise ClusterError(f"{one.title} is named twice")
        if one.user:
            users.add((one.account, one.user))
        else:
            parents[one.account] = one.parent
    for account, _ in users:
        if account != ROOT and account not in parents:
            raise ClusterError(f"account {account}: has users, but no line of its own")
    for account in parents:
        _check_way_up(account, parents)


def _check_way_up(account: str, parents: dict[str, str]) -> None:
    above, steps = account, 0
    while above != ROOT:
        if above not in parents:
            raise ClusterError(f"account {account}: is below {above}, which has no line of its own")
        above, steps = parents[above], steps + 1
        if steps > len(parents):
            raise ClusterError(f"account {account}: is above itself")
