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

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from dovetail.domain.arguments import expect, number, whole, wrong_type
from dovetail.domain.cluster import Cluster
from dovetail.domain.cluster_toml import load_cluster as _parse_cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.metrics import summary
from dovetail.domain.policy import Backfill, BackfillRule, Placement, SlurmBackfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.comparison import Comparison, Progress
from dovetail.evaluation.comparison import compare as _compare
from dovetail.evaluation.protocols import default_estimates
from dovetail.evaluation.run import version
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import PolicyLike, as_policy, backfill_named
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate as _simulate
from dovetail.traces.clusters import read_cluster
from dovetail.traces.read import read_trace
from dovetail.traces.synthetic import WORKLOADS, synthesize

__all__ = ["compare", "load_cluster", "load_trace", "simulate", "summary"]

SYNTHETIC = "synth:"
"""What the name of a workload starts with, where a file could stand."""


def load_trace(
    source: str | Path | Trace,
    *,
    format: str | None = None,
    repair: Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
    jobs: int | None = None,
    seed: int = 0,
    load: float | None = None,
    cluster_gpus: int | None = None,
) -> Trace:
    """A trace file of any known format, or jobs drawn from a workload, such as `synth:helios`.

    `format`, `repair` and `columns` (of a CSV, by field) are for files; `jobs` (10,000 if not
    given), `seed`, `load` and `cluster_gpus` for workloads. For a file, `jobs`
    keeps the first so many.
    """
    expect("trace", source, str, Path, Trace, words="a file, synth:NAME, or a Trace")
    if isinstance(source, Trace):
        return source
    if format is not None:
        expect("format", format, str, words="the name of a trace format")
    if columns is not None:
        expect("columns", columns, Mapping, words='such as {"submit": "Submitted"}')
        for name in (*columns.keys(), *columns.values()):
            expect("columns", name, str, words="fields and columns by name")
    names = _names("repair", repair)
    jobs = None if jobs is None else whole("jobs", jobs, low=1)
    seed = whole("seed", seed, low=0)
    load = None if load is None else number("load", load)
    if cluster_gpus is not None:
        cluster_gpus = whole("cluster_gpus", cluster_gpus, low=1)
    if isinstance(source, str) and source.startswith(SYNTHETIC):
        if format is not None or names or columns:
            raise ConfigError(
                f"{source}: format, repair and columns are for trace files, not for workloads"
            )
        workload = WORKLOADS[source.removeprefix(SYNTHETIC)]
        return synthesize(workload, 10_000 if jobs is None else jobs, seed, load, cluster_gpus)
    if load is not None or cluster_gpus is not None:
        raise ConfigError(f"{source}: load and cluster_gpus are for workloads such as synth:helios")
    trace = read_trace(source, format, names, columns=columns)
    return trace if jobs is None or jobs >= len(trace) else trace.slice(0, jobs)


def load_cluster(spec: str | Path | Cluster) -> Cluster:
    """From `64x8:v100,20x4:p100`, a TOML file, or a file that a site has (`slurm.conf`, ...)."""
    expect("cluster", spec, str, Path, Cluster, words="such as 64x8:v100, a file, or a Cluster")
    if isinstance(spec, Cluster):
        return spec
    path = Path(spec)
    if path.suffix != ".toml" and os.path.isfile(path):  # false for what is too long for a name
        return read_cluster(path).cluster
    return _parse_cluster(spec)


def simulate(
    trace: Trace | str | Path,
    cluster: Cluster | str | Path,
    order: PolicyLike = "fcfs",
    placement: str | Placement | None = None,
    backfill: str | BackfillRule | None = None,
    estimates: str | Estimates | None = None,
    seed: int = 0,
) -> Schedule:
    """Replay a trace on a cluster under one policy.

    `order` is a name such as `saf`, a whole policy such as `saf+none@fgd`, a checkpoint's folder,
    an `Ordering`, or a plain function of a job: `lambda job: job.gpus * job.estimate`.

    Without `estimates` the scheduler knows the users' limits if every job has one, else it
    predicts run times from jobs that have ended. `seed` matters to noisy estimates. Without
    `placement` it is best-fit, or what a checkpoint was trained with; without `backfill` EASY.
    """
    jobs, seed = load_trace(trace), whole("seed", seed, low=0)
    _check_policy(placement, backfill)
    if estimates is not None:
        expect("estimates", estimates, str, Estimates, words="such as noisy:1, or Estimates")
    if not isinstance(estimates, Estimates):
        estimates = make_estimates(jobs, estimates or default_estimates(jobs), seed)
    ordering, place, fill = as_policy(order).parts()
    if placement is not None:
        place = PLACEMENTS[placement] if isinstance(placement, str) else placement
    if backfill is not None:
        fill = backfill_named(backfill) if isinstance(backfill, str) else backfill
    site = load_cluster(cluster)
    schedule = _simulate(jobs, site, ordering, place, fill, estimates, HISTORY)
    return replace(schedule, config={**schedule.config, "seed": seed, "version": version()})


def compare(
    trace: Trace | str | Path,
    cluster: Cluster | str | Path,
    policies: Iterable[PolicyLike],
    estimates: str | None = None,
    seed: int = 0,
    sequences: int | None = None,
    length: int = 1024,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Policies side by side: each a name, ORDER[+BACKFILL][@PLACEMENT], a checkpoint's folder, an
    `Ordering`, a `Placement`, or a plain function of a job; see `evaluation`.
    """
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise wrong_type("policies", policies, 'a list of policies such as ["fcfs", "saf"]')
    chosen = list(policies)
    if estimates is not None:
        expect("estimates", estimates, str, words="a kind of estimates such as noisy:1")
    return _compare(
        load_trace(trace),
        load_cluster(cluster),
        chosen,
        estimates,
        whole("seed", seed, low=0),
        None if sequences is None else whole("sequences", sequences, low=1),
        whole("length", length, low=1),
        None if workers is None else whole("workers", workers, low=1),
        progress,
    )


def _names(argument: str, given: object) -> tuple[str, ...]:
    """A list of names; a single one in quotes would be taken letter by letter."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise wrong_type(argument, given, 'a list of names such as ["drop"]')
    names = tuple(given)
    for name in names:
        expect(argument, name, str, words="a list of names")
    return names


def _check_policy(placement: object, backfill: object) -> None:
    if placement is not None:
        expect("placement", placement, str, Placement, words="a name, or a Placement")
    if backfill is not None:
        words = "none, easy, conservative or slurm"
        expect("backfill", backfill, str, Backfill, SlurmBackfill, words=words)
