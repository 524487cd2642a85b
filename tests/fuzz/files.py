"""Targets that read files: traces, clusters, models, configurations."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl

from dovetail.domain.cluster import Cluster
from dovetail.domain.cluster_toml import cluster_from_toml, load_cluster
from dovetail.domain.trace import Trace
from dovetail.live.config import LiveConfig, load_config
from dovetail.mig.policies.learned.placement import SHIPPED as SHIPPED_MIG
from dovetail.mig.policies.learned.placement import placer_named
from dovetail.mig.workload.day import RELAXED, mig_day
from dovetail.mig.workload.file import read_mig_workload, write_mig_workload
from dovetail.mig.workload.pods import mig_pods
from dovetail.policies.learned.families import FAMILIES
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.kernel_network import shapes
from dovetail.policies.ordering.learned import untrained
from dovetail.policies.policy import SHIPPED, Policy
from dovetail.policies.selections import SELECTIONS
from dovetail.traces.clusters import CLUSTER_FORMATS, read_cluster
from dovetail.traces.clusters.toml import cluster_to_toml
from dovetail.traces.description import describe
from dovetail.traces.formats import FORMATS
from dovetail.traces.reader import read_trace
from dovetail.traces.repair import REPAIRS
from dovetail.traces.writer import write_trace
from tests.fuzz.mutations import VALUES, spoil_bytes, spoil_json
from tests.fuzz.target import Target, replay
from tests.traces.samples import OPENB, SAMPLES
from tests.traces.test_cluster_files import FILES, GRES_CONF

DTYPES = (
    pl.List(pl.Int64), pl.Struct({"a": pl.Int64}), pl.Boolean, pl.Date, pl.Datetime("us"),
    pl.Duration("ms"), pl.Time, pl.Binary, pl.Null, pl.Int8, pl.UInt64, pl.Float32, pl.String,
    pl.Categorical, pl.Decimal(38, 10),
)  # fmt: skip

CLUSTER_TOML = """\
name = "site"
[[nodes]]
name = "v100-[0-3]"
gpus = 8
type = "v100"
cpus = 96
memory_gb = 512.5
switch = "leaf"
nodes_per_switch = 2
[[nodes]]
count = 2
gpus = 2
mig = [1, 4]
[partitions.gpu]
nodes = ["v100-[0-1]", "gpu-4"]
priority = 2.5
[partitions.rest]
share = 0.5
[speed]
v100 = 0.5
[qos]
high = 10
"""


def trace_target(name: str) -> Target:
    """Read, repair, describe, write and now and then replay a spoilt trace file."""

    def run(random: Random, folder: Path) -> None:
        path = SAMPLES[name](folder)
        spoilt = path if path.is_file() else random.choice(sorted(path.iterdir()))
        if name == "parquet" and random.random() < 0.5:
            _other_types(path, random)
        elif spoilt.suffix == ".json" or name == "philly":
            spoilt.write_bytes(spoil_json(spoilt.read_text(), random))
        else:
            spoilt.write_bytes(spoil_bytes(spoilt.read_bytes(), random))
        repairs = random.sample(list(REPAIRS), random.randrange(4))
        trace = read_trace(path, random.choice((None, name)), repairs)
        use_trace(trace, random, folder)

    return Target(f"trace:{name}", run)


def use_trace(trace: Trace, random: Random, folder: Path) -> None:
    """What is done with every trace that was accepted."""
    describe(trace)
    if random.random() < 0.2:
        write_trace(trace, folder / "again.parquet")
        assert read_trace(folder / "again.parquet").digest() == trace.digest()
    if random.random() < 0.3:
        replay(trace, Cluster.parse("2x8:v100,1x4"), random.choice(list(ORDERINGS)), random)


def _other_types(path: Path, random: Random) -> None:
    frame = pl.read_parquet(path)
    column = random.choice(frame.columns)
    dtype = random.choice(DTYPES)
    try:
        other = pl.Series(column, [random.choice(VALUES) for _ in range(len(frame))], dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        other = pl.Series(column, [None] * len(frame), dtype)
    with suppress(pl.exceptions.PolarsError):  # types that no Parquet can hold
        frame.with_columns(other).write_parquet(path)


def cluster_target(name: str) -> Target:
    """Read a spoilt file of a site; what is accepted is written as TOML and read back."""

    def run(random: Random, folder: Path) -> None:
        file, text = FILES[name]
        path = folder / file
        path.write_bytes(_spoil(text, name.endswith("json"), random))
        if name == "slurm-conf":
            (folder / "gres.conf").write_bytes(spoil_bytes(GRES_CONF.encode(), random))
        cluster = read_cluster(path, random.choice((None, name))).cluster
        assert cluster_from_toml(cluster_to_toml(cluster)) == cluster

    return Target(f"cluster:{name}", run)


def _spoil(text: str, is_json: bool, random: Random) -> bytes:
    return spoil_json(text, random) if is_json else spoil_bytes(text.encode(), random)


def read_cluster_toml(random: Random, folder: Path) -> None:
    (folder / "c.toml").write_bytes(spoil_bytes(CLUSTER_TOML.encode(), random))
    cluster = load_cluster(folder / "c.toml")
    cluster.digest()
    if random.random() < 0.1 and len(cluster.nodes) < 1000:
        replay(read_trace(SAMPLES["swf"](folder)), cluster, "slurm-multifactor", random)


def read_live_config(random: Random, folder: Path) -> None:
    path = folder / "dovetail.toml"
    path.write_bytes(spoil_bytes(_live_toml(LiveConfig(), "").encode(), random))
    path.chmod(0o600)
    load_config(path)


def _live_toml(part: Any, name: str) -> str:
    """The defaults as a file would give them."""
    values = {item.name: getattr(part, item.name) for item in fields(part)}
    lines = [f"[{name}]"] if name else []
    tables = ""
    for key, value in values.items():
        if is_dataclass(value):
            tables += _live_toml(value, f"{name}.{key}" if name else key)
        elif isinstance(value, bool | int | float | str):
            lines.append(f"{key} = {json.dumps(getattr(value, 'value', value))}")
        elif isinstance(value, tuple):
            lines.append(f"{key} = {json.dumps(list(value))}")
    return "\n".join(lines) + "\n" + tables


def load_model(random: Random, folder: Path) -> None:
    """A spoilt checkpoint of each kind; what is accepted orders a queue."""
    model = folder / "model"
    shutil.copytree(SHIPPED, model)
    kind = random.choice(("choice", "index", "network", "rltune"))
    if kind != "choice":  # which is what is shipped
        np.savez(model / "policy.npz", **_arrays(kind))
    _spoil_model(model, random)
    policy = Policy(str(model))
    replay(read_trace(SAMPLES["swf"](folder)), Cluster.parse("2x4"), policy.order, random)


def _arrays(kind: str) -> dict[str, Any]:
    if kind == "index":
        return {"kind": np.array(kind), "weights": FAMILIES[kind].start}
    if kind == "network":
        return {"kind": np.array(kind), "weights": untrained(0)}
    names = np.array(next(iter(SELECTIONS.values())).names())
    parts = {part: np.zeros(shape) for part, shape in shapes(names.shape[1]).items()}
    return {"kind": np.array(kind), "features": names, **parts}


def load_mig_model(random: Random, folder: Path) -> None:
    shutil.copytree(SHIPPED_MIG, folder / "model")
    _spoil_model(folder / "model", random)
    placer_named(str(folder / "model"))


def _spoil_model(model: Path, random: Random) -> None:
    weights, card = model / "policy.npz", model / "card.json"
    act = random.random()
    if act < 0.4:
        weights.write_bytes(spoil_bytes(weights.read_bytes(), random))
    elif act < 0.8:
        arrays = dict(np.load(io.BytesIO(weights.read_bytes())))
        arrays[random.choice(list(arrays))] = _other_array(random)
        np.savez(weights, **arrays)
    else:
        card.write_bytes(spoil_json(card.read_text(), random))


def _other_array(random: Random) -> Any:
    shape = random.choice(((), (0,), (1,), (17,), (3, 4), (4, 2), (2**16,)))
    kind = random.choice(("f8", "f4", "i8", "c16", "U5", "S3", "?", "M8[s]", [("a", "f8")]))
    array = np.zeros(shape, kind)
    if array.dtype.kind == "f":
        array += random.choice((np.nan, np.inf, 1e30, -1e30, 0.0))
    return array


def read_mig_jobs(random: Random, folder: Path) -> None:
    path = folder / "day.csv"
    write_mig_workload(mig_day(0, RELAXED, 20.0, 1.0), path)
    path.write_bytes(spoil_bytes(path.read_bytes(), random))
    read_mig_workload(path)


def read_mig_pods(random: Random, folder: Path) -> None:
    (folder / "pods.csv").write_bytes(spoil_bytes(OPENB.encode(), random))
    mig_pods(folder / "pods.csv", 0, RELAXED, 1.0)


SINGLE: dict[str, Callable[[Random, Path], None]] = {
    "cluster:toml": read_cluster_toml,
    "live:config": read_live_config,
    "model": load_model,
    "mig:model": load_mig_model,
    "mig:jobs": read_mig_jobs,
    "mig:pods": read_mig_pods,
}
TARGETS = (
    *(trace_target(name) for name in FORMATS),
    *(cluster_target(name) for name in CLUSTER_FORMATS),
    *(Target(name, run) for name, run in SINGLE.items()),
)
