"""Workloads that are drawn, not recorded: seeded, calibrated on published clusters.

from dovetail.traces.synthetic import WORKLOADS, synthesize
trace = synthesize(WORKLOADS["philly"], jobs=100_000, seed=0)
busy = synthesize(WORKLOADS["helios"], jobs=10_000, seed=1, load=0.9, cluster_gpus=640)
"""

from __future__ import annotations

from dovetail.domain.registry import Registry
from dovetail.traces.synthetic.cluster_workload import ClusterWorkload
from dovetail.traces.synthetic.generate import offered_load, synthesize
from dovetail.traces.synthetic.lublin import LublinWorkload
from dovetail.traces.synthetic.published import HELIOS, PAI, PHILLY
from dovetail.traces.synthetic.workload import Draft, Workload

__all__ = [
    "WORKLOADS",
    "ClusterWorkload",
    "Draft",
    "LublinWorkload",
    "Workload",
    "offered_load",
    "synthesize",
]

WORKLOADS: Registry[Workload] = Registry(
    "workload",
    {
        "philly": PHILLY,
        "helios": HELIOS,
        "pai": PAI,
        "lublin": LublinWorkload(),
    },
)
