"""A reduced problem: jobs, groups of equal nodes, and the groups that each shape may use."""

from __future__ import annotations

from typing import NamedTuple

from dovetail.policies.optimiser.asks import Asks
from dovetail.policies.optimiser.candidates import Candidates
from dovetail.policies.optimiser.groups import Groups


class Reduced(NamedTuple):
    """A problem as the solvers see it."""

    asks: Asks
    groups: Groups
    candidates: Candidates
