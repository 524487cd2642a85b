"""Names: one meaning per class in the whole tree, nouns for files."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "dovetail"
FILES = sorted(SOURCE.rglob("*.py"))

NOUNS_IN_ING = {
    "ordering", "training", "testing", "aging", "drawing", "encoding", "standing", "ranking",
    "recording", "halving", "opening",
}  # fmt: skip
"""Words of file names that end in -ing and are nouns."""


def public_classes() -> dict[str, list[str]]:
    """Where each public class is defined, at the top of a module."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in FILES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(file.relative_to(SOURCE)))
    return found


def test_no_public_class_name_has_two_meanings() -> None:
    twice = {name: where for name, where in public_classes().items() if len(where) > 1}
    assert twice == {}


def test_no_file_is_called_by_a_verb_in_ing() -> None:
    found = [
        str(file.relative_to(SOURCE))
        for file in FILES
        if (word := file.stem.rpartition("_")[2]).endswith("ing") and word not in NOUNS_IN_ING
    ]
    assert found == []
