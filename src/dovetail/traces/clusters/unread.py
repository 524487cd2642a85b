"""What a site's files say and no replay looks at: each such column or key is named in a note."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

_SAYS_NOTHING = frozenset(
    {"", "0", "00:00:00", "all", "cluster", "infinite", "invalid", "n/a", "no", "none", "(null)",
     "off", "unlimited", "up"}
)  # fmt: skip
"""What Slurm prints, or people write, where nothing is meant; in small letters."""

NAMED = 3
"""Names in a note; sites have thousands of users."""

PARTITION_KEYS = (
    "AllowGroups", "ExclusiveTopo", "ExclusiveUser", "GraceTime", "LLN", "MaxCPUsPerSocket",
    "MaxMemPerCPU", "MinNodes", "OverTimeLimit", "PowerDownOnIdle", "PreemptMode", "ReqResv",
    "RootOnly", "SelectTypeParameters", "State",
)  # fmt: skip

NODE_KEYS = ("CoreSpecCount", "CpuSpecList", "MemSpecLimit", "RestrictedCoresPerGPU", "Weight")

RESERVATION_KEYS = ("Groups", "Licenses")

SETTINGS_WITHOUT = {
    "EnforcePartLimits": ("ANY", "NO"),
    "MaxMemPerCPU": (),
    "OverTimeLimit": (),
    "PreemptMode": (),
    "PreemptType": ("preempt/none",),
    "PrioritySiteFactorPlugin": ("site_factor/none",),
    "PriorityUsageResetPeriod": (),
    "PriorityWeightAssoc": (),
    "SelectType": ("select/cons_res", "select/cons_tres"),
    "SuspendProgram": (),
    "TopologyPlugin": ("topology/default", "topology/flat", "topology/none"),
}
"""Settings that decide what runs when, with what is replayed all the same."""

QUIET_IN_QOS = frozenset({"", "name", "description", "id", "usagefactor"})
QUIET_IN_ASSOCIATIONS = frozenset(
    {"", "account", "cluster", "comment", "defaultqos", "defqos", "id", "idassoc", "lineage",
     "parentid", "parentname", "parname", "partition", "qos", "qosraw", "share", "user"}
)  # fmt: skip
"""Names, and which QOS a user may choose: the jobs of a history have theirs."""

HARMLESS = {("flags", "denyonlimit"), ("limitfactor", "1")}
"""Jobs above a limit are refused in any case."""


class SacctmgrRow(NamedTuple):
    """Cells by their columns, in small letters and short, and how the file spells these."""

    cells: Mapping[str, str]
    titles: Mapping[str, str]


class Unread:
    """Collects what is not looked at, and says it in a line for each."""

    def __init__(self) -> None:
        self._where: dict[str, dict[str, None]] = {}

    def add(self, what: str, value: str, where: str, same: Collection[str] = ()) -> None:
        """A column or key, unless its value says nothing, or the `same` as what is replayed."""
        plain = value.strip().lower()
        known = {word.lower() for word in same} or _SAYS_NOTHING
        if plain.replace(".", "").strip("0") and plain not in known:
            self._where.setdefault(what, {})[where] = None

    def add_row(self, row: SacctmgrRow, read: Collection[str], where: str) -> None:
        """A row of sacctmgr, without the columns that are read."""
        for column, value in row.cells.items():
            number = value.strip().removesuffix(".000000").lower()
            if column not in read and (column, number) not in HARMLESS:
                self.add(row.titles[column], value, where)

    def notes(self) -> list[str]:
        return [
            f"{what} of {_listed(list(where))}: not replayed" for what, where in self._where.items()
        ]


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    shown = ", ".join(names[:NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown
