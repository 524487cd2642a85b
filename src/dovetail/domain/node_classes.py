"""What a placement may know of the nodes that could take a part of a job: classes of equal nodes.

A placement with a `rank` function is shown all classes at once, and writes a preference beside
each; the lowest wins, ties go to the class with the earlier node:

    @ranking
    def fewest_free(parameters, given, count):
        classes = carray(given, (count,))  # from numba: pointers become arrays
        for i in range(count):
            classes[i].preference = classes[i].free_gpus

Nodes are of one class if they are of one kind, have as many GPUs free, stay busy about as long in
comparison with the job, and lie on a switch that the gang already has, or all do not.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
from numba import types

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.tables import Row, dtype_of

CLASSES = 64
"""Classes that are looked at; nodes of further ones are passed over."""


class NodeClassFacts(Row):
    """A class of equal nodes, for one chunk of the job in hand; before it is given to them."""

    node: int  # the first of them, which gets the chunk
    option: int  # row of the options: the way in which the job would run
    nodes: int  # how many could take the chunk
    gpus: int  # of one node
    free_gpus: int
    cpus: float  # of the first node; those of the others may differ
    free_cpus: float
    memory: float  # GB
    free_memory: float
    chunk_gpus: int
    chunk_cpus: float
    chunk_memory: float
    job_gpus: int  # of all chunks
    chunks_left: int  # to be placed after this one
    run: float  # seconds that the job would run here, by estimate
    speed: float  # of this GPU type for this kind of job
    fastest: float  # of all types that the job may use
    busy_least: float  # seconds until a node would be idle without the job, by estimate: least,
    busy_mean: float  # mean
    busy_most: float  # and most over the class
    shares_switch: bool  # the gang already has a node on the same switch
    reach_gpus: int  # GPUs free on all nodes of this kind
    waiting_jobs: int  # other jobs that may use nodes of this kind
    waiting_gpus: int  # asked for by them
    usable_before: float  # share of them whose largest chunk fits what the node has free
    usable_after: float  # the same of what the job would leave
    preference: float  # out: the lowest wins


CLASS = numba.from_dtype(dtype_of(NodeClassFacts))
RANK = types.void(
    types.CPointer(types.float64),  # parameters of the placement
    types.CPointer(CLASS),
    types.int64,  # how many classes
)


def ranking(function: Callable[..., None]) -> LazyFunction:
    """A rank function; arguments as in RANK."""
    return LazyFunction(RANK, function)
