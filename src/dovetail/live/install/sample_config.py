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
from typing import Any

from dovetail.live.config import LiveConfig

_COMMENT = re.compile(r"^ {4}(\w+): [^#\n]*#\s*(.*)$", re.MULTILINE)

HEAD = """\
# Dovetail's live daemon. Every key is shown with its default: remove the # in front to change one.
# After a change: systemctl reload dovetail-live
"""


def sample_config() -> str:
    """TOML text that means the same as an empty file."""
    return "\n".join([HEAD, *_table(LiveConfig(), "")]) + "\n"


def _table(part: Any, name: str) -> Iterator[str]:
    if name:
        about = (inspect.getdoc(type(part)) or "").partition("\n")[0]
        yield ""
        # A dataclass without words of its own shows its signature: that is no help to anybody.
        if about and not about.startswith(type(part).__name__):
            yield f"# {about}"
        yield f"[{name}]"
    comments = dict(_COMMENT.findall(inspect.getsource(type(part))))
    tables = []
    for item in fields(part):
        value = getattr(part, item.name)
        if is_dataclass(value):
            tables.append((value, item.name))
            continue
        comment = comments.get(item.name)
        yield f"# {item.name} = {_toml(value)}" + (f"  # {comment}" if comment else "")
    for value, key in tables:
        yield from _table(value, key)


def _toml(value: Any) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float):
        return repr(value)
    # Strings, booleans, whole numbers and lists of strings are written alike in JSON and TOML.
    return json.dumps(list(value) if isinstance(value, tuple) else value)
