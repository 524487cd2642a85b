"""The rows of the tables of a world with sliced GPUs, and how kernels reach them.

A slot is a row for one instance. A GPU has as many slots as it may ever need; the first
`count` of them are in use.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import carray, types

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Row, Word, column_address, dtype_of, row_accessor
from dovetail.mig.policy import KEYS, MomentFacts, SliceFacts
from dovetail.mig.workload.jobs import COLUMNS

NOBODY = -1
"""The job of a free slot; the goal of a GPU that stays as it is."""


class MigWorld(Row):
    """All scalars, and the address of every table."""

    now: float  # seconds
    origin: float  # the first submission
    job_count: int
    gpu_count: int
    kind_count: int
    group_count: int  # of jobs, see HistoryRow
    slot_count: int  # rows of slots, in use or not
    arrived: int  # jobs so far: also the next one to come
    queued: int
    free: int  # slots that a job could take now
    open_slots: int  # slots in use, free or not
    finished: int
    late: int  # of the finished
    tardiness: float  # seconds, summed over the finished
    repartitions: int
    preemptions: int
    events: int  # arrivals and completions
    waits: bool  # the placement declined: nothing is placed before the next event
    head: int  # place in the queue of the job to be placed, and the slices that it may take
    choices: int
    chance: Word  # state of the random numbers
    pause: float  # seconds that cutting a GPU anew takes
    drains: bool  # a GPU that cannot be cut now takes no more jobs until it can
    preempts: bool
    passes: int  # jobs that the placement may pass over between two events
    passed: int  # jobs at the head of the queue that it has passed over since the last event
    # addresses
    jobs: int  # [job_count] MigJobRow
    times: int  # [job_count, COLUMNS] true seconds
    tasks: int  # [job_count] ProgressRow
    queue: int  # [job_count] rows of jobs, the earliest deadline last
    slots: int  # [slot_count] SlotRow
    gpus: int  # [gpu_count] GpuRow
    history: int  # [1 + groups] HistoryRow: of all jobs, then of each group
    kinds: int  # [kind_count] ModelRow
    watts: int  # [kind_count, COLUMNS]
    cuts: int  # ConfigurationRow: configurations of all kinds, one after the other
    pieces: int  # [cuts, COLUMNS] PieceRow
    slices: int  # [slot_count] SliceFacts
    moment: int  # [1] MomentFacts
    keys: int  # [slot_count, KEYS]


class MigJobRow(Row):
    """A job, as it came."""

    release: float
    deadline: float  # inf: none
    memory: float  # GB
    category: int  # see MigWorkload.sublinearity
    length: float  # true seconds on the largest size that it can run on
    told: float  # factor of the true times that is told; NaN: predicted on arrival
    group: int  # row of history, from 1


class ProgressRow(Row):
    """A job, as it went."""

    start: float  # NaN: not yet
    end: float  # NaN: not yet
    gpu: int
    size: int
    offset: int  # of its instance, see SlotRow
    left: float  # share of its work that is still to be done
    told: float  # factor of the true times: all that a policy sees is multiplied by it
    thought: float  # share of its work that is still to be done, by estimate
    # while it runs
    expected: float  # when it ends by estimate, see `history.expected_end`
    likely: float  # seconds that this run is likely to take, as was believed when it started
    spread: float  # deviation of the logarithm of that
    rest: float  # seconds that it is likely to go on, as of `rest_at`
    rest_at: float


class SlotRow(Row):
    """One instance."""

    gpu: int
    size: int
    memory: float
    offset: int  # place on the device, in memory slices
    open: bool  # it exists; False while it is being made
    job: int
    begun: float
    until: float  # when its job ends; inf: no job


class HistoryRow(Row):
    """Sums over ended jobs: x is the logarithm of the estimated length, y of the true one."""

    count: float
    x: float
    y: float
    xx: float
    xy: float
    yy: float


class GpuRow(Row):
    """One GPU; the lower part follows from its slots."""

    kind: int
    cut: int  # row of cuts
    first: int  # its first slot
    count: int  # slots in use
    goal: int  # way that it waits to be cut in; NOBODY: none
    ready: float  # when the slots in the making exist; inf: none are
    since: float  # energy and work are settled until then
    energy: float  # joules
    work: float  # compute slices x seconds
    busy: int  # compute slices
    free: int  # slots that a job could take
    next: float  # its next event


class ModelRow(Row):
    """A type of GPU."""

    slices: int
    speed: float
    first: int  # its configurations in cuts
    count: int


class ConfigurationRow(Row):
    """A configuration."""

    way: int  # configurations that differ in order only share it
    count: int
    mean_size: float


class PieceRow(Row):
    """One instance of a configuration."""

    size: int
    memory: float
    offset: int


need = row_accessor(MigWorld, "jobs", MigJobRow)
task = row_accessor(MigWorld, "tasks", ProgressRow)
slot = row_accessor(MigWorld, "slots", SlotRow)
gpu = row_accessor(MigWorld, "gpus", GpuRow)
kind = row_accessor(MigWorld, "kinds", ModelRow)
ended = row_accessor(MigWorld, "history", HistoryRow)
cut = row_accessor(MigWorld, "cuts", ConfigurationRow)
slice_facts = row_accessor(MigWorld, "slices", SliceFacts)
moment_facts = row_accessor(MigWorld, "moment", MomentFacts)
_piece = row_accessor(MigWorld, "pieces", PieceRow)
_times = column_address(MigWorld, "times", types.float64)
_watts = column_address(MigWorld, "watts", types.float64)
_queue = column_address(MigWorld, "queue", types.int64)
_keys = column_address(MigWorld, "keys", types.float64)
_slices = column_address(MigWorld, "slices", numba.from_dtype(dtype_of(SliceFacts)))
_moment = column_address(MigWorld, "moment", numba.from_dtype(dtype_of(MomentFacts)))


@inner
def queue(w: MigWorld) -> Any:
    """Rows of the waiting jobs; the earliest deadline stands at `queued - 1`."""
    return carray(_queue(w), (w.job_count,), np.int64)


@inner
def keys(w: MigWorld) -> Any:
    """[choices, KEYS]"""
    return carray(_keys(w), (w.choices, KEYS))


@inner
def slices(w: MigWorld) -> Any:
    """The slices that the next job may take."""
    return carray(_slices(w), (w.choices,))


@inner
def moment(w: MigWorld) -> Any:
    return carray(_moment(w), (1,))


@inner
def time_on(w: MigWorld, job: int, number: int, size: int) -> float:
    """Seconds that the whole job takes on a slice of this kind and size; inf: cannot run."""
    return _times(w)[job * COLUMNS + size] / kind(w, number).speed


@inner
def told_time(w: MigWorld, job: int, size: int) -> float:
    """Seconds on an A100's slice of this size, by estimate."""
    return _times(w)[job * COLUMNS + size] * task(w, job).told


@inner
def told_on(w: MigWorld, job: int, number: int, size: int) -> float:
    """The same on a slice of this kind: what policies are shown, never the truth."""
    return time_on(w, job, number, size) * task(w, job).told


@inner
def power(w: MigWorld, number: int, busy: int) -> float:
    return _watts(w)[number * COLUMNS + busy]


@inner
def piece(w: MigWorld, row: int, place: int) -> PieceRow:
    return _piece(w, row * COLUMNS + place)
