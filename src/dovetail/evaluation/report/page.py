"""The frame of every report: one HTML file that needs nothing else, and its recurring parts.

Text from outside is escaped here: titles, names and values may hold anything.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from dovetail.evaluation.report.style import STYLE


def page(title: str, body: str) -> str:
    """The whole file; `body` is HTML."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        # Whatever a name might smuggle in, the page can load and run nothing.
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{body}"
        "</body></html>\n"
    )


def figure(title: str, svg: str, alt: str, note: str = "") -> str:
    """A drawing under its title; the note says how to read it."""
    # As an image, not as elements: ids of several drawings would collide.
    below = f"<p class='note'>{escape(note)}</p>" if note else ""
    data = base64.b64encode(svg.encode()).decode()
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f"<img alt='{escape(alt)}' src='data:image/svg+xml;base64,{data}'>"
        f"{below}</figure>"
    )


def definitions(items: Iterable[tuple[str, str]]) -> str:
    """Names and what they stand for."""
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in items)
    return f"<dl>{''.join(rows)}</dl>"


def table(name: str, head: str, body: str) -> str:
    """A table that scrolls by itself where it is wider than the page; rows are HTML."""
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{escape(name)}'><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
