"""The list of decisions: the number and the title of each.

They are links and no part of the site's menu, which would have them all beside every page.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "decisions"


def decisions() -> str:
    return "\n".join(
        f"- [{page.read_text(encoding='utf-8').partition(chr(10))[0].lstrip('# ')}]({page.name})"
        for page in sorted(FOLDER.glob("0*.md"))
    )
