"""Policies side by side: same jobs, same estimates, same windows, and the bound below them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.engines import Engine
from dovetail.domain.arguments import expect, whole, wrong_type
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.group_waits import GroupWaits, group_waits
from dovetail.domain.jobs import Floats, Jobs
from dovetail.domain.measures import MEASURES, Better
from dovetail.domain.promises import PromiseCheck, Promises
from dovetail.domain.provenance import inputs_of, version
from dovetail.domain.trace import Trace
from dovetail.evaluation.bounds.bound import ANYWHERE, Bounds, lower_bounds, mean_bounds
from dovetail.evaluation.parallel import Outcome, Task, Work, perform_all
from dovetail.evaluation.protocols import TraceWindow, plan
from dovetail.evaluation.recorded import Recorded, gap_of, recorded_metrics, recorded_schedule
from dovetail.evaluation.run import Run
from dovetail.evaluation.timeline import UsageOverTime
from dovetail.policies.ordering.as_configured import AS_CONFIGURED
from dovetail.policies.placement import OWN
from dovetail.policies.policy import Policy, PolicyLike, as_policy
from dovetail.prediction.estimates import default_estimates
from dovetail.prediction.knowledge import Knowledge
from dovetail.simulator.partition_access import with_default_times
from dovetail.simulator.wishes import count_wishes
from dovetail.traces.cluster_loader import load_cluster
from dovetail.traces.description import describe
from dovetail.traces.loader import load_trace

HIGHER_IS_BETTER = frozenset(
    measure.name for measure in MEASURES.values() if measure.better is Better.HIGHER
)

SLURM_ORDERS = (AS_CONFIGURED, "slurm-multifactor")
"""What others are measured against where it is among them: what Slurm does by itself."""

Progress = Callable[[int, int, str], None]
"""Runs done, runs in all, the policy that was just run."""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """What one policy achieved: the mean over windows of every metric, and each window's."""

    label: str
    policy: Policy
    metrics: Mapping[str, float]
    per_window: Mapping[str, tuple[float, ...]]
    wait_percentiles: tuple[float, ...]  # 0 to 100 %, over the jobs of all windows
    groups: tuple[GroupWaits, ...] = ()  # waits by size, QOS, account, user, against Slurm's order
    timeline: UsageOverTime | None = None  # of a whole trace; windows have no common time


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order asked for. `complete` is False when Ctrl-C came before the end."""

    rows: tuple[ComparisonRow, ...]
    bound: Bounds
    config: Mapping[str, Any]
    trace_facts: Mapping[str, Any]
    complete: bool = True
    recorded: Recorded | None = None  # what really happened, where the trace tells

    def __getitem__(self, label: str) -> ComparisonRow:
        """The row of a policy, by its label here or in full."""
        for row in self.rows:
            if label in (row.label, row.policy.label()):
                return row
        raise ConfigError(f"no row {label!r}; has {', '.join(row.label for row in self.rows)}")

    @property
    def reference(self) -> str:
        """The label of the policy that waits by group are compared with."""
        return reference_of(self.rows).label

    def check(self, promises: Promises, row: ComparisonRow) -> PromiseCheck:
        """How promises against the reference stand under a policy; utilisation by the mean."""
        used = [part.metrics["gpu_utilization"] for part in (reference_of(self.rows), row)]
        return promises.check(row.groups, (used[0], used[1]))

    def best(self, metric: str = "wait_mean") -> ComparisonRow:
        """The row with the best value; the first of those that share it."""
        sign = -1.0 if metric in HIGHER_IS_BETTER else 1.0
        known = [row for row in self.rows if metric in row.metrics]
        if not known:
            raise ConfigError(f"no metric {metric!r}; see the keys of a row's metrics")
        ranked = [row for row in known if not math.isnan(row.metrics[metric])] or known
        return min(ranked, key=lambda row: sign * row.metrics[metric])

    def to_json(self) -> str:
        """Stable text: sorted keys, unknown numbers as null; only sim_seconds varies."""
        rows = [
            {
                **{name: part for name, part in _fields(row).items() if name != "timeline"},
                "policy": row.policy.names(),
                "groups": list(map(asdict, row.groups)),
            }
            for row in self.rows
        ]
        told = None if self.recorded is None else asdict(self.recorded)
        data = {**_fields(self), "bound": asdict(self.bound), "rows": rows, "recorded": told}
        data = _plain(data)
        return json.dumps(data, sort_keys=True, indent=2, allow_nan=False) + "\n"


def reference_of(rows: Sequence[ComparisonRow]) -> ComparisonRow:
    """Slurm as configured or its order where it was run, else the first."""
    for order in SLURM_ORDERS:
        for row in rows:
            if row.policy.order == order:
                return row
    return rows[0]


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
    engine: Engine | None = None,
) -> Comparison:
    """Run every policy on the whole trace, or on `sequences` random windows of `length` jobs.

    A policy is anything that `as_policy` takes: a name, a checkpoint, an object, a function.

    Estimates are made once for the whole trace (without a kind: see `default_estimates`), except
    predicted ones, which every run learns anew from its own past. The result is the same
    for any number of `workers`; without one, processes are started where they pay. An `engine`
    plays elsewhere: `ENGINES["ray"]("head:6379")`.
    """
    chosen = _distinct(policies)
    if estimates is not None:
        expect("estimates", estimates, str, words="a kind of estimates such as noisy:1")
    seed, length = whole("seed", seed, low=0), whole("length", length, low=1)
    sequences = None if sequences is None else whole("sequences", sequences, low=1)
    workers = None if workers is None else whole("workers", workers, low=1)
    jobs, site = load_trace(trace), load_cluster(cluster)
    known = with_default_times(jobs, site)
    spec, knowledge = estimates or default_estimates(known), Knowledge(known)
    told = tuple(knowledge.estimates(policy.told(spec), seed) for policy in chosen)
    run = Run(jobs, site, chosen[0], knowledge.estimates(spec, seed), seed)
    windows = plan(run.trace, sequences, length, seed)
    work = Work(run, chosen, told, windows)
    labels = _labels(chosen)
    own = {
        n: part.name
        for n, part in zip(labels, told, strict=True)
        if part.name != run.estimates.name
    }
    outcomes: dict[Task, Outcome] = {}
    total = len(chosen) * len(windows)

    def finished(task: Task, outcome: Outcome) -> None:
        outcomes[task] = outcome
        if progress is not None:
            progress(len(outcomes), total, labels[task.policy])

    try:
        perform_all(work, workers, finished, engine)
    except KeyboardInterrupt:
        if not outcomes:
            raise
    kept = _comparable(outcomes, len(chosen))
    groups = _groups(run.trace.jobs, chosen, [windows[w] for w in kept], kept, outcomes)
    return Comparison(
        rows=tuple(
            _row(labels[p], policy, [outcomes[Task(w, p)] for w in kept], groups[p])
            for p, policy in enumerate(chosen)
            if Task(kept[0], p) in outcomes
        ),
        bound=mean_bounds([lower_bounds(windows[w].cut(run).trace, run.cluster) for w in kept]),
        config={
            "version": version(),
            "seed": seed,
            "estimates": run.estimates.name,
            "own_estimates": own,
            "estimates_notes": list(run.estimates.notes),
            "policies": [policy.label() for policy in chosen],
            "sequences": sequences,
            "length": None if sequences is None else length,
            "window_starts": None if sequences is None else [windows[w].start for w in kept],
            **inputs_of(run.trace, run.cluster),
            "cluster_nodes": len(run.cluster.nodes),
            "cluster_gpus": run.cluster.total_gpus,
            "wishes": count_wishes(run.trace.jobs, run.cluster, ANYWHERE),
        },
        trace_facts=describe(run.trace),
        complete=len(outcomes) == total,
        recorded=_recorded(run, chosen, labels, outcomes) if sequences is None else None,
    )


def _recorded(
    run: Run,
    policies: Sequence[Policy],
    labels: Sequence[str],
    outcomes: Mapping[Task, Outcome],
) -> Recorded | None:
    """What happened, and how far the replay of Slurm as configured is from it."""
    happened = recorded_schedule(run.trace, run.cluster)
    if happened is None:
        return None
    configured = [p for p, policy in enumerate(policies) if policy.order == AS_CONFIGURED]
    gap = None
    if configured and Task(0, configured[0]) in outcomes:
        replayed = outcomes[Task(0, configured[0])].wait
        gap = gap_of(labels[configured[0]], happened.wait, replayed)
    return Recorded(recorded_metrics(happened), gap)


def _distinct(policies: Iterable[PolicyLike]) -> tuple[Policy, ...]:
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise wrong_type("policies", policies, 'a list of policies such as ["fcfs", "saf"]')
    chosen = tuple(dict.fromkeys(map(as_policy, policies)))
    if not chosen:
        raise ConfigError("no policy to compare; name one or more, for example fcfs, saf+none")
    return chosen


def _labels(policies: Sequence[Policy]) -> list[str]:
    """Short names; the placement is left out where all have the same, namesakes are counted."""
    places = {policy.placement for policy in policies} - {OWN}
    shared = places.pop() if len(places) == 1 else None
    names = [
        AS_CONFIGURED if policy.order == AS_CONFIGURED else policy.label(placement=shared)
        for policy in policies
    ]
    earlier = [names[:at].count(name) for at, name in enumerate(names)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(names, earlier, strict=True)]


def _comparable(outcomes: Mapping[Task, Outcome], policies: int) -> list[int]:
    """Windows that every policy has finished; if there is none, the one that most have."""
    finished: dict[int, int] = {}
    for task in outcomes:
        finished[task.window] = finished.get(task.window, 0) + 1
    complete = sorted(window for window, count in finished.items() if count == policies)
    return complete or [max(sorted(finished), key=lambda window: finished[window])]


def _groups(
    jobs: Jobs,
    policies: Sequence[Policy],
    windows: Sequence[TraceWindow],
    kept: Sequence[int],
    outcomes: Mapping[Task, Outcome],
) -> list[tuple[GroupWaits, ...]]:
    """Waits by group of every policy, against Slurm's order where it was run, else the first."""
    finished = [p for p in range(len(policies)) if Task(kept[0], p) in outcomes]
    slurm = [p for o in SLURM_ORDERS for p in finished if policies[p].order == o]
    base = (slurm or finished)[0]
    rows = np.concatenate([np.arange(window.start, window.stop) for window in windows])
    own = jobs.take(rows)

    def waits(policy: int) -> Floats:
        return np.concatenate([outcomes[Task(w, policy)].wait for w in kept])

    return [
        group_waits(own, waits(base), waits(p)) if p in finished else ()
        for p in range(len(policies))
    ]


def _row(
    label: str, policy: Policy, outcomes: Sequence[Outcome], groups: tuple[GroupWaits, ...]
) -> ComparisonRow:
    numbers = [key for key in outcomes[0].metrics if key != "config"]
    per_window = {key: tuple(float(o.metrics[key]) for o in outcomes) for key in numbers}
    waits = np.concatenate([outcome.wait for outcome in outcomes])
    waits = waits[np.isfinite(waits)]
    marks = np.percentile(waits, np.arange(101)) if len(waits) else np.empty(0)
    return ComparisonRow(
        label=label,
        policy=policy,
        metrics={key: _mean(values) for key, values in per_window.items()},
        per_window=per_window,
        wait_percentiles=tuple(marks.tolist()),
        groups=groups,
        timeline=outcomes[0].timeline if len(outcomes) == 1 else None,
    )


def _mean(values: Sequence[float]) -> float:
    """Over the windows in which any job ran."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _fields(record: Any) -> dict[str, Any]:
    """A dataclass as a dict, its values as they are."""
    return {part.name: getattr(record, part.name) for part in fields(record)}


def _plain(value: Any) -> Any:
    """What JSON can hold: NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
