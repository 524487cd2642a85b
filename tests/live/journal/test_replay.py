"""A recorded schedule is what happened, in the same figures as a simulated one."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dovetail.cli.failures import FailsInWords
from dovetail.cli.live.replay import live_replay
from dovetail.domain.cluster import Cluster
from dovetail.domain.metrics import summary
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.run import Run
from dovetail.live.journal import Happened, Journal, JournalError, Outcomes
from dovetail.live.journal.records import Ended
from dovetail.live.journal.replay import recorded_schedule
from dovetail.live.model.snapshot import LiveJob, LiveNode, Snapshot
from dovetail.live.twin.replay import as_simulated
from dovetail.policies.policy import Policy
from tests.builders import cluster_of, estimates_of, job, trace_of
from tests.live.journal.builders import at, cycle, open_journal, run

SPEC = "2x4:v100,1x2:p100"
ROWS = [
    job(
        10.0 * n, run=35.0 + 10.0 * (n % 7), gpus=(1, 2, 4, 8)[n % 4], limit=300.0, user=f"u{n % 3}"
    )
    for n in range(40)
]


def simulated() -> Schedule:
    trace = trace_of(*ROWS)
    return Run(trace, cluster_of(SPEC), Policy("fcfs"), estimates_of(*ROWS)).replay()


def nodes_of(cluster: Cluster) -> list[LiveNode]:
    return [
        LiveNode(n.name, "IDLE", gpus=n.gpus, gpu_type=n.gpu_type, partitions=("gpu",))
        for n in cluster.nodes
    ]


def live_jobs(schedule: Schedule, now: float) -> Sequence[LiveJob]:
    """What Slurm would say at that moment; an ended job is shown for a while."""
    jobs = schedule.trace.jobs
    shown = []
    for n in range(len(schedule.trace)):
        if jobs.submit[n] > now or schedule.end[n] < now - 300.0:
            continue
        where = schedule.where(n)
        started, over = schedule.start[n] <= now, schedule.end[n] <= now
        shown.append(
            LiveJob(
                id=n + 1,
                label=str(jobs.ids[n]),
                state="COMPLETED" if over else "RUNNING" if started else "PENDING",
                user=str(jobs.user.names()[n]),
                partitions=("gpu",),
                submit=float(jobs.submit[n]),
                eligible=float(jobs.submit[n]),
                start=float(schedule.start[n]) if started else math.nan,
                end=float(schedule.end[n]) if over else math.nan,
                limit=300.0,
                gpus=int(jobs.gpus[n]),
                hosts=tuple(name for name, _ in where) if started else (),
                host_gpus=tuple(len(gpus) for _, gpus in where) if started else (),
            )
        )
    return shown


def watch(schedule: Schedule, journal: Journal, origin: float = 0.0) -> None:
    """A daemon that looks every 60 seconds, until all has ended."""
    outcomes = Outcomes.resume(journal.past)
    nodes = tuple(nodes_of(schedule.cluster))
    for now in np.arange(0.0, float(schedule.end.max()) + 120.0, 60.0).tolist():
        jobs = tuple(
            shown._replace(
                **{
                    name: getattr(shown, name) + origin
                    for name in ("submit", "eligible", "start", "end")
                }
            )
            for shown in live_jobs(schedule, now)
        )
        snapshot = Snapshot(now + origin, jobs, nodes)
        journal.record(cycle(now + origin), snapshot, happened=outcomes.update(snapshot))


def test_what_a_daemon_recorded_of_a_schedule_is_that_schedule(tmp_path: Path) -> None:
    truth = simulated()
    with open_journal(tmp_path) as journal:
        watch(truth, journal)
        found = recorded_schedule(journal.past, 0.0, 1e9)
    order = np.array([truth.trace.jobs.ids.tolist().index(name) for name in found.trace.jobs.ids])
    np.testing.assert_array_equal(found.start, truth.start[order])
    np.testing.assert_array_equal(found.end, truth.end[order])
    same = ("wait_mean", "wait_p95", "jct_mean", "bsld_mean", "gpu_utilization", "makespan",
            "fragmentation_mean", "fairness_jain_users", "throughput_jobs_per_hour")  # fmt: skip
    expected, figures = summary(truth), summary(found)
    assert {key: figures[key] for key in same} == {
        key: pytest.approx(expected[key], rel=1e-9) for key in same
    }
    assert figures["config"]["order"] == "recorded"
    assert "not simulated" in figures["config"]["source"]


def test_recorded_runs_never_share_a_gpu(tmp_path: Path) -> None:
    truth = simulated()
    with open_journal(tmp_path) as journal:
        watch(truth, journal)
        found = recorded_schedule(journal.past, 0.0, 1e9)
    for n in range(len(found.trace)):
        assert sum(len(gpus) for _, gpus in found.where(n)) == found.trace.jobs.gpus[n]
        for other in range(n):
            if found.start[n] < found.end[other] and found.start[other] < found.end[n]:
                mine = {(node, g) for node, gpus in found.where(n) for g in gpus}
                assert not mine & {(node, g) for node, gpus in found.where(other) for g in gpus}


def test_runs_of_a_requeued_job_are_told_apart_and_hopeless_records_are_counted(
    tmp_path: Path,
) -> None:
    runs = (
        run(1, 10.0), run(1, 50.0, restarts=1), run(2, 10.0, gpus=0), run(3, 10.0, submit=math.nan),
        run(4, 10.0, hosts=("elsewhere",)),
    )  # fmt: skip
    ends = tuple(Ended(r.job, r.start, r.start + 5.0, "COMPLETED") for r in runs)
    nodes = [LiveNode("n0", "IDLE", gpus=8), LiveNode("login", "IDLE")]
    with open_journal(tmp_path) as journal:
        journal.record(cycle(60.0), at(60.0, nodes=nodes), None, (), Happened(runs, ends))
        found = recorded_schedule(journal.past, 0.0, 100.0)
        assert sorted(found.trace.jobs.ids.tolist()) == ["1", "1 run 2", "4"]
        assert len(found.trace.notes) == 2
        assert [node.name for node in found.cluster.nodes] == ["n0"]
        assert found.config["jobs_with_known_nodes"] == 2
        with pytest.raises(JournalError, match="no job with GPUs ended"):
            recorded_schedule(journal.past, 200.0, 300.0)


def test_runs_without_gpus_are_there_for_whoever_asks(tmp_path: Path) -> None:
    runs = (
        run(1, 10.0), run(2, 10.0, gpus=0, cpus=8.0, hosts=("n0",)),
        run(3, 10.0, gpus=0, cpus=6.0, nodes=2, hosts=("n0", "n1")),
        run(4, 10.0, gpus=0, cpus=6.0, partition="far", hosts=("far",)),
    )  # fmt: skip
    ends = tuple(Ended(r.job, r.start, r.start + 5.0, "COMPLETED") for r in runs)
    nodes = [
        LiveNode("n0", "IDLE", gpus=8, cpus=16.0, partitions=("gpu",)),
        LiveNode("n1", "IDLE", cpus=16.0, partitions=("gpu",)),
        LiveNode("far", "IDLE", cpus=16.0, partitions=("far",)),
    ]
    with open_journal(tmp_path) as journal:
        journal.record(cycle(60.0), at(60.0, nodes=nodes), None, (), Happened(runs, ends))
        alone = recorded_schedule(journal.past, 0.0, 100.0)
        found = recorded_schedule(journal.past, 0.0, 100.0, without_gpus=True)
    assert (alone.trace.jobs.ids.tolist(), len(alone.cluster.nodes)) == (["1"], 1)
    assert found.trace.jobs.ids.tolist() == ["1", "2", "3"]
    assert [node.name for node in found.cluster.nodes] == ["n0", "n1"]
    assert np.diff(found.chunk_offset).tolist() == [1, 1, 2]
    assert len(as_simulated(found).trace) == 3


def command(*arguments: object) -> tuple[int, str]:
    app = typer.Typer(cls=FailsInWords, callback=lambda: None)
    app.command("replay")(live_replay)
    said = CliRunner().invoke(app, ["replay", *map(str, arguments)])
    return said.exit_code, said.output


def test_the_command_shows_a_table_and_writes_figures_and_a_report(tmp_path: Path) -> None:
    truth = simulated()
    with open_journal(tmp_path) as journal:
        watch(truth, journal, origin=float(int(time.time())) - 3600.0)
        path, figures, report = journal.path, tmp_path / "f.json", tmp_path / "r.html"
        code, said = command("--journal", path, "--json", figures, "--report", report)
        config = tmp_path / "dovetail.toml"
        config.write_text(f'[journal]\npath = "{path}"\n')
        by_config, same = command("--config", config)
    assert (code, by_config) == (0, 0), said + same
    assert "recorded" in said
    assert same.splitlines()[:3] == said.splitlines()[:3]
    (row,) = json.loads(figures.read_text())["rows"]
    assert row["metrics"]["wait_mean"] == pytest.approx(summary(truth)["wait_mean"])
    text = report.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "GPUs in use over time" in text


def test_an_age_that_cannot_be_read_and_a_missing_journal_are_errors_in_words(
    tmp_path: Path,
) -> None:
    code, said = command("--journal", tmp_path / "none.sqlite")
    assert (code, "no such journal" in said) == (2, True)
    open_journal(tmp_path).close()
    code, said = command("--journal", tmp_path / "journal.sqlite", "--since", "fortnight")
    assert (code, "--since 'fortnight'" in said) == (2, True)
