"""What of a cycle somebody should be told at once. Pure."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dovetail.live.cycle.report import CycleReport
from dovetail.live.guardrails.rate import NEARLY

STALE = 600.0
"""Seconds without a good answer of Slurm."""
DRIFT = 0.5
"""Of the mean wait: a twin that is further off no longer knows the cluster."""
WORSE = 0.05
"""By so much longer waits than under Slurm alone, by the twin."""


class AlertKind(Enum):
    """One word each, for the command that is run."""

    FALLBACK = "fallback"  # active mode was left, not by an operator
    FAILED = "failed"  # Slurm refused changes
    BUDGET = "budget"  # the hour's changes are nearly spent
    STALE = "stale"  # Slurm cannot be read
    DRIFT = "drift"  # the cluster is no longer what the policy was judged on


class Alert(NamedTuple):
    kind: AlertKind
    sentence: str


def alerts_of(report: CycleReport) -> tuple[Alert, ...]:
    """All that this cycle gives reason for; whether it was told before is the caller's affair."""
    found = []
    if report.fell_back:
        found.append(Alert(AlertKind.FALLBACK, report.sentence))
    if 2 * report.failed > report.sent:
        found.append(Alert(AlertKind.FAILED, report.trouble or report.sentence))
    if report.budget_spent > NEARLY:
        said = f"{report.budget_spent:.0%} of the hour's changes are spent; see changes_per_hour"
        found.append(Alert(AlertKind.BUDGET, said))
    if report.snapshot_age > STALE:
        said = f"no good answer of Slurm for {report.snapshot_age:.0f} s: {report.trouble}"
        found.append(Alert(AlertKind.STALE, said))
    if abs(report.twin_error) > DRIFT:  # false of NaN
        said = (
            f"the twin's mean wait is off by {report.twin_error:+.0%}: see `dovetail live report`"
        )
        found.append(Alert(AlertKind.DRIFT, said))
    elif report.twin_difference > WORSE:
        said = (
            f"by the twin jobs wait {report.twin_difference:.0%} longer than under Slurm alone: "
            "see `dovetail live report`"
        )
        found.append(Alert(AlertKind.DRIFT, said))
    return tuple(found)
