"""TRESBillingWeights: what a second of a CPU, a GB, a GPU and a node counts for.

>>> billing_of('"CPU=1.0,Mem=0.25G,GRES/gpu=2.0,bb/cray=3"')
({'cpu': 1.0, 'memory_gb': 0.25, 'gpu': 2.0}, ('bb/cray',))
"""

from __future__ import annotations

import math

from dovetail.slurm.amounts import amount_of
from dovetail.slurm.words import text_of

_BILLED = {"cpu": "cpu", "mem": "memory_gb", "gres/gpu": "gpu", "node": "node"}


def billing_of(text: str) -> tuple[dict[str, float], tuple[str, ...]]:
    """The weights by what they are of, and the names of others."""
    found: dict[str, float] = {}
    others: list[str] = []
    for word in text_of(text).strip('"').split(","):
        what, _, weight = word.strip().lower().partition("=")
        name = _BILLED.get(what)
        # A unit behind the weight is that of the memory: MB where there is none.
        value = amount_of(weight.rstrip("kmgtp"))
        if name == "memory_gb":
            value *= amount_of(f"1{(weight[-1:].upper() if weight[-1:].isalpha() else 'M')}") ** -1
            value *= amount_of("1G")
        if name is not None and math.isfinite(value):
            found[name] = value
        elif what:
            others.append(what)
    return found, tuple(others)
