"""Broken files: an error with file, line and advice by default, a counted repair on request."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import BadRow, ConfigError, TraceError, UnknownName
from dovetail.domain.trace import Trace
from dovetail.traces.checks import MENDS, ROW_RULES
from dovetail.traces.reader import read_trace
from tests.traces.samples import PHILLY, SAMPLES, philly_job, write, write_parquet

HEADER = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue"
)
DROP = "; use --repair drop to skip such rows"


def helios(folder: Path, *rows: dict[str, Any], repair: tuple[str, ...] = ()) -> Trace:
    """A Helios log of a good row on line 2, then the given ones."""
    lines = [HEADER]
    for number, row in enumerate(({}, *rows), start=1):
        cells = {"job_id": number, "gpu_num": 1, "duration": 60, "node_num": 1} | row
        cells = dict.fromkeys(("submit_time", "start_time"), "2020-06-09 18:41:01") | cells
        lines.append(",".join(str(cells.get(name, "")) for name in HEADER.split(",")))
    return read_trace(write(folder / "cluster_log.csv", "\n".join(lines)), repair=repair)


def parquet(folder: Path, repair: tuple[str, ...] = (), **columns: Any) -> Trace:
    plain = {"job_id": [1, 2, 3], "submit_time": [0, 5, 9], "duration": [1.0, 1.0, 1.0]}
    full: dict[str, Any] = plain | {"req_gpus": [1, 1, 1]} | columns
    return read_trace(write_parquet(folder / "t.parquet", **full), repair=repair)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"gpu_num": -3}, "gpu_num is -3, expected 0 or more" + DROP),
        ({"gpu_num": "many"}, "gpu_num is 'many', expected a number" + DROP),
        ({"gpu_num": ""}, "gpu_num is missing, expected a whole number" + DROP),
        ({"gpu_num": "NaN"}, "gpu_num is nan, expected a whole number" + DROP),
        ({"gpu_num": 1e30}, f"gpu_num is {int(1e30)}, expected at most 1000000" + DROP),
        ({"duration": "inf"}, "duration is inf, expected a number of seconds" + DROP),
        ({"duration": ""}, "duration is missing, expected a number of seconds" + DROP),
        ({"job_id": ""}, "job_id is missing, expected a name or number" + DROP),
        ({"queue": "1,2"}, "has more fields than expected" + DROP),
        (
            {"submit_time": "2020-13-09 18:41:01"},
            "submit_time is '2020-13-09 18:41:01', expected a time such as "
            "2020-06-09 18:41:01 or epoch seconds" + DROP,
        ),
    ],
)
def test_a_bad_row_is_refused_with_its_line_or_dropped_and_counted(
    row: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(BadRow) as caught:
        helios(tmp_path, {}, row)
    assert str(caught.value) == f"cluster_log.csv line 4: {problem}"
    repaired = helios(tmp_path, {}, row, repair=("drop",))
    assert len(repaired) == 2
    words = problem.removesuffix(DROP)
    assert repaired.notes[0] == f"1 bad row: skipped by drop (the first in line 4: {words})"


@pytest.mark.parametrize(
    ("row", "problem", "note"),
    [
        (
            {"duration": -5},
            "duration is -5, expected 0 or more; use --repair clamp to set it to 0",
            "1 job has a negative run time: repaired by clamp (set it to 0)",
        ),
        (
            {"duration": 400_000_000},
            "duration is 400000000, expected at most ten years (315576000 s); "
            "use --repair clamp to cut it to ten years",
            "1 job runs longer than ten years: repaired by clamp (cut it to ten years)",
        ),
        (
            {"gpu_num": 0.5},
            "gpu_num is 0.5, expected a whole number; use --repair clamp to round it up",
            "1 job asks for a part of a GPU: repaired by clamp (round it up)",
        ),
        (
            {"node_num": -1},
            "node_num is -1, expected 0 or more; use --repair clamp to take it as unknown",
            "1 job asks for a negative number of nodes: repaired by clamp (take it as unknown)",
        ),
        (
            {"cpu_num": -1},
            "cpu_num is -1, expected 0 or more; use --repair clamp to take it as unknown",
            "1 job asks for a negative or unknown number of CPUs: "
            "repaired by clamp (take it as unknown)",
        ),
    ],
)
def test_a_number_out_of_range_is_refused_clamped_or_dropped(
    row: dict[str, Any], problem: str, note: str, tmp_path: Path
) -> None:
    with pytest.raises(BadRow) as caught:
        helios(tmp_path, row)
    skip = ", or --repair drop to skip such rows"
    assert str(caught.value) == f"cluster_log.csv line 3: {problem}{skip}"
    assert helios(tmp_path, row, repair=("clamp",)).notes[0] == note
    assert len(helios(tmp_path, row, repair=("clamp",))) == 2
    assert len(helios(tmp_path, row, repair=("drop",))) == 1


def test_the_error_says_how_many_more_bad_rows_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadRow, match=r"line 3: gpu_num is -3, .* \(and 2 more bad rows\); use"):
        helios(tmp_path, {"gpu_num": -3}, {"gpu_num": "x"}, {}, {"duration": -1})


def test_blank_lines_are_skipped_and_counted_as_lines(tmp_path: Path) -> None:
    row = "2,,,-1,,1,,2020-06-09 18:41:01,2020-06-09 18:41:01,,60,"
    path = write(tmp_path / "cluster_log.csv", f"{HEADER}\n\n\n{row}\n")
    with pytest.raises(BadRow, match="line 4: gpu_num is -1"):
        read_trace(path)


def test_bad_cells_of_jobs_without_gpus_do_not_matter(tmp_path: Path) -> None:
    assert len(helios(tmp_path, {"gpu_num": 0, "duration": "x"})) == 1


def test_time_limits_out_of_range_are_bad_rows(tmp_path: Path) -> None:
    with pytest.raises(BadRow, match=r"^t.parquet row 2: req_time is 0, expected 0.001 or more "):
        parquet(tmp_path, req_time=[1.0, 0.0, 1e12])
    repaired = parquet(tmp_path, ("clamp",), req_time=[1.0, 0.0, 1e12])
    assert repaired.jobs.limit[2] == 315_576_000


def test_unsorted_rows_are_refused_or_sorted_and_counted(tmp_path: Path) -> None:
    with pytest.raises(BadRow) as caught:
        parquet(tmp_path, submit_time=[7, 5, 9])
    assert str(caught.value) == (
        "t.parquet row 2: submit_time is 5, earlier than 7 of the row before; "
        "use --repair sort to sort by submit time"
    )
    trace = parquet(tmp_path, ("sort",), submit_time=[7, 5, 9])
    assert trace.jobs.ids.tolist() == ["2", "1", "3"]
    assert trace.notes == (
        "1 row was submitted before its predecessor: rows sorted by submit time",
    )


def test_sorting_keeps_the_order_of_rows_submitted_together(tmp_path: Path) -> None:
    trace = parquet(tmp_path, ("sort",), submit_time=[7, 0, 0])
    assert trace.jobs.ids.tolist() == ["2", "3", "1"]


def test_repeated_ids_are_refused_or_the_first_is_kept(tmp_path: Path) -> None:
    with pytest.raises(BadRow) as caught:
        parquet(tmp_path, job_id=[4, 4, 4])
    assert str(caught.value) == (
        "t.parquet row 2: job_id is 4, already used in row 1 (and 1 more bad row); "
        "use --repair dedupe to keep the first row of each"
    )
    trace = parquet(tmp_path, ("dedupe",), job_id=[4, 4, 4])
    assert trace.jobs.submit.tolist() == [0]
    assert trace.notes == ("2 rows with an id used before: removed by dedupe",)


def test_tasks_of_one_job_are_told_apart_by_kind(tmp_path: Path) -> None:
    trace = parquet(tmp_path, job_id=["a", "a", "b"], kind=["ps", "worker", "worker"])
    assert trace.jobs.ids.tolist() == ["a/ps", "a/worker", "b"]


def test_all_repairs_together_mend_before_they_drop(tmp_path: Path) -> None:
    trace = parquet(
        tmp_path,
        ("all",),
        job_id=[1, 1, 2],
        submit_time=[9, 8, 3],
        duration=[-1.0, 5.0, 6.0],
    )
    assert trace.jobs.ids.tolist() == ["2", "1"]
    assert trace.jobs.run.tolist() == [6, 0]
    assert len(trace.notes) == 3


def test_an_unknown_repair_is_answered_with_a_likely_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown repair 'dorp': did you mean 'drop'"):
        helios(tmp_path, repair=("dorp",))


def test_only_known_problems_are_mended() -> None:
    assert MENDS.keys() <= {rule.problem for rule in ROW_RULES}


def test_what_clamp_puts_there_keeps_the_rules() -> None:
    wrong = np.array([-5.0, 0.5, np.inf, -np.inf, 1e300])
    for rule in ROW_RULES:
        mend, columns = MENDS.get(rule.problem), dict.fromkeys(rule.columns, wrong)
        if mend is not None:
            columns[rule.columns[0]] = np.where(rule.bad(columns), mend.value(wrong), wrong)
            assert not rule.bad(columns).any(), rule.problem


def test_a_trace_without_a_single_gpu_job_says_why_it_is_empty(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"no jobs to schedule \(3 jobs ask for no GPU: left out"):
        parquet(tmp_path, req_gpus=[0, 0, 0])


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", "job_id,gpu_num\n1,1\n")
    with pytest.raises(TraceError, match=r"log.csv: no column submit_time; it has job_id, gpu_num"):
        read_trace(path, format="helios")


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"pai2020"}))
def test_empty_missing_and_folder_paths_are_said_in_words(name: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="the file is empty"):
        read_trace(write(tmp_path / "empty", ""), format=name)
    with pytest.raises(TraceError, match="No such file"):
        read_trace(tmp_path / "missing", format=name)
    with pytest.raises(TraceError, match="is a folder"):
        read_trace(tmp_path, format=name)


def test_guessing_says_the_same_of_empty_missing_and_folder_paths(tmp_path: Path) -> None:
    for path, words in (("missing", "No such file"), ("empty", "is empty"), (".", "is a folder")):
        write(tmp_path / "empty", "")
        with pytest.raises(TraceError, match=words):
            read_trace(tmp_path / path)


@pytest.mark.parametrize("keep", [0.02, 0.3, 0.6, 0.95, 0.999])
def test_truncated_parquet_is_said_in_words(keep: float, tmp_path: Path) -> None:
    path = SAMPLES["parquet"](tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole))])
    with pytest.raises(TraceError, match=r"trace.parquet: truncated or broken Parquet"):
        read_trace(path, format="parquet")


def test_truncated_gzip_is_said_in_words(tmp_path: Path) -> None:
    path = write(tmp_path / "x.swf.gz", gzip.compress(b"1 2 3\n" * 99)[:-12])
    with pytest.raises(TraceError, match="broken gzip file"):
        read_trace(path, format="swf")


@pytest.mark.parametrize("name", ["helios", "sacct", "swf", "philly"])
def test_text_that_is_not_utf8_is_said_with_its_line(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "latin1", b"a,b\n1,caf\xe9\n")
    with pytest.raises(TraceError, match="latin1 line 2: not UTF-8 text"):
        read_trace(path, format=name)


def test_broken_json_is_said_with_its_line(tmp_path: Path) -> None:
    text = json.dumps(PHILLY, indent=1)
    path = write(tmp_path / "cluster_job_log", text[: len(text) // 2])
    with pytest.raises(TraceError, match=r"cluster_job_log line \d+: not valid JSON"):
        read_trace(path)


def test_a_bad_record_of_json_is_named_by_its_number(tmp_path: Path) -> None:
    bad = philly_job("b", "yesterday", ("2017-10-07 01:07:03", "2017-10-07 02:07:03", 1))
    path = write(tmp_path / "cluster_job_log", json.dumps([PHILLY[0], bad]))
    with pytest.raises(BadRow, match=r"^cluster_job_log record 2: submitted_time is 'yesterday'"):
        read_trace(path)


def test_swf_lines_with_too_few_or_too_many_fields_are_bad(tmp_path: Path) -> None:
    good = "1 0 0 60 1 -1 -1 1 -1 -1 1 1 1 -1 1 1 -1 -1\n"
    with pytest.raises(BadRow, match="line 2: run time is missing"):
        read_trace(write(tmp_path / "a.swf", good + "2 5 0\n"))
    with pytest.raises(BadRow, match="line 2: has more fields than expected"):
        read_trace(write(tmp_path / "b.swf", good + "2" + good.rstrip()[1:] + " 7\n"))


def test_rows_without_an_id_are_no_repeats_of_each_other(tmp_path: Path) -> None:
    with pytest.raises(BadRow, match="job_id is missing, expected a name or number"):
        parquet(tmp_path, repair=("dedupe",), job_id=[None, None, "c"])
    assert len(parquet(tmp_path, repair=("dedupe", "drop"), job_id=[None, None, "c"])) == 1


def test_a_small_gzip_that_holds_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.swf.gz"
    row = b"1 0 10 60 4 -1 -1 8 120 -1 1 3 1 -1 2 1 -1 -1\n"
    path.write_bytes(gzip.compress(row + b"\n" * (3 << 20)))
    assert len(read_trace(path)) == 1
    monkeypatch.setenv("DOVETAIL_MAX_UNPACKED_GIB", "0.001953125")
    with pytest.raises(
        TraceError, match=r"unpacks to more than 0.00195312 GiB.*MAX_UNPACKED_GIB=1"
    ):
        read_trace(path)
    monkeypatch.setenv("DOVETAIL_MAX_UNPACKED_GIB", "much")
    with pytest.raises(ConfigError, match="expected a number of GiB"):
        read_trace(path)


def test_an_endless_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_MAX_UNPACKED_GIB", "0.01")
    with pytest.raises(TraceError, match="gives more than"):
        read_trace("/dev/zero", format="swf")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(TraceError):
        read_trace(name)


def test_a_time_beyond_the_calendar_is_no_crash(tmp_path: Path) -> None:
    text = "submit,duration,gpus\n2020-01-01T00:00:00,5,1\n-9e11,5,1\n"
    trace = read_trace(write(tmp_path / "jobs.csv", text), repair=("sort",))
    assert "time 0 is beyond the calendar" in trace.notes[-1]


@pytest.mark.parametrize("text", ['[{"vc": ' + "9" * 5000 + "}]", "[" * 100_000])
def test_json_that_python_refuses_is_no_crash(tmp_path: Path, text: str) -> None:
    with pytest.raises(TraceError, match="not valid JSON"):
        read_trace(write(tmp_path / "jobs.json", text), format="philly")
