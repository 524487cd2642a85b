"""Three published GPU clusters as parameters, measured on their public traces.

Philly: Jeon et al., USENIX ATC 2019. Helios (its cluster Venus): Hu et al., SC 2021. PAI: Weng
et al., NSDI 2022. The traces are CC-BY-4.0; here are shares and quantiles only, rounded to two
digits. The last value of each run-time table is set so that the mean, and with it the GPU time
of each size, comes out as measured.
"""

from __future__ import annotations

from dovetail.traces.synthetic.arrivals import Arrivals
from dovetail.traces.synthetic.cluster_workload import ClusterWorkload
from dovetail.traces.synthetic.limits import Limits
from dovetail.traces.synthetic.rhythm import DAY, weekly
from dovetail.traces.synthetic.run_times import RunTimes, SizeClass

PHILLY = ClusterWorkload(
    name="philly",
    cluster_gpus=1760,
    sizes=(
        SizeClass(
            ((1, 0.8757),),
            RunTimes((1, 45, 59, 180, 1.3e3, 3.9e3, 1.6e4, 4.4e4, 5.9e5, 2.7e6)),
        ),
        SizeClass(
            ((2, 0.0200),),
            RunTimes((2, 9, 12, 16, 25, 2.0e4, 2.5e5, 4.4e5, 1.2e6, 1.8e6)),
        ),
        SizeClass(
            ((4, 0.0493),),
            RunTimes((1, 42, 100, 710, 9.6e3, 8.4e4, 2.4e5, 4.9e5, 1.9e6, 1.9e6)),
        ),
        SizeClass(
            ((8, 0.0473),),
            RunTimes((1, 40, 86, 860, 1.3e4, 1.4e5, 4.1e5, 7.6e5, 2.1e6, 2.9e6)),
        ),
        SizeClass(
            ((12, 1.3e-4), (16, 6.2e-3), (24, 2.0e-4), (32, 1.2e-3), (64, 5e-5), (128, 1e-5)),
            RunTimes((9, 34, 46, 420, 8.1e3, 5.7e4, 2.2e5, 5.6e5, 1.5e6, 1.8e6)),
        ),
    ),
    arrivals=Arrivals(
        mean_gap=93.0, gap_shape=0.6, lulls=4e-4, lull=6.5e4, batch_tail=1.1, batch_gap=8.0
    ),
    rhythm=weekly(peak_hour=3.0, swing=0.35, weekend=0.5),
    limits=Limits(default=7 * DAY),
)

HELIOS = ClusterWorkload(
    name="helios",
    cluster_gpus=640,
    sizes=(
        SizeClass(
            ((1, 0.5070),),
            RunTimes((1, 5, 15, 60, 190, 1.5e3, 1.0e4, 3.0e4, 1.7e5, 1.73e5)),
        ),
        SizeClass(
            ((2, 0.0553), (3, 1.6e-3), (4, 0.0760), (6, 2.4e-3), (7, 1.8e-3)),
            RunTimes((1, 5, 15, 61, 190, 1.8e3, 4.3e4, 1.2e5, 1.7e5, 2.4e5)),
        ),
        SizeClass(
            ((8, 0.2567),),
            RunTimes((1, 8, 26, 100, 220, 1.1e3, 2.4e4, 6.1e4, 1.7e5, 2.2e5)),
        ),
        SizeClass(
            ((16, 0.0458),),
            RunTimes((1, 6, 21, 110, 410, 1.2e4, 6.2e4, 1.1e5, 1.7e5, 3.8e5)),
        ),
        SizeClass(
            ((24, 8.9e-3), (32, 0.0250)),
            RunTimes((1, 6, 10, 56, 260, 3.0e3, 7.1e4, 1.6e5, 1.7e5, 4.1e5)),
        ),
        SizeClass(
            (
                (40, 3.0e-3),
                (48, 2.9e-3),
                (56, 1.8e-3),
                (64, 2.5e-3),
                (72, 9e-4),
                (80, 2.0e-3),
                (96, 1.1e-3),
                (112, 3e-4),
                (120, 8e-4),
                (128, 8e-4),
                (144, 4e-4),
                (152, 1.0e-3),
                (160, 1.9e-3),
                (200, 1e-4),
            ),
            RunTimes((1, 5, 5, 31, 180, 620, 5.7e3, 4.4e4, 1.7e5, 1.73e5)),
        ),
    ),
    arrivals=Arrivals(mean_gap=142.0, gap_shape=0.7, lulls=1.8e-4, lull=9.0e4, batch_tail=2.2),
    rhythm=weekly(peak_hour=16.5, swing=0.75, weekend=0.65),
    limits=Limits(default=2 * DAY),
)

PAI = ClusterWorkload(
    name="pai",
    cluster_gpus=640,
    sizes=(
        SizeClass(
            ((1, 0.7671),),
            RunTimes((5, 26, 35, 100, 500, 3.4e3, 1.1e4, 2.1e4, 6.0e4, 1.3e5)),
        ),
        SizeClass(
            ((2, 0.0312), (3, 0.0152), (4, 0.0146), (5, 0.0170), (6, 3.0e-3), (8, 0.0128)),
            RunTimes((6, 51, 69, 170, 700, 4.0e3, 1.6e4, 3.6e4, 1.2e5, 1.73e5)),
        ),
        SizeClass(
            (
                (10, 0.0386),
                (12, 8.6e-3),
                (15, 4.7e-3),
                (16, 0.0105),
                (18, 9e-4),
                (20, 0.0215),
                (24, 4e-4),
            ),
            RunTimes((29, 100, 160, 340, 1.4e3, 5.3e3, 1.7e4, 2.8e4, 7.4e4, 1.4e5)),
        ),
        SizeClass(
            (
                (25, 6.4e-3),
                (28, 2.0e-3),
                (30, 9.9e-3),
                (32, 1.1e-3),
                (36, 1.3e-3),
                (40, 7.3e-3),
                (48, 5e-4),
                (50, 0.0143),
            ),
            RunTimes((33, 140, 280, 1.0e3, 3.2e3, 7.4e3, 1.9e4, 3.7e4, 8.7e4, 8.8e4)),
        ),
        SizeClass(
            (
                (60, 2.1e-3),
                (64, 1.2e-3),
                (70, 2e-4),
                (80, 2.0e-3),
                (100, 4.0e-3),
                (140, 3e-4),
                (150, 4e-4),
                (200, 6e-4),
                (400, 2e-4),
            ),
            RunTimes((18, 30, 78, 1.0e3, 3.4e3, 1.5e4, 3.5e4, 5.9e4, 9.4e4, 2.4e5)),
        ),
    ),
    arrivals=Arrivals(mean_gap=94.0, gap_shape=0.7, lulls=4e-5, lull=1.6e4, batch_tail=2.2),
    rhythm=weekly(peak_hour=10.5, swing=0.2, weekend=1.1),
    limits=Limits(default=DAY),
    kinds_of_one=(
        ("tensorflow", 0.71),
        ("worker", 0.13),
        ("PyTorchWorker", 0.09),
        ("xComputeWorker", 0.04),
        ("evaluator", 0.02),
        ("ps", 0.01),
    ),
    kinds_of_many=(("worker", 0.83), ("PyTorchWorker", 0.11), ("tensorflow", 0.05), ("ps", 0.01)),
)
