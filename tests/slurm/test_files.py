"""slurm.conf, `scontrol show` and tables with bars, generated and recorded."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.slurm.conf import includes_of, lines_of, settings_of_conf
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.gres import gpus_of
from dovetail.slurm.host_lists import hosts_of
from dovetail.slurm.sacct import FIELDS, spelled
from dovetail.slurm.show import fields_of, records_of, settings_of, texts_of
from dovetail.slurm.states import node_state
from dovetail.slurm.tables import rows_of
from dovetail.slurm.tres import request_of, resources_of

RECORDINGS = Path(__file__).parent / "recordings"
VERSIONS = sorted(path.name for path in RECORDINGS.iterdir())

keys = st.text(string.ascii_lowercase, min_size=1, max_size=8).filter(lambda key: key != "include")
values = st.text(string.ascii_letters + string.digits + "[]-,:/=._", min_size=1, max_size=12)
lines = st.dictionaries(keys, values, min_size=1, max_size=4)


def recorded(version: str, name: str) -> str:
    return (RECORDINGS / version / name).read_text()


@given(st.lists(lines), st.sampled_from([" ", "  ", " \\\n\t"]), st.sampled_from(["", " # x=1"]))
def test_lines_of_slurm_conf_come_back_as_they_went(
    written: list[dict[str, str]], between: str, comment: str
) -> None:
    text = "\n".join(
        between.join(f"{key.title()}={value}" for key, value in line.items()) + comment
        for line in written
    )
    assert list(lines_of(text)) == written


@given(st.lists(lines))
def test_quotes_keep_blanks_together(written: list[dict[str, str]]) -> None:
    text = "\n".join(
        " ".join(f'{key} = "{value} and more"' for key, value in line.items()) for line in written
    )
    wanted = [{key: f"{value} and more" for key, value in line.items()} for line in written]
    assert list(lines_of(text)) == wanted


def test_single_settings_are_told_from_lines_of_fields() -> None:
    text = 'A=1\n#B=2\nNodeName=n CPUs=4\nA=3 # last\nLoc="x y"\nD=a\\#b\nE+=5\ninclude f.conf'
    assert settings_of_conf(text) == {"a": "3", "loc": "x y", "d": "a#b", "e": "5"}
    assert includes_of(text) == ("f.conf",)


@given(
    st.dictionaries(st.sampled_from(["State", "Gres", "CPUTot"]), values, min_size=1),
    st.sampled_from([" ", "\n   "]),
    st.text(string.printable, max_size=40),
)
def test_what_people_write_behind_slurms_fields_changes_none(
    fields: dict[str, str], between: str, reason: str
) -> None:
    fields = {"NodeName": "a", **fields}
    shown = between.join(f"{key}={value}" for key, value in fields.items())
    # A line feed within a reason cannot come from Slurm.
    told = reason.replace("\n", " ").replace("\r", " ").replace("\v", " ").replace("\f", " ")
    forged = " ".join(f"{key}=forged" for key in fields)
    text = f"{shown}{between}Reason={told} {forged}\n"
    names = ("NodeName", *fields)
    assert list(records_of(text * 3, names)) == [fields] * 3


@given(st.lists(st.tuples(*[st.text("abc 0123._-", max_size=6)] * 3)))
def test_rows_with_bars_come_back_as_they_went(rows: list[tuple[str, str, str]]) -> None:
    text = "".join("|".join(row) + "\n" for row in rows)
    assert rows_of(text, 3) == rows
    assert rows_of(text, 4) == []
    assert rows_of(text.replace("\n", "|\n"), 3) == rows  # --parsable has a bar at the end


def test_fields_of_sacct_may_be_typed_in_any_case() -> None:
    assert [spelled(name.upper()) for name in FIELDS] == list(FIELDS)
    assert len(set(FIELDS)) == len(FIELDS)


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_nodes(version: str) -> None:
    names = ("NodeName", "Gres", "GresUsed", "State", "CfgTRES", "RealMemory")
    nodes = list(records_of(recorded(version, "scontrol-d-o-show-nodes.txt"), names))
    assert [node["NodeName"] for node in nodes] == ["k80-1", "k80-2", "m40-1", "p100-1", "p100-2"]
    for node in nodes:
        have, told = resources_of(node["CfgTRES"]), gpus_of(node["Gres"])
        assert (have.gpus, have.gpu_type) == told
        assert have.memory_gb == float(node["RealMemory"]) / 1024
    assert gpus_of(nodes[3]["GresUsed"]) == (4, "p100")
    assert node_state(nodes[3]["State"])[0] == "MIXED"


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_partitions(version: str) -> None:
    names = ("PartitionName", "Nodes", "MaxTime", "DefaultTime")
    gpu, late = records_of(recorded(version, "scontrol-o-show-partitions.txt"), names)
    assert (gpu["PartitionName"], late["PartitionName"]) == ("gpu", "late")
    assert hosts_of(gpu["Nodes"]) == ("k80-1", "k80-2", "m40-1", "p100-1", "p100-2")
    assert seconds_of(gpu["DefaultTime"]) == 3600


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_jobs_in_blocks(version: str) -> None:
    jobs = texts_of(recorded(version, "scontrol-d-show-jobs.txt"), "JobId")
    names = ("JobId", "JobState", "TimeLimit", "ReqTRES", "TresPerNode")
    shown = [fields_of(job, names) for job in jobs]
    assert [job["JobId"] for job in shown] == ["1", "2", "3", "4"]
    for job in shown:
        assert seconds_of(job["TimeLimit"]) > 0
        uncounted = ",".join(p for p in job["ReqTRES"].split(",") if "gpu" not in p)
        asked = request_of(uncounted, per_node=job["TresPerNode"])
        counted = request_of(job["ReqTRES"])
        assert (asked.gpus, asked.gpu_type) == (counted.gpus, counted.gpu_type)


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_settings_and_tables(version: str) -> None:
    settings = settings_of(recorded(version, "scontrol-show-config.txt"))
    assert settings["SLURM_VERSION"] == recorded(version, "version.txt").split()[1]
    assert seconds_of(settings["PriorityDecayHalfLife"]) == 7 * 86_400
    assert rows_of(recorded(version, "sshare.txt"), 4)[0] == ("root", "", "", "0")
    header, *rows = rows_of(recorded(version, "sacct.txt"), 7)
    assert header[:2] == ("JobID", "JobName")
    assert ("2", "failed", "gpu", "root", "1", "FAILED", "1:0") in rows
