"""slurm.conf, with the gres.conf beside it: nodes and partitions as the site configured them."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

from dovetail.domain.cluster import SETTINGS
from dovetail.slurm.conf import includes_of, lines_of, settings_of_conf
from dovetail.slurm.gres import gpus_of
from dovetail.slurm.host_lists import expand
from dovetail.slurm.licenses import licenses_of
from dovetail.slurm.words import words_of
from dovetail.traces.clusters.partition_fields import add_partition
from dovetail.traces.clusters.scontrol import add_node
from dovetail.traces.clusters.shape import ClusterFormat, Shape
from dovetail.traces.clusters.unread import NODE_KEYS, SETTINGS_WITHOUT
from dovetail.traces.source import read_text

_NODE_LINE = re.compile(rb"(?mi)^\s*NodeName=")
_COUNT = re.compile(r"^[0-9]{1,9}$")

Fields = dict[str, str]


def sniff(path: Path, head: bytes) -> bool:
    return path.name == "slurm.conf" or (
        _NODE_LINE.search(head) is not None and b"CPUTot=" not in head and b"=" in head
    )


def read(path: Path) -> Shape:
    shape = Shape(path.stem, cpu_nodes=True)
    gres = _gres(path.with_name("gres.conf"))
    node_defaults: Fields = {}
    part_defaults: Fields = {}
    partitions: list[Fields] = []
    text = read_text(path)
    shape.notes += [f"not followed: include {name}" for name in includes_of(text)]
    for fields in lines_of(text):
        if fields.get("nodename", "").upper() == "DEFAULT":
            node_defaults |= fields
        elif fields.get("partitionname", "").upper() == "DEFAULT":
            part_defaults |= fields
        elif "nodename" in fields:
            _add_nodes(shape, node_defaults | fields, gres)
        elif "partitionname" in fields:
            partitions.append(part_defaults | fields)
    settings = settings_of_conf(text)
    everywhere = {"maxmempernode": settings.get("maxmempernode", "")}
    for fields in partitions:
        add_partition(shape, everywhere | fields)
    shape.slurm = _settings(settings)
    shape.enforced = settings.get("accountingstorageenforce", "")
    for name, same in SETTINGS_WITHOUT.items():
        shape.unread.add(name, settings.get(name.lower(), ""), "slurm.conf", same)
    if "NO_FAIR_TREE" in shape.slurm.get("PriorityFlags", "").upper():
        shape.notes.append("PriorityFlags=NO_FAIR_TREE: accounts with shares go by Fair Tree here")
    shape.licenses = licenses_of(settings.get("licenses", ""))
    return shape


def _settings(found: dict[str, str]) -> dict[str, str]:
    """Those that decide how jobs are ordered and what may pass."""
    return {name: found[name.lower()] for name in SETTINGS if name.lower() in found}


def _add_nodes(shape: Shape, fields: Fields, gres: dict[str, list[str]]) -> None:
    for key in NODE_KEYS:
        shape.unread.add(
            key, fields.get(key.lower(), ""), f"nodes {fields['nodename']}", ("1", "(null)")
        )
    for name in expand(fields["nodename"]):
        configured = fields.get("gres", "")
        total, gpu_type = gpus_of(configured)
        # gres.conf tells the type where slurm.conf has the number only.
        if name in gres and not (gpu_type and total):
            detailed = ",".join(gres[name])
            configured = detailed if gpus_of(detailed)[0] >= total else configured
        features = words_of(fields.get("features", fields.get("feature", "")))
        memory = fields.get("realmemory")
        add_node(shape, name, configured, _cpus(fields), memory, features=features)


def _cpus(fields: Fields) -> str | None:
    if "cpus" in fields or "procs" in fields:
        return fields.get("cpus", fields.get("procs"))
    sockets = fields.get("sockets", fields.get("socketsperboard", "1"))
    others = (fields.get(name, "1") for name in ("corespersocket", "threadspercore", "boards"))
    factors = (sockets, *others)
    if "corespersocket" not in fields or not all(_COUNT.match(factor) for factor in factors):
        return None
    return str(prod(map(int, factors)))


def _gres(path: Path) -> dict[str, list[str]]:
    """Node name -> its GPUs as slurm.conf would write them."""
    found: dict[str, list[str]] = {}
    if not path.is_file():
        return found
    for fields in lines_of(read_text(path)):
        if fields.get("name", "").lower() != "gpu" or "nodename" not in fields:
            continue
        gpu_type = f":{fields['type']}" if "type" in fields else ""
        # MultipleFiles are the several files of one device, a MIG slice.
        files = len(expand(fields.get("file", "")))
        count = fields.get("count") or str(files or 1)
        for name in expand(fields["nodename"]):
            found.setdefault(name, []).append(f"gpu{gpu_type}:{count}")
    return found


SLURM_CONF = ClusterFormat("slurm-conf", "slurm.conf with gres.conf beside it", sniff, read)
