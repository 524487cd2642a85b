"""Jobs and nodes from Slurm's JSON, of its programs or of its REST service, 22.05 to 26.05.

Numbers are plain up to 22.05 (null: not set, -1: no limit) and {set, infinite, number} later;
states are a word and flags, later a list of both; sinfo has rows of groups since 23.02.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.domain.errors import ClusterError
from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.backends.slurm.arrays import labelled
from dovetail.live.backends.slurm.host_gpus import uneven
from dovetail.live.model.snapshot import NEVER, LiveJob, LiveNode
from dovetail.slurm.gres import gpus_of
from dovetail.slurm.host_lists import hosts_of
from dovetail.slurm.job_arrays import tasks_of
from dovetail.slurm.json_values import number_of
from dovetail.slurm.states import GOING, job_state, node_state_of_words
from dovetail.slurm.tres import request_of
from dovetail.slurm.words import text_of, words_of

Json = Mapping[str, Any]


def answer_of(text: str | bytes, source: str) -> Json:
    """An answer without errors; with them its lists are empty, which looks like an idle cluster."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{source}: not JSON: {error}") from None
    if not isinstance(answer, dict):
        raise Unreadable(f"{source}: expected a table, got {type(answer).__name__}")
    errors = answer.get("errors")
    if errors:
        raise Unreachable(f"{source}: {words_of_errors(errors)}; `scontrol ping` tells more")
    return answer


def words_of_errors(errors: Any) -> str:
    """What went wrong, in the words that each version uses."""
    items = errors if isinstance(errors, list) else [errors]
    said = [
        ": ".join(str(item[key]) for key in ("description", "error") if item.get(key)) or str(item)
        if isinstance(item, dict)
        else str(item)
        for item in items
    ]
    return " ".join("; ".join(said).split())[:300]


def jobs_of(answer: Json) -> tuple[list[LiveJob], list[str]]:
    """The jobs, and a sentence for each that cannot be read."""
    jobs, doubts = [], []
    for row in _rows(answer, "jobs"):
        try:
            jobs.append(_job(row))
        except (
            ValueError,
            OverflowError,
            TypeError,
            KeyError,
            AttributeError,
            ClusterError,
        ) as error:
            number = row.get("job_id") if isinstance(row, dict) else None
            doubts.append(f"JSON: job {number!a} cannot be read: {str(error)[:200]!a}")
    return jobs, doubts


def _job(row: Json) -> LiveJob:
    state = job_state(row["job_state"])
    waits = state == "PENDING"
    request = request_of(
        tres=row.get("tres_alloc_str") or row.get("tres_req_str") or "",
        per_job=row.get("tres_per_job") or "",
        per_node=row.get("tres_per_node") or "",
        per_socket=row.get("tres_per_socket") or "",
        per_task=row.get("tres_per_task") or "",
        tasks=str(int(number_of(row.get("tasks"), 1))),
    )
    array, task = number_of(row.get("array_job_id"), 0), number_of(row.get("array_task_id"))
    tasks = row.get("array_task_string") or ""
    job = LiveJob(
        id=int(row["job_id"]),
        label=_label(row, array, task),
        state=state,
        reason=text_of(row.get("state_description") or row.get("state_reason") or ""),
        name=row.get("name") or "",
        user=row.get("user_name") or "",
        account=row.get("account") or "",
        partitions=words_of(row.get("partition") or ""),
        qos=row.get("qos") or "",
        submit=_moment(row.get("submit_time")),
        eligible=_moment(row.get("eligible_time")),
        start=NEVER if waits else _moment(row.get("start_time")),
        end=NEVER if waits or state in GOING else _moment(row.get("end_time")),
        limit=_minutes(row.get("time_limit")),
        gpus=request.gpus,
        gpu_type=request.gpu_type,
        nodes=request.nodes,
        cpus=request.cpus,
        memory_gb=request.memory_gb,
        features=text_of(row.get("features") or ""),
        wants=hosts_of(row.get("required_nodes") or ""),
        avoids=hosts_of(row.get("excluded_nodes") or "") if waits else (),
        hosts=hosts_of(row.get("nodes") or ""),
        dependency=text_of(row.get("dependency") or ""),
        reservation=text_of(row.get("resv_name") or ""),
        comment=text_of(row.get("admin_comment") or ""),
        array=int(array) if tasks or not math.isnan(task) else 0,
        het=int(number_of(row.get("het_job_id"), 0)),
        restarts=int(number_of(row.get("restart_cnt"), 0)),
        priority=int(number_of(row.get("priority"), 0)),
        nice=int(number_of(row.get("nice"), 0)),
    )
    if tasks:
        return labelled(job, tasks_of(tasks))
    return _with_spread(job, row.get("gres_detail") or []) if job.running else job


