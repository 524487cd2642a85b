"""The pages of the site, and the blocks of code in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int
    code: str
    prints: str  # what stands below it; empty: nothing is said


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS))


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, found.start()) + 2, found[1], found[2] or "")
        for found in _BLOCK.finditer(text)
    ]
