"""GPUs that are cut into slices (NVIDIA's MIG), with the same layers as the rest inside.

>>> from dovetail.mig.gpus.cluster import MigCluster
>>> from dovetail.mig.metrics import summary
>>> from dovetail.mig.policies import PLACERS
>>> from dovetail.mig.simulator import simulate_mig
>>> from dovetail.mig.workload.day import mig_day
>>> day = mig_day(seed=3, hours=1.0)
>>> cluster = MigCluster.parse("8xa100-40:1,1,2,2,3,3,12,12")
>>> summary(simulate_mig(day, cluster, PLACERS["eft"]))["unfinished"]
0
"""
