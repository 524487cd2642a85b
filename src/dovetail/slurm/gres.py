"""Slurm's generic resources: the GPUs of `gpu:a100:4(S:0-1),shard:8`.

>>> gpu_counts("gpu:a100:4(IDX:0-3),gpu:h100:1,shard:8")
{'a100': 4, 'h100': 1}
>>> gpus_of("gpu:a100:4(S:0-1),gpu:h100:1")
(5, 'a100|h100')
>>> mig_profile("a100_1g.5gb"), without_mig("a100_1g.5gb")
('1g.5gb', 'a100')
"""

from __future__ import annotations

import re
from functools import lru_cache

# Jobs write gres:gpu or gres/gpu and, in new versions, = before the count; a name that begins with
# a digit, such as 1g.10gb, is a type unless it is a number. Indices in brackets may hold commas.
_GPU = re.compile(
    r"(?:^|,)\s*(?:gres[:/])?gpu(?:[:=]([^:=,()]*[^\d:=,()][^:=,()]*|\(null\)))?"
    r"(?:[:=](\d{1,9}))?\s*(?=[,(]|$)"
)
_MIG = re.compile(r"[-_:.]?(\d+g\.\d+gb)(?:\+\w+)?")


def gpu_counts(gres: str) -> dict[str, int]:
    """GPUs of each type, in the order of the text; those without a type under an empty name."""
    counts: dict[str, int] = {}
    for kind, number in _GPU.findall(gres):
        name = "" if kind == "(null)" else kind
        counts[name] = counts.get(name, 0) + int(number or 1)
    return counts


@lru_cache(maxsize=8192)
def gpus_of(gres: str) -> tuple[int, str]:
    """GPUs of all types together, and the types with a bar between them."""
    counts = gpu_counts(gres)
    return sum(counts.values()), "|".join(name for name, count in counts.items() if name and count)


def mig_profile(gpu_type: str) -> str | None:
    """The slice that a type names at its end; None: a whole GPU."""
    found = _MIG.search(gpu_type)
    return found[1] if found and found.end() == len(gpu_type) else None


def without_mig(gpu_type: str) -> str:
    """The type of the GPU that a slice is cut from; empty where only the slice is named."""
    return _MIG.sub("", gpu_type)
