"""Answers of both simulators in one form, and the first difference between two of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import OnlinePredictor
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from tests.oracles.shapes import Site, jobs_of
from tests.oracles.simulator import Answer


class FromHistory:
    """A compiled predictor with a history of its own, as the oracle asks for it."""

    def __init__(self, predictor: OnlinePredictor, trace: Trace) -> None:
        self.predictor = predictor
        self.history: Any = predictor.fresh(trace.jobs)

    def predict(self, row: int) -> float:
        return float(self.predictor.predict(self.history, row))

    def observe(self, row: int, seconds: float) -> None:
        self.predictor.observe(self.history, row, seconds)


def answer_of(schedule: Schedule) -> Answer:
    """The parts of a schedule that the oracle answers too."""
    where = []
    for row in range(len(schedule.start)):
        chunks = range(int(schedule.chunk_offset[row]), int(schedule.chunk_offset[row + 1]))
        where.append(
            [(int(schedule.chunk_node[c]), _bits(int(schedule.chunk_gpus[c]))) for c in chunks]
        )
    return Answer(
        start=schedule.start.tolist(),
        where=where,
        backfilled=schedule.backfilled.tolist(),
        rejected=set(np.flatnonzero(~schedule.ran).tolist()),
        events=int(schedule.events),
    )


def schedule_of(answer: Answer, trace: Trace, cluster: Cluster) -> Schedule:
    """The oracle's answer as a schedule, so that one set of checks serves both."""
    site, count = Site(cluster), len(trace)
    speed = [
        site.speed(where[0][0], job) if where else math.nan
        for where, job in zip(answer.where, jobs_of(trace, cluster), strict=True)
    ]
    start = np.array(answer.start, np.float64)
    rejected = np.zeros(count, np.int64)
    rejected[sorted(answer.rejected)] = 1
    chunks = [chunk for where in answer.where for chunk in where]
    return Schedule(
        trace=trace,
        cluster=cluster,
        start=start,
        end=start + trace.jobs.run / np.array(speed),
        estimate=np.full(count, np.nan),
        backfilled=np.array(answer.backfilled, np.bool_),
        rejected=rejected,
        reasons=("", "no option"),
        chunk_offset=np.cumsum([0, *(len(where) for where in answer.where)]),
        chunk_node=np.array([node for node, _ in chunks], np.int64),
        chunk_gpus=np.array([sum(1 << gpu for gpu in gpus) for _, gpus in chunks], np.uint64),
        events=answer.events,
        fragmentation=math.nan,
    )


def difference(oracle: Answer, compiled: Answer) -> str | None:
    """The first job, by time, on which the two disagree, with both answers; None: they agree."""
    if len(oracle.start) != len(compiled.start):
        return f"oracle has {len(oracle.start)} jobs, compiled {len(compiled.start)}"
    wrong = [
        row for row in range(len(oracle.start)) if _about(oracle, row) != _about(compiled, row)
    ]
    if wrong:
        row = min(wrong, key=lambda row: (_first(oracle, compiled, row), row))
        return (
            f"{len(wrong)} jobs differ, the first is job {row}\n"
            f"  oracle:   {_about(oracle, row)}\n  compiled: {_about(compiled, row)}"
        )
    if oracle.events != compiled.events:
        return f"events: oracle {oracle.events}, compiled {compiled.events}"
    return None


def _about(answer: Answer, row: int) -> str:
    if row in answer.rejected:
        return "rejected"
    passed = ", backfilled" if answer.backfilled[row] else ""
    nodes = ", ".join(f"node {node} GPUs {gpus}" for node, gpus in answer.where[row])
    return f"starts at {answer.start[row]!r} on {nodes}{passed}"


def _first(oracle: Answer, compiled: Answer, row: int) -> float:
    """When the two first go apart on this job; a rejection counts as the very beginning."""
    times = (oracle.start[row], compiled.start[row])
    return -math.inf if any(map(math.isnan, times)) else min(times)


def _bits(word: int) -> list[int]:
    return [bit for bit in range(word.bit_length()) if word >> bit & 1]
