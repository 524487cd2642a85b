"""Placements that plan: the optimisers of `policies.optimiser`, as a simulation asks them."""

from __future__ import annotations

from dovetail.domain.plan import Plan
from dovetail.domain.problem import Problem
from dovetail.policies.optimiser import multistart_greedy, optimise, rltune_way

GAP = 0.002
"""The prize of the job that starts is most of a plan's value: 0.5 % of it would be too coarse."""


def milp(problem: Problem) -> Plan:
    """HiGHS within 250 ms, the greedy plan if that is not enough."""
    return optimise(problem, gap=GAP)


def multistart(problem: Problem) -> Plan:
    """The best of many greedy plans."""
    return multistart_greedy(problem)


def rltune(problem: Problem) -> Plan:
    """Pack or spread the job that starts, whichever lets more GPUs be used."""
    return rltune_way(problem)
