"""Text from strangers made safe for a terminal: names in traces may hold anything."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Line ends become spaces; what could drive a terminal is spelled out."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """The text with every character that does not print written as an escape."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def cell(text: str) -> str:
    """The text for a Rich table or line: not markup, whatever brackets it has."""
    from rich.markup import escape

    return escape(visible(text))
