"""Wherever a reader is told what to ask sacct for, it is the one list of fields."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dovetail.cli.trace.importer import trace_import
from dovetail.slurm.sacct import EXPORTED
from tests.docs.pages import DOCS, PAGES, name_of

_ASKED = re.compile(r"\bsacct\b[^>`]*? -o (\S+)")


def asked_of_sacct(text: str) -> list[str]:
    return _ASKED.findall(text.replace("\\\n", ""))


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", *PAGES], ids=lambda page: page.name)
def test_a_page_asks_for_every_field(page: Path) -> None:
    told = {tuple(fields.split(",")) for fields in asked_of_sacct(page.read_text(encoding="utf-8"))}
    assert told <= {EXPORTED}, page


def test_the_help_and_the_first_pages_ask_for_every_field() -> None:
    helped = re.sub(r"\\\n\s*", "", trace_import.__doc__ or "")
    assert asked_of_sacct(helped) == [",".join(EXPORTED)]
    first = ("tutorial/first-hour.md", "how-to/replay-your-cluster.md")
    for page in (DOCS.parent / "README.md", *(page for page in PAGES if name_of(page) in first)):
        assert asked_of_sacct(page.read_text(encoding="utf-8")), page
