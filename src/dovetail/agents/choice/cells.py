"""The cells of a history: weeks from all over it to choose on, its validation part to judge on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail.agents.history import Site, divide
from dovetail.agents.replays import ReplayCell, rearranged
from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.knowledge import is_predicted
from dovetail.prediction.predictors import predict
from dovetail.prediction.request import Request

LOADS = (0.9, 1.0, 1.1)
"""Times the load that the history has on its cluster."""

LONGEST = 12_000
"""Jobs that are measured at most, the last ones."""

SETTLED = 0.2
"""Share of a history, at its beginning, in which predictions still learn: no choice rests on it."""


@dataclass(frozen=True, slots=True)
class CellConfig:
    """How a history is played to choose and to judge."""

    estimates: str = "predicted"
    loads: tuple[float, ...] = LOADS
    jitters: int = 2  # ways in which arrivals are a little other, at each load
    windows: int = 4  # parts of a history before the validation part that are chosen on, too
    longest: int = LONGEST
    before: float = 2.0  # jobs replayed before the measured ones, as a multiple of these
    seed: int = 0

    def __post_init__(self) -> None:
        if self.jitters < 1 or self.windows < 1 or not self.loads:
            raise ConfigError("expected one load, one jitter and one window or more")
        if self.longest < 1:
            raise ConfigError(f"longest is {self.longest}, expected 1 or more")


@dataclass(frozen=True, slots=True)
class SiteHistory:
    """What training may see of a site, with what was predicted of every job when it came."""

    site: Site
    trace: Trace  # all but the last tenth
    forecast: Distribution | None  # None: another kind of estimates is asked for
    learning: int  # rows to learn from; the validation part follows


@dataclass(frozen=True, slots=True)
class CellsOfSite:
    """Numbers of a site's cells among all."""

    numbers: tuple[int, ...]


def open_history(site: Site, estimates: str) -> SiteHistory:
    """The known part of a history. Predictions are made once, for all that is played later."""
    parts = divide(site.trace, 1)
    known = site.trace.slice(0, parts.known)
    forecast = None
    if is_predicted(estimates):
        forecast = predict(known.jobs, Request.parse(estimates).predictor)
    return SiteHistory(site, known, forecast, len(parts.learning))


def validation_cells(history: SiteHistory, config: CellConfig) -> Iterator[ReplayCell]:
    """The validation part at every load and jitter, after a part of what came before it."""
    measured = min(config.longest, len(history.trace) - history.learning)
    from_row = len(history.trace) - measured
    begin = max(0, from_row - round(config.before * measured))
    first, random = from_row - begin, np.random.default_rng(config.seed)
    for _ in range(config.jitters):
        for load in config.loads:
            seed = int(random.integers(1 << 31))
            yield cut(history, begin, len(history.trace), first, load, seed)


def choice_cells(history: SiteHistory, config: CellConfig) -> Iterator[ReplayCell]:
    """The validation part at every load, and as long windows of before, from all over the history.

    Nothing is fitted by a choice, and predictions know the past only, so that all that is known
    may be chosen on: other weeks say more than the last ones again with other jitters.
    """
    recent = list(validation_cells(history, replace(config, jitters=1)))
    yield from recent
    measured = len(recent[0].trace) - recent[0].first
    settled, until = round(SETTLED * len(history.trace)), history.learning
    random = np.random.default_rng(config.seed + 1)
    stops = np.linspace(settled + measured, until, config.windows).round().astype(int)
    for number, stop in enumerate(stops.tolist()):
        begin = max(0, stop - measured - round(config.before * measured))
        load, seed = config.loads[-1 - number % len(config.loads)], int(random.integers(1 << 31))
        yield cut(history, begin, stop, stop - measured - begin, load, seed)


def cut(
    history: SiteHistory, begin: int, end: int, first: int, load: float, seed: int
) -> ReplayCell:
    """Jobs of a history at another load; the first ones fill the cluster."""
    rows = slice(begin, end)
    return ReplayCell(
        trace=rearranged(history.trace.slice(begin, end), load, seed),
        cluster=history.site.cluster,
        forecast=None if history.forecast is None else history.forecast.take(rows),
        first=first,
        seed=seed,
    )


def number_cells(cells: Sequence[Sequence[ReplayCell]]) -> tuple[CellsOfSite, ...]:
    """Which number each site's cells have when all stand in one list."""
    found, at = [], 0
    for of_site in cells:
        found.append(CellsOfSite(tuple(range(at, at + len(of_site)))))
        at += len(of_site)
    return tuple(found)
