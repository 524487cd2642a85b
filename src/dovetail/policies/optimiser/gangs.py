"""Place a whole gang, on few switches."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.policies.optimiser.moves import (
    MUCH,
    gang_fits,
    in_use,
    next_switch,
    put,
    room_for_gang,
    take_back,
)
from dovetail.policies.optimiser.objective import EXTRA_SWITCH
from dovetail.policies.optimiser.tables import (
    GreedyTables,
    choice_row,
    chunk_row,
    group_row,
    shape_row,
)


@inner
def put_gang(w: GreedyTables, job: int, shape: int, slot: int) -> int:
    """Place all chunks of a shape; the points it costs, or MUCH if they do not fit."""
    began = w.placed_count
    cost, switches = 0, 0
    for size in range(2):
        need = chunk_row(w, 2 * shape + size).number
        if not gang_fits(w, shape, size, slot, began):
            take_back(w, began)
            return MUCH
        while need > 0:
            # Later slots pay nothing for switches: any order of the candidates will do.
            switch = next_switch(w, shape, size, slot, need, began) if slot == 0 else -1
            if slot == 0 and not in_use(w, switch, began):
                switches += 1
            before = need
            row = shape_row(w, shape)
            for at in range(row.first, row.last):
                group = choice_row(w, at).group
                if need > 0 and (slot > 0 or group_row(w, group).switch == switch):
                    fits = min(need, room_for_gang(w, shape, size, group, slot, began))
                    if fits > 0:
                        cost += put(w, job, shape, size, group, slot, fits)
                        need -= fits
            if need == before:  # cannot be, as the gang fits; but no loop may hang
                take_back(w, began)
                return MUCH
    return cost + max(0, switches - 1) * EXTRA_SWITCH
