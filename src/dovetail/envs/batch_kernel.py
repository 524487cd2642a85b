"""Many environments behind one kernel call: worlds side by side, windows to copy into them.

A window is one block of memory with the world that stands at its first decision; addresses in
that world count from the start of the block. A reset copies the block and adds where it lies now:
some 30 µs, where building the tables of a window takes milliseconds. The facts of jobs, which never
change, are not copied: all environments that play a window read the same ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray, from_dtype, types
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel, merged_kernel
from dovetail.compiled.memory import add_at_once, fetch
from dovetail.compiled.native import native_type, taker
from dovetail.compiled.tables import column_address, dtype_of
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.observation import LASTING, OBSERVE, LastingFacts, Singles
from dovetail.envs.reward import MEASURE, RUN, gap
from dovetail.envs.visible_jobs import SCRATCH, SHOWN, Scratch, own_scratch, show
from dovetail.policies.features import Matrix
from dovetail.simulator.kernel.demand_rows import Demand, OptionRow
from dovetail.simulator.kernel.facts import describe
from dovetail.simulator.kernel.rows import NodeRow, World
from dovetail.simulator.kernel.rules import RULES, Rules
from dovetail.simulator.kernel.state import (
    accounts,
    all_demand_facts,
    cluster,
    demand,
    jobs,
    waiting,
)
from dovetail.simulator.kernel.steps import choose, decline, go_on, may_decline, wait

DECLINE = SHOWN
"""The action after the last job shown: nothing more is backfilled in this pass."""

WAIT = -1
"""Stands for an action that is not legal: nothing more starts in this pass."""

SHARE = 16
"""Environments that a thread takes at a time: with half of all each, one waited for the other."""

DEMAND_SIZE, OPTION_SIZE, NODE_SIZE, JOB_SIZE = (
    dtype_of(row).itemsize for row in (Demand, OptionRow, NodeRow, LastingFacts)
)
"""Bytes."""

_OFFSETS = {name: field[1] // 8 for name, field in dict(dtype_of(World).fields or {}).items()}
ADDRESSES, PARTS = _OFFSETS["cluster"], _OFFSETS["kept_rules"]
"""Words of a World before its first table's address, and before what does not lie in its block."""

JOBS = _OFFSETS["jobs"]
"""The word of a World that holds the address of the facts of jobs, the last table of a block."""


class Windows(NamedTuple):
    """The windows to play, one row each."""

    worlds: Ints  # [windows, words of a World]
    blocks: Ints  # words of all tables, window after window
    offset: Ints  # [windows + 1] where each begins
    carried: Ints  # [windows] rows before the window's own
    begin: Floats  # [windows] seconds
    base: Floats  # [windows] the base policy's score
    lasting: Any  # LastingFacts of the jobs of all windows
    first_job: Ints  # [windows + 1] where those of each begin


class BatchState(NamedTuple):
    """The environments, one row each."""

    worlds: Any  # [environments] World
    words: Ints  # [environments, words of a World] the same memory
    arenas: Ints  # [environments, words of the longest block without the facts of jobs]
    home: Ints  # [environments] addresses of the arenas
    playing: Ints  # [environments] the window
    following: Ints  # [environments] the window after it
    rows: Ints  # [environments, SHOWN] the jobs behind the actions
    shown: Ints  # [environments] how many
    jobs: Singles  # [environments, SHOWN, width]
    critic: Singles  # [environments, SHOWN, critic width]
    mask: NDArray[np.int8]  # [environments, SHOWN + 1] 1: valid
    rewards: Floats  # [environments]
    scores: Floats  # [environments] of the episode that ended in this step
    played: Ints  # [environments] its window
    dones: Bools  # [environments]
    actions: Ints  # [environments] what to do in the next step


def longest_copy(windows: Windows) -> int:
    """Words that the copy of any window takes at most."""
    return int(windows.worlds[:, JOBS].max()) >> 3


class EpisodeRules(NamedTuple):
    """How it is played: compiled functions (see observation, reward) and the base policy."""

    rules: Rules
    observe: Any
    features: Ints  # [situations, width], see policies.selections
    measure: Any
    dense: float  # share of the reward that is charged as waiting passes, see envs.reward


class Arguments(NamedTuple):
    """All that a thread steps environments with; kernels get the address of one (see Kept)."""

    taken: Ints  # [1] environments that threads have taken in the step in hand
    stage: BatchState
    windows: Windows
    play: EpisodeRules
    scratch: Matrix  # [features, SHOWN or more demands]
    queue: Scratch


