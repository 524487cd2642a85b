"""What a trace can say of a job: the fields of our Parquet, and what `--map` may name in a CSV."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dovetail.domain.registry import Registry


class Holds(Enum):
    """How a field's text is read."""

    TIME = "time"  # seconds, or 2024-05-01T12:00:00 with or without a zone
    DURATION = "duration"  # seconds, or Slurm's [days-]hours:minutes:seconds
    NUMBER = "number"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name for `--map`, in our tables, and in our Parquet."""

    name: str
    column: str
    parquet: str
    holds: Holds
    about: str


FIELDS: Registry[Field] = Registry(
    "field",
    {
        field.name: field
        for field in (
            Field("id", "id", "job_id", Holds.NAME, "the job's id; CSV: row numbers if not there"),
            Field(
                "submit", "submit", "submit_time", Holds.TIME, "when it could first run (needed)"
            ),
            Field("duration", "run", "duration", Holds.DURATION, "how long it ran (needed)"),
            Field("gpus", "gpus", "req_gpus", Holds.NUMBER, "GPUs of all nodes together (needed)"),
            Field("limit", "limit", "req_time", Holds.DURATION, "the user's time limit"),
            Field("nodes", "nodes", "num_nodes", Holds.NUMBER, "nodes to spread over evenly"),
            Field("cpus", "cpus", "req_cpus", Holds.NUMBER, "CPUs of all nodes together"),
            Field("memory_gb", "memory", "req_mem_gb", Holds.NUMBER, "memory of all nodes, in GB"),
            Field("gpu_type", "gpu_type", "gpu_type", Holds.NAME, "types it may use: v100|p100"),
            Field(
                "partition",
                "partition",
                "vc",
                Holds.NAME,
                "partition or virtual cluster; any of several: short,long",
            ),
            Field("user", "user", "user", Holds.NAME, "who submitted it"),
            Field("qos", "qos", "qos", Holds.NAME, "quality of service"),
            Field("kind", "kind", "kind", Holds.NAME, "what it does: training, inference, ..."),
            Field("mig", "mig", "mig", Holds.NAME, "the slice of a GPU that it asks for"),
            Field("priority", "priority", "priority", Holds.NUMBER, "a priority of its own"),
            Field("deadline", "deadline", "deadline", Holds.TIME, "when it should have ended"),
            Field("exempt", "exempt", "exempt", Holds.NUMBER, "1: policies leave it alone"),
            Field("start", "recorded_start", "start_time", Holds.TIME, "when it really started"),
            Field("name", "name", "job_name", Holds.NAME, "the job's name, or its executable"),
            Field("account", "account", "account", Holds.NAME, "who pays: an account or group"),
            Field("work_dir", "work_dir", "work_dir", Holds.NAME, "where it was submitted"),
            Field("submit_line", "submit_line", "submit_line", Holds.NAME, "with what command"),
            Field("array", "array", "array_id", Holds.NAME, "the array that it is a task of"),
            Field("restarts", "restarts", "restarts", Holds.NUMBER, "times it had been requeued"),
            Field("exclusive", "exclusive", "exclusive", Holds.NUMBER, "1: it takes whole nodes"),
            Field("constraint", "constraint", "constraint", Holds.NAME, "features of its nodes"),
            Field(
                "dependency",
                "dependency",
                "dependency",
                Holds.NAME,
                "what it waits for, as sbatch has it: afterok:17, singleton",
            ),
            Field(
                "earliest",
                "earliest",
                "earliest_time",
                Holds.TIME,
                "with a dependency: when it could run if that were met; else submit",
            ),
            Field(
                "throttle",
                "throttle",
                "array_throttle",
                Holds.NUMBER,
                "tasks of its array that may run at once",
            ),
            Field("licenses", "licenses", "licenses", Holds.NAME, "it holds: matlab:2,ansys"),
            Field("nodelist", "nodelist", "nodelist", Holds.NAME, "nodes it asks for: gpu[1-2]"),
            Field("exclude", "exclude", "exclude", Holds.NAME, "nodes it never runs on: gpu[1-2]"),
            Field("reservation", "reservation", "reservation", Holds.NAME, "it asks for by name"),
        )
    },
)
