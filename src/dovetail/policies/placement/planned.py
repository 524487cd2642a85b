"""Placements that plan: the optimisers of `policies.optimiser`, as a simulation asks them.

Each imports what it needs when it is asked: all others are spared a tenth of a second at start.
"""

from __future__ import annotations

from dovetail.domain.plan import Plan
from dovetail.domain.problem import Problem

GAP = 0.002
"""The prize of the job that starts is most of a plan's value: 0.5 % of it would be too coarse."""


def milp(problem: Problem) -> Plan:
    """The best plan that HiGHS finds with a fixed amount of work."""
    from dovetail.policies.optimiser import optimise

    return optimise(problem, gap=GAP)


def multistart(problem: Problem) -> Plan:
    """The best of many greedy plans."""
    from dovetail.policies.optimiser import multistart_greedy

    return multistart_greedy(problem)


def rltune(problem: Problem) -> Plan:
    """Pack or spread the job that starts, whichever lets more GPUs be used."""
    from dovetail.policies.optimiser import rltune_way

    return rltune_way(problem)
