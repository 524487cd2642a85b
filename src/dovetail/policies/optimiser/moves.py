"""Put one job on groups, or take it off again: the steps that every greedy order is made of."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.policies.optimiser.tables import (
    GreedyTables,
    choice_row,
    chunk_row,
    group_row,
    moment_row,
    placed_row,
    shape_row,
    span_row,
    wanted_row,
)

MUCH = 1 << 60


@inner
def waste_of(w: GreedyTables, kind: int, gpus: int, cpus: int, memory: int) -> int:
    """Points lost to GPUs stranded on a node with so much free; as `objective.waste`."""
    points = 0
    for index in range(w.reference_count):
        wanted = wanted_row(w, index)
        if wanted.kinds >> kind & 1:
            fits = gpus // wanted.gpus
            # CPUs and memory seldom bind: a product spares two divisions.
            if fits * wanted.cpus > cpus:
                fits = cpus // wanted.cpus
            if fits * wanted.memory > memory:
                fits = memory // wanted.memory
            points += wanted.rate * (gpus - wanted.gpus * fits)
    return points


@inner
def room(w: GreedyTables, shape: int, size: int, group: int, slot: int) -> int:
    """How many such chunks the group can take from this slot on."""
    chunk, count = chunk_row(w, 2 * shape + size), group_row(w, group).count
    last = span_row(w, shape * w.slot_count + slot).last
    busy = 0
    for at in range(slot, last + 1):
        have = moment_row(w, group * w.slot_count + at)
        if chunk.gpus > have.gpus or chunk.cpus > have.cpus or chunk.memory > have.memory:
            return 0
        busy = max(busy, have.busy)
    return count - busy


@inner
def waste_after(w: GreedyTables, shape: int, size: int, group: int) -> int:
    """Points lost on a node of the group once the chunk has started on it now."""
    chunk, have = chunk_row(w, 2 * shape + size), moment_row(w, group * w.slot_count)
    left = have.gpus - chunk.gpus
    kind = group_row(w, group).kind
    return waste_of(w, kind, left, have.cpus - chunk.cpus, have.memory - chunk.memory)


@inner
def hold(w: GreedyTables, shape: int, size: int, group: int, slot: int, chunks: int) -> None:
    """Take room for so many chunks (negative: give it back), and keep the waste up to date."""
    chunk, target = chunk_row(w, 2 * shape + size), group_row(w, group)
    for at in range(slot, span_row(w, shape * w.slot_count + slot).last + 1):
        have = moment_row(w, group * w.slot_count + at)
        if target.count == 1:
            have.gpus -= chunks * chunk.gpus
            have.cpus -= chunks * chunk.cpus
            have.memory -= chunks * chunk.memory
        else:
            have.busy += chunks


@inner
def put(
    w: GreedyTables, job: int, shape: int, size: int, group: int, slot: int, chunks: int
) -> int:
    """Place chunks in a group (where they fit); the points lost by it to stranded GPUs."""
    target, lost = group_row(w, group), 0
    if slot == 0:
        after = waste_after(w, shape, size, group)
        lost = (after - target.waste) * chunks
        if target.count == 1:
            target.waste = after
    hold(w, shape, size, group, slot, chunks)
    row = placed_row(w, w.placed_count)
    row.job, row.shape, row.size = job, shape, size
    row.group, row.slot, row.chunks = group, slot, chunks
    w.placed_count += 1
    return lost


@inner
def take_back(w: GreedyTables, rows: int) -> None:
    """Undo all but the first rows."""
    while w.placed_count > rows:
        w.placed_count -= 1
        row = placed_row(w, w.placed_count)
        hold(w, row.shape, row.size, row.group, row.slot, -row.chunks)
        target = group_row(w, row.group)
        if row.slot == 0 and target.count == 1:
            have = moment_row(w, row.group * w.slot_count)
            target.waste = waste_of(w, target.kind, have.gpus, have.cpus, have.memory)


@inner
def room_for_gang(w: GreedyTables, shape: int, size: int, group: int, slot: int, began: int) -> int:
    """As `room`, but none on a shared node that holds a chunk of this gang already."""
    if group_row(w, group).count == 1:
        for index in range(began, w.placed_count):
            if placed_row(w, index).group == group:
                return 0
    return room(w, shape, size, group, slot)


@inner
def gang_fits(w: GreedyTables, shape: int, size: int, slot: int, began: int) -> bool:
    """Whether the candidates together have room for all chunks of this size."""
    need, row = chunk_row(w, 2 * shape + size).number, shape_row(w, shape)
    for at in range(row.first, row.last):
        if need <= 0:
            break
        need -= max(0, room_for_gang(w, shape, size, choice_row(w, at).group, slot, began))
    return need <= 0


@inner
def next_switch(w: GreedyTables, shape: int, size: int, slot: int, need: int, began: int) -> int:
    """The switch to fill next: one in use, else the tightest that holds all, else the largest."""
    row = shape_row(w, shape)
    best, best_key, previous = -1, MUCH, -1
    for at in range(row.first, row.last):
        switch = group_row(w, choice_row(w, at).group).switch
        if switch == previous:  # candidates of a switch mostly stand together
            continue
        previous, here = switch, 0
        for other in range(row.first, row.last):
            group = choice_row(w, other).group
            if group_row(w, group).switch == switch:
                here += max(0, room_for_gang(w, shape, size, group, slot, began))
        if here > 0:
            key = here if here >= need else (1 << 20) - here
            if in_use(w, switch, began):
                key -= 1 << 30
            if key < best_key:
                best, best_key = switch, key
    return best


@inner
def in_use(w: GreedyTables, switch: int, began: int) -> bool:
    """Whether the gang that is being placed has a chunk on the switch."""
    for index in range(began, w.placed_count):
        if group_row(w, placed_row(w, index).group).switch == switch:
            return True
    return False
