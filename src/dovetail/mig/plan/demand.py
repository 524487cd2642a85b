"""How many instances of each size jobs keep busy at once: from a table, or from a trace."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.jobs import UNKNOWN, Jobs
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.profiles import MigProfile

Demand = Mapping[str, float]
"""Profile -> instances of it, or of a larger one, that are needed at once."""

_SIZE = re.compile(r"^(\d{1,2})g$")


def parse_demand(text: str, model: GpuModel) -> dict[str, float]:
    """`1g=40,1g.10gb=2,7g=3` as a demand; `2g` is the smallest profile with two compute slices."""
    demand: dict[str, float] = {}
    for item in text.split(","):
        name, equals, amount = item.partition("=")
        profile = _profile(name.strip(), model).name
        try:
            number = float(amount)
        except ValueError:
            number = math.nan
        if not equals or not (number >= 0 and math.isfinite(number)):
            raise ConfigError(f"demand {item.strip()!r}: write size=amount, for example 1g=40")
        demand[profile] = demand.get(profile, 0.0) + number
    return demand


def demand_of(jobs: Jobs, model: GpuModel) -> dict[str, float]:
    """What a history kept busy on average; jobs that ask for whole GPUs need the largest profile.

    An instance in use for the whole span counts 1, as does a whole GPU.
    """
    span = float(jobs.submit[-1] - jobs.submit[0]) if len(jobs) else 0.0
    if span <= 0:
        raise TraceError("the trace's jobs were all submitted at once: no average demand in them")
    work = jobs.gpus * jobs.run
    whole = model.profiles[-1].name
    demand: dict[str, float] = {}
    for code in np.unique(jobs.mig.codes).tolist():
        name = whole if code == UNKNOWN else model.profile(jobs.mig.values[code]).name
        busy = float(work[jobs.mig.codes == code].sum()) / span
        demand[name] = demand.get(name, 0.0) + busy
    return demand


def _profile(name: str, model: GpuModel) -> MigProfile:
    match = _SIZE.match(name)
    if match is None:
        return model.profile(name)
    for profile in model.profiles:
        if profile.compute >= int(match[1]):
            return profile
    raise ConfigError(f"demand for {name}: {model.name} has {model.compute_slices} compute slices")
