"""Calls of parts that plain simulations do not need; what they do is in parts.py.

Compiled with everything else they were a quarter of the first simulation's time. Each is
called only behind the flag of what it belongs to, which is set together with its address.
"""

from __future__ import annotations

from numba.types import float64, int64, void

from dovetail.compiled.parts import part_call
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.rows import World

# limits
at_limit = part_call(World, "at_limit_part", int64, int64)
is_refused = part_call(World, "is_refused_part", int64, int64)
close_limited = part_call(World, "close_limited_part", void)
count_running = part_call(World, "count_running_part", void, int64, int64)
count_submitted = part_call(World, "count_submitted_part", void, int64, int64)
# jobs that wait for others
pass_held = part_call(World, "pass_held_part", void)
note_moment = part_call(World, "note_moment_part", void, int64, int64)
# outages and reservations of nodes
happen = part_call(World, "happen_part", void, int64)
withdraw = part_call(World, "withdraw_part", void, int64)
reopening = part_call(World, "reopening_part", float64, int64, int64, int64, int64)
reserved_begin = part_call(World, "reserved_begin_part", float64, int64, float64, float64)
count_unplanned = part_call(World, "count_unplanned_part", int64, int64, float64, float64)
# the tree of accounts
calculate_shares = part_call(World, "calculate_shares_part", void, float64)
charge_share = part_call(World, "charge_share_part", void, int64, float64)
# promises of conservative backfilling
note_promised_end = part_call(World, "note_promised_end_part", void, int64, int64)
leaves_room = part_call(World, "leaves_room_part", int64, int64, Chunk, float64)
enough_room = part_call(World, "enough_room_part", int64, int64, Chunk, float64, int64)
# orderings that look at the cluster
describe = part_call(World, "describe_part", void)
# placements that keep gangs on few switches, rank or plan
choose_switches = part_call(World, "choose_switches_part", int64, int64, Chunk, float64, int64)
place_by_rank = part_call(World, "place_by_rank_part", int64, int64)
has_choice = part_call(World, "has_choice_part", int64, int64)
