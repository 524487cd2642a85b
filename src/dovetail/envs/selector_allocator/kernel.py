"""Decisions of two agents in many environments behind one kernel call.

A selector admits a job or waits; if the job can start, an allocator picks a class of equal nodes
for each of its chunks. Whoever has but one choice is not asked. Always action 0 is what the base
pair would do, and whoever takes it gets the base pair's schedule.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import carray, types

from dovetail.compiled.functions import inner, kernel
from dovetail.compiled.native import native_type, taker
from dovetail.compiled.tables import column_address
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.node_classes import CLASS, CLASSES
from dovetail.envs.batch_kernel import (
    BATCH_STATE,
    WINDOWS,
    BatchState,
    Windows,
    load_window,
    own_left,
)
from dovetail.envs.reward import RUN
from dovetail.envs.selector_allocator.reward import accrue, own_runs
from dovetail.envs.visible_jobs import SHOWN, own_scratch, show
from dovetail.policies.features import FEATURES, Matrix, describe_jobs
from dovetail.policies.node_features import NODE_FEATURES, describe_classes
from dovetail.simulator.kernel import reservations
from dovetail.simulator.kernel.admission import forget_spent
from dovetail.simulator.kernel.facts import describe
from dovetail.simulator.kernel.loop import go_to, next_time
from dovetail.simulator.kernel.node_classes import (
    gather_classes,
    give_up,
    node_class,
    pick_from,
)
from dovetail.simulator.kernel.node_search import busy_time, is_better
from dovetail.simulator.kernel.pass_opening import begin_pass
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import RULES, Rules
from dovetail.simulator.kernel.state import (
    accounts,
    all_demand_facts,
    cluster,
    cluster_facts,
    demand,
    job_facts,
    jobs,
    option,
    placement_parameters,
    run_of,
    seen,
)
from dovetail.simulator.kernel.steps import choose, first_two, start_on_picked

SELECTS, ALLOCATES, OVER = 0, 1, 2
"""Whose turn it is; OVER: a window is to begin, or had nothing to decide."""

WAIT = SHOWN
"""The selector's action after the last job shown: nothing more starts before the next event."""

ASK = -1
"""In place of the number of demands that fit: the allocator is to be asked."""

WIDTH = max(len(FEATURES), len(NODE_FEATURES)) + 1
"""Of a row that is seen: features of a job or of a class, and whose turn it is."""

SUMMARY = 16
"""Numbers of the whole state, for a critic of both agents."""

DAY = 86_400.0


class PairState(NamedTuple):
    """What two agents need beside the BatchState, one row each; there, `rows` are jobs."""

    turn: Ints  # [environments]
    hand: Ints  # [environments] the job that the allocator places
    way: Ints  # [environments] its option; -1: still open
    picked: Ints  # [environments] its chunks that have a node
    classes: Ints  # [environments, CLASSES] the classes behind the allocator's actions
    class_count: Ints  # [environments]
    filled: Ints  # [environments] rows of what is seen that are not 0
    charged: Floats  # [environments, metrics] so far
    expected: Floats  # [environments, metrics] the same of the base pair
    final: Floats  # [environments, metrics] of the episode that ended in this step
    base: Floats  # [windows, metrics] of the base pair, at least 1
    base_runs: Any  # [jobs of all windows] RunRow, how the base pair ran them
    base_first: Ints  # [windows] where its runs begin there
    weights: Floats  # [metrics]
    asked: Ints  # [agents] 1: by asking, 0: the base pair's


class PairArguments(NamedTuple):
    """All that environments are stepped with; kernels get the address of one (see Kept)."""

    stage: BatchState
    windows: Windows
    pair: PairState
    rules: Rules
    scratch: Matrix  # [features, SHOWN]
    now: Floats  # [metrics]


PAIR_ARGUMENTS = native_type(
    PairArguments,
    stage=BATCH_STATE,
    windows=WINDOWS,
    pair=native_type(
        PairState,
        classes=types.int64[:, ::1],
        charged=types.float64[:, ::1],
        expected=types.float64[:, ::1],
        base_runs=types.Array(RUN, 1, "C"),
        final=types.float64[:, ::1],
        base=types.float64[:, ::1],
    ),
    rules=RULES,
    scratch=types.float64[:, ::1],
)
_take = taker(PAIR_ARGUMENTS)
_classes = column_address(World, "node_classes", CLASS)


