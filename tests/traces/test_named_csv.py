"""A CSV with columns of its own: mapped to fields, or refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.errors import BadRow, ConfigError, DovetailError, TraceError, UnknownName
from dovetail.domain.trace import Trace
from dovetail.traces.fields import FIELDS
from dovetail.traces.reader import read_trace
from tests.cli.conftest import Command, dovetail  # noqa: F401 - a fixture
from tests.traces.samples import CSV, write

OWN = "Submitted;Elapsed;GPU count\n100;1:00;2\n160;30;4\n"
MAP = {"submit": "Submitted", "duration": "Elapsed", "gpus": "GPU count"}


def read(folder: Path, text: str, columns: dict[str, str] | None = None) -> Trace:
    return read_trace(write(folder / "jobs.csv", text), columns=columns)


def test_columns_are_found_by_the_names_of_fields(tmp_path: Path) -> None:
    jobs = read(tmp_path, CSV).jobs
    assert jobs.ids.tolist() == ["a", "b"]
    assert jobs.submit.tolist() == [0.0, 0.0]  # noon in two zones
    assert jobs.run.tolist() == [86_410.0, 60.0]
    assert jobs.user.names() == ["u1", "u2"]


def test_columns_of_any_name_are_mapped(tmp_path: Path) -> None:
    trace = read(tmp_path, OWN, MAP)
    assert trace.jobs.submit.tolist() == [0.0, 60.0]
    assert trace.jobs.run.tolist() == [60.0, 30.0]
    assert trace.jobs.gpus.tolist() == [2, 4]
    assert "time 0 is 100 s on the trace's own clock" in trace.notes[-1]


def test_start_and_end_stand_for_the_duration(tmp_path: Path) -> None:
    text = "s,b,e,g\n0,10,25,1\n"
    jobs = read(tmp_path, text, {"submit": "s", "start": "b", "end": "e", "gpus": "g"}).jobs
    assert jobs.run.tolist() == [15.0]
    assert jobs.recorded_start.tolist() == [10.0]


@pytest.mark.parametrize("field", list(FIELDS))
def test_every_field_can_be_mapped(field: str, tmp_path: Path) -> None:
    columns = {"submit": "submit", "duration": "duration", "gpus": "gpus", field: "x"}
    others = [name for name in ("submit", "duration", "gpus") if name != field]
    text = ",".join(["x", *others]) + "\n" + ",".join("1" * (1 + len(others))) + "\n"
    assert len(read(tmp_path, text, columns)) == 1


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ({"submit": "Submitted"}, TraceError, "no column for duration, gpus; .* --map duration="),
        ({**MAP, "gpus": "GPUs"}, TraceError, "no column GPUs; it has Submitted, Elapsed"),
        ({**MAP, "durations": "x"}, UnknownName, "did you mean 'duration'"),
    ],
)
def test_a_wrong_map_says_what_is_missing(
    columns: dict[str, str], error: type[DovetailError], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        read(tmp_path, OWN, columns)


def test_a_bad_cell_is_named_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadRow, match=r"line 3: Elapsed is 'long', expected seconds"):
        read(tmp_path, OWN.replace(";30;", ";long;"), MAP)


def test_other_formats_have_no_columns_to_map(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not in the format swf"):
        read_trace(write(tmp_path / "jobs.csv", OWN), "swf", columns=MAP)


def test_the_command_line_maps_columns(dovetail: Command, tmp_path: Path) -> None:  # noqa: F811
    path, out = write(tmp_path / "jobs.csv", OWN), tmp_path / "t.parquet"
    text = ",".join(f"{field}={column}" for field, column in MAP.items())
    said = dovetail("trace", "import", path, "--map", text, "--out", out)
    assert said.code == 0, said.err
    assert len(read_trace(out)) == 2
    assert dovetail("trace", "import", path, "--map", "submit", "--out", out).code == 2


def test_formats_lists_every_field_and_column(dovetail: Command) -> None:  # noqa: F811
    out = dovetail("trace", "formats").out
    for field in FIELDS.values():
        assert field.parquet in out
        assert field.name in out
