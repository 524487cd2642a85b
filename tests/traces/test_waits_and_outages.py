"""What jobs waited for, and when nodes were not there: from Slurm's own text."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dovetail.domain.access import Access
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.domain.errors import ClusterError
from dovetail.domain.outages import NodeReservation, Outage, OutageState
from dovetail.slurm.dependencies import dependency_of
from dovetail.slurm.submit_line import Submission, submission_of
from dovetail.traces.clusters import read_cluster
from dovetail.traces.clusters.toml import cluster_to_toml
from dovetail.traces.reader import read_trace
from dovetail.traces.writer import write_trace
from tests.traces.samples import write

SACCT = """\
JobID|User|Submit|Eligible|Start|End|State|AllocTRES|JobName|SubmitLine
10|ann|1000|1000|1010|1070|COMPLETED|gres/gpu=1|a|sbatch a.sh
11|ann|1001|1070|1080|1090|COMPLETED|gres/gpu=1|b|sbatch --dependency=afterok:10 b.sh
12_0|bob|1002|1002|1012|1072|COMPLETED|gres/gpu=1|c|sbatch -a 0-1%1 c.sh
12_1|bob|1002|1002|1072|1082|COMPLETED|gres/gpu=1|c|sbatch -a 0-1%1 c.sh
13|bob|1003|4603|4610|4620|COMPLETED|gres/gpu=1|d|sbatch --begin=now+1hour d.sh
"""
CONF = "NodeName=gpu[1-3] CPUs=8 Gres=gpu:4\nPartitionName=p Nodes=ALL\nJobRequeue=0\n"
EVENTS = """\
NodeName|TimeStart|TimeEnd|State|Reason
|2024-01-01T00:00:00|Unknown||Cluster Registered TRES
gpu1|2024-01-02T00:00:00|2024-01-02T06:00:00|DOWN*|Not responding
gpu[2-3]|1704240000|Unknown|IDLE+DRAIN|new | power supply
login1|2024-01-02T00:00:00|2024-01-02T06:00:00|DOWN|not a node of ours
gpu1|2024-01-09T00:00:00|2024-01-08T00:00:00|DOWN|clock
"""
RESERVATIONS = """\
ReservationName=maint StartTime=2024-02-01T08:00:00 EndTime=2024-02-01T20:00:00 Duration=12:00:00
   Nodes=gpu[1-2] NodeCnt=2 CoreCnt=16 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES
   TRES=cpu=16
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null)
"""


def test_a_history_tells_what_jobs_waited_for(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "sacct.txt", SACCT))
    jobs = trace.jobs
    assert jobs.ids.tolist() == ["10", "12_0", "12_1", "11", "13"]
    assert jobs.submit.tolist() == [0, 2, 2, 70, 3603]
    assert jobs.dependency.names() == [None, None, None, "afterok:10", None]
    assert jobs.throttle.tolist() == [0, 1, 1, 0, 0]
    assert jobs.earliest.tolist() == pytest.approx([math.nan, 2, 2, 1, math.nan], nan_ok=True)
    assert trace.origin == 1000
    assert any("1 job depends on others" in note for note in trace.notes)


def test_a_history_tells_which_jobs_asked_for_a_reservation(tmp_path: Path) -> None:
    text = """\
JobID|Submit|Start|End|State|AllocTRES|reservation
1|1000|1010|1070|COMPLETED|gres/gpu=1|course
2|1001|1010|1070|COMPLETED|gres/gpu=1|
"""
    trace = read_trace(write(tmp_path / "sacct.txt", text))
    assert trace.jobs.reservation.names() == ["course", None]
    assert "1 job asked for a reservation" in trace.notes
    write_trace(trace, tmp_path / "trace.parquet")
    again = read_trace(tmp_path / "trace.parquet")
    assert again.jobs.reservation.names() == ["course", None]
    assert again.digest() == trace.digest()


def test_a_history_tells_where_jobs_may_run(tmp_path: Path) -> None:
    text = """\
