"""Markdown from values: tables whose cells are safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_<>\[\]|])")


def plain(text: str) -> str:
    r"""Text that means itself; what stands between backticks stays code.

    >>> plain("a|b_c in `x_y`")
    'a\\|b\\_c in `x_y`'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its partner
        return _SPECIAL.sub(r"\\\1", text.replace("`", "'"))
    return "`".join(
        part.replace("|", "\\|") if number % 2 else _SPECIAL.sub(r"\\\1", part)
        for number, part in enumerate(parts)
    )


def code(text: str) -> str:
    """A name, a value or a column; empty stays empty."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def first_sentence(docstring: str | None) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join((docstring or "").strip().split("\n\n")[0].split())
