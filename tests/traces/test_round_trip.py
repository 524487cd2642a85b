"""Traces written and read back are the same traces."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.errors import OutputError
from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.traces.reader import read_trace
from dovetail.traces.writer import write_trace


def full_trace() -> Trace:
    """A trace that uses every column."""
    jobs = JobColumns(
        ids=["b", "a", "c"],
        submit=[-5.0, 0.25, 1e9],
        run=[0.0, 1.5, 3e8],
        gpus=[1, 8, 12],
        limit=[math.nan, 60.0, 3e8],
        nodes=[1, 0, 5],
        cpus=[0.0, 1.5, 64.0],
        memory=[0.0, 0.1, 512.0],
        gpu_type=[None, "V100", "v100|p100"],
        partition=["z", None, "a"],
        user=["ü", "\n", ""],
        qos=["q", "q", None],
        kind=["worker", "ps", "worker"],
        mig=["1g.5gb", None, None],
        priority=[-1.0, 0.0, 2.5],
        deadline=[math.nan, 100.0, math.nan],
        exempt=[True, False, True],
        recorded_start=[math.nan, 0.5, 2e9],
    )
    return Trace(jobs.build(), name="every column", notes=("said before", "übrigens"))


def test_every_column_name_and_note_survives(tmp_path: Path) -> None:
    trace = full_trace()
    write_trace(trace, tmp_path / "t.parquet")
    back = read_trace(tmp_path / "t.parquet")
    assert back.digest() == trace.digest()
    assert (back.name, back.notes) == (trace.name, trace.notes)


def test_a_slice_keeps_the_codes_of_names_that_it_no_longer_has(tmp_path: Path) -> None:
    part = full_trace().slice(1, 3)
    write_trace(part, tmp_path / "t.parquet")
    assert read_trace(tmp_path / "t.parquet").digest() == part.digest()


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.floats(0, 1e9),
            st.floats(0, 3e8),
            st.integers(1, 512),
            st.none() | st.text(max_size=5),
        ),
        min_size=1,
    )
)
def test_any_valid_trace_survives(
    rows: list[tuple[float, float, int, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    submit, run, gpus, user = zip(*sorted(rows, key=lambda row: row[0]), strict=True)
    trace = Trace(JobColumns(submit=submit, run=run, gpus=gpus, user=user).build())
    path = tmp_path_factory.mktemp("round") / "t.parquet"
    write_trace(trace, path)
    assert read_trace(path).digest() == trace.digest()


def test_writing_leaves_no_other_file_behind(tmp_path: Path) -> None:
    write_trace(full_trace(), tmp_path / "t.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_writing_where_no_folder_is_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write: No such file or directory"):
        write_trace(full_trace(), tmp_path / "no" / "t.parquet")
