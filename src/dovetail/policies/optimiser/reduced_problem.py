"""A reduced problem: jobs, groups of equal nodes, and the groups that each shape may use."""

from __future__ import annotations

from typing import NamedTuple

from dovetail.policies.optimiser.candidates import Candidates
from dovetail.policies.optimiser.groups import Groups
from dovetail.policies.optimiser.job_arrays import JobArrays


class Reduced(NamedTuple):
    """A problem as the solvers see it."""

    asks: JobArrays
    groups: Groups
    candidates: Candidates
