"""Every format is known by its content, and by its content only."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.errors import TraceError, UnknownName
from dovetail.traces.formats import FORMATS
from dovetail.traces.reader import guess_format, read_trace
from dovetail.traces.source import read_head
from tests.traces.samples import SAMPLES, write


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", SAMPLES)
def test_exactly_one_format_recognises_each_sample(name: str, tmp_path: Path) -> None:
    path = SAMPLES[name](tmp_path)
    head = read_head(path)
    assert [n for n, part in FORMATS.items() if part.sniff(path, head)] == [name]


@pytest.mark.parametrize("name", SAMPLES)
def test_naming_the_format_gives_the_same_trace_as_guessing_it(name: str, tmp_path: Path) -> None:
    path = SAMPLES[name](tmp_path)
    assert read_trace(path, format=name).digest() == read_trace(path).digest()


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"pai2020", "parquet", "swf"}))
def test_windows_line_ends_and_byte_order_marks_do_not_matter(name: str, tmp_path: Path) -> None:
    path = SAMPLES[name](tmp_path)
    digest = read_trace(path).digest()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_trace(path).digest() == digest


def test_an_unknown_format_name_is_answered_with_a_likely_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'helios'"):
        read_trace(SAMPLES["helios"](tmp_path), format="helio")


def test_a_file_of_no_known_format_lists_the_formats(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.txt", "buy milk\n")
    with pytest.raises(TraceError, match=r"notes.txt: cannot tell its format; name it with"):
        guess_format(path)


def test_progress_ends_at_one_and_never_goes_back(tmp_path: Path) -> None:
    seen: list[float] = []
    read_trace(SAMPLES["helios"](tmp_path), progress=lambda done, text: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
