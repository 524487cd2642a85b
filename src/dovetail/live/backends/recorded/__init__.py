"""A cluster in memory that answers as Slurm does, and fails in every way that Slurm does.

For tests of all that steers a queue, in seconds and without Slurm, and for `dovetail live demo`.

>>> from dovetail.live.model.decision import Change, Knob
>>> cluster = MemoryCluster.of_nodes(2, gpus=4)
>>> first, second = cluster.submit(gpus=4, priority=900), cluster.submit(gpus=4, priority=800)
>>> backend = RecordedBackend(cluster, [Fault.UNANSWERED])
>>> backend.apply([Change(second, str(second), Knob.SITE_FACTOR, 0, 200, "goes first")])
Traceback (most recent call last):
dovetail.live.backends.base.Unreachable: scontrol: no answer within 30 s
>>> backend.factors()[second].priority
1000
"""

from __future__ import annotations

from dovetail.live.backends.recorded.backend import Fault, RecordedBackend
from dovetail.live.backends.recorded.cluster import MemoryCluster

__all__ = ["Fault", "MemoryCluster", "RecordedBackend"]