@kernel
def step_pair(at: int, first: int, last: int) -> None:
    """One decision in each environment from first to last; those that end, or are over, begin."""
    given = _take(at)
    stage, pair = given.stage, given.pair
    for e in range(first, last):
        stage.rewards[e] = 0.0
        stage.dones[e] = False
        if pair.turn[e] == OVER:
            _begin(given, e)
        else:
            more = _act(given, e, stage.actions[e])
            _charge(given, e, not more)
            stage.dones[e] = not more
            if not more:
                stage.played[e] = stage.playing[e]
                pair.final[e, :] = pair.charged[e, :]
                _begin(given, e)
        _look(given, e)


@inner
def _begin(given: PairArguments, e: int) -> None:
    """Load the window that follows and go to its first decision."""
    stage, pair = given.stage, given.pair
    load_window(stage, given.windows, e)
    pair.charged[e, :] = 0.0
    pair.expected[e, :] = 0.0
    if not _decide(given, e, 0):
        pair.turn[e] = OVER


@inner
def _act(given: PairArguments, e: int, action: int) -> bool:
    """Do it, and go on to the next decision; False: every job of the window has started."""
    stage, pair = given.stage, given.pair
    w = stage.worlds[e]
    if pair.turn[e] == ALLOCATES:
        at = pair.classes[e, action]
        pair.way[e] = pick_from(w, pair.hand[e], at, pair.picked[e])
        pair.picked[e] += 1
        return _decide(given, e, _allocate(given, e))
    if action == WAIT:
        for i in range(w.active_count):
            demand(w, demand(w, i).active).open = False
        return _decide(given, e, 0)
    return _decide(given, e, _admit(given, e, stage.rows[e, action]))


@inner
def _decide(given: PairArguments, e: int, fitting: int) -> bool:
    """Up to the next decision, from a pass in which so many demands fit; False: the end."""
    stage, pair = given.stage, given.pair
    w = stage.worlds[e]
    while fitting != ASK:
        more = _go_to_candidates(w, given.rules, fitting)
        if not more and w.active_count > 0:  # they waited for what never came
            more = _go_to_candidates(w, given.rules, begin_pass(w, given.rules))
        if not (more and own_left(w, 0)):  # those from before, too
            return False
        count = show(w, own_scratch(w), stage.rows[e])
        stage.shown[e] = count
        if pair.asked[SELECTS] and (count > 1 or may_wait(w)):
            pair.turn[e] = SELECTS
            return True
        fitting = _admit(given, e, stage.rows[e, 0])
    pair.turn[e] = ALLOCATES
    return True


@inner
def _go_to_candidates(w: World, rules: Rules, fitting: int) -> bool:
    """To the next moment at which a job may be admitted; False: there is none."""
    while True:
        if fitting > 0 and first_two(w)[0] > 0:
            return True
        if w.reservation_count > 0:
            reservations.clear(w)
        now = next_time(w)
        if now == math.inf:
            return False
        fitting = begin_pass(w, rules) if go_to(w, rules, now) else 0


@inner
def may_wait(w: World) -> bool:
    """Something else is to happen, and not all is idle: there even the exported policy starts."""
    return bool(next_time(w) < math.inf and w.free_gpus < cluster_facts(w, 0).total_gpus)


@inner
def _admit(given: PairArguments, e: int, job: int) -> int:
    """Reserve for a job, or place it; returns how many demands fit, or ASK."""
    w, pair = given.stage.worlds[e], given.pair
    if not (pair.asked[ALLOCATES] and demand(w, run_of(w, job).demand).fits):
        return choose(w, given.rules, job)
    pair.hand[e], pair.way[e], pair.picked[e] = job, -1, 0
    return _allocate(given, e)


@inner
def _allocate(given: PairArguments, e: int) -> int:
    """Place what is left of the job in hand; returns how many demands fit, or ASK."""
    w, pair = given.stage.worlds[e], given.pair
    job = pair.hand[e]
    while (
        pair.way[e] < 0 or pair.picked[e] < option(w, pair.way[e]).many + option(w, pair.way[e]).few
    ):
        count = gather_classes(w, job, pair.way[e], pair.picked[e])
        if count == 0:
            give_up(w, job, pair.picked[e])
            return choose(w, given.rules, job)
        if count > 1:
            pair.class_count[e] = count
            _sort_classes(w, given.rules.prefer, pair.classes[e], count)
            return ASK
        pair.way[e] = pick_from(w, job, 0, pair.picked[e])
        pair.picked[e] += 1
    forget_spent(w)
    return start_on_picked(w, given.rules, job, pair.way[e])


@inner
def _sort_classes(w: World, prefer: Any, order: Ints, count: int) -> None:
    """The base pair's choice first. Gangs take the first way of running that has room."""
    sizes, parameters = seen(w), placement_parameters(w)
    for i in range(count):
        this = node_class(w, i)
        busy = busy_time(w, this.node)
        this.preference = prefer(parameters, this.chunk_gpus, this.free_gpus, this.run, busy, sizes)
        to = i
        while to > 0 and _comes_first(w, i, order[to - 1]):
            order[to] = order[to - 1]
            to -= 1
        order[to] = i


