"""Parts of Slurm away, slow or silent: nothing is done meanwhile, and all goes on by itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from dovetail.live.config import SlurmConfig
from dovetail.live.model.mode import Mode
from tests.live.cycle.test_controller import fill, queue
from tests.live.journal.test_failures import files_no_larger_than
from tests.live.service.test_daemon import touched
from tests.live.slurm import Cluster
from tests.live.steering import running, steering, until
from tests.live.whole.test_kinds_of_jobs import ranked


def impatient(cluster: Cluster, seconds: float, **more: Any) -> SlurmConfig:
    """Slurm's programs get so long for an answer."""
    return SlurmConfig(conf=str(cluster.layout.slurm_conf), timeout=seconds, **more)


def test_nodes_that_go_and_come_back_change_the_order_of_nobody(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40])
    ranked(cluster, *jobs)
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        order = sorted(jobs, key=lambda job: -cluster.priorities()[job])
        cluster.update_node("k80-1", "down")
        assert controller.cycle().failed == 0
        try:
            for name in cluster.slurmd:
                cluster.update_node(name, "drain")
            assert "no node with GPUs is in use" in controller.cycle().sentence
        finally:
            for name in cluster.slurmd:
                cluster.update_node(name, "resume")
        assert sorted(jobs, key=lambda job: -cluster.priorities()[job]) == order
        # Slurm takes a moment to hear of them again.
        until(lambda: "ordered 3 jobs" in controller.cycle().sentence, "nodes are in use again")
        assert sorted(jobs, key=lambda job: -cluster.priorities()[job]) == order


def test_a_daemon_lives_through_an_outage_of_slurmctld_and_owns_up_if_it_must_end_in_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(
        cluster, tmp_path, mode=Mode.ACTIVE, period=0.5, slurm=impatient(cluster, 3.0)
    ) as daemon:
        daemon.wait_for("changes sent")
        cluster.controller.stop()
        daemon.wait_for("Slurm cannot be read, nothing done", 2)
        outage = daemon.said.split("Slurm cannot be read", 1)[1]
        assert " wait, " not in outage  # an outage is no empty queue
        cycles = daemon.said.count("active: 3 wait")
        cluster.controller.start()
        daemon.wait_for("active: 3 wait", cycles + 2)
        assert touched(cluster)
        cluster.controller.stop()
        daemon.wait_for("slurmctld does not answer")
        assert daemon.stop() == 0
        assert daemon.said.count("jobs are NOT put back yet") > 2  # it tried again
        assert "run `dovetail live restore` once Slurm answers" in daemon.said
        cluster.controller.start()
        assert touched(cluster)
        assert "2 jobs put back" in daemon.command("restore").stdout
    assert not touched(cluster)


def test_a_frozen_slurmctld_is_waited_for_even_if_the_journal_fails_meanwhile(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20])
    ranked(cluster, *jobs)
    with steering(cluster, tmp_path, slurm=impatient(cluster, 1.0)) as controller:
        assert controller.cycle().sent > 0
        cluster.controller.pause()
        try:
            assert "no answer within 1 s" in controller.cycle().sentence
            with files_no_larger_than(0):
                report = controller.cycle()
            assert "left active mode (the journal cannot be written" in report.sentence
            assert "NOT put back yet" in report.sentence
        finally:
            cluster.controller.resume()
        assert controller.owes
        assert "put back" in controller.settle()
        assert not controller.owes
    assert not touched(cluster)


def test_changes_whose_answer_never_came_are_found_in_the_queue_later(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40])
    ranked(cluster, *jobs)
    programs = tmp_path / "bin"
    hang = programs / "hang"
    programs.mkdir()
    for name in ("squeue", "sprio", "sshare"):
        (programs / name).symlink_to(str(shutil.which(name)))
    real = shutil.which("scontrol")
    (programs / "scontrol").write_text(
        "#!/bin/sh\n"
        f'[ $# -eq 0 ] && [ -e "{hang}" ] && {{ {real} 2>/dev/null; sleep 9; }}\n'
        f'exec {real} "$@"\n'
    )
    (programs / "scontrol").chmod(0o755)
    hang.touch()
    config = impatient(cluster, 2.0, bin=str(programs))
    with steering(cluster, tmp_path, slurm=config) as controller:
        report = controller.cycle()
        assert report.sent == report.failed > 0
        assert {
            action.error for job in jobs for action in controller.journal.past.actions(job)
        } <= {"unknown: no answer"}
        assert touched(cluster)  # they were made all the same
        hang.unlink()
        report = controller.cycle()
        assert (report.sent, report.failed) == (0, 0)
        assert "put back" in controller.leave("the test says so")
    assert not touched(cluster)


def test_a_slurmd_that_is_gone_and_back_does_not_disturb(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20])
    ranked(cluster, *jobs)
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        cluster.slurmd["p100-1"].kill()
        assert controller.cycle().failed == 0
        cluster.slurmd["p100-1"].start()
        assert controller.cycle().failed == 0
        # Newer Slurms mark a node that backfill has planned for a waiting job with a "-".
        back = ("mixed", "mixed-")
        until(lambda: cluster.node_states()["p100-1"] in back, "the node is back")
