"""The throw-away cluster is a real one, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.live.conftest import StartCluster
from tests.live.slurm import (
    Account,
    Accounting,
    Cluster,
    Job,
    NodeGroup,
    Options,
    Qos,
    RestAccess,
    SlurmProblem,
    User,
    why_not,
)

ONE_GPU = Options(nodes=(NodeGroup("p100"),))
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="jobs of several users need root")


def test_jobs_run_on_gpus_of_their_own(cluster: Cluster) -> None:
    jobs = [cluster.submit(gpus=2, seconds=30, gpu_type="p100") for _ in range(4)]
    cluster.wait_for("RUNNING", *jobs)
    cluster.wait_until(lambda: all(cluster.output(job) for job in jobs))

    assert sorted(cluster.output(job).strip() for job in jobs) == [
        "node=p100-1 gpus=0,1",
        "node=p100-1 gpus=2,3",
        "node=p100-2 gpus=0,1",
        "node=p100-2 gpus=2,3",
    ]
    assert cluster.job(jobs[0])["GRES"] == "gpu:p100:2(IDX:0-1)"
    assert cluster.node_states() == {"p100-1": "mixed", "p100-2": "mixed", "k80-1": "idle"}


def test_a_job_that_fits_nowhere_is_refused(cluster: Cluster) -> None:
    with pytest.raises(SlurmProblem, match="Requested node configuration is not available"):
        cluster.submit(gpus=1, gpu_type="h100")


def test_a_site_factor_changes_the_order_of_starts(cluster: Cluster) -> None:
    fill = cluster.submit(gpus=2, gpu_type="k80", seconds=60)
    cluster.wait_for("RUNNING", fill)
    jobs = [cluster.submit(gpus=2, gpu_type="k80", seconds=0, name=name) for name in "abc"]

    cluster.script(f"update jobid={job} sitefactor={9000 * (n + 1)}" for n, job in enumerate(jobs))
    assert cluster.site_factors() == dict(zip(jobs, (9000, 18000, 27000), strict=True))
    cluster.cancel(fill)
    cluster.wait_for("COMPLETED", *jobs)

    assert [job.name for job in cluster.history() if job.id in jobs] == ["c", "b", "a"]


def test_held_jobs_wait_for_their_release(cluster: Cluster) -> None:
    job = cluster.submit(seconds=0, extra=("--hold",))
    assert cluster.job(job)["Reason"] == "JobHeldUser"
    cluster.release(job)
    cluster.wait_for("COMPLETED", job)
    shown = next(one for one in cluster.jobs() if one["job_id"] == job)
    assert shown["job_state"] in ("COMPLETED", ["COMPLETED"])  # a list since 23.11


@AS_ROOT
def test_jobs_of_several_users_run(cluster: Cluster) -> None:
    jobs = [cluster.submit(seconds=0, user=user) for user in ("daemon", "games", "news")]
    cluster.wait_for("COMPLETED", *jobs)
    ran = {job.id: job.user for job in cluster.history()}
    assert [ran[job] for job in jobs] == ["daemon", "games", "news"]


def test_many_jobs_are_submitted_at_once(cluster: Cluster) -> None:
    jobs = cluster.submit_many([Job(name=f"j{n}", seconds=60) for n in range(40)])
    assert len(set(jobs)) == 40
    array = cluster.submit_array(Job(seconds=60), count=500)
    assert cluster.job(array)["ArrayJobId"] == str(array)
    names = {job["job_id"]: job["name"] for job in cluster.jobs()}
    assert [names[job] for job in jobs] == [f"j{n}" for n in range(40)]


def test_a_drained_node_gets_no_job(cluster: Cluster) -> None:
    cluster.update_node("k80-1", "drain")
    job = cluster.submit(gpus=1, gpu_type="k80", seconds=0)
    cluster.wait_until(lambda: cluster.job(job)["Reason"] not in ("None", "Priority"))
    assert cluster.node_states()["k80-1"] == "drained"
    cluster.update_node("k80-1", "resume")
    cluster.wait_for("COMPLETED", job)


def test_clusters_live_side_by_side(cluster: Cluster, start_cluster: StartCluster) -> None:
    other = start_cluster(ONE_GPU)
    here, there = cluster.submit(seconds=0), other.submit(seconds=0, name="there")
    cluster.wait_for("COMPLETED", here)
    other.wait_for("COMPLETED", there)
    assert [job.name for job in other.history()] == ["there"]


def test_stopping_leaves_no_process_and_no_file() -> None:
    reason = why_not(ONE_GPU)
    if reason is not None:
        pytest.skip(reason)
    with Cluster(ONE_GPU) as cluster:
        job = cluster.submit(seconds=1000)
        cluster.wait_for("RUNNING", job)
        cluster.wait_until(lambda: _sleeps(cluster.pids()))
        pids, base = cluster.pids(), cluster.layout.base
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not base.exists()
    assert str(base) not in Path("/proc/net/unix").read_text()


def test_even_a_killed_test_leaves_nothing() -> None:
    reason = why_not(ONE_GPU)
    if reason is not None:
        pytest.skip(reason)
    program = (
        "from tests.live.slurm import *\n"
        "cluster = Cluster(Options(nodes=(NodeGroup('p100'),))).__enter__()\n"
        "cluster.wait_for('RUNNING', cluster.submit(seconds=1000))\n"
        "print(cluster.layout.base, *cluster.pids(), flush=True)\n"
        "import time; time.sleep(1000)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as victim:
        assert victim.stdout is not None
        base, *pids = victim.stdout.readline().split()
        victim.send_signal(signal.SIGKILL)
    assert len(pids) >= 4
    _wait_gone([Path(base), *(Path("/proc") / pid for pid in pids)])


def test_jobs_survive_a_killed_controller(start_cluster: StartCluster) -> None:
    cluster = start_cluster(ONE_GPU)
    running, waiting = cluster.submit(seconds=60), cluster.submit(seconds=0)
    cluster.wait_for("RUNNING", running)
    cluster.update_job(waiting, sitefactor=4000)
    saved = cluster.layout.base / "state" / "job_state"
    asked = time.time()
    # Slurm saves its state up to 5 s late; what is younger is lost.
    cluster.wait_until(lambda: saved.exists() and saved.stat().st_mtime > asked + 1)

    cluster.controller.kill()
    assert not cluster.controller.alive()
    cluster.controller.start()
    cluster.wait_until(lambda: cluster.node_states()["p100-1"] == "mixed")
    assert cluster.states() == {running: "RUNNING", waiting: "PENDING"}
    assert cluster.site_factors() == {waiting: 4000}


def test_a_frozen_controller_answers_again(start_cluster: StartCluster) -> None:
    cluster = start_cluster(ONE_GPU)
    cluster.controller.pause()
    with pytest.raises(subprocess.TimeoutExpired):
        cluster.run(["squeue"], timeout=1)
    cluster.controller.resume()
    assert cluster.states() == {}


def test_accounting_knows_users_shares_and_qualities(start_cluster: StartCluster) -> None:
    accounting = Accounting(
        accounts=(Account("physics", shares=70), Account("biology", shares=30)),
        users=(User("games", "physics", settings=("qos=normal,urgent",)),),
        qos=(Qos("urgent", priority=100),),
    )
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"),), accounting=accounting))
    shares = cluster.run(["sshare", "-a", "-n", "-P", "-o", "Account,User,RawShares"]).stdout
    assert {"physics||70", "biology||30", "physics|games|1"} <= {
        line.strip() for line in shares.splitlines()
    }
    qos = cluster.run(["sacctmgr", "-n", "-P", "show", "qos", "format=name,priority"]).stdout
    assert "urgent|100" in qos.splitlines()
    if os.geteuid() == 0:
        job = cluster.submit(seconds=0, user="games", extra=("--qos=urgent",))
        cluster.wait_for("COMPLETED", job)
        assert cluster.job(job)["Account"] == "physics"


@pytest.mark.parametrize("rest", ["local", "jwt", "jwt over TCP"])
def test_the_rest_interface_shows_the_jobs(start_cluster: StartCluster, rest: RestAccess) -> None:
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"),), rest=rest))
    job = cluster.submit(seconds=60)
    status, answer = cluster.rest.ask("GET", "jobs")
    assert (status, answer["errors"]) == (200, [])
    assert [one["job_id"] for one in answer["jobs"]] == [job]


def test_time_can_run_faster_for_the_whole_cluster(start_cluster: StartCluster) -> None:
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"),), speed=60))
    began, really = cluster.now(), time.time()
    job = cluster.submit(seconds=120)
    cluster.wait_for("COMPLETED", job, timeout=30)
    ran = cluster.history()[0]
    assert ran.end - ran.start >= 120
    passed = (cluster.now() - began) / (time.time() - really)
    assert 40 < passed < 80


@AS_ROOT
def test_other_users_live_by_the_faster_clock_too(start_cluster: StartCluster) -> None:
    accounting = Accounting(users=(User("games", "default"),))
    options = Options(nodes=(NodeGroup("p100"),), speed=100, auth="none", accounting=accounting)
    cluster = start_cluster(options)
    cluster.submit(seconds=300, user="games")
    cluster.wait_until(lambda: bool(cluster.history()))
    ran = cluster.history()[0]
    assert (ran.state, ran.user) == ("COMPLETED", "games")
    assert ran.end - ran.start >= 300


def test_a_node_can_be_cut_into_slices(start_cluster: StartCluster) -> None:
    mixed = NodeGroup("a100", gpus=1, slices=(("3g.20gb", 1), ("1g.5gb", 4)))
    cluster = start_cluster(Options(nodes=(mixed,)))
    kinds = ("3g.20gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb")
    *fit, too_many = (cluster.submit(gpu_type=kind, seconds=60) for kind in kinds)
    cluster.wait_for("RUNNING", *fit)
    assert cluster.states()[too_many] == "PENDING"
    used = "gpu:a100:0(IDX:N/A),gpu:3g.20gb:1(IDX:1),gpu:1g.5gb:4(IDX:2-5)"
    assert cluster.node("a100-1")["GresUsed"] == used


def test_hooks_and_the_submit_script_are_called(
    start_cluster: StartCluster, tmp_path: Path
) -> None:
    called = tmp_path / "called.txt"
    for name in ("prolog", "epilog"):
        hook = tmp_path / name
        hook.write_text(f'#!/bin/sh\necho "{name} $SLURM_JOB_ID" >>{called}\n')
        hook.chmod(0o755)
    lua = tmp_path / "job_submit.lua"
    lua.write_text(
        "function slurm_job_submit(job, parts, uid)\n"
        "  job.comment = 'seen'\n  return slurm.SUCCESS\nend\n"
        "function slurm_job_modify(job, old, parts, uid) return slurm.SUCCESS end\n"
    )
    cluster = start_cluster(
        Options(
            nodes=(NodeGroup("p100"),),
            prolog=tmp_path / "prolog",
            epilog=tmp_path / "epilog",
            job_submit_lua=lua,
        )
    )
    job = cluster.submit(seconds=0)
    cluster.wait_until(lambda: called.exists() and "epilog" in called.read_text())
    assert called.read_text().splitlines() == [f"prolog {job}", f"epilog {job}"]
    assert cluster.job(job)["Comment"] == "seen"


def test_nodes_on_paper_are_down_and_cost_nothing(start_cluster: StartCluster) -> None:
    paper = NodeGroup("v100", count=200, gpus=8, state="DOWN")
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"), paper)))
    states = cluster.node_states()
    assert (len(states), states["p100-1"], states["v100-200"]) == (201, "idle", "down")
    assert list(cluster.slurmd) == ["p100-1"]


def test_scheduling_goes_on_without_the_accounting_daemon(start_cluster: StartCluster) -> None:
    cluster = start_cluster(Options(nodes=(NodeGroup("p100"),), accounting=Accounting()))
    cluster.slurmdbd.stop()
    job = cluster.submit(seconds=0)
    cluster.wait_for("COMPLETED", job)
    assert cluster.run(["sacct"], check=False).returncode == 1
    cluster.slurmdbd.start()
    counted = ["sacct", "-n", "-X", "-j", str(job), "-o", "State"]
    cluster.wait_until(lambda: "COMPLETED" in cluster.run(counted).stdout, every=0.5)


def test_twenty_nodes_start(start_cluster: StartCluster) -> None:
    halves = (NodeGroup("p100", count=10, gpus=4), NodeGroup("k80", count=10, gpus=2))
    cluster = start_cluster(Options(nodes=halves))
    assert set(cluster.node_states().values()) == {"idle"}
    cluster.submit_array(Job(seconds=1), count=60)
    cluster.wait_until(lambda: len(cluster.history()) == 60, timeout=60)
    assert {job.state for job in cluster.history()} == {"COMPLETED"}


def _sleeps(pids: list[int]) -> bool:
    names = []
    for pid in pids:
        with suppress(OSError):
            names.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return "sleep" in names


def _wait_gone(paths: list[Path]) -> None:
    until = time.monotonic() + 20
    while any(path.exists() for path in paths):
        assert time.monotonic() < until, [path for path in paths if path.exists()]
        time.sleep(0.05)