@inner
def _comes_first(w: World, a: int, b: int) -> bool:
    one, other = node_class(w, a), node_class(w, b)
    if one.option != other.option and one.job_gpus > one.chunk_gpus:
        return bool(one.option < other.option)
    return is_better(one.preference, one.node, other.preference, other.node)


@inner
def _charge(given: PairArguments, e: int, over: bool) -> None:
    """The reward: what has passed since the last decision, beyond what would under the base."""
    stage, pair = given.stage, given.pair
    w, window = stage.worlds[e], stage.playing[e]
    first = pair.base_first[window]
    theirs = pair.base_runs[first : first + w.job_count]
    _charge_part(given, e, own_runs(w), over, 1.0, pair.charged[e])
    _charge_part(given, e, theirs, over, -1.0, pair.expected[e])


@inner
def _charge_part(
    given: PairArguments, e: int, runs: Any, over: bool, sign: float, charged: Floats
) -> None:
    stage, pair = given.stage, given.pair
    window = stage.playing[e]
    carried, begin = given.windows.carried[window], given.windows.begin[window]
    accrue(stage.worlds[e], runs, carried, begin, over, given.now)
    for i in range(len(given.now)):
        passed = given.now[i] - charged[i]
        stage.rewards[e] -= sign * pair.weights[i] * passed / pair.base[window, i]
        charged[i] = given.now[i]


@inner
def _look(given: PairArguments, e: int) -> None:
    """Write what is seen of a decision: only what the last one left is wiped."""
    stage, pair, scratch = given.stage, given.pair, given.scratch
    w, count, width, before = stage.worlds[e], 0, 0, pair.filled[e]
    stage.mask[e, WAIT] = 0
    if pair.turn[e] == SELECTS:
        count, width = stage.shown[e], len(FEATURES)
        describe(w)
        describe_jobs(
            jobs(w), accounts(w), all_demand_facts(w), cluster(w), stage.rows[e, :count], scratch
        )
        for i in range(count):
            for feature in range(width):
                stage.jobs[e, i, feature] = scratch[feature, i]
            stage.jobs[e, i, width:] = 0.0
        stage.mask[e, WAIT] = may_wait(w)
    elif pair.turn[e] == ALLOCATES:
        count, width = pair.class_count[e], len(NODE_FEATURES)
        describe_classes(carray(_classes(w), (CLASSES,)), count, scratch)
        for i in range(count):
            at = pair.classes[e, i]
            for feature in range(width):
                stage.jobs[e, i, feature] = scratch[feature, at]
            stage.jobs[e, i, width:] = 0.0
            stage.jobs[e, i, WIDTH - 1] = 1.0
    stage.mask[e, :count] = 1
    if count < before:
        stage.jobs[e, count:before] = 0.0
        stage.mask[e, count:before] = 0
    pair.filled[e] = count
    _summarise(given, e)


@inner
def _summarise(given: PairArguments, e: int) -> None:
    """The whole state in a few numbers, beside the first row."""
    stage, pair = given.stage, given.pair
    w, window = stage.worlds[e], stage.playing[e]
    describe(w)
    site, out = cluster_facts(w, 0), stage.critic[e, 0]
    carried = given.windows.carried[window]
    own = max(1, w.job_count - carried)
    passed = w.now - given.windows.begin[window]
    out[0] = pair.turn[e] == ALLOCATES
    out[1] = site.free_gpus / site.total_gpus
    out[2] = site.fragmentation
    out[3] = site.queued_gpus / (site.queued_gpus + site.total_gpus)
    out[4] = site.queued_jobs / (site.queued_jobs + 64.0)
    out[5] = max(0, w.submitted - carried) / own
    out[6] = site.queued_jobs / (site.queued_jobs + own)
    out[7] = passed / (passed + DAY)
    for i in range(4):
        behind = (pair.charged[e, i] - pair.expected[e, i]) / pair.base[window, i]
        out[8 + i] = behind / (1.0 + abs(behind))
    out[12] = out[13] = out[14] = 0.0
    if pair.turn[e] == ALLOCATES:
        facts = job_facts(w, pair.hand[e])
        out[12] = min(1.0, facts.log_gpus / math.log(site.total_gpus + 1.0))
        out[13] = min(1.0, facts.log_estimate / math.log(30.0 * DAY))
        out[14] = pair.picked[e] / (pair.picked[e] + 4.0)
    out[15] = 1.0
