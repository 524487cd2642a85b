"""How near a replay comes to a real Slurm: 1,000 mixed jobs through both, from its own files.

    python -m benchmarks.run fidelity
    python -m benchmarks.fidelity --seeds 2 --jobs 1000 --speed 20 --keep texts --out fidelity.json
    python -m benchmarks.fidelity --texts texts/2     # replay what was recorded there
    python -m benchmarks.fidelity --texts benchmarks/recordings/fidelity    # or one of ours

A real Slurm runs the jobs in faster time. What an operator would export of it (sacct, sacctmgr's
QOS and associations, slurm.conf) is imported as `dovetail trace import` and `cluster import` do,
and replayed under `slurm-as-configured`. What Slurm and its nodes need to end one job and to begin
the next is multiplied by the speed; the second replay has such pauses after every job, as long as
this run itself had.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fidelity_jobs import draw
from benchmarks.fidelity_recording import ASSOCIATIONS, CONF, LOADED, QOS, SACCT, record
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import SlurmBackfill
from dovetail.domain.trace import Trace
from dovetail.evaluation.recorded import Gap, gap_of
from dovetail.evaluation.run import Run
from dovetail.policies.configured import configured_policy
from dovetail.policies.policy import Policy
from dovetail.slurm.host_lists import expand
from dovetail.traces.clusters import read_cluster
from dovetail.traces.reader import read_trace

JOBS, SEEDS, SPEED = 1000, (1, 2), 30.0
PAUSES = "with the pauses of the run"
PLAIN = "as imported"
OTHER_INTERVALS = (28.0, 29.0, 31.0, 32.0)
NO_CYCLE = 10
"""Seconds after an end: what starts so soon was not started by a cycle of the backfill."""


def run(
    seeds: Sequence[int] = SEEDS, jobs: int = JOBS, speed: float = SPEED, keep: Path | None = None
) -> dict[str, Any]:
    """Record and replay, in `keep` where what Slurm told is to stay."""
    runs = {}
    for seed in seeds:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) if keep is None else keep / str(seed)
            record(draw(seed, jobs), speed, folder)
            runs[str(seed)] = replayed(folder)
    return {"speed": speed, "runs": runs}


def replayed(folder: Path) -> dict[str, Any]:
    """The figures of a recorded run."""
    trace = read_trace(folder / SACCT)
    site = read_cluster(folder / CONF, more=(folder / QOS, folder / ASSOCIATIONS)).cluster
    policy = configured_policy(site)
    assert policy is not None
    recorded = trace.jobs.recorded_start - trace.jobs.submit
    pause = measured_pause(folder / SACCT)
    waits = {
        PLAIN: waits_of(trace, site, policy, 0.0),
        PAUSES: waits_of(trace, site, policy, pause),
    }
    others = {
        name: gap_of(name, recorded, waits_of(trace, site, Policy(name), pause))
        for name in ("fcfs", "slurm-multifactor")
    }
    chance = {
        f"{seconds:g}": float(waits_of(trace, site, other, pause).mean() / recorded.mean() - 1)
        for seconds, other in _other_cycles(policy)
    }
    load = (folder / LOADED).read_text() if (folder / LOADED).exists() else "nan"
    return {
        "jobs": len(trace),
        "policy": policy.label(),
        "pause": pause,
        "load": float(load),
        "chance": chance,
        "recorded": _rounded(recorded),
        "replays": {name: _rounded(wait) for name, wait in waits.items()},
        "gaps": {name: _figures(gap_of(name, recorded, wait)) for name, wait in waits.items()}
        | {f"{name} + easy": _figures(gap) for name, gap in others.items()},
        "groups": _groups(trace, recorded, waits[PAUSES]),
    }


def waits_of(trace: Trace, site: Cluster, policy: Policy, pause: float) -> Floats:
    """Replayed waits, every job holding its nodes for a pause longer than it ran."""
    jobs = replace(trace.jobs, run=trace.jobs.run + pause)
    schedule = Run(Trace(jobs), site, policy, Estimates("limit", jobs.limit)).replay()
    return schedule.wait


def _other_cycles(policy: Policy) -> Iterator[tuple[float, Policy]]:
    """The same site with cycles a little sooner or later: when they fall is chance."""
    assert isinstance(policy.rule, SlurmBackfill)
    for seconds in OTHER_INTERVALS:
        rule = replace(policy.rule, interval=seconds)
        yield seconds, replace(policy, backfill=rule.value, rule=rule)


def measured_pause(path: Path) -> float:
    """Seconds, in the middle, from the end of a job to the start of one that waited for its node.

    What took longer waited for a cycle of the backfill.
    """
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    begin = [max(int(row["Submit"]), int(row["Eligible"])) for row in rows]
    nodes = [set(expand(row["NodeList"])) for row in rows]
    ends = [(int(row["End"]), own) for row, own in zip(rows, nodes, strict=True)]
    gaps = []
    for row, since, own in zip(rows, begin, nodes, strict=True):
        start = int(row["Start"])
        before = [end for end, others in ends if since < end <= start and own & others]
        gaps += [start - max(before)] if before else []
    return float(np.median([gap for gap in gaps if gap <= NO_CYCLE] or [0]))


def _figures(gap: Gap | None) -> dict[str, float]:
    assert gap is not None
    found = {name: value for name, value in asdict(gap).items() if name != "label"}
    return found | {"error": gap.replayed_wait / gap.recorded_wait - 1}


def _groups(trace: Trace, recorded: Floats, wait: Floats) -> dict[str, dict[str, float]]:
    """Mean waits of parts of the jobs, recorded and replayed."""
    jobs = trace.jobs
    parts: dict[str, Any] = {
        "with GPUs": jobs.gpus > 0,
        "without GPUs": jobs.gpus == 0,
        "several nodes": jobs.nodes > 1,
        "whole nodes": jobs.exclusive,
        "array tasks": np.array([name is not None for name in jobs.array.names()]),
    }
    for names in (jobs.partition, jobs.qos, jobs.user):
        parts |= {name: names.codes == code for code, name in enumerate(names.values)}
    return {
        name: {
            "jobs": int(mask.sum()),
            "recorded": float(recorded[mask].mean()),
            "replayed": float(wait[mask].mean()),
        }
        for name, mask in parts.items()
        if mask.any()
    }


def _rounded(values: Floats) -> list[float]:
    return [round(float(value), 1) for value in values]


def table(found: Mapping[str, Any]) -> str:
    first = next(iter(found["gaps"].values()))
    lines = [
        f"{found['jobs']:,} jobs; Slurm: mean wait {first['recorded_wait']:.0f} s; "
        f"pause {found['pause']:.1f} s; load {found['load']:.1f}; {found['policy']}"
    ]
    for label, gap in found["gaps"].items():
        lines.append(
            f"  {label:28} {gap['replayed_wait']:7.0f} {gap['error']:+7.1%}  starts off by "
            f"{gap['error_p50']:.0f} (median), {gap['error_p90']:.0f} (p90); "
            f"{gap['near']:.0%} within 60 s"
        )
    others = ", ".join(f"{name} s {error:+.1%}" for name, error in found["chance"].items())
    lines.append(f"  with pauses, a cycle every {others}")
    for name, group in found["groups"].items():
        lines.append(f"  {name:16} {group['jobs']:5} jobs: {group['recorded']:6.0f} recorded, "
                     f"{group['replayed']:6.0f} replayed")  # fmt: skip
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="comma-separated")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--speed", type=float, default=SPEED)
    parser.add_argument("--keep", type=Path, help="a folder for what Slurm told, by seed")
    parser.add_argument("--texts", help="such folders with commas between them: replays alone")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(words)
    if given.texts:
        folders = [Path(name) for name in given.texts.split(",")]
        runs = {str(at): replayed(folder) for at, folder in enumerate(folders, start=1)}
        found = {"speed": given.speed, "runs": runs}
    else:
        seeds = [int(seed) for seed in given.seeds.split(",")]
        found = run(seeds, given.jobs, given.speed, given.keep)
    print("\n".join(table(one) for one in found["runs"].values()))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
