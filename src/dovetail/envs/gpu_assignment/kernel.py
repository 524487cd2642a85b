"""Assigns jobs to GPUs inside the simulator's world, up to the next decision, for many at once."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel
from dovetail.compiled.native import native_type, taker
from dovetail.compiled.tables import dtype_of
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.batch_kernel import ADDRESSES, PARTS
from dovetail.simulator.kernel.loop import go_to, next_time
from dovetail.simulator.kernel.passes import start
from dovetail.simulator.kernel.queue import remove
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import RULES, Rules
from dovetail.simulator.kernel.state import demand, job_facts, node, option, run_of, slot, waiting

Singles = NDArray[np.float32]

GPU_FEATURES = 3
"""Before the types: busy now, how long still by estimate, busy in the recent past."""

JOB_FEATURES = 3
"""Before the kinds: estimate, wait so far, priority."""

MEMORY = 120.0
"""Seconds over which the recent past fades."""


class AssignmentEpisodes(NamedTuple):
    """Episodes to copy, one row each; blocks as those of the queue's windows."""

    worlds: Ints  # [episodes, words of a World]
    blocks: Ints  # words of all tables, episode after episode
    offset: Ints  # [episodes + 1]
    kinds: Ints  # [episodes, jobs]


class AssignmentState(NamedTuple):
    """The environments, one row each."""

    worlds: Any  # [environments] World
    words: Ints  # [environments, words of a World] the same memory
    arenas: Ints  # [environments, words of the longest block]
    home: Ints  # [environments] addresses of the arenas
    playing: Ints  # [environments]
    following: Ints  # [environments]
    rows: Ints  # [environments, shown] jobs behind the actions
    counts: Ints  # [environments] how many
    recent: Floats  # [environments, GPUs] share of the recent past that each was busy
    idle: Floats  # [environments] idle GPU seconds of the step
    waited: Floats  # [environments] seconds that jobs waited in the step, all together
    ran: Floats  # [environments] the same for jobs that ran
    begun: Floats  # [environments] seconds that the job just started will truly run; 0: none was
    gpus: Singles  # [environments, GPUs, features]
    jobs: Singles  # [environments, shown, features]
    speeds: Singles  # [environments, shown, GPUs] believed
    queue: Singles  # [environments, 1]
    mask: NDArray[np.int8]  # [environments, shown * GPUs + 1]
    rewards: Floats
    elapsed: Floats  # seconds that the step took
    dones: Bools
    actions: Ints
    measures: Floats  # [environments, MEASURES] of the episode that has ended
    played: Ints


MEASURES = 5
"""Sum of completion times, jobs, seconds from first submission to last end, busy GPU seconds,
idle GPU seconds."""


class AssignmentRules(NamedTuple):
    """How it is played."""

    rules: Rules
    types: Ints  # [GPUs]
    believed: Floats  # [kinds, GPUs]
    scale: float  # seconds that count as 1
    idle_weight: float


class AssignmentArguments(NamedTuple):
    """All that a step needs; kernels get the address of one (see Kept)."""

    state: AssignmentState
    episodes: AssignmentEpisodes
    play: AssignmentRules


_WORDS, _MATRIX = types.int64[:, ::1], types.float64[:, ::1]
_SINGLES3 = types.float32[:, :, ::1]
ASSIGNMENT_ARGUMENTS = native_type(
    AssignmentArguments,
    state=native_type(
        AssignmentState,
        worlds=types.Array(from_dtype(dtype_of(World)), 1, "C"),
        words=_WORDS,
        arenas=_WORDS,
        rows=_WORDS,
        recent=_MATRIX,
        gpus=_SINGLES3,
        jobs=_SINGLES3,
        speeds=_SINGLES3,
        queue=types.float32[:, ::1],
        mask=types.int8[:, ::1],
        measures=_MATRIX,
    ),
    episodes=native_type(AssignmentEpisodes, worlds=_WORDS, kinds=_WORDS),
    play=native_type(AssignmentRules, rules=RULES, believed=_MATRIX),
)
_take = taker(ASSIGNMENT_ARGUMENTS)


@kernel
def reset(at: int) -> None:
    """Begin the following episode everywhere."""
    state, episodes, play = _take(at)
    for e in range(len(state.actions)):
        _begin(state, episodes, play, e)


