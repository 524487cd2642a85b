"""GPU instances as a node shows them, and the device files that open them.

A driver numbers instances as it makes them, and drivers differ in the order, so that the device
files of an instance are known only once it exists: what a node says is read, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.domain.errors import ConfigError
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.profiles import InstancePlacement

HOW_TO_LIST = "(nvidia-smi mig -lgi; cat /proc/driver/nvidia-caps/mig-minors) > NODE.txt"

_ROW = re.compile(
    r"^\|\s*(?P<gpu>\d{1,3})\s+MIG\s+(?P<profile>[\w.+]{1,20})\s+\d+\s+(?P<id>\d{1,3})"
    r"\s+(?P<start>\d{1,2}):\d{1,2}\s*\|\s*$",
    re.ASCII | re.MULTILINE,
)
_MINOR = re.compile(
    r"^gpu(?P<gpu>\d{1,3})/gi(?P<id>\d{1,3})/(?P<compute>ci0/)?access (?P<minor>\d{1,6})\s*$",
    re.ASCII | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a GPU, with the minor numbers of its capability devices."""

    profile: str
    start: int
    minors: tuple[int, int]  # of the GPU instance, and of the compute instance in it


Instances = Mapping[int, tuple[Instance, ...]]
"""GPU index -> its instances, by their place."""


def read_instances(text: str, model: GpuModel) -> dict[int, tuple[Instance, ...]]:
    """A node's instances from what HOW_TO_LIST prints there, checked against the rules."""
    minors = {
        (int(row["gpu"]), int(row["id"]), row["compute"] is not None): int(row["minor"])
        for row in _MINOR.finditer(text)
    }
    found: dict[int, list[Instance]] = {}
    for row in _ROW.finditer(text):
        gpu, number = int(row["gpu"]), int(row["id"])
        try:
            pair = (minors[gpu, number, False], minors[gpu, number, True])
        except KeyError:
            raise ConfigError(
                f"GPU {gpu} instance {number}: no minor numbers; list with {HOW_TO_LIST}"
            ) from None
        found.setdefault(gpu, []).append(Instance(row["profile"], int(row["start"]), pair))
    if not found:
        raise ConfigError(f"no GPU instance in the list; make it on the node with {HOW_TO_LIST}")
    for parts in found.values():
        model.check([InstancePlacement(part.profile, part.start) for part in parts])
    return {g: tuple(sorted(parts, key=lambda part: part.start)) for g, parts in found.items()}
