"""Access to the simulator's state: from the world to rows and arrays.

Kernels take the world `w` (a pointer) and reach rows through these accessors: `node(w, 3).gpus`,
`demand(w, d).low`. What rows hold is in rows.py, reservation_rows.py and promise_rows.py.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import carray, types

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import column_address, dtype_of, row_accessor
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import AccountFacts, ClusterFacts, DemandFacts, History, JobFacts
from dovetail.simulator.kernel.account_rows import LateJob, LimitLink, LimitUse, ShareRow, Tried
from dovetail.simulator.kernel.demand_rows import Chunk, Demand, KindSet, OptionRow
from dovetail.simulator.kernel.eligibility_rows import (
    ArrayRow,
    ArrayTask,
    DependencyLink,
    EligibilityRow,
)
from dovetail.simulator.kernel.outage_rows import Closure, NodeChangeEvent
from dovetail.simulator.kernel.promise_rows import (
    Beyond,
    Candidate,
    Claim,
    Gain,
    GainBound,
    Hold,
    NodeSet,
    Opening,
    OpeningHeap,
    Promise,
    Step,
)
from dovetail.simulator.kernel.queue_rows import Need, NeedChain, NeedWord, Turn
from dovetail.simulator.kernel.reservation_rows import (
    Block,
    ChunkShape,
    Entry,
    KindShape,
    LastRelease,
    NodeChange,
    ReadyTime,
    Release,
    Reservation,
    ShapeBlock,
    ShapeGroup,
    Tally,
    Watcher,
)
from dovetail.simulator.kernel.rows import (
    Bitmap,
    Event,
    KindRow,
    Level,
    Member,
    NodeRow,
    Part,
    Revision,
    RunRow,
    Slot,
    World,
)

job_facts = row_accessor(World, "jobs", JobFacts)
account = row_accessor(World, "accounts", AccountFacts)
cluster_facts = row_accessor(World, "cluster", ClusterFacts)
demand_facts = row_accessor(World, "demand_facts", DemandFacts)
run_of = row_accessor(World, "runs", RunRow)
revision = row_accessor(World, "revisions", Revision)
share = row_accessor(World, "shares", ShareRow)
node = row_accessor(World, "nodes", NodeRow)
slots = row_accessor(World, "slots", Slot)
kind = row_accessor(World, "kinds", KindRow)
member = row_accessor(World, "members", Member)
levels = row_accessor(World, "levels", Level)
bitmap = row_accessor(World, "words", Bitmap)
shape = row_accessor(World, "shapes", ChunkShape)
shape_group = row_accessor(World, "shape_groups", ShapeGroup)
kind_shape = row_accessor(World, "kind_shapes", KindShape)
shape_block = row_accessor(World, "shape_blocks", ShapeBlock)
tallies = row_accessor(World, "tallies", Tally)
watcher = row_accessor(World, "watchers", Watcher)
ready_times = row_accessor(World, "ready_times", ReadyTime)
release = row_accessor(World, "releases", Release)
last_release = row_accessor(World, "last_releases", LastRelease)
change = row_accessor(World, "change_log", NodeChange)
block = row_accessor(World, "blocks", Block)
entry = row_accessor(World, "entries", Entry)
candidate = row_accessor(World, "candidates", Candidate)
kind_set = row_accessor(World, "kind_sets", KindSet)
demand = row_accessor(World, "demands", Demand)
option = row_accessor(World, "options", OptionRow)
turn = row_accessor(World, "turns", Turn)
need = row_accessor(World, "needs", Need)
need_chain = row_accessor(World, "need_chains", NeedChain)
need_word = row_accessor(World, "need_words", NeedWord)
limit_link = row_accessor(World, "limit_links", LimitLink)
limit_use = row_accessor(World, "limit_uses", LimitUse)
late_job = row_accessor(World, "late_jobs", LateJob)
tried = row_accessor(World, "tried", Tried)
eligibility = row_accessor(World, "eligibility", EligibilityRow)
dependency_link = row_accessor(World, "dependency_links", DependencyLink)
array_of = row_accessor(World, "arrays", ArrayRow)
node_event = row_accessor(World, "node_events", NodeChangeEvent)
closure = row_accessor(World, "closures", Closure)
array_task = row_accessor(World, "array_tasks", ArrayTask)
chunks = row_accessor(World, "chunks", Chunk)
event = row_accessor(World, "pending_events", Event)
part = row_accessor(World, "part_table", Part)
node_set = row_accessor(World, "node_sets", NodeSet)
step = row_accessor(World, "steps", Step)
promise = row_accessor(World, "promises", Promise)
claim = row_accessor(World, "claims", Claim)
hold = row_accessor(World, "holds", Hold)
opening_heap = row_accessor(World, "opening_heaps", OpeningHeap)
openings = row_accessor(World, "openings", Opening)
gain = row_accessor(World, "gain_log", Gain)
gain_bound = row_accessor(World, "gain_bounds", GainBound)
reservation = row_accessor(World, "reservations", Reservation)
beyond = row_accessor(World, "beyonds", Beyond)

_jobs = column_address(World, "jobs", numba.from_dtype(dtype_of(JobFacts)))
_accounts = column_address(World, "accounts", numba.from_dtype(dtype_of(AccountFacts)))
_demand_facts = column_address(World, "demand_facts", numba.from_dtype(dtype_of(DemandFacts)))
_cluster = column_address(World, "cluster", numba.from_dtype(dtype_of(ClusterFacts)))
# Pointers, not arrays: compiling what goes through an array takes three times as long.
waiting = column_address(World, "waiting", types.int64)
scores = column_address(World, "scores", types.float64)
gates = column_address(World, "gates", types.float64)
keeps = column_address(World, "keeps", types.float64)
gathered_rows = column_address(World, "gathered", types.int64)
gathered_scores = column_address(World, "gathered_scores", types.float64)
gathered_gates = column_address(World, "gathered_gates", types.float64)
gathered_keeps = column_address(World, "gathered_keeps", types.float64)
first_rooms = column_address(World, "first_rooms", types.float64)
claimants = column_address(World, "claimants", types.int64)
gained_at = column_address(World, "gained_at", types.int64)
gains_by = column_address(World, "gains_by", types.int64)
slot_counts = column_address(World, "slot_counts", types.int64)
changed_at = column_address(World, "changed_at", types.int64)
changed_sets = column_address(World, "changed_sets", types.int64)
rooms_known = column_address(World, "rooms_known", types.int64)
rooms_seen = column_address(World, "rooms_seen", types.int64)
line = column_address(World, "line", types.int64)
first_ends = column_address(World, "first_ends", types.float64)
second_rooms = column_address(World, "second_rooms", types.float64)
last_rooms = column_address(World, "last_rooms", types.float64)
room_gaps = column_address(World, "room_gaps", types.float64)
first_holds = column_address(World, "first_holds", types.float64)
last_holds = column_address(World, "last_holds", types.float64)
hold_gaps = column_address(World, "hold_gaps", types.float64)
begins = column_address(World, "begins", types.float64)
ready_column = column_address(World, "ready_times", types.float64)
_seen = column_address(World, "seen", types.int64)
_placement_parameters = column_address(World, "placement_parameters", types.float64)
_history_groups = column_address(World, "history_groups", types.int64)
_history_limit = column_address(World, "history_limit", types.float64)
_history_recent = column_address(World, "history_recent", types.float64)
_history_total = column_address(World, "history_total", types.int64)
_scratch_row = column_address(World, "scratch_row", types.int64)
_scratch_score = column_address(World, "scratch_score", types.float64)


@inner
def slot(w: World, node: int, at: int) -> Slot:
    return slots(w, node * w.most_slots + at)


@inner
def level(w: World, kind: int, gpus: int) -> Level:
    return levels(w, kind * (w.most_gpus + 1) + gpus)


@inner
def tally(w: World, reservation: int, shape: int) -> Tally:
    return tallies(w, reservation * w.shape_count + shape)


@inner
def ready(w: World, watcher: int, node: int) -> ReadyTime:
    return ready_times(w, watcher * w.node_count + node)


@inner
def large(w: World, option: int) -> Chunk:
    return chunks(w, 2 * option)


@inner
def small(w: World, option: int) -> Chunk:
    return chunks(w, 2 * option + 1)


@inner
def gathered(w: World, count: int) -> tuple[Ints, Floats, Floats, Floats]:
    """Rows, scores, gates and keeps of so many waiting jobs, side by side."""
    shape = (count,)
    return (
        carray(gathered_rows(w), shape),
        carray(gathered_scores(w), shape),
        carray(gathered_gates(w), shape),
        carray(gathered_keeps(w), shape),
    )


@inner
def seen(w: World) -> Ints:
    return carray(_seen(w), (w.most_gpus + 1,))


@inner
def placement_parameters(w: World) -> Floats:
    return carray(_placement_parameters(w), (w.placement_parameter_count,))


@inner
def jobs(w: World) -> Any:
    return carray(_jobs(w), (w.job_count,))


@inner
def accounts(w: World) -> Any:
    return carray(_accounts(w), (w.account_count,))


@inner
def all_demand_facts(w: World) -> Any:
    return carray(_demand_facts(w), (w.demand_count,))


@inner
def cluster(w: World) -> Any:
    return carray(_cluster(w), (1,))


@inner
def history(w: World) -> History:
    """Run times seen so far; passed along with the rules it cost a third of the speed."""
    return History(
        carray(_history_groups(w), (w.job_count, w.history_levels)),
        carray(_history_limit(w), (w.job_count,)),
        carray(_history_recent(w), (w.history_count, w.history_ring)),
        carray(_history_total(w), (w.history_count,)),
    )


@inner
def scratch_row(w: World) -> Ints:
    return carray(_scratch_row(w), (1,))


@inner
def scratch_score(w: World) -> Floats:
    return carray(_scratch_score(w), (3,))


NO_RESERVATION = np.inf
"""KindRow.reserved of nodes that nobody waits for."""
