"""Looks at everything that the daemon needs, changes nothing, and says what to mend."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.live.doctor.checkup import CheckLevel, Checkup
from dovetail.live.doctor.facts import Facts, collect
from dovetail.live.doctor.host_checks import HOST_CHECKS
from dovetail.live.doctor.plugin_checks import PLUGIN_CHECKS
from dovetail.live.doctor.rights_checks import RIGHTS_CHECKS
from dovetail.live.doctor.slurm_checks import REACHING_CHECKS, SLURM_CHECKS

__all__ = ["CheckLevel", "Checkup", "Facts", "collect", "examine"]


def examine(facts: Facts) -> Iterator[Checkup]:
    """All checks; those that need an answer of Slurm only where there is one."""
    for check in (*HOST_CHECKS, *REACHING_CHECKS):
        yield check(facts)
    if facts.settings:
        for check in (*RIGHTS_CHECKS, *SLURM_CHECKS, *PLUGIN_CHECKS):
            yield check(facts)
