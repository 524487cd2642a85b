"""Every trace and cluster format knows its files and refuses empty and foreign ones in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.errors import ClusterError, TraceError
from dovetail.traces.clusters import CLUSTER_FORMATS, read_cluster
from dovetail.traces.formats import FORMATS
from dovetail.traces.read import read_trace
from tests.traces.samples import SAMPLES

every_trace_format = pytest.mark.parametrize("name", list(FORMATS))
every_cluster_format = pytest.mark.parametrize("name", list(CLUSTER_FORMATS))


@every_trace_format
def test_has_a_sample_that_only_it_recognises(name: str, tmp_path: Path) -> None:
    path = SAMPLES[name](tmp_path)
    trace = read_trace(path)
    assert len(trace) > 0
    assert trace.digest() == read_trace(path, name).digest()


@every_trace_format
def test_has_a_name_and_a_line_about_it(name: str) -> None:
    assert FORMATS[name].name == name
    assert FORMATS[name].about


@every_trace_format
@pytest.mark.parametrize("content", [b"", b"\n", b" \n\n"], ids=["nothing", "line end", "blank"])
def test_refuses_an_empty_file(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(content)
    assert not FORMATS[name].sniff(path, content)
    with pytest.raises(TraceError):
        read_trace(path, name)


@every_trace_format
def test_refuses_a_file_that_is_something_else(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(b"%PDF-1.7\n\x00\xff\xfe binary \x80\n" * 20)
    with pytest.raises(TraceError):
        read_trace(path, name)


@every_trace_format
def test_refuses_a_missing_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError):
        read_trace(tmp_path / "nowhere", name)


@every_cluster_format
@pytest.mark.parametrize("content", [b"", b"nothing of the kind\n"], ids=["empty", "foreign"])
def test_cluster_formats_refuse_empty_and_foreign_files(
    name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "cluster"
    path.write_bytes(content)
    assert not CLUSTER_FORMATS[name].sniff(path, content)
    with pytest.raises(ClusterError):
        read_cluster(path, name)
