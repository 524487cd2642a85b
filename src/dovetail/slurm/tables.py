"""Tables with bars, as sacct, sacctmgr and sshare print them with --parsable2.

>>> rows_of("root||1\\n user|bob|2", 3)
[('root', '', '1'), (' user', 'bob', '2')]
"""

from __future__ import annotations


def rows_of(text: str, columns: int) -> list[tuple[str, ...]]:
    """Lines with this many cells or more; blanks stay, as sshare indents by them."""
    rows = (tuple(line.split("|")) for line in text.splitlines())
    return [row[:columns] for row in rows if len(row) >= columns]
