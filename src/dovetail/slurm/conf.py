"""slurm.conf and gres.conf as text: lines of fields, single settings, and files to include.

>>> list(lines_of("NodeName=a CPUs=8 # eight"))
[{'nodename': 'a', 'cpus': '8'}]
>>> settings_of_conf("PrologSlurmctld = /x # why")
{'prologslurmctld': '/x'}
>>> includes_of("include nodes.conf")
('nodes.conf',)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# As Slurm's own parser: a value ends at a blank, unless it stands in quotes; a comment begins at
# any # that has no backslash before it, in quotes, too; names are the same in any case.
_CONTINUED = re.compile(r"\\\r?(?:\n|\Z)")
_COMMENT = re.compile(r"(?<!\\)#.*")
_FIELD = re.compile(r'([\w.]+)\s*[-+*/]?=\s*(?:"([^"]*)"|(\S+))')
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)


def lines_of(text: str) -> Iterator[dict[str, str]]:
    """The fields of each line that has any, by their names in small letters."""
    for line in _plain_lines(text):
        fields = {key.lower(): quoted or bare for key, quoted, bare in _FIELD.findall(line)}
        if fields:
            yield fields


def settings_of_conf(text: str) -> dict[str, str]:
    """What the lines with a single setting say; the last line of a name counts."""
    found: dict[str, str] = {}
    for fields in lines_of(text):
        if len(fields) == 1:
            found |= fields
    return found


def includes_of(text: str) -> tuple[str, ...]:
    """Files that are read as if they stood here."""
    found = (_INCLUDE.match(line) for line in _plain_lines(text))
    return tuple(match[1] for match in found if match)


def _plain_lines(text: str) -> Iterator[str]:
    for line in _CONTINUED.sub(" ", text).splitlines():
        yield _COMMENT.sub("", line).replace("\\#", "#")