_TABLE, _SINGLES = types.int64[:, ::1], types.float32[:, :, ::1]
BATCH_STATE = native_type(
    BatchState,
    worlds=types.Array(from_dtype(dtype_of(World)), 1, "C"),
    words=_TABLE,
    arenas=_TABLE,
    rows=_TABLE,
    jobs=_SINGLES,
    critic=_SINGLES,
    mask=types.int8[:, ::1],
)
WINDOWS = native_type(Windows, worlds=_TABLE, lasting=LASTING)
ARGUMENTS = native_type(
    Arguments,
    stage=BATCH_STATE,
    windows=WINDOWS,
    play=native_type(
        EpisodeRules,
        rules=RULES,
        observe=types.FunctionType(OBSERVE),
        features=_TABLE,
        measure=types.FunctionType(MEASURE),
    ),
    scratch=types.float64[:, ::1],
    queue=SCRATCH,
)
_take = taker(ARGUMENTS)
_runs = column_address(World, "runs", RUN)


@kernel
def reset(at: int) -> None:
    """Begin the following window in each environment."""
    _, stage, windows, play, scratch, queue = _take(at)
    for e in range(len(stage.actions)):
        load_window(stage, windows, e)
        _look(stage, windows, play, scratch, queue, e)


@kernel
def first_illegal(at: int) -> int:
    """The first environment whose action the mask rules out; -1: there is none."""
    stage = _take(at).stage
    for e in range(len(stage.actions)):
        if not is_legal(stage, e):
            return e
    return -1


@kernel
def let_illegal_wait(at: int) -> None:
    """Replace actions that the mask rules out."""
    stage = _take(at).stage
    for e in range(len(stage.actions)):
        if not is_legal(stage, e):
            stage.actions[e] = WAIT


@inner
def is_legal(stage: BatchState, e: int) -> bool:
    """As the mask says, which mostly need not be fetched: 27 µs for 512 environments."""
    action = stage.actions[e]
    if 0 <= action < DECLINE:
        return bool(action < stage.shown[e])
    return bool(action == DECLINE and stage.mask[e, DECLINE] > 0)


@merged_kernel
def step(at: int) -> None:
    """One decision in each environment that no other thread takes; those that end begin anew."""
    taken, stage, windows, play, scratch, queue = _take(at)
    first, last = 0, 0
    while True:
        if first == last:
            first = add_at_once(taken, SHARE)
            last = min(first + SHARE, len(stage.actions))
            if first >= last:
                return
        e, first = first, first + 1
        if first < last:
            _fetch_tables(stage, windows, first)
        if first + 1 < last:
            _fetch_world(stage, first + 1)
        window = stage.playing[e]
        stage.rewards[e] = 0.0
        if play.dense > 0.0:
            stage.rewards[e] = play.dense * waited(stage, windows, e)
        stage.dones[e] = not act(stage, windows, play, stage.actions[e], e)
        if play.dense > 0.0:
            stage.rewards[e] -= play.dense * waited(stage, windows, e)
        if stage.dones[e]:
            stage.played[e] = window
            stage.scores[e] = score(stage, windows, play, e)
            final = gap(windows.base[window], stage.scores[e])
            stage.rewards[e] += play.dense + (1.0 - play.dense) * final
            load_window(stage, windows, e)
        _look(stage, windows, play, scratch, queue, e)


@inner
def _fetch_world(stage: BatchState, e: int) -> None:
    """Ask for what the step after the next one reads first."""
    size = 8 * stage.words.shape[1]
    fetch(stage.words.ctypes.data + e * size, size)
    fetch(stage.rows.ctypes.data + 8 * e * SHOWN, 8 * stage.shown[e])


@inner
def _fetch_tables(stage: BatchState, windows: Windows, e: int) -> None:
    """Ask for what the next step reads of its world: 512 worlds are too many for the cache.

    Whom it has shown it will mostly show again. Without queues, scores, options and jobs a
    decision took 0.2 of 3.4 µs less on a quiet machine, and 0.7 of 7.0 more beside ten programs.
    """
    w = stage.worlds[e]
    fetch(w.demands, DEMAND_SIZE * w.demand_count)
    fetch(w.nodes, NODE_SIZE * w.node_count)
    fetch(w.options, OPTION_SIZE * w.demand_count)
    fetch(w.waiting, 8 * w.job_count)
    fetch(w.scores, 8 * w.job_count)
    rows = stage.rows[e]
    begin = windows.lasting.ctypes.data + JOB_SIZE * windows.first_job[stage.playing[e]]
    for i in range(stage.shown[e]):
        fetch(begin + JOB_SIZE * rows[i], JOB_SIZE)