JobID|Partition|Submit|Start|End|State|AllocTRES|SubmitLine
1|short|1|1|2|COMPLETED|gres/gpu=1|sbatch -p short,long --exclude=gpu7 a.sh
2|long|2|2|3|COMPLETED|gres/gpu=1|sbatch -p short,long -w gpu[1-2] a.sh
3|big|3|3|4|COMPLETED|gres/gpu=1|sbatch -p short,long a.sh
4|big|4|4|5|COMPLETED|gres/gpu=1|sbatch -p big a.sh
5|long|5|5|6|COMPLETED|gres/gpu=1|
"""
    trace = read_trace(write(tmp_path / "sacct.txt", text))
    jobs = trace.jobs
    assert jobs.partition.names() == ["short,long", "short,long", "big", "big", "long"]
    assert jobs.nodelist.names() == [None, "gpu[1-2]", None, None, None]
    assert jobs.exclude.names() == ["gpu7", None, None, None, None]
    assert "2 jobs asked for nodes by name, or not for some" in trace.notes
    assert any(note.startswith("2 jobs asked for several partitions") for note in trace.notes)
    write_trace(trace, tmp_path / "trace.parquet")
    assert read_trace(tmp_path / "trace.parquet").digest() == trace.digest()


def test_what_is_not_replayed_is_counted(tmp_path: Path) -> None:
    conf = CONF.replace("Nodes=ALL", "Nodes=ALL OverSubscribe=FORCE:4")
    found = read_cluster(write(tmp_path / "slurm.conf", conf))
    assert found.notes == ("partition p: jobs share CPUs (FORCE:4), which is not replayed",)


def test_all_of_it_survives_as_parquet(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "sacct.txt", SACCT))
    write_trace(trace, tmp_path / "trace.parquet")
    again = read_trace(tmp_path / "trace.parquet")
    assert again.digest() == trace.digest()
    assert again.origin == trace.origin


def test_a_preempted_run_is_a_job_of_its_own_and_the_next_one_follows_it(tmp_path: Path) -> None:
    head, *_ = SACCT.splitlines()
    runs = (
        "7|ann|100|100|110|150|PREEMPTED|gres/gpu=1|a|sbatch a.sh",
        "7|ann|150|151|200|210|NODE_FAIL|gres/gpu=1|a|sbatch a.sh",
        "7|ann|210|211|300|400|COMPLETED|gres/gpu=1|a|sbatch a.sh",
    )
    trace = read_trace(write(tmp_path / "sacct.txt", "\n".join((head, *runs)) + "\n"))
    jobs = trace.jobs
    assert jobs.ids.tolist() == ["7#1", "7"]
    assert jobs.run.tolist() == [40, 100]
    assert jobs.submit.tolist() == [0, 111]
    assert jobs.dependency.names() == [None, "afterany:7#1"]
    assert jobs.earliest[1] == 0
    assert jobs.restarts.tolist() == [0, 1]
    assert "1 earlier run of a requeued job is a job of its own" in trace.notes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sbatch job.sh", Submission()),
        ("sbatch -dsingleton job.sh", Submission("singleton")),
        ("sbatch --dependency afterany:7:8?after:9+5 x", Submission("afterany:7:8?after:9+5")),
        ("sbatch --array=1-9:2,12%3 x", Submission(throttle=3)),
        ("sbatch --array=1-9 x", Submission()),
        ("sbatch --begin=now+90minutes x", Submission(delay=5400.0)),
        ("sbatch --begin=2024-05-01T08:30 x", Submission(begin="2024-05-01T08:30:00")),
        ("sbatch --begin=2024-05-01 x", Submission(begin="2024-05-01T00:00:00")),
        ("sbatch --begin=teatime x", Submission()),
        ("sbatch train.sh -d data", Submission()),
        ("sbatch -p a,b --exclusive -wgpu1 x", Submission(partitions="a,b", nodelist="gpu1")),
        (
            "srun --partition a -p b --nodelist gpu[1-2] x",
            Submission(partitions="b", nodelist="gpu[1-2]"),
        ),
        ("sbatch -pa -x 'gpu1,big' x", Submission(partitions="a", exclude="gpu1,big")),
        ("sbatch -w ./hosts.txt x", Submission()),
        ("sbatch -pa train.sh -x gpu1 -w gpu2", Submission(partitions="a")),
        ("sbatch --exclude=gpu1 --exclude=gpu2 --wrap=run -w gpu3", Submission(exclude="gpu2")),
        ("sbatch --exclusive train.sh -w gpu1", Submission()),
        ("sbatch -w", Submission()),
        ("sbatch -C h100 x", Submission(constraint="h100")),
        ("sbatch -C'h100&ib' x", Submission(constraint="h100&ib")),
        ("srun --constraint=[rack1|rack2] x", Submission(constraint="[rack1|rack2]")),
        ("sbatch --reservation=course x -C a", Submission(reservation="course")),
        ("sbatch --reservation course x", Submission(reservation="course")),
    ],
)
def test_a_command_is_read_as_sbatch_reads_it(line: str, expected: Submission) -> None:
    assert submission_of(line) == expected


@pytest.mark.parametrize("text", ["", "after", "afterok:", "nonsense:7", ":::", "afterok:a b"])
def test_a_dependency_that_says_nothing_is_none(text: str) -> None:
    assert dependency_of(text).terms == ()


def test_licences_are_read_from_what_was_counted_or_from_the_command(tmp_path: Path) -> None:
    text = SACCT.replace("sbatch a.sh", "sbatch -L matlab:2 a.sh").replace(
        "AllocTRES|", "ReqTRES|", 1
    )
    text = text.replace("gres/gpu=1|d", "gres/gpu=1,license/ansys=3|d")
    jobs = read_trace(write(tmp_path / "sacct.txt", text)).jobs
    assert jobs.licenses.names() == ["matlab:2", None, None, None, "ansys:3"]
    conf = write(tmp_path / "slurm.conf", CONF + "Licenses=matlab:10,ansys\n")
    cluster = read_cluster(conf).cluster
    assert cluster.licenses == {"matlab": 10, "ansys": 1}
    assert cluster_from_toml(cluster_to_toml(cluster)).digest() == cluster.digest()


def test_events_and_reservations_of_a_site_close_its_nodes(tmp_path: Path) -> None:
    conf = write(tmp_path / "slurm.conf", CONF)
    files = write(tmp_path / "events.txt", EVENTS), write(tmp_path / "resv.txt", RESERVATIONS)
    found = read_cluster(conf, more=files)
    day = 1704067200.0 + 86_400.0
    assert found.cluster.outages == (
        Outage(frozenset({0}), day, day + 6 * 3600, OutageState.DOWN, "Not responding"),
        Outage(frozenset({1, 2}), 1704240000.0, math.inf, OutageState.DRAIN, "new "),
    )
    assert found.cluster.reservations == (
        NodeReservation(
            frozenset({0, 1}), 1706774400.0, 1706817600.0, "maint", Access(users=("root",))
        ),
    )
    assert found.cluster.requeues is False
    assert any("1 events" in note for note in found.notes)
    again = cluster_from_toml(cluster_to_toml(found.cluster))
    assert again.outages == found.cluster.outages
    assert again.reservations == found.cluster.reservations
    assert again.digest() == found.cluster.digest()


def test_times_in_a_cluster_file_may_be_dates() -> None:
    text = (
        '[[nodes]]\nname = "a"\ngpus = 8\n[[outages]]\nnodes = ["a"]\nstart = 1970-01-02T00:00:00\n'
    )
    assert cluster_from_toml(text).outages == (Outage(frozenset({0}), 86_400.0),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[outages]]\nnodes = ["a"]\nstart = 5\nend = 4', "expected an end after the start"),
        ('[[outages]]\nnodes = ["a"]', "expected an end after the start"),
        ('[[outages]]\nnodes = ["b"]\nstart = 5', "no node is called 'b'"),
        ('[[outages]]\nnodes = ["a"]\nstart = 5\nstate = "gone"', "expected down or drain"),
        ('[[outages]]\nnode = "a"', "unknown key 'node'"),
        ('[[reservations]]\nnodes = ["a"]\nstart = 5', "needs an end"),
        ("[outages]\nstart = 5", "a table of its own"),
    ],
)
def test_wrong_outages_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ClusterError, match=words):
        cluster_from_toml(f'[[nodes]]\nname = "a"\ngpus = 8\n{text}\n')
