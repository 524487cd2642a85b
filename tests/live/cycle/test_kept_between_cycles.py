"""What is kept from one cycle to the next changes nothing: the oracle is to keep nothing."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.live.backends.recorded import MemoryCluster
from dovetail.live.config import ActConfig
from dovetail.live.cycle.decider import Decider
from dovetail.live.cycle.queue_window import QueueWindows, queue_window_of
from dovetail.live.model.snapshot import LivePartition, Snapshot
from dovetail.policies.policy import Policy


def snapshots(seed: int, count: int = 30) -> list[Snapshot]:
    """Jobs come, start, end and are changed by hand; priorities grow; partitions come and go."""
    draw = np.random.default_rng(seed)
    cluster, found = MemoryCluster.of_nodes(3, gpus=4), []
    for turn in range(count):
        for _ in range(int(draw.integers(0, 4))):
            cluster.submit(
                gpus=int(draw.integers(1, 9)),
                limit=float(draw.choice([600, 3600, 86_400])),
                run=float(draw.integers(60, 7200)),
                priority=int(draw.integers(1, 2000)),
                user=str(draw.choice(["ada", "bob", "eve"])),
            )
        cluster.advance(60.0 * float(draw.integers(1, 30)))
        found.append(_changed(cluster.snapshot(), draw, turn))
    return found


def _changed(snapshot: Snapshot, draw: np.random.Generator, turn: int) -> Snapshot:
    jobs = list(snapshot.jobs)
    for number, job in enumerate(jobs):
        if job.pending and draw.random() < 0.1:
            jobs[number] = job._replace(
                limit=float(draw.integers(60, 9000)),
                qos=str(draw.choice(["", "high"])),
                reason=str(draw.choice(["Priority", "JobHeldUser", "Dependency"])),
                partitions=("gpu", "late") if turn % 7 < 3 else job.partitions,
            )
    more = (LivePartition("late", snapshot.nodes[0].partitions),) if turn % 7 < 3 else ()
    return Snapshot(
        snapshot.time, tuple(jobs), snapshot.nodes, (*snapshot.partitions, *more),
        factors=snapshot.factors,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_a_decision_is_that_of_a_decider_which_has_seen_nothing_before(seed: int) -> None:
    kept = Decider(Policy.parse("wfp3"), ActConfig())
    for snapshot in snapshots(seed):
        ours = kept.decide(snapshot)
        fresh = Decider(Policy.parse("wfp3"), ActConfig()).decide(snapshot)
        assert (ours.order, ours.reasons, dict(ours.untouched), ours.score_range) == (
            fresh.order, fresh.reasons, dict(fresh.untouched), fresh.score_range,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_a_window_has_the_columns_of_one_made_anew(seed: int) -> None:
    windows = QueueWindows()
    for snapshot in snapshots(seed):
        kept, anew = windows.of(snapshot), queue_window_of(snapshot)
        assert kept.ids.tolist() == anew.ids.tolist()
        ours, fresh = kept.window.trace.jobs, anew.window.trace.jobs
        for name in ("submit", "limit", "gpus", "nodes", "cpus", "memory", "priority"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(fresh, name), name)
        for name in ("gpu_type", "partition", "user", "qos"):
            assert getattr(ours, name).names() == getattr(fresh, name).names()
