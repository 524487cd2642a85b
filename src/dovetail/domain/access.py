"""Who may use a partition or a reservation, as Slurm's lists of names say it.

>>> course = Access(users=("ann", "bob"))
>>> course.lets_in(user="ann"), course.lets_in(user="cat"), course.lets_in(user=None)
(True, False, True)
>>> Access(not_qos=("low",)).lets_in(qos="low")
False
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ANONYMOUS = re.compile(r"(?:user|account)-[0-9a-f]{12}")
"""What `trace import --anonymise` makes of names; no list of a site has them."""


@dataclass(frozen=True, slots=True)
class Access:
    """Names that are let in and names that are not; without either, everybody is."""

    users: tuple[str, ...] = ()
    not_users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    not_accounts: tuple[str, ...] = ()
    qos: tuple[str, ...] = ()
    not_qos: tuple[str, ...] = ()

    def lets_in(
        self, user: str | None = None, account: str | None = None, qos: str | None = None
    ) -> bool:
        """Whether a job with these names may be there; what is not known forbids nothing."""
        return (
            _passes(user, self.users, self.not_users)
            and _passes(account, self.accounts, self.not_accounts)
            and _passes(qos, self.qos, self.not_qos)
        )


def _passes(name: str | None, allowed: tuple[str, ...], denied: tuple[str, ...]) -> bool:
    """As in Slurm, nobody looks at who is denied where somebody is allowed."""
    if name is None or ANONYMOUS.fullmatch(name):
        return True
    return name in allowed if allowed else name not in denied


ANYBODY = Access()

ACCESS_KEYS = tuple(Access.__dataclass_fields__)
"""As a cluster's TOML has them."""
