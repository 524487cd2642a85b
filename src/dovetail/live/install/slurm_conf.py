"""slurm.conf as text: what it sets, and a block of lines added to it and taken out again.

>>> settings("PrologSlurmctld = /x # why")
{'prologslurmctld': '/x'}
>>> text = "ClusterName=a"
>>> without_block(with_block(text, ["JobSubmitPlugins=lua"])) == text
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence

BEGIN = "# BEGIN dovetail: `dovetail live install --uninstall` takes this out"
END = "# END dovetail"

# The line end before the block belongs to it: taking it out leaves a file without one at its end
# as it was, byte for byte.
_BLOCK = re.compile(rf"\n{re.escape(BEGIN)}\n(?:.*\n)*?{re.escape(END)}\n")
_SETTING = re.compile(r"^\s*(\w+)\s*=\s*([^#]*?)\s*(?:#.*)?$")
_INCLUDE = re.compile(r"^\s*include\s+(\S+)", re.IGNORECASE | re.MULTILINE)


def settings(text: str) -> dict[str, str]:
    """What the lines with a single setting say, by the name in small letters."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _SETTING.match(line)
        if match:
            found[match.group(1).lower()] = match.group(2).strip('"')
    return found


def includes(text: str) -> tuple[str, ...]:
    """Files that are read as if they stood here."""
    return tuple(_INCLUDE.findall(text))


def without_block(text: str) -> str:
    return _BLOCK.sub("", text)


def with_block(text: str, lines: Sequence[str]) -> str:
    """The text with these lines as its only block; without lines there is none."""
    plain = without_block(text)
    return "\n".join([plain, BEGIN, *lines, END, ""]) if lines else plain
