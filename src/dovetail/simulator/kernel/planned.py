"""Which nodes a job gets: those of a plan where there is a choice, else those preferred.

A planning placement is a Python function; the world holds the address of a callback to it
(`simulator.planner.Planner`). It is asked only if nodes that differ could take the job and
another job waits; what it answers is taken only if every node is admissible. An assigner is asked
about every job of one GPU, since it may let one wait although a GPU is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Ints
from dovetail.simulator.kernel import part_calls
from dovetail.simulator.kernel.admission import admissible, forget_spent, option_fits, spend
from dovetail.simulator.kernel.placement import place
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import (
    demand,
    job_facts,
    kind,
    large,
    member,
    node,
    option,
    run_of,
    small,
)

NO_OPINION = -2
"""What an assigner answers where the usual way shall decide."""


@intrinsic
def _ask(typing_context: Any, address: Any, job: Any) -> Any:
    """Call the function at an address: a job's row in, an option or -1 out."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(word, [word]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], function), [arguments[1]])

    return types.int64(types.int64, types.int64), generate


@inner
def find_nodes(w: World, rules: Rules, job: int) -> int:
    """Nodes for a job; returns the option used, its nodes picked, or -1."""
    if w.planner != 0 and part_calls.has_choice(w, job) != 0:
        chosen = _ask(w.planner, job)
        if chosen >= 0:
            return chosen
    if w.ranker != 0 and demand(w, run_of(w, job).demand).plannable:
        chosen = int(part_calls.place_by_rank(w, job))
        if chosen >= 0:
            return chosen
    return place(w, rules.prefer, rules.few_switches, job)


@inner
def find_nodes_or_wait(w: World, rules: Rules, job: int) -> int:
    """The same; -1 also where the placement lets a job of one GPU wait for a better one."""
    if is_assigned(w, job):
        if w.assigned_at == w.now:  # it is not asked again about each job of a long queue
            return -1
        chosen = _ask(w.assigner, job)
        if chosen != NO_OPINION:
            return chosen
    return find_nodes(w, rules, job)


@inner
def is_assigned(w: World, job: int) -> bool:
    """Whether an assigner decides about the job: one of one GPU."""
    if w.assigner == 0:
        return False
    mine = demand(w, run_of(w, job).demand)
    this = option(w, mine.option_first)
    return mine.plannable and this.many + this.few == 1 and large(w, mine.option_first).gpus == 1


@inner
def has_choice(w: World, job: int) -> bool:
    """Whether another job waits, and nodes that differ could take this one."""
    number = run_of(w, job).demand
    mine = demand(w, number)
    if not mine.plannable:
        return False
    if w.active_count == 1 and mine.high - mine.low == 1:
        return False
    first, options = -1, 0
    for at in range(mine.option_first, mine.option_last):
        end = w.now + job_facts(w, job).reserve / option(w, at).speed
        if not option_fits(w, at, end):
            continue
        options += 1
        if options > 1:
            return True
        this, found, differ = option(w, at), 0, False
        chunk = small(w, at) if this.few > 0 else large(w, at)
        kinds = this.small_kinds if this.few > 0 else this.large_kinds
        for k in range(w.kind_count):
            if not kinds >> k & 1:
                continue
            for place_in_kind in range(kind(w, k).first, kind(w, k).last):
                here = member(w, place_in_kind).node
                if admissible(w, here, chunk, end):
                    first = here if found == 0 else first
                    found += 1
                    differ |= not _alike(w, first, here)
        if not differ or found == this.many + this.few:
            options -= 1
    return options > 0


@inner
def _alike(w: World, a: int, b: int) -> bool:
    """Idle nodes of one kind: which of them a job gets makes no difference."""
    one, other = node(w, a), node(w, b)
    return a == b or (one.kind == other.kind and one.running == 0 and other.running == 0)


@kernel
def accept(world: Any, job: int, number: int, nodes: Ints) -> bool:
    """Take the nodes of a plan for a job in an option, if all of them are admissible."""
    w = world[0]
    mine, this = demand(w, run_of(w, job).demand), option(w, number)
    if not mine.option_first <= number < mine.option_last or len(nodes) != this.many + this.few:
        return False
    end = w.now + job_facts(w, job).reserve / this.speed
    accepted = True
    for i in range(len(nodes)):
        here = nodes[i]
        if here < 0 or here >= w.node_count or np.any(nodes[:i] == here):
            accepted = False
            break
        chunk = large(w, number) if i < this.many else small(w, number)
        kinds = this.large_kinds if i < this.many else this.small_kinds
        if not kinds >> node(w, here).kind & 1 or not admissible(w, here, chunk, end):
            accepted = False
            break
        spend(w, here, chunk, end)
        node(w, i).picked = here
    forget_spent(w)
    return accepted