def _label(row: Json, array: float, task: float) -> str:
    if row.get("array_task_string"):
        return f"{int(array)}_{min(tasks_of(row['array_task_string']))}"
    if array and not math.isnan(task):
        return f"{int(array)}_{int(task)}"
    het = number_of(row.get("het_job_id"), 0)
    if het:
        return f"{int(het)}+{int(number_of(row.get('het_job_offset'), 0))}"
    return str(int(row["job_id"]))


def _with_spread(job: LiveJob, detail: list[str]) -> LiveJob:
    counts = tuple(gpus_of(gres)[0] for gres in detail)
    return job._replace(host_gpus=uneven(job, counts)) if counts else job


def nodes_of(answer: Json) -> tuple[LiveNode, ...]:
    """From `nodes` of REST and of old programs, or from the groups of sinfo."""
    try:
        if "sinfo" in answer:
            return _grouped(_rows(answer, "sinfo"))
        return tuple(_node(row) for row in _rows(answer, "nodes"))
    except (ValueError, OverflowError, TypeError, KeyError, AttributeError) as error:
        raise Unreadable(f"JSON: a node cannot be read: {str(error)[:200]!a}") from None


def _node(row: Json) -> LiveNode:
    state, flags = node_state_of_words(_listed(row["state"]) + (row.get("state_flags") or []))
    gpus, gpu_type = gpus_of(row.get("gres") or "")
    return LiveNode(
        row["name"],
        state,
        flags,
        gpus,
        gpu_type,
        number_of(row.get("cpus"), 0),
        number_of(row.get("real_memory"), 0) / 1024,
        tuple(row.get("partitions") or ()),
        _features(row.get("active_features") or row.get("features") or ()),
        gpus_of(row.get("gres_used") or "")[0],
        row.get("reason") or "",
    )


def _grouped(rows: Iterable[Json]) -> tuple[LiveNode, ...]:
    """Nodes that are alike share a row, one for each of their partitions."""
    found: dict[str, LiveNode] = {}
    for row in rows:
        state, flags = node_state_of_words(_listed(row["node"]["state"]))
        gpus, gpu_type = gpus_of(row["gres"]["total"])
        reason = row.get("reason") or {}
        for name in row["nodes"]["nodes"]:
            known = found.get(name)
            found[name] = LiveNode(
                name,
                state,
                flags,
                gpus,
                gpu_type,
                number_of(row["cpus"]["maximum"], 0),
                number_of(row["memory"]["maximum"], 0) / 1024,
                (*(known.partitions if known else ()), row["partition"]["name"]),
                _features(row["features"].get("active") or ()),
                gpus_of(row["gres"].get("used") or "")[0],
                (reason.get("description") or "") if isinstance(reason, dict) else str(reason),
            )
    return tuple(found.values())


def _listed(state: str | list[str]) -> list[str]:
    """Old versions write a word and flags beside it, new ones a list of both."""
    return [state] if isinstance(state, str) else list(state)


def _moment(value: Any) -> float:
    seconds = number_of(value)
    return seconds if 0 < seconds < math.inf else NEVER


def _minutes(value: Any) -> float:
    minutes = number_of(value)
    return 60 * minutes if 0 <= minutes < math.inf else NEVER


def _features(value: str | Iterable[str]) -> frozenset[str]:
    return frozenset(words_of(value) if isinstance(value, str) else value)


def _rows(answer: Json, key: str) -> list[Any]:
    rows = answer.get(key)
    if not isinstance(rows, list):
        raise Unreadable(f"JSON: no list {key!r}, but {', '.join(sorted(answer))[:200]}")
    return rows
