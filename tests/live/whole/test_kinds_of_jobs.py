"""Jobs as real queues have them: arrays, chains, requeues, and some that change under our hands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dovetail.live.config import ActConfig
from dovetail.live.cycle.controller import LiveController
from dovetail.live.cycle.selection import DEPENDS, HETEROGENEOUS, LATER
from dovetail.live.model.decision import Change, Result
from tests.live.cycle.test_controller import fill, queue
from tests.live.slurm import Cluster, Job
from tests.live.steering import steering, until


def whole_node(seconds: int = 1, minutes: int = 30, **more: str) -> Job:
    extra = tuple(f"--{name}={value}" for name, value in more.items())
    return Job(gpus=4, gpu_type="p100", seconds=seconds, minutes=minutes, extra=extra)


def ranked(cluster: Cluster, *jobs: int) -> None:
    """Slurm tells how the priorities of all these jobs are made up."""
    until(lambda: set(jobs) <= cluster.site_factors().keys(), "sprio knows the jobs")


def requeue(cluster: Cluster, job: int) -> None:
    """Back into the queue, eligible at once: Slurm would have it wait for two minutes."""
    cluster.run(["scontrol", "requeuehold", str(job)])
    until(lambda: cluster.states()[job] == "PENDING", "it waits again")
    cluster.release(job)
    cluster.update_job(job, starttime="now")
    until(lambda: job in cluster.site_factors(), "sprio knows it again")


def before_apply(controller: LiveController, meanwhile: Callable[[], None]) -> None:
    """Something happens after the queue was read and before the first change is sent."""
    apply = controller.backend.apply

    def late(changes: Sequence[Change]) -> list[Result]:
        controller.backend.apply = apply  # type: ignore[method-assign]
        meanwhile()
        return apply(changes)

    controller.backend.apply = late  # type: ignore[method-assign]


def test_an_array_is_moved_as_one_and_its_tasks_are_put_back_wherever_they_are(
    cluster: Cluster, tmp_path: Path
) -> None:
    busy = fill(cluster)
    array = cluster.submit_array(whole_node(seconds=60, minutes=5), 5)
    (long,) = queue(cluster, [50])
    with steering(cluster, tmp_path) as controller:
        ranked(cluster, array, long)
        assert controller.cycle().failed == 0
        assert cluster.priorities()[array] > cluster.priorities()[long]
        alive = [job for job, state in cluster.states().items() if state in ("PENDING", "RUNNING")]
        assert len(alive) == len(busy) + 2  # it is still one record
        cluster.cancel(busy[0])
        until(lambda: list(cluster.states().values()).count("RUNNING") == 3, "a task runs")
        controller.cycle()
        task = max(job for job, state in cluster.states().items() if state == "RUNNING")
        controller.leave("the test says so")
        requeue(cluster, task)
    assert not any(cluster.site_factors().values())


def test_a_task_that_an_operator_set_apart_keeps_his_factor_whatever_its_array_gets(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    array = cluster.submit_array(whole_node(minutes=5), 4)
    (long,) = queue(cluster, [50])
    with steering(cluster, tmp_path) as controller:
        ranked(cluster, array, long)
        controller.cycle()
        cluster.run(["scontrol", "update", f"jobid={array}_3", "sitefactor=7777"])
        (shorter,) = queue(cluster, [2])
        ranked(cluster, shorter)
        controller.cycle()
        assert 7777 in cluster.site_factors().values()
        controller.leave("the test says so")
    assert sorted(cluster.site_factors().values()) == [0, 0, 0, 7777]


def test_jobs_that_cannot_start_yet_are_left_alone_until_they_can(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    first = cluster.submit(gpus=0, seconds=0.1, extra=("--hold",))
    after = cluster.submit_job(whole_node(dependency=f"afterok:{first}"))
    later = cluster.submit_job(whole_node(begin="now+1hour"))
    words = whole_node().argv(cluster.layout)
    cut = words.index("--gres=gpu:p100:4")
    mixed = [*words[: cut + 1], ":", *words[cut : cut + 1], *words[cut + 1 :]]
    het = int(cluster.run(mixed).stdout)
    (free,) = queue(cluster, [20])
    with steering(cluster, tmp_path) as controller:
        ranked(cluster, free)
        controller.cycle()
        assert controller.plan is not None
        untouched = controller.plan.decision.untouched
        assert controller.plan.decision.order == (free,)
        assert (untouched[after], untouched[later]) == (DEPENDS, LATER)
        assert untouched[het] == untouched[het + 1] == HETEROGENEOUS
        cluster.release(first)
        ranked(cluster, after)
        controller.cycle()
        assert set(controller.plan.decision.order) == {free, after}


def test_a_requeued_job_brings_no_factor_back(cluster: Cluster, tmp_path: Path) -> None:
    busy = fill(cluster)
    long, short = queue(cluster, [50, 20])
    with steering(cluster, tmp_path) as controller:
        ranked(cluster, long, short)
        controller.cycle()
        assert cluster.site_factors()[short]
        cluster.cancel(busy[0])
        cluster.wait_for("COMPLETED", short)
        controller.cycle()  # the journal takes it for done with
        controller.leave("the test says so")
        fill_again = cluster.submit(gpus=4, seconds=600, gpu_type="p100")
        cluster.update_job(fill_again, sitefactor=100_000)
        cluster.wait_for("RUNNING", fill_again)
        requeue(cluster, short)
        assert cluster.site_factors()[short] != 0  # Slurm gave it its factor again
        assert not controller.owes
        controller.cycle()
        assert controller.owes  # known again as ours
        controller.settle()
    assert cluster.site_factors()[short] == 0


def test_a_job_that_is_cancelled_or_starts_while_we_decide_does_no_harm(
    cluster: Cluster, tmp_path: Path
) -> None:
    busy = fill(cluster)
    jobs = queue(cluster, [50, 20, 40, 10])
    long_lived = cluster.submit(gpus=4, seconds=60, gpu_type="p100", minutes=5)

    def meanwhile() -> None:
        cluster.cancel(jobs[1])
        cluster.update_job(long_lived, priority=1_000_000)
        cluster.cancel(busy[0])
        cluster.wait_for("RUNNING", long_lived)
        cluster.release(long_lived)

    with steering(cluster, tmp_path) as controller:
        ranked(cluster, *jobs, long_lived)
        before_apply(controller, meanwhile)
        report = controller.cycle()
        assert report.failed == 1
        assert report.sent > 2
        assert controller.cycle().failed == 0
        said = controller.leave("the test says so")
        assert "NOT" not in said
        requeue(cluster, long_lived)
    assert not any(cluster.site_factors().values())


def test_frozen_jobs_are_ordered_anew_when_a_shorter_one_comes_and_a_held_one_stays_held(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    long, short = queue(cluster, [50, 20])
    with steering(cluster, tmp_path, act=ActConfig(knob="priority")) as controller:
        ranked(cluster, long, short)
        controller.cycle()
        (shortest,) = queue(cluster, [5])
        ranked(cluster, shortest)
        report = controller.cycle()
        assert report.sent > 0
        order = sorted((long, short, shortest), key=lambda job: -cluster.priorities()[job])
        assert order == [shortest, short, long]
        cluster.hold(short)
        cluster.update_job(long, priority=4321)
        controller.leave("the test says so")
    assert cluster.priorities()[short] == 0
    assert cluster.priorities()[long] == 4321
