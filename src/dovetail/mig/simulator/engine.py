"""Runs a workload on sliced GPUs under a placement and an optional repartitioner.

day = mig_day(seed=3)
cluster = MigCluster.parse("8xa100-40:1,1,2,2,3,3,12,12")
schedule = simulate_mig(day, cluster, PLACERS["eft"])
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.gpus.cluster import MOST_SLICES, MigCluster
from dovetail.mig.mean_field import MORE, MeanField
from dovetail.mig.policy import ClusterView, Placer, Repartitioner
from dovetail.mig.schedule import MigSchedule
from dovetail.mig.simulator import events
from dovetail.mig.simulator.devices import ask
from dovetail.mig.simulator.mean_field import draw_all, show, show_more
from dovetail.mig.simulator.placement import describe, put, seek
from dovetail.mig.simulator.rows import NOBODY, MigWorld, keys, moment, slice_facts, slices
from dovetail.mig.simulator.tables import MigRules, MigWorlds, WorkloadTables
from dovetail.mig.workload.estimates import EXACT, MigEstimates, mig_estimates
from dovetail.mig.workload.jobs import MigWorkload

Watch = Callable[[float, Ints], None]
"""Gets the time, and the configuration of each GPU (numbers from 1)."""

NEVER = 2**62
"""A number of events that no simulation reaches."""

PLAIN = MigRules()
"""No preemption; GPUs that are in use are not cut anew."""


@inner
def choose(w: MigWorld, rank: Any, parameters: Floats) -> int:
    """The slot that the placement ranks first; NOBODY: it would rather wait."""
    describe(w)
    table = keys(w)
    table[:] = 0.0
    rank(parameters, moment(w), slices(w), table)
    best = NOBODY
    for choice in range(w.choices):
        if table[choice, 0] < np.inf and (best == NOBODY or _lower(table, choice, best)):
            best = choice
    return NOBODY if best == NOBODY else slice_facts(w, best).slot


@inner
def _lower(table: Any, one: int, other: int) -> bool:
    for key in range(table.shape[1]):
        if table[one, key] != table[other, key]:
            return bool(table[one, key] < table[other, key])
    return False


@inner
def place_all(w: MigWorld, rank: Any, parameters: Floats) -> None:
    """Place waiting jobs until none is left that fits, or the placement declines them."""
    while seek(w):
        row = choose(w, rank, parameters)
        if row == NOBODY:
            w.passed = w.queued - w.head
            w.waits = w.passed > w.passes
        else:
            put(w, row)


@inner
def play(w: MigWorld, rank: Any, parameters: Floats, mark: int) -> bool:
    """Go on to the moment at which so many events have happened; False: to the end."""
    while True:
        place_all(w, rank, parameters)
        if not events.go_on(w):
            events.settle_all(w)
            return False
        if w.events >= mark:
            return True


@inner
def steer(
    w: MigWorld, rank: Any, parameters: Floats, matrix: Any, weights: Floats,
    every: int, most_likely: int, ways: int, width: int,
) -> None:  # fmt: skip
    """Go on to the end under a mean-field controller."""
    seen, logits = np.zeros(width), np.zeros((ways, ways))
    while play(w, rank, parameters, w.events + every):
        consult(w, matrix, weights, most_likely, seen, logits)


@inner
def consult(
    w: MigWorld, matrix: Any, weights: Floats, most_likely: int, seen: Floats, logits: Floats
) -> None:
    """Ask a mean-field controller once; `seen` and `logits` are room to write to."""
    show(w, len(logits), seen)
    show_more(w, seen[len(seen) - len(MORE) :])
    matrix(weights, seen, logits)
    draw_all(w, logits, most_likely)


@kernel
def _consult(
    worlds: Any, matrix: Any, weights: Floats, most_likely: int, seen: Floats, logits: Floats
) -> None:
    consult(worlds[0], matrix, weights, most_likely, seen, logits)


@kernel
def _steer(
    worlds: Any, rank: Any, parameters: Floats, matrix: Any, weights: Floats,
    every: int, most_likely: int, ways: int, width: int,
) -> None:  # fmt: skip
    steer(worlds[0], rank, parameters, matrix, weights, every, most_likely, ways, width)


@kernel
def _begin(worlds: Any) -> None:
    events.begin(worlds[0])


@kernel
def _play(worlds: Any, rank: Any, parameters: Floats, mark: int) -> bool:
    return play(worlds[0], rank, parameters, mark)


@kernel
def _ask(worlds: Any, wanted: Ints) -> None:
    w = worlds[0]
    for number in range(w.gpu_count):
        if wanted[number] >= 0:
            ask(w, number, wanted[number])


def simulate_mig(
    workload: MigWorkload,
    cluster: MigCluster,
    placer: Placer,
    repartitioner: Repartitioner | MeanField | None = None,
    rules: MigRules = PLAIN,
    seed: int = 0,
    watch: Watch | None = None,
    estimates: MigEstimates | None = None,
) -> MigSchedule:
    """Run every job; `seed` is of the placements and controllers that draw lots.

    `estimates` is what policies are told of run times, the truth unless given.
    `watch` is told how the GPUs are cut each time after they may have been cut anew.
    """
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more")
    room = None if repartitioner is None else MOST_SLICES
    told = estimates or mig_estimates(workload, EXACT)
    worlds = MigWorlds(cluster, WorkloadTables([workload], [told]), 1, rules, room)
    worlds.load(0, 0, seed)
    worlds.follow(placer)
    rank, parameters = placer.rank.pointer, placer.numbers()
    began = time.perf_counter()
    _begin(worlds.world)
    if isinstance(repartitioner, MeanField) and watch is None:
        _steer(worlds.world, rank, parameters, *repartitioner.arguments(cluster))
    else:
        every = NEVER if repartitioner is None else repartitioner.every
        ask_once = _question(repartitioner, worlds)
        while _play(worlds.world, rank, parameters, int(worlds.world["events"][0]) + every):
            ask_once()
            if watch is not None:
                watch(float(worlds.world["now"][0]), worlds.configurations(0))
    seconds = time.perf_counter() - began
    config = {
        "placer": placer.name,
        "repartitioner": None if repartitioner is None else repartitioner.name,
        "preemption": rules.preemption.value,
        "busy": rules.busy.value,
        "pause": rules.pause,
        "seed": seed,
        "estimates": told.name,
    }
    return schedule_of(worlds, 0, workload, seconds, config)


def _question(
    repartitioner: Repartitioner | MeanField | None, worlds: MigWorlds
) -> Callable[[], None]:
    """How the repartitioner is asked, and its answer carried out, between two events."""
    if isinstance(repartitioner, MeanField):
        pointer, weights, _, likely, ways, width = repartitioner.arguments(worlds.cluster)
        seen, logits = np.zeros(width), np.zeros((ways, ways))
        return lambda: _consult(worlds.world, pointer, weights, likely, seen, logits)

    def ask_all() -> None:
        assert repartitioner is not None  # without one nobody is ever asked
        _ask(worlds.world, repartitioner.wanted(_view(worlds)).astype(np.int64))

    return ask_all


def play_through(worlds: MigWorlds, placer: Placer, day: int, seed: int = 0) -> None:
    """Let world 0 play a workload of its stock from beginning to end.

    What trainings need: building no schedule and no tables anew, a MIG day takes 4 ms less.
    """
    worlds.load(0, day, seed)
    worlds.follow(placer)
    _begin(worlds.world)
    _play(worlds.world, placer.rank.pointer, placer.numbers(), NEVER)


def _view(worlds: MigWorlds) -> ClusterView:
    world = worlds.world[0]
    waiting = worlds.queue[0, : world["queued"]][::-1].copy()
    return ClusterView(
        now=float(world["now"]),
        way=worlds.cuts["way"][worlds.gpu["cut"][0]],
        busy=worlds.gpu["busy"][0].copy(),
        waiting=waiting,
        deadline=worlds.stock.needs[0]["deadline"][waiting],
        times=worlds.stock.times[0][waiting] * worlds.task["told"][0, waiting, None],
    )


def schedule_of(
    worlds: MigWorlds, i: int, workload: MigWorkload, seconds: float, config: dict[str, Any]
) -> MigSchedule:
    """What has happened in world i."""
    world, task = worlds.world[i], worlds.task[i, : len(workload)]
    return MigSchedule(
        workload=workload,
        cluster=worlds.cluster,
        start=task["start"].copy(),
        end=task["end"].copy(),
        gpu=task["gpu"].copy(),
        size=task["size"].copy(),
        offset=task["offset"].copy(),
        energy=worlds.gpu["energy"][i].copy(),
        work=worlds.gpu["work"][i].copy(),
        span=float(world["now"] - world["origin"]),
        repartitions=int(world["repartitions"]),
        preemptions=int(world["preemptions"]),
        events=int(world["events"]),
        sim_seconds=seconds,
        config=config,
    )
