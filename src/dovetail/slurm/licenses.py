"""Licences as `sbatch --licenses` and slurm.conf write them: `matlab:2,ansys`.

>>> licenses_of("matlab:2,ansys@server=3,stata")
{'matlab': 2, 'ansys@server': 3, 'stata': 1}
>>> licenses_of("(null)")
{}
"""

from __future__ import annotations

import re

from dovetail.slurm.words import NOTHING

_ITEM = re.compile(r"^([^:=]{1,200})(?:[:=]([0-9]{1,9}))?$")


def licenses_of(text: str) -> dict[str, int]:
    """How many of each; what cannot be read is left out."""
    found: dict[str, int] = {}
    for item in [] if text in NOTHING else re.split(r"[,;]", text):
        match = _ITEM.match(item.strip())
        if match is not None:
            found[match[1]] = found.get(match[1], 0) + int(match[2] or 1)
    return found
