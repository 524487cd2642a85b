"""A configuration file with every key and its default, made from the configuration's own classes.

>>> "# mode = \\"shadow\\"" in sample_config()
True
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import groupby
from typing import Any, NamedTuple

from dovetail.live.config import LiveConfig

_COMMENT = re.compile(r"^ {4}(\w+): [^#\n]*#\s*(.*)$", re.MULTILINE)

HEAD = """\
# Dovetail's live daemon. Every key is shown with its default: remove the # in front to change one.
# After a change: systemctl reload dovetail-live
"""


class Setting(NamedTuple):
    """One key of the configuration, in the words of the code."""

    table: str  # empty: above the first [table]
    about_table: str
    key: str
    default: str  # as TOML writes it
    about: str


def settings() -> list[Setting]:
    """Every key, those without a table first.

    >>> settings()[0].key, settings()[0].default
    ('mode', '"shadow"')
    """
    return list(_settings(LiveConfig(), ""))


def sample_config() -> str:
    """TOML text that means the same as an empty file."""
    lines = [HEAD]
    for (table, about), keys in groupby(settings(), key=lambda setting: setting[:2]):
        if table:
            lines += ["", f"# {about}", f"[{table}]"]
        for setting in keys:
            comment = f"  # {setting.about}" if setting.about else ""
            lines.append(f"# {setting.key} = {setting.default}{comment}")
    return "\n".join(lines) + "\n"


def _settings(part: Any, table: str) -> Iterator[Setting]:
    about = (inspect.getdoc(type(part)) or "").partition("\n")[0]
    comments = dict(_COMMENT.findall(inspect.getsource(type(part))))
    tables = []
    for item in fields(part):
        value = getattr(part, item.name)
        if is_dataclass(value):
            tables.append((value, item.name))
            continue
        yield Setting(table, about, item.name, _toml(value), comments.get(item.name, ""))
    for value, key in tables:
        yield from _settings(value, key)


def _toml(value: Any) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float):
        return repr(value)
    # Strings, booleans, whole numbers and lists of strings are written alike in JSON and TOML.
    return json.dumps(list(value) if isinstance(value, tuple) else value)
