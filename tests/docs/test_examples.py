"""Python in the documents runs, page by page from top to bottom, and prints what is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import PAGES, blocks_of, name_of


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_the_code_of_a_page_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    for block in blocks_of(page):
        # Line numbers of a traceback are those of the page.
        code = "\n" * (block.line - 1) + block.code
        exec(compile(code, str(page), "exec"), names)
        said = capsys.readouterr().out
        assert not block.prints or said == block.prints, f"{name_of(page)} line {block.line}"
