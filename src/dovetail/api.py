"""The library in five functions: load a trace and a cluster, simulate, compare, summarise.

>>> import dovetail
>>> trace = dovetail.load_trace("synth:helios", jobs=500, seed=1, load=0.9, cluster_gpus=64)
>>> schedule = dovetail.simulate(trace, "8x8", order="saf", backfill="none", estimates="exact")
>>> dovetail.summary(schedule)["unfinished"]
0
>>> result = dovetail.compare(trace, "8x8", ["fcfs", "saf"], estimates="exact")
>>> result.best("wait_mean").label
'saf+easy'
>>> result.bound.wait_mean <= result.best("wait_mean").metrics["wait_mean"]
True
"""

from __future__ import annotations

from dovetail.domain.metrics import summary
from dovetail.evaluation.comparison import compare
from dovetail.evaluation.run import simulate
from dovetail.traces.cluster_loader import load_cluster
from dovetail.traces.loader import load_trace

__all__ = ["compare", "load_cluster", "load_trace", "simulate", "summary"]
