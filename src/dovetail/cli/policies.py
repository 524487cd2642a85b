"""`dovetail policies`: every ordering and placement, with what it does in one line."""

from __future__ import annotations

from typing import Any

# w: seconds waited, e: estimate, g: GPUs; the lowest score goes first.
_ORDERINGS = {
    "fcfs": "submit time: first come, first served",
    "lcfs": "−submit time: last come, first served",
    "sjf": "e: shortest estimate first",
    "ljf": "−e: longest estimate first",
    "saf": "g · e: smallest area first",
    "wfp3": "−(w / e)³ · g: waiting in units of the own length, large jobs sooner",
    "unicep": "−w / (max(1, log₂ g) · e): waiting, small and short jobs sooner",
    "f1": "log₁₀(e) · g + 870 · log₁₀(submit − first submit + 1)",
    "slurm-multifactor": "Slurm's priority: age, fair share in GPU time, size, partition, QOS",
    "qssf": "g · predicted run time: smallest area first, from ended jobs alone",
    "edf": "deadline: earliest first, jobs without one last",
    "priority": "−the job's own static priority",
}
_PLACEMENTS = {
    "first-available": "the first node that fits",
    "best-fit": "the node with the fewest free GPUs that fits",
    "worst-fit": "the node with the most free GPUs",
    "topology-aware": "best-fit; gangs on as few switches as possible",
    "fgd": "the node where the expected waste grows least (fragmentation gradient descent)",
    "gpu-affinity": "best-fit; kinds of jobs try the GPU types that suit them first",
    "milp": "a plan for the first 16 jobs by HiGHS (needs dovetail-scheduler[milp])",
    "multistart": "a plan for the first 16 jobs: the best of many greedy ones",
    "rltune": "packs or spreads the job, whichever lets the first 16 use more GPUs (RLTune)",
    "lifetime": "few free GPUs, and busy for as long anyway: whole nodes become free sooner",
}
_BACKFILLS = {
    "none": "nothing passes a blocked job that shares its nodes",
    "easy": "jobs pass if they do not delay the reservation of the first blocked job",
    "conservative": "jobs pass if they break no promise; every waiting job has one",
    "slurm": "as sched/backfill does: every bf_interval, whole nodes, times rounded",
}


def policies() -> None:
    """List orderings, placements and backfills with formulas.

    \b
    Example:
      dovetail policies
    """
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.policies.ordering import ORDERINGS
    from dovetail.policies.placement import PLACEMENTS
    from dovetail.policies.policy import BACKFILLS, SHIPPED_NAME

    console = results()
    orders = columns("--order", "score, lowest first (w: waited, e: estimate, g: GPUs)")
    for name, order in ORDERINGS.items():
        orders.add_row(cell(name), cell(about_ordering(name, order.score)))
    orders.add_row(SHIPPED_NAME, "learned from several histories, with a placement of its own")
    orders.add_row("DIR", "a checkpoint of `dovetail train`, with the placement that it learned")
    places = columns("--placement", "prefers")
    for name, place in PLACEMENTS.items():
        places.add_row(cell(name), cell(about_placement(name, place.prefer)))
    passing = columns("--backfill", "lets pass")
    for name in BACKFILLS:
        passing.add_row(cell(name), cell(about_backfill(name)))
    for table in (orders, places, passing):
        console.print(table)
        console.print()


def about_ordering(name: str, score: Any) -> str:
    """The line above, or, for a new ordering, the first line of its function's docstring."""
    return _ORDERINGS.get(name) or _first_line(score)


def about_placement(name: str, prefer: Any) -> str:
    """The line above, or, for a new placement, the first line of its function's docstring."""
    return _PLACEMENTS.get(name) or _first_line(prefer)


def about_backfill(name: str) -> str:
    """What it lets pass."""
    return _BACKFILLS[name]


def _first_line(compiled: Any) -> str:
    return (compiled.__doc__ or "").strip().split("\n")[0]
