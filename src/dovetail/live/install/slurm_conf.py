"""A block of lines of ours in slurm.conf: added to it and taken out again.

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


def without_block(text: str) -> str:
    return _BLOCK.sub("", text)


def with_block(text: str, lines: Sequence[str]) -> str:
    """The text with these lines as its only block; without lines there is none."""
    plain = without_block(text)
    return "\n".join([plain, BEGIN, *lines, END, ""]) if lines else plain
