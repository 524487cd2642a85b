"""What must hold of every schedule, whatever the policies: checked from the schedule alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dovetail.domain.access import ANYBODY
from dovetail.domain.schedule import Schedule
from tests.oracles.answers import answer_of
from tests.oracles.shapes import Amount, Job, Site, fits, jobs_of, minus
from tests.oracles.simulator import Answer, Where


@dataclass(frozen=True)
class Stay:
    """One chunk of one job on one node."""

    start: float
    end: float
    row: int
    asks: Amount
    gpus: tuple[int, ...]


def check(schedule: Schedule) -> None:
    """Raise AssertionError at the first job or node that breaks a rule."""
    jobs, answer = jobs_of(schedule.trace, schedule.cluster), answer_of(schedule)
    site = Site(schedule.cluster, jobs)
    for job in jobs:
        if job.row in answer.rejected:
            assert not answer.where[job.row], f"job {job.row} was rejected and yet placed"
            access = any(part.access != ANYBODY for part in site.cluster.partitions)
            regulated = site.cluster.limits or site.cluster.licenses or job.dependency or access
            could_run = site.options(job) and not regulated
            assert not could_run, f"job {job.row} was rejected and yet could run"
            continue
        start, end = float(schedule.start[job.row]), float(schedule.end[job.row])
        assert start >= job.submit, f"job {job.row} starts before it is submitted"
        speed = site.speed(answer.where[job.row][0][0], job)
        assert end == start + job.run / speed, f"job {job.row} ends at the wrong time"
        check_shape(site, job, answer.where[job.row])
    for node, capacity in enumerate(site.capacity):
        stays = sorted(
            _stays(schedule, site, jobs, answer, node), key=lambda stay: (stay.start, stay.end)
        )
        check_gpus(node, stays)
        check_capacity(node, capacity, stays)


def check_shape(site: Site, job: Job, where: Where) -> None:
    """The gang is whole, on nodes of its own, in the shape and places that are allowed."""
    nodes, sizes = [node for node, _ in where], [len(gpus) for _, gpus in where]
    assert sum(sizes) == job.gpus or site.takes_whole_nodes(job), (
        f"job {job.row} got {sum(sizes)} of {job.gpus} GPUs"
    )
    assert len(set(nodes)) == len(nodes), f"job {job.row} has two chunks on one node"
    unlisted = job.nodelist is not None and not site.options_inside(job)
    for node, gpus in where:
        assert site.allows(job, node) or unlisted, f"job {job.row} may not use node {node}"
        assert max(gpus, default=-1) < site.capacity[node][0], (
            f"job {job.row}: no such GPU on node {node}"
        )
    mine = [o for o in site.options(job) if nodes[0] in o.hosts_large]
    option = mine[0] if mine else None
    assert option is not None, f"job {job.row} runs in a pool that is no option"
    assert sizes == [option.large[0]] * option.many + [option.small[0]] * option.few, (
        f"job {job.row} was cut into {sizes}"
    )
    assert set(nodes[: option.many]) <= set(option.hosts_large)
    assert set(nodes[option.many :]) <= set(option.hosts_small)


def check_gpus(node: int, stays: list[Stay]) -> None:
    """No GPU has two jobs at any time."""
    last: dict[int, Stay] = {}
    for stay in stays:
        for gpu in stay.gpus:
            before = last.get(gpu)
            assert before is None or before.end <= stay.start, (
                f"node {node} GPU {gpu}: job {stay.row} starts at {stay.start}, "
                f"job {before and before.row} is still there"
            )
            last[gpu] = stay


def check_capacity(node: int, capacity: Amount, stays: list[Stay]) -> None:
    """GPUs, CPUs and memory suffice at every start; between starts, use only falls."""
    for moment in {stay.start for stay in stays}:
        left = capacity
        for stay in stays:
            if stay.start <= moment < stay.end:
                left = minus(left, stay.asks)
        assert fits((0, 0, 0), left), f"node {node} at {moment}: overbooked, {left} left"


def check_promises(answer: Answer) -> None:
    """No job starts later than it was first promised (exact estimates only)."""
    for row, promised in answer.promised.items():
        assert answer.start[row] <= promised, (
            f"job {row} was promised {promised} and started at {answer.start[row]}"
        )


def _stays(
    schedule: Schedule, site: Site, jobs: list[Job], answer: Answer, node: int
) -> Iterator[Stay]:
    for job in jobs:
        for place, gpus in answer.where[job.row]:
            if place == node:
                start, end = float(schedule.start[job.row]), float(schedule.end[job.row])
                yield Stay(start, end, job.row, site.held(job, node, len(gpus)), tuple(gpus))
