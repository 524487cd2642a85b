"""The site builds without a warning, every page is in its navigation, and no link is dead."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.code_reference import MARK, PARTS
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.domain.errors import ClusterError
from tests.docs.pages import DOCS, PAGES, name_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` does, where no warning is let pass."""
    pytest.importorskip("sphinx", reason="the site's generator: pip install '.[docs]'")
    target = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "--fail-on-warning", "--keep-going",
         "--quiet", str(DOCS), str(target)],
        capture_output=True,
        text=True,
        cwd=DOCS.parent,
        check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {page: Links(page) for page in site.rglob("*.html")}


class Links(HTMLParser):
    """Where a page leads to, and the places in it that others can lead to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        self.targets += [value for name in ("href", "src") if (value := given.get(name))]
        if tag in ("script", "link", "img", "iframe"):
            self.fetched += [value for name in ("href", "src") if (value := given.get(name))]


def test_no_link_of_the_site_is_dead(pages: dict[Path, Links]) -> None:
    for page, links in pages.items():
        for target in links.targets:
            if re.match(r"(https?|mailto|data):", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path.partition("?")[0]).resolve() if path else page
            assert there.exists(), f"{page.name} links to {target}"
            if anchor and there in pages:
                assert anchor in pages[there].anchors, f"{page.name} links to {target}"


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Links]) -> None:
    for page, links in pages.items():
        away = [target for target in links.fetched if re.match(r"(https?:)?//", target)]
        assert away == [], page.name


def test_every_page_is_in_the_navigation(site: Path) -> None:
    menu = {
        (site / target.partition("#")[0]).resolve() for target in Links(site / "index.html").targets
    }
    menu |= {
        (site / "decisions" / target.partition("#")[0]).resolve()
        for target in Links(site / "decisions" / "index.html").targets
    }
    missing = [
        name_of(page)
        for page in PAGES
        if (site / page.relative_to(DOCS)).with_suffix(".html").resolve() not in menu
    ]
    assert missing == []


def test_every_part_of_the_reference_is_on_a_page_and_says_something() -> None:
    used = [name for page in PAGES for name in MARK.findall(page.read_text(encoding="utf-8"))]
    assert sorted(used) == sorted(PARTS)
    for name, part in PARTS.items():
        assert part().count("\n") > 2, name


def test_the_example_of_a_cluster_file_is_one_and_every_key_is_explained() -> None:
    text = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert len(cluster_from_toml(example).nodes) == 6
    tables = ("[[nodes]]\ngpus = 1", "[partitions.p]", "[[limits]]", "[[reservations]]")
    for extra in ("wrong = 1\n", *(f"{table}\nwrong = 1\n" for table in tables)):
        with pytest.raises(ClusterError, match="known are") as refused:
            cluster_from_toml(example + extra if extra[0] == "[" else extra + example)
        for key in str(refused.value).partition("known are ")[2].split(", "):
            assert f"`{key}`" in text


def test_the_generator_is_the_same_for_readers_and_for_developers() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(extras["docs"]) <= set(extras["dev"])
