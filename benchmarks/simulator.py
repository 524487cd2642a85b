"""Jobs per second of the simulator, and how the cost of an event grows."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.lublin import PROCESSORS, draw
from benchmarks.peers import SIMULATORS, show_peers
from benchmarks.workloads import REAL, cluster, real_traces, synthetic
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from tests.oracles.simulator import simulate as oracle

ORDERS = ("fcfs", "sjf", "wfp3", "slurm-multifactor")
REPEATS = 5


def replay(trace: Trace, nodes: int, order: str, estimates: str = "noisy:1") -> Schedule:
    return simulate(
        trace,
        cluster(nodes),
        ORDERINGS[order],
        PLACEMENTS["best-fit"],
        Backfill.EASY,
        make_estimates(trace, estimates),
        HISTORY,
    )


def queue_depth(schedule: Schedule) -> tuple[float, int]:
    """Jobs still waiting right after each submission: on average, and the most."""
    submit = schedule.trace.jobs.submit[schedule.ran]
    start = np.sort(schedule.start[schedule.ran])
    submitted = np.searchsorted(submit, submit, side="right")
    waiting = submitted - np.searchsorted(start, submit, side="right")
    return float(np.mean(waiting)), int(np.max(waiting))


def measure(trace: Trace, nodes: int, order: str, estimates: str) -> dict[str, Any]:
    runs = [replay(trace, nodes, order, estimates) for _ in range(REPEATS)]
    rates = sorted(len(trace) / run.sim_seconds for run in runs)
    mean, most = queue_depth(runs[0])
    return {
        "order": order,
        "estimates": estimates,
        "nodes": nodes,
        "jobs": len(trace),
        "jobs_per_second_median": round(statistics.median(rates)),
        "jobs_per_second_range": [round(rates[0]), round(rates[-1])],
        "waiting_mean": round(mean, 1),
        "waiting_most": most,
    }


def throughput(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Real traces on their reference clusters, with thousands waiting, and with hardly any."""
    rows = []
    for name, trace in real_traces().items():
        _, *sizes = REAL[name]
        for case, nodes in zip(("reference", "deep", "short"), sizes, strict=True):
            for order in ORDERS:
                for estimates in ("noisy:1", "exact") if case == "deep" else ("noisy:1",):
                    row = {"trace": name, "case": case}
                    row |= measure(trace, nodes, order, estimates)
                    rows.append(row)
                    say(
                        f"{name} {case} {order} {estimates}: "
                        f"{row['jobs_per_second_median']:,} jobs/s, "
                        f"{row['waiting_mean']} waiting, {row['waiting_most']} at most"
                    )
    return rows


def processors(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Lublin's model on 256 nodes of one GPU: gangs of 22 nodes on average, up to all of them."""
    rows = []
    trace = draw(0)
    site = Cluster.parse(f"{PROCESSORS}x1")
    for order in ("fcfs", "sjf"):
        runs = [
            simulate(
                trace, site, ORDERINGS[order], PLACEMENTS["best-fit"], Backfill.EASY,
                make_estimates(trace, "exact"), HISTORY,
            )
            for _ in range(REPEATS)
        ]  # fmt: skip
        rates = sorted(len(trace) / run.sim_seconds for run in runs)
        row = {
            "order": order,
            "jobs": len(trace),
            "jobs_per_second_median": round(statistics.median(rates)),
            "jobs_per_second_range": [round(rates[0]), round(rates[-1])],
            "waiting_mean": round(queue_depth(runs[0])[0], 1),
        }
        rows.append(row)
        say(f"Lublin on {PROCESSORS}x1, {order}: {row['jobs_per_second_median']:,} jobs/s")
    return rows


def scaling(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Cost of an event from 64 to 4,096 nodes, with room to spare and with a growing queue.

    The same jobs arrive faster on larger clusters. Running jobs grow with the nodes, so this
    is the growth with both.
    """
    rows = []
    for load in (0.6, 1.2):
        for nodes in (64, 256, 1024, 4096):
            trace = synthetic(nodes, jobs=100_000, load=load)
            runs = [replay(trace, nodes, "fcfs") for _ in range(REPEATS)]
            cost = statistics.median(run.sim_seconds for run in runs) / runs[0].events
            busy = float(np.sum(runs[0].run)) / float(runs[0].end.max() - trace.jobs.submit[0])
            row = {
                "load": load,
                "nodes": nodes,
                "running_jobs_mean": round(busy),
                "events": runs[0].events,
                "nanoseconds_per_event": round(cost * 1e9),
                "waiting_mean": round(queue_depth(runs[0])[0], 1),
            }
            rows.append(row)
            say(
                f"load {load}, {nodes} nodes: {row['nanoseconds_per_event']} ns an event, "
                f"{row['running_jobs_mean']} jobs running, {row['waiting_mean']} waiting"
            )
    return rows


def against_plain_python(say: Callable[[str], None]) -> dict[str, Any]:
    """The compiled simulator against the oracle of the tests, on the same jobs."""
    trace = synthetic(16, jobs=1500, load=0.95)
    estimates = make_estimates(trace, "noisy:1")
    began = time.perf_counter()
    answer = oracle(
        trace, cluster(16), "fcfs", "best-fit", Backfill.EASY, estimates.seconds.tolist()
    )
    plain = time.perf_counter() - began
    runs = [replay(trace, 16, "fcfs") for _ in range(REPEATS)]
    fast = statistics.median(run.sim_seconds for run in runs)
    assert np.array_equal(np.array(answer.start), runs[0].start, equal_nan=True)
    row = {
        "jobs": len(trace),
        "plain_seconds": plain,
        "compiled_seconds": fast,
        "ratio": plain / fast,
    }
    say(f"plain Python takes {row['ratio']:,.0f} times as long on the same {len(trace)} jobs")
    return row


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    replay(synthetic(16, jobs=200, load=0.5), 16, "fcfs")  # compile
    return {
        "throughput": throughput(say),
        "processors": processors(say),
        "scaling": scaling(say),
        "against_plain_python": against_plain_python(say),
        "peers": show_peers(SIMULATORS, "jobs/s", say),
        "python": sys.version.split()[0],
    }
