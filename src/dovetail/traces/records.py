"""Records of a JSON file, numbered, with an error in words when there are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dovetail.domain.errors import BadRow, TraceError
from dovetail.traces.source import read_text


def read_json(path: Path, key: str | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records of a list, or of the list under a key; each with its number from 1."""
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as problem:
        raise BadRow(path.name, problem.lineno, f"not valid JSON: {problem.msg}") from None
    except ValueError:  # what the decoder lets through from int()
        raise TraceError(f"{path.name}: not valid JSON: a number of thousands of digits") from None
    except RecursionError:
        raise TraceError(f"{path.name}: not valid JSON: nested too deeply") from None
    if key is not None:
        data = data.get(key) if isinstance(data, dict) else None
    if not isinstance(data, list):
        where = f"a list under {key!r}" if key is not None else "a list"
        raise TraceError(f"{path.name}: expected {where} of records")
    for number, record in enumerate(data, start=1):
        if not isinstance(record, dict):
            raise TraceError(f"{path.name} record {number}: expected an object in braces")
        yield number, record
