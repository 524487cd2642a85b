"""How Sphinx builds the site, see `make docs`. Neither it nor a reader fetches anything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs.code_reference import fill
from dovetail import __version__

project = "Dovetail"
author = "the authors of Dovetail"
copyright = "the authors of Dovetail, Apache-2.0"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["code_reference", "**/__pycache__"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
# Decisions are not in the menu; a test looks for all other pages there.
suppress_warnings = ["toc.not_included"]
nitpicky = True
highlight_language = "none"

html_theme = "furo"
html_title = f"Dovetail {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False


def _fill(app: Any, name: str, source: list[str]) -> None:
    source[0] = fill(source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _fill)
