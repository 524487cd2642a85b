"""Labels of exporters to GPUs: DCGM, AMD and jobstats call the same things differently.

>>> read_labels({"gpu": "0", "Hostname": "n1", "modelName": "A100", "GPU_I_ID": "7"})
(GpuName(host='n1', number='0', instance='7'), GpuLabels(uuid='', model='A100', profile='', job=''))
"""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.telemetry.readings import GpuLabels, GpuName

HOST = ("Hostname", "hostname", "host", "instance")
INDEX = ("gpu", "gpu_id", "minor_number")
INSTANCE = ("GPU_I_ID", "gpu_partition_id")
UUID = ("UUID", "gpu_uuid", "uuid", "serial_number")
MODEL = ("modelName", "card_series", "card_model", "name")
PROFILE = ("GPU_I_PROFILE",)
JOB = ("hpc_job", "jobid", "job_id")

KEPT = frozenset((*HOST, *INDEX, *INSTANCE, *UUID, *MODEL, *PROFILE, *JOB))

LONGEST = 256
"""Characters of a label that are kept; names come from strangers."""


def read_labels(labels: Mapping[str, str], host: str = "") -> tuple[GpuName, GpuLabels] | None:
    """Which GPU a series is of; None: it does not say. `host`: where there is no label for it."""
    index = _first(labels, INDEX)
    name = _first(labels, HOST) or host
    if not index or not name:
        return None
    instance = _first(labels, INSTANCE)
    # AMD numbers the one partition of an uncut GPU 0.
    if instance == "0" and "gpu_partition_id" in labels and "GPU_I_ID" not in labels:
        instance = ""
    gpu = GpuName(name, index, instance)
    told = (_first(labels, keys) for keys in (UUID, MODEL, PROFILE, JOB))
    return gpu, GpuLabels(*told)


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    for key in keys:
        found = labels.get(key)
        if found:
            return found[:LONGEST]
    return ""
