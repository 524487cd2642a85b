"""Guardrails from one end to the other: what they say shows in the queue of a real Slurm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.live.config import GuardrailConfig
from dovetail.live.cycle.round import TwinComparison
from dovetail.live.model.mode import Mode
from tests.live.cycle.test_controller import fill, queue
from tests.live.slurm import Cluster
from tests.live.steering import config_for, steering, until
from tests.live.whole.test_kinds_of_jobs import ranked


def in_slurm(cluster: Cluster, jobs: list[int]) -> list[int]:
    """The jobs in the order in which Slurm would take them."""
    priority = cluster.priorities()
    return sorted(jobs, key=lambda job: (-priority[job], job))


def lenient(cluster: Cluster, folder: Path, **more: Any) -> GuardrailConfig:
    return replace(config_for(cluster, folder).guardrails, **more)


def test_a_job_that_waits_beyond_the_bound_goes_first(cluster: Cluster, tmp_path: Path) -> None:
    with steering(cluster, tmp_path, Mode.SHADOW) as controller:
        controller.cycle()  # it was there before them, however long its policy takes to load
        quick = [cluster.submit(gpus=1, seconds=0.1) for _ in range(3)]
        cluster.wait_for("COMPLETED", *quick)
        controller.cycle()  # the journal knows now that nobody waits here for long
    fill(cluster)
    jobs = queue(cluster, [50, 10])
    ranked(cluster, *jobs)
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        assert in_slurm(cluster, jobs) == jobs[::-1]  # the shorter first
        bound = lenient(cluster, tmp_path, starvation_floor=1.0, starvation_factor=1.0)
        controller.take(replace(controller.config, guardrails=bound))

        def lifted() -> bool:
            controller.cycle()
            return in_slurm(cluster, jobs) == jobs

        until(lifted, "the older one is first")
        assert "waited" in controller.journal.past.actions(jobs[0])[-1].reason


def test_no_job_loses_more_places_than_allowed(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 40, 30, 20, 10])
    ranked(cluster, *jobs)
    with steering(cluster, tmp_path, guardrails=lenient(cluster, tmp_path, displacement=1)) as it:
        report = it.cycle()
        assert "displacement" in report.sentence
        places = {job: place for place, job in enumerate(in_slurm(cluster, jobs))}
        assert all(places[job] - was <= 1 for was, job in enumerate(jobs))
        assert in_slurm(cluster, jobs) != jobs


def test_what_an_operator_sets_after_us_is_his_and_outlives_us(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40, 10])
    ranked(cluster, *jobs)
    with steering(cluster, tmp_path) as controller:
        controller.cycle()
        cluster.update_job(jobs[0], sitefactor=4242)
        cluster.update_job(jobs[1], priority=999_999)
        report = controller.cycle()
        assert controller.plan is not None
        assert set(controller.plan.decision.order) == {jobs[2], jobs[3]}
        assert "set by hand" in report.sentence
        controller.leave("the test says so")
    assert cluster.site_factors()[jobs[0]] == 4242
    assert cluster.priorities()[jobs[1]] == 999_999
    assert [cluster.site_factors()[job] for job in jobs[2:]] == [0, 0]


def test_the_trip_wire_gives_the_queue_back(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    jobs = queue(cluster, [50, 20, 40])
    ranked(cluster, *jobs)
    wire = lenient(cluster, tmp_path, trip_hours=1e-9)
    with steering(cluster, tmp_path, guardrails=wire) as controller:
        assert controller.cycle().sent > 0
        controller.comparison = TwinComparison(actual_wait=3600.0, slurm_wait=1200.0, jobs=100)
        report = controller.cycle()
        assert report.mode is Mode.SHADOW
        assert "3.00 times as long, more than 1.2" in report.sentence
        assert "put back" in report.sentence
        assert not any(cluster.site_factors().values())
        assert "would bring it about" in controller.cycle().sentence
        switch = controller.journal.past.switches()[-1]
        assert (switch.mode, "times as long" in switch.why) == (Mode.SHADOW, True)
