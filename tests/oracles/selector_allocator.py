"""What has passed by a moment, and which nodes may take a chunk, in plain Python."""

from __future__ import annotations

from typing import Any

from dovetail.domain.policy import JobFacts
from dovetail.envs.renderers import table_of
from dovetail.simulator.kernel.demand_rows import Demand
from dovetail.simulator.kernel.rows import KindRow, NodeRow, RunRow


def accrued(world: Any, runs: Any, carried: int, begin: float, gpus: int) -> list[float]:
    """Mean wait, turnaround and bounded slowdown until now, and per cent of GPUs unused.

    runs: the world's own, or how another pair ran the same jobs, the later ones included.
    """
    now, submitted = float(world["now"]), int(world["submitted"])
    jobs = table_of(world, "jobs", JobFacts, "job_count")
    demands = table_of(world, "demands", Demand, "demand_count")
    kept = (runs["demand"] >= 0) & ~runs["refused"]
    ran_before = [j < carried and float(runs["start"][j]) < begin for j in range(len(jobs))]
    own = [j for j in range(len(jobs)) if kept[j] and not ran_before[j]]
    waits, turns, slows, busy, last = [0.0], [0.0], [0.0], 0.0, begin
    for job in own:
        if job >= submitted:
            continue
        submit, start = float(jobs["submit"][job]), float(runs["start"][job])
        if not start <= now:
            run = float(runs["run"][job]) / float(demands["speed"][runs["demand"][job]])
            waits.append(now - submit)
            turns.append(now - submit)
            slows.append(max(1.0, (now - submit + run) / max(run, 10.0)))
            continue
        end = float(runs["end"][job])
        waits.append(start - submit)
        turns.append(min(end, now) - submit)
        slows.append(max(1.0, (end - submit) / max(end - start, 10.0)))
        busy += int(jobs["gpus"][job]) * (min(end, now) - start)
        last = max(last, min(end, now))
    unused = 100.0 * (1.0 - busy / (gpus * (last - begin))) if last > begin else 0.0
    return [sum(part) / max(1, len(own)) for part in (waits, turns, slows)] + [unused]


def own_runs(world: Any) -> Any:
    return table_of(world, "runs", RunRow, "job_count")


def classes_for(world: Any, chunk: int, kinds: list[int], used: list[int]) -> set[tuple[int, int]]:
    """(kind, free GPUs) of nodes that could take a chunk where nobody holds a reservation."""
    nodes = table_of(world, "nodes", NodeRow, "node_count")
    return {
        (int(node["kind"]), int(node["gpus"]))
        for number, node in enumerate(nodes)
        if int(node["kind"]) in kinds and node["gpus"] >= chunk and number not in used
    }


def balanced(world: Any) -> bool:
    """Whether every node has as many GPUs free as it should, and all of them together."""
    nodes = table_of(world, "nodes", NodeRow, "node_count")
    kinds = table_of(world, "kinds", KindRow, "kind_count")
    whole = kinds["gpus"][nodes["kind"]]
    bits = [int(bits).bit_count() for bits in nodes["bits"]]
    return bool(
        (nodes["gpus"] >= 0).all()
        and (nodes["gpus"] <= whole).all()
        and bits == nodes["gpus"].tolist()
        and int(nodes["gpus"].sum()) == int(world["free_gpus"])
    )


def waiting_jobs(world: Any) -> int:
    """How many jobs wait."""
    demands = table_of(world, "demands", Demand, "demand_count")
    return int((demands["high"] - demands["low"]).sum())
