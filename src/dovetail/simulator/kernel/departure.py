"""A job leaves its nodes: because it has ended, or because one of them has failed."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls
from dovetail.simulator.kernel.allocation import give_back
from dovetail.simulator.kernel.in_use import count_in_use
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import account, job_facts, node, part, run_of


@inner
def leave_nodes(w: World, job: int) -> None:
    """Give back all that a running job holds."""
    mine = run_of(w, job)
    for at in range(mine.part_first, mine.part_first + mine.part_count):
        number = part(w, at).node
        if w.set_count > 0:
            part_calls.note_promised_end(w, job, number)
        give_back(w, job, number, part(w, at).gpus)
        if w.eventful and node(w, number).closed:
            part_calls.withdraw(w, number)
    if w.limited:
        part_calls.count_running(w, job, -1)
    if w.charged:  # else the job's facts need not be fetched again
        facts = job_facts(w, job)
        account(w, facts.account).gpus -= facts.size
        count_in_use(w, mine, facts.size, -1)
        if w.share_count > 0:
            part_calls.charge_share(w, mine.share, -mine.charge)
