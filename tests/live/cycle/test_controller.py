"""Steering a real queue: order, restraint, and giving everything back."""

from __future__ import annotations

from pathlib import Path

from dovetail.live.config import ActConfig
from dovetail.live.model.mode import Mode
from tests.live.slurm import Cluster
from tests.live.steering import steering, until


def fill(cluster: Cluster, seconds: int = 600) -> list[int]:
    """Jobs on every GPU, so that whatever comes next must wait."""
    jobs = [cluster.submit(gpus=4, seconds=seconds, gpu_type="p100") for _ in range(2)]
    jobs.append(cluster.submit(gpus=2, seconds=seconds, gpu_type="k80"))
    cluster.wait_for("RUNNING", *jobs)
    return jobs


def queue(cluster: Cluster, minutes: list[int], **more: object) -> list[int]:
    """Jobs of a whole p100 node each, with these limits; they run a second."""
    return [
        cluster.submit(gpus=4, seconds=1, gpu_type="p100", minutes=limit, **more)
        for limit in minutes
    ]


def starts(cluster: Cluster, jobs: list[int]) -> list[int]:
    """The jobs in the order in which they started."""
    when = {done.id: (done.start, done.end) for done in cluster.history()}
    return sorted(jobs, key=lambda job: when[job])


def test_jobs_start_in_our_order(cluster: Cluster, tmp_path: Path) -> None:
    busy = fill(cluster)
    jobs = queue(cluster, [50, 20, 40, 10, 30])
    with steering(cluster, tmp_path) as controller:
        report = controller.cycle()
        assert report.sent >= 3
        assert report.failed == 0
        order = sorted(jobs, key=lambda job: -cluster.priorities()[job])
        assert order == [jobs[3], jobs[1], jobs[4], jobs[2], jobs[0]]
        cluster.cancel(busy[0])
        cluster.wait_for("COMPLETED", *jobs)
    assert starts(cluster, jobs) == order


def test_shadow_changes_nothing_at_all(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40])
    # What Slurm itself moves while jobs wait: its own plans and reasons.
    moving = {"LastSchedEval", "Priority", "Scheduler", "Reason", "StartTime", "EndTime"}
    moving |= {"SchedNodeList", "AccrueTime"}
    before = {job: cluster.job(job) for job in jobs}
    factors = cluster.site_factors()
    with steering(cluster, tmp_path, Mode.SHADOW) as controller:
        for _ in range(3):
            report = controller.cycle()
    assert "would bring it about" in report.sentence
    assert cluster.site_factors() == factors
    for job in jobs:
        after = cluster.job(job)
        assert {k: v for k, v in after.items() if k not in moving} == {
            k: v for k, v in before[job].items() if k not in moving
        }


def test_leaving_puts_every_factor_back(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40, 10, 30])
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        assert any(cluster.site_factors()[job] for job in jobs)
        said = controller.leave("the test says so")
    assert "put back" in said
    assert not any(cluster.site_factors().values())


def test_a_second_cycle_sends_nothing_new(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40, 10, 30])
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        assert controller.cycle().sent == 0


def test_held_jobs_pins_and_sla_are_respected(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    held, pinned, frozen, excluded, free = queue(cluster, [50, 20, 40, 10, 30])
    cluster.hold(held)
    cluster.update_job(pinned, sitefactor=1234)
    cluster.update_job(frozen, priority=777)
    cluster.update_job(excluded, admincomment="dovetail:sla")
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        assert controller.plan is not None
        assert controller.plan.decision.order == (free,)
        assert set(controller.plan.decision.untouched) == {held, pinned, frozen, excluded}
    assert cluster.site_factors()[pinned] == 1234
    assert cluster.priorities()[frozen] == 777


def test_an_excluded_partition_or_qos_is_left_alone(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20])
    with steering(cluster, tmp_path, act=ActConfig(exclude_partitions=("gpu",))) as controller:
        controller.cycle()
    assert not any(cluster.site_factors()[job] for job in jobs)


def test_the_paper_s_way_freezes_and_releases(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40])
    own = cluster.priorities()
    with steering(cluster, tmp_path, act=ActConfig(knob="priority")) as controller:
        controller.cycle()
        ranked = sorted(jobs, key=lambda job: -cluster.priorities()[job])
        assert ranked == [jobs[1], jobs[2], jobs[0]]
        controller.cycle()
        assert sorted(jobs, key=lambda job: -cluster.priorities()[job]) == ranked
        controller.leave("the test says so")
    ours = {job: own[job] for job in jobs}
    until(lambda: ours.items() <= cluster.priorities().items(), "priorities are Slurm's again")
