"""Records of `scontrol show`, in lines or in blocks, and the table of `scontrol show config`.

>>> text = "NodeName=a State=IDLE Reason=State=DOWN, they say"
>>> [record["State"] for record in records_of(text, ("NodeName", "State"))]
['IDLE']
>>> settings_of("SLURM_VERSION = 24.11.5")
{'SLURM_VERSION': '24.11.5'}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache


def texts_of(text: str, first: str) -> list[str]:
    """The text of each record; `first` is the name that begins one."""
    _, *parts = f"\n{text}".split(f"\n{first}=")
    return [f"{first}={part}" for part in parts]


def fields_of(record: str, names: tuple[str, ...]) -> dict[str, str]:
    """These fields of one record, up to the next blank.

    A field's first value counts. What people write (Reason, Comment) comes behind Slurm's own
    fields, and may look like any of them.
    """
    return dict(reversed(_pairs(names).findall(record)))


def records_of(text: str, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """The fields of each record that begins with the first of these names."""
    return (fields_of(record, names) for record in texts_of(text, names[0]))


def settings_of(text: str) -> dict[str, str]:
    """`scontrol show config` as a table."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs if name == name.lstrip()}


@lru_cache(maxsize=64)
def _pairs(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:^|\s)({'|'.join(map(re.escape, names))})=(\S*)")