@kernel
def step(at: int) -> None:
    """One decision everywhere; episodes that end begin anew."""
    state, episodes, play = _take(at)
    for e in range(len(state.actions)):
        w = state.worlds[e]
        action, wait = state.actions[e], state.mask.shape[1] - 1
        began = w.now
        state.waited[e] = state.ran[e] = state.idle[e] = state.begun[e] = 0.0
        if action == wait:
            advance(state, play, e)
        else:
            gpus = state.gpus.shape[1]
            job = state.rows[e, action // gpus]
            assign(w, play.rules, job, action % gpus)
            state.begun[e] = run_of(w, job).end - w.now
        while not is_decision(w) and next_time(w) < math.inf:
            advance(state, play, e)
        spent = state.waited[e] + state.ran[e] + play.idle_weight * state.idle[e]
        if not is_decision(w):
            spent += still_to_run(w)
        state.rewards[e] = -spent / play.scale
        state.elapsed[e] = w.now - began
        state.dones[e] = not is_decision(w)
        if state.dones[e]:
            state.played[e] = state.playing[e]
            _measure(state, e)
            _begin(state, episodes, play, e)
        else:
            look(state, episodes, play, e)


@inner
def assign(w: World, rules: Rules, job: int, number: int) -> None:
    """Start a waiting job on a free GPU."""
    wanted = run_of(w, job).demand
    mine = demand(w, wanted)
    at = mine.option_first
    while not option(w, at).large_kinds >> node(w, number).kind & 1:
        at += 1
    node(w, 0).picked = number
    start(w, job, at)
    rows, place = waiting(w), mine.low
    while rows[place] != job:
        place += 1
    remove(w, rules, wanted, place)


@inner
def is_decision(w: World) -> bool:
    """Whether a job waits and a GPU is free."""
    return w.active_count > 0 and w.free_gpus > 0


@inner
def advance(state: AssignmentState, play: AssignmentRules, e: int) -> None:
    """To the next event, with idle time and the recent past kept up to date."""
    w = state.worlds[e]
    now = next_time(w)
    elapsed = now - w.now
    state.idle[e] += elapsed * w.free_gpus
    state.waited[e] += elapsed * count_waiting(w)
    state.ran[e] += elapsed * (w.node_count - w.free_gpus)
    keep = math.exp(-elapsed / MEMORY)
    for g in range(w.node_count):
        busy = 1.0 - node(w, g).gpus
        state.recent[e, g] = keep * state.recent[e, g] + (1.0 - keep) * busy
    go_to(w, play.rules, now)


@inner
def count_waiting(w: World) -> int:
    count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        count += mine.high - mine.low
    return count


@inner
def still_to_run(w: World) -> float:
    """Seconds that all running jobs still take: no decision changes them any more."""
    seconds = 0.0
    for g in range(w.node_count):
        if node(w, g).running > 0:
            seconds += run_of(w, slot(w, g, 0).job).end - w.now
    return seconds


@inner
def show(w: World, rows: Ints) -> int:
    """The oldest waiting jobs of all demands, whose lists are in order of submission."""
    queue, count = waiting(w), 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        for at in range(mine.low, mine.high):
            job = queue[at]
            if count == len(rows) and job > rows[count - 1]:
                break
            place = min(count, len(rows) - 1)
            while place > 0 and rows[place - 1] > job:
                rows[place] = rows[place - 1]
                place -= 1
            rows[place] = job
            count = min(count + 1, len(rows))
    return count


@inner
def look(
    state: AssignmentState, episodes: AssignmentEpisodes, play: AssignmentRules, e: int
) -> None:
    """Write what is seen of a decision."""
    w = state.worlds[e]
    rows, gpus = state.rows[e], w.node_count
    count = show(w, rows)
    state.counts[e] = count
    state.queue[e, 0] = math.log1p(count_waiting(w)) / 4.0
    state.gpus[e, :, :GPU_FEATURES] = 0.0
    for g in range(gpus):
        state.gpus[e, g, 0] = 1.0 - node(w, g).gpus
        state.gpus[e, g, 2] = state.recent[e, g]
    _look_at_running(state, episodes, play, e)
    state.jobs[e] = 0.0
    state.speeds[e] = 0.0
    state.mask[e] = 0
    for j in range(count):
        facts = job_facts(w, rows[j])
        kind = episodes.kinds[state.playing[e], rows[j]]
        state.jobs[e, j, 0] = math.log1p(facts.estimate / play.scale)
        state.jobs[e, j, 1] = math.log1p((w.now - facts.submit) / play.scale)
        state.jobs[e, j, 2] = facts.priority
        state.jobs[e, j, JOB_FEATURES + kind] = 1.0
        for g in range(gpus):
            state.speeds[e, j, g] = play.believed[kind, g]
            state.mask[e, j * gpus + g] = node(w, g).gpus > 0
    # To wait for nothing would be the end with jobs in the queue.
    state.mask[e, state.mask.shape[1] - 1] = next_time(w) < math.inf


@inner
def _look_at_running(
    state: AssignmentState, episodes: AssignmentEpisodes, play: AssignmentRules, e: int
) -> None:
    """How long each GPU stays busy, by what is believed of it and of who runs there."""
    w = state.worlds[e]
    for g in range(w.node_count):
        if node(w, g).running > 0:
            job = slot(w, g, 0).job
            speed = play.believed[episodes.kinds[state.playing[e], job], g]
            left = run_of(w, job).start + job_facts(w, job).estimate / speed - w.now
            state.gpus[e, g, 1] = math.log1p(max(0.0, left) / play.scale)


@inner
def _begin(
    state: AssignmentState, episodes: AssignmentEpisodes, play: AssignmentRules, e: int
) -> None:
    """Copy an episode in and go to its first decision."""
    episode = state.following[e]
    state.playing[e] = episode
    first, last = episodes.offset[episode], episodes.offset[episode + 1]
    state.arenas[e, : last - first] = episodes.blocks[first:last]
    state.words[e] = episodes.worlds[episode]
    state.words[e, ADDRESSES:PARTS] += state.home[e]
    state.recent[e] = 0.0
    w, idle = state.worlds[e], state.idle[e]
    while not is_decision(w):
        advance(state, play, e)
    state.idle[e] = idle  # before the first job there is nothing to assign
    look(state, episodes, play, e)


@inner
def _measure(state: AssignmentState, e: int) -> None:
    """Of an episode in which every job has started."""
    w = state.worlds[e]
    spent, busy, last = 0.0, 0.0, 0.0
    for job in range(w.job_count):
        mine = run_of(w, job)
        spent += mine.end - job_facts(w, job).submit
        busy += mine.end - mine.start
        last = max(last, mine.end)
    length = last - job_facts(w, 0).submit
    found = state.measures[e]
    found[0], found[1], found[2] = spent, w.job_count, length
    found[3], found[4] = busy, w.node_count * length - busy
