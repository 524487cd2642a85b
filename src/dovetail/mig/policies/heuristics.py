"""Placements on slices: keys by which the free slices are ranked, the lowest goes."""

from __future__ import annotations

from dovetail.domain.jobs import Floats
from dovetail.mig.policy import Keys, MomentRow, Placer, SliceRows, ranking


@ranking
def _random(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """Any free slice, drawn evenly."""
    for i in range(len(slices)):
        keys[i, 0] = slices[i].chance


@ranking
def _by_size(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """The smallest or the largest free slice. p: what a compute slice counts."""
    for i in range(len(slices)):
        keys[i, 0] = p[0] * slices[i].size


@ranking
def _eft(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """Earliest finish: the slice on which the job ends first."""
    for i in range(len(slices)):
        keys[i, 0] = slices[i].duration


@ranking
def _most_packed(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """On time: on the most packed GPU, the slowest slice that will do; else earliest finish."""
    for i in range(len(slices)):
        one = slices[i]
        if one.lateness <= 0.0:
            keys[i, 1] = -one.packed
            keys[i, 2] = -one.duration
        else:
            keys[i, 0] = 1.0
            keys[i, 1] = one.duration
            keys[i, 2] = -one.packed


@ranking
def _marginal(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """The least a·(extra energy) + tardiness. p: a, seconds of tardiness for a joule."""
    for i in range(len(slices)):
        keys[i, 0] = p[0] * slices[i].energy + max(0.0, slices[i].lateness)


@ranking
def _categorical(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    """As most-packed, but first GPUs whose slices suit the job's class.

    p: the mean slice size that suits classes 1 to 4: jobs that gain much from a whole GPU look
    at GPUs with large slices first, those that gain nothing at GPUs with small ones.
    """
    suits = p[moment[0].category - 1]
    for i in range(len(slices)):
        one = slices[i]
        if one.lateness <= 0.0:
            keys[i, 1] = abs(one.mean_size - suits)
            keys[i, 2] = -one.packed
            keys[i, 3] = -one.duration
        else:
            keys[i, 0] = 1.0
            keys[i, 1] = one.duration
            keys[i, 2] = -one.packed


def marginal(weight: float) -> Placer:
    """MET: a W·min counts as much as `weight` minutes by which one job is late."""
    return Placer("marginal-et", _marginal, {"joule": weight})


RANDOM = Placer("random", _random)
SMALLEST = Placer("smallest-first", _by_size, {"size": 1.0})
LARGEST = Placer("largest-first", _by_size, {"size": -1.0})
EFT = Placer("eft", _eft)
MOST_PACKED = Placer("edf-most-packed", _most_packed)
CATEGORICAL = Placer(
    "categorical-edf", _categorical, {"first": 7.0, "second": 3.5, "third": 2.0, "fourth": 1.0}
)
