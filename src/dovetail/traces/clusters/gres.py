"""Slurm's generic resources of a node: `gpu:a100:4(S:0-1),shard:8` to GPUs and their type."""

from __future__ import annotations

import re

_PARENTHESES = re.compile(r"\([^)]*\)")
_GPU = re.compile(r"^gpu(?::(?P<type>[^:]*[^:\d][^:]*))?(?::(?P<count>[0-9]{1,9}))?$")


def gpus_of(gres: str | None) -> tuple[int, str | None, bool]:
    """GPUs of all types together, the type of most of them, and whether there are several."""
    counts: dict[str | None, int] = {}
    for item in _PARENTHESES.sub("", gres or "").split(","):
        match = _GPU.match(item.strip())
        if match:
            gpu_type = match["type"].lower() if match["type"] else None
            counts[gpu_type] = counts.get(gpu_type, 0) + int(match["count"] or 1)
    if not counts:
        return 0, None, False
    return sum(counts.values()), max(counts, key=lambda t: counts[t]), len(counts) > 1
