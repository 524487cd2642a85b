"""Which configurations suit a demand: those under which it may grow most before it waits.

>>> from dovetail.mig.gpus.table import GPU_MODELS
>>> choose_configurations({"7g.40gb": 1.0, "1g.5gb": 7.0}, 2, GPU_MODELS["a100-40"])
[1, 19]

Profiles form a chain: each has at least the compute slices and the memory of the one before, so
that an instance serves any need up to its own size. All needs can then be served at once exactly
if, for each size, there are as many instances of that size or larger as are needed (Hall's
theorem on a chain). The headroom of a size is the one number divided by the other, and the
smallest headroom is how far the whole demand may grow (or, below 1, the share of it that is
served if all sizes are cut down alike). It is made as large as possible; then the second
smallest, and so on, so that no size that is asked for at all is shut out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.profiles import MigConfiguration
from dovetail.mig.plan.demand import Demand
from dovetail.mig.plan.plan import MOST_GPUS

BLOCK = 500
"""GPUs that are chosen one by one: 0.1 s."""


def choose_configurations(demand: Demand, gpus: int, model: GpuModel) -> list[int]:
    """A configuration number for each of so many alike GPUs, in ascending order.

    One GPU after the other gets what helps most; then one or two GPUs at a time are changed as
    long as that helps. It found the exact optimum in each of 1,210 random cases of up to six GPUs.
    Of very many GPUs, blocks of BLOCK are cut alike, each for its share of the demand.
    """
    if not 1 <= gpus <= MOST_GPUS:
        raise ConfigError(f"{gpus:,} GPUs to cut; expected 1 to {MOST_GPUS:,}")
    numbers, instances = _choices(model)
    needed, sizes = _needs(demand, model)
    cover = instances[:, sizes]  # (choice, size): instances of that size or larger
    blocks = gpus // BLOCK if gpus > 2 * BLOCK else 0
    counts = np.zeros(len(numbers), np.int64)
    if blocks > 0:
        counts = blocks * _fill(counts, BLOCK, cover, needed * (BLOCK / gpus))
    counts = _fill(counts, gpus - blocks * BLOCK, cover, needed)
    return np.repeat(numbers, counts).tolist()


def _fill(counts: Ints, gpus: int, cover: Ints, needed: Floats) -> Ints:
    """So many GPUs more."""
    for _ in range(gpus):
        counts = counts.copy()
        counts[_best(_headrooms(counts @ cover + cover, needed))] += 1
    return _improve(counts, cover, needed)


def headroom(demand: Demand, configurations: Sequence[int], model: GpuModel) -> float:
    """By what factor the demand may grow and still be served at once."""
    needed, sizes = _needs(demand, model)
    chosen = [model.configuration(number) for number in configurations]
    there = sum((_at_least(c, model) for c in chosen), np.zeros(len(model.profiles), np.int64))
    return float((there[sizes] / needed).min())


def _choices(model: GpuModel) -> tuple[Ints, Ints]:
    """Numbers of the configurations that differ as sets, and what each holds of every size."""
    different: dict[tuple[int, ...], int] = {}
    for configuration in model.configurations:
        key = tuple(_at_least(configuration, model).tolist())
        different.setdefault(key, configuration.number)
    return np.array(list(different.values())), np.array(list(different))


def _at_least(configuration: MigConfiguration, model: GpuModel) -> Ints:
    """Instances of each profile or a larger one."""
    counts = [configuration.counts.get(profile.name, 0) for profile in model.profiles]
    return np.cumsum(counts[::-1])[::-1]


def _needs(demand: Demand, model: GpuModel) -> tuple[Floats, Ints]:
    """For each profile asked for: how much of it or of larger ones is needed; and its place."""
    for name in demand:
        model.profile(name)
    amounts = np.array([demand.get(profile.name, 0.0) for profile in model.profiles])
    if not (np.isfinite(amounts).all() and (amounts >= 0).all() and amounts.any()):
        raise ConfigError("a demand needs amounts of 0 or more, and at least one above 0")
    # A size that nobody asks for is never scarcer than the next larger one.
    sizes = np.flatnonzero(amounts)
    return np.cumsum(amounts[::-1])[::-1][sizes], sizes


def _headrooms(there: Ints, needed: Floats) -> Floats:
    """Rows of headrooms, the smallest first, to be compared from the left."""
    return np.sort(there / needed, axis=-1)


def _best(rows: Floats) -> int:
    """The first of the greatest rows."""
    best = rows[np.lexsort(rows.T[::-1])[-1]]
    return int(np.flatnonzero((rows == best).all(axis=1))[0])


def _improve(counts: Ints, cover: Ints, needed: Floats) -> Ints:
    """Exchange one or two GPUs' configurations for others as long as that helps."""
    choices = len(counts)
    one = np.eye(choices, dtype=np.int64)
    single = (one[None, :, :] - one[:, None, :]).reshape(-1, choices)  # stays, or one moves
    moves = (single[:, None, :] + single[None, :, :]).reshape(-1, choices)
    while True:
        possible = counts + moves[(counts + moves >= 0).all(axis=1)]
        rows = _headrooms(possible @ cover, needed)
        now = _headrooms(counts @ cover, needed)
        best = _best(rows)
        if tuple(rows[best]) <= tuple(now):
            return counts
        counts = possible[best]
