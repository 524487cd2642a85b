"""Measures of a schedule on sliced GPUs, each a pure function of it.

The published MIG day counts minutes: tardiness here is in minutes, and energy also in W·min.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.mig.schedule import MigSchedule

MINUTE = 60.0
KWH = 3.6e6
"""Joules."""

ENERGY_WEIGHT = 2e-7
"""Minutes of mean tardiness for a W·min: a day of 8 GPUs (2.5e6 W·min) counts half a minute, so
that tardiness, about one minute there, weighs twice as much as energy."""


def late_share(schedule: MigSchedule) -> float:
    """Of all jobs: those that ended after their deadline, or never."""
    return 1.0 - float(np.mean(schedule.tardiness == 0.0))


def mean_tardiness(schedule: MigSchedule) -> float:
    """Minutes, over the jobs that ended."""
    ended = schedule.tardiness[schedule.ran]
    return float(np.mean(ended)) / MINUTE if len(ended) else 0.0


def energy_joules(schedule: MigSchedule) -> float:
    return float(np.sum(schedule.energy))


def idle_share(schedule: MigSchedule) -> float:
    """Time-weighted share of all compute slices that ran nothing."""
    offered = schedule.cluster.compute * schedule.span
    return 1.0 - float(np.sum(schedule.work)) / offered if offered > 0 else 0.0


def energy_tardiness(tardiness_minutes: float, energy_watt_minutes: float, weight: float) -> float:
    """ET = (a·energy + mean tardiness) / (a + 1)."""
    return (weight * energy_watt_minutes + tardiness_minutes) / (weight + 1.0)


def summary(schedule: MigSchedule, weight: float = ENERGY_WEIGHT) -> dict[str, Any]:
    """The stable keys of a run on sliced GPUs."""
    joules, tardiness = energy_joules(schedule), mean_tardiness(schedule)
    ran = schedule.ran
    return {
        "jobs": len(schedule.trace),
        "late_share": late_share(schedule),
        "tardiness_mean": tardiness,
        "wait_mean": float(np.mean(schedule.wait[ran])) if ran.any() else 0.0,
        "energy_joules": joules,
        "energy_kwh": joules / KWH,
        "energy_watt_minutes": joules / MINUTE,
        "energy_tardiness": energy_tardiness(tardiness, joules / MINUTE, weight),
        "energy_weight": weight,
        "idle_slice_share": idle_share(schedule),
        "makespan": schedule.span,
        "repartitions": schedule.repartitions,
        "preemptions": schedule.preemptions,
        "unfinished": int(np.count_nonzero(~ran)),
        "events": schedule.events,
        "sim_seconds": schedule.sim_seconds,
        "config": dict(schedule.config),
    }
