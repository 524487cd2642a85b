"""Promises as a training can keep them: by what part the tail of a size class may grow.

>>> promised_tail("size_p95=10%"), promised_tail("")
(0.1, inf)
"""

from __future__ import annotations

import math

from dovetail.domain.errors import ConfigError
from dovetail.domain.promises import NO_PROMISE, Promises


def promised_tail(text: str) -> float:
    """The bound on size classes, against Slurm's own order; infinite: nothing is promised.

    A training plays parts of histories at several loads, in which groups by user, account and QOS
    are mostly too few jobs: `dovetail compare --promises` looks at these on the whole trace.
    """
    promises = Promises.parse(text)
    others = {
        f"{grouping}_{measure}"
        for grouping in ("size", "qos", "account", "user")
        for measure in ("mean", "p95")
        if promises.allowed(grouping, measure) < NO_PROMISE
    } - {"size_p95"}
    if others or promises.utilisation < math.inf:
        named = sorted(others)[0] if others else "utilisation"
        raise ConfigError(
            f"promise {named}: a training keeps size_p95 alone; look at the others with "
            "`dovetail compare --promises`"
        )
    return promises.size_p95