@inner
def act(stage: BatchState, windows: Windows, play: EpisodeRules, action: int, e: int) -> bool:
    """Carry out an action and go on; False: all jobs of the window have started."""
    w = stage.worlds[e]
    if action == WAIT:
        more = wait(w, play.rules, stage.rows[e, 0])
    elif action == DECLINE:
        more = go_on(w, play.rules, decline(w))
    else:
        more = go_on(w, play.rules, choose(w, play.rules, stage.rows[e, action]))
    return more and own_left(w, windows.carried[stage.playing[e]])


@inner
def score(stage: BatchState, windows: Windows, play: EpisodeRules, e: int) -> float:
    """The metric of the window's own jobs."""
    w, window = stage.worlds[e], stage.playing[e]
    runs = carray(_runs(w), (w.job_count,))
    carried, begin = windows.carried[window], windows.begin[window]
    measured: float = play.measure(jobs(w), runs, cluster(w), carried, begin)
    return measured


@inner
def waited(stage: BatchState, windows: Windows, e: int) -> float:
    """What the window's own jobs have waited until now, as a share of what the base makes them."""
    w, window = stage.worlds[e], stage.playing[e]
    runs, facts = carray(_runs(w), (w.job_count,)), jobs(w)
    total, count = 0.0, 0
    for job in range(windows.carried[window], w.job_count):
        if runs[job].demand < 0:
            continue
        count += 1
        if job < w.submitted:
            until = runs[job].start if runs[job].start <= w.now else w.now
            total += until - facts[job].submit
    share: float = total / max(count, 1) / max(windows.base[window], 1.0)
    return share


@inner
def own_left(w: World, carried: int) -> bool:
    """Whether a job of the window's own is still to start."""
    if w.submitted < w.job_count:
        return True
    rows = waiting(w)
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            if rows[at] >= carried:
                return True
    return False


@inner
def load_window(stage: BatchState, windows: Windows, e: int) -> None:
    window = stage.following[e]
    stage.playing[e] = window
    begin, words = windows.offset[window], windows.worlds[window, JOBS] >> 3
    stage.arenas[e, :words] = windows.blocks[begin : begin + words]
    stage.words[e] = windows.worlds[window]
    stage.words[e, ADDRESSES:PARTS] += stage.home[e]
    stage.words[e, JOBS] = windows.blocks.ctypes.data + 8 * (begin + words)


@inner
def _look(
    stage: BatchState, windows: Windows, play: EpisodeRules, scratch: Matrix, queue: Scratch, e: int
) -> None:
    """Write what is seen of a decision: only what the last one left is wiped."""
    w = stage.worlds[e]
    before, rows = stage.shown[e], stage.rows[e]
    count = show(w, queue, rows)
    stage.shown[e] = count
    describe(w)
    asked = queue.other_rows  # nobody looks at what else stands there any more
    for i in range(w.active_count):
        asked[i] = demand(w, i).active
    window = stage.playing[e]
    lasting = windows.lasting[windows.first_job[window] : windows.first_job[window + 1]]
    play.observe(
        jobs(w), lasting, accounts(w), all_demand_facts(w), cluster(w), play.features,
        asked[: w.active_count], rows[:count], scratch, stage.jobs[e], stage.critic[e],
    )  # fmt: skip
    for i in range(before, count):
        stage.mask[e, i] = 1
    for i in range(count, before):
        stage.mask[e, i] = 0
        stage.jobs[e, i] = 0.0
        stage.critic[e, i] = 0.0
    stage.mask[e, DECLINE] = may_decline(w)


@kernel
def begin(world: Any, rules: Rules) -> bool:
    """Go to the first decision of a simulation; False: there is none."""
    return go_on(world[0], rules, 0)


@kernel
def finish(
    world: Any, rules: Rules, measure: Any, carried: int, start: float, rank: float
) -> float:
    """Play on, always choosing at the same rank (0: the base's choice, 1: its last); the score."""
    w = world[0]
    rows, queue = np.empty(SHOWN, np.int64), own_scratch(w)
    more = True
    while more and own_left(w, carried):
        count = show(w, queue, rows)
        more = go_on(w, rules, choose(w, rules, rows[int(rank * (count - 1))]))
    runs = carray(_runs(w), (w.job_count,))
    measured: float = measure(jobs(w), runs, cluster(w), carried, start)
    return measured
