"""A trace without the names of people: equal names stay equal, but nobody can read them.

>>> from dovetail.domain.jobs import JobColumns
>>> trace = Trace(JobColumns(submit=[0, 1], run=[9, 9], gpus=[1, 1], user=["ann", "ann"]).build())
>>> names = anonymise(trace).jobs.user.names()
>>> names[0] == names[1], "ann" in names
(True, False)
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from typing import Any

from dovetail.domain.jobs import Names
from dovetail.domain.trace import Trace

PERSONAL = ("user", "account", "name", "work_dir", "submit_line")
"""Columns that may say who somebody is or what he works on."""

LEFT_OUT = ("nodelist", "exclude", "reservation")
"""Names of machines and of what they are kept for: a replay cannot find them once hashed."""


def anonymise(trace: Trace, key: bytes | None = None) -> Trace:
    """Replace personal names by keyed hashes, for example `user-1f0c9a7e52b4`.

    The key is drawn anew unless given, and kept nowhere: without it, a list of likely names
    cannot be tried against the hashes. Give the same key where two traces must be joined.
    """
    drawn = secrets.token_bytes(32) if key is None else key
    hidden = {column: _hidden(column, getattr(trace.jobs, column), drawn) for column in PERSONAL}
    words = ", ".join(column for column, names in hidden.items() if names.values)
    notes = (*trace.notes, f"anonymised: {words}") if words else trace.notes
    named = [column for column in LEFT_OUT if getattr(trace.jobs, column).values]
    notes = (*notes, f"left out, as they name nodes: {', '.join(named)}") if named else notes
    nothing = {column: Names.none(len(trace.jobs)) for column in LEFT_OUT}
    changed: dict[str, Any] = {**hidden, **nothing}
    return replace(trace, jobs=replace(trace.jobs, **changed), notes=notes)


def _hidden(column: str, names: Names, key: bytes) -> Names:
    def token(name: str) -> str:
        # The column is hashed, too, so that a user and his directory do not match.
        text = f"{column}\0{name}".encode()
        return f"{column}-{hashlib.blake2b(text, key=key[:64], digest_size=6).hexdigest()}"

    return Names(names.codes, tuple(map(token, names.values)))
