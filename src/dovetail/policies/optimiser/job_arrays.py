"""The jobs of a problem as arrays for kernels: shapes in rows, and how long each holds a node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Ints
from dovetail.domain.problem import Problem
from dovetail.policies.optimiser.objective import EXTRA_NODE, FRAGMENT, points_of, references


class JobArrays(NamedTuple):
    """Jobs, their shapes, and the reference chunks of fragmentation."""

    shape_of: Ints  # [jobs + 1] the first shape row of each job; the end of the last
    points: Ints  # [jobs, slots] what the job is worth if it starts in the slot
    number: Ints  # [shapes, 2] of large and small chunks
    chunk: Ints  # [shapes, 2, 3] large and small: GPUs, milli-CPUs, MB
    kinds: Ints  # [shapes]
    penalty: Ints  # [shapes] for nodes beyond the fewest
    last: Ints  # [shapes, slots] the last slot in which a start in this slot still holds its nodes
    alike: Ints  # [shapes] the first shape with the same chunks and kinds
    wanted: Ints  # [references, 3]
    wanted_kinds: Ints  # [references]
    rate: Ints  # [references] points per stranded GPU


def arrays_of_jobs(problem: Problem) -> JobArrays:
    """Every job's shapes in rows."""
    jobs, slots = problem.jobs, problem.slots
    shapes = [shape for job in jobs for shape in job.shapes]
    lengths = np.array([job.estimate / shape.speed for job in jobs for shape in job.shapes])
    # A job that ends exactly at a slot's time has left: `left` ends are found on its side.
    ends = np.searchsorted(slots, slots[None, :] + lengths.reshape(-1, 1), side="left") - 1
    first_alike: dict[object, int] = {}
    alike = [
        first_alike.setdefault((shape.many, shape.few, shape.large, shape.small, shape.kinds), row)
        for row, shape in enumerate(shapes)
    ]
    wanted = references(jobs)
    fewest = [min(shape.nodes for shape in job.shapes) for job in jobs for _ in job.shapes]
    return JobArrays(
        np.cumsum([0] + [len(job.shapes) for job in jobs], dtype=np.int64),
        np.array(points_of(jobs, len(slots)), np.int64),
        np.array([(shape.many, shape.few) for shape in shapes], np.int64).reshape(-1, 2),
        np.array([(shape.large, shape.small) for shape in shapes], np.int64).reshape(-1, 2, 3),
        np.array([shape.kinds for shape in shapes], np.int64),
        np.array(
            [EXTRA_NODE * (shape.nodes - few) for shape, few in zip(shapes, fewest, strict=True)],
            np.int64,
        ),
        np.maximum(ends, np.arange(len(slots))).astype(np.int64),
        np.array(alike, np.int64),
        np.array([reference.chunk for reference in wanted], np.int64).reshape(-1, 3),
        np.array([reference.kinds for reference in wanted], np.int64),
        np.array([FRAGMENT * reference.share for reference in wanted], np.int64),
    )
