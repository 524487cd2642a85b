"""What disjoint blocks of time say of two policies: a mean, and how far chance could have moved it.

The same jobs at another load or with other jitters are no new evidence. So a block counts once: as
its mean over all replays. Neighbouring blocks share a queue, which is why intervals come from a
bootstrap of runs of neighbours.

Two measures have to agree. What all who wait are charged cannot be bought with old jobs, but its
neighbours correlate by 0.6 to 0.9, so that chance is easily underrated; own jobs hide who pays, but
their blocks are nearly independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.agents.aim import USUAL, gain_by
from dovetail.agents.replays import Measured, Score, counted_blocks, mean_score, total_score
from dovetail.domain.jobs import Floats
from dovetail.domain.objective import Objective

RUN = 2
"""Neighbours that are drawn together. The logarithms of ratios of neighbouring blocks of 250 jobs
correlate mostly by 0.2 to 0.5."""

UPPER = 99.0
"""Percentile of the bootstrap that has to be ahead, too. It is drawn from few blocks that go with
their neighbours: of equal policies it is ahead in 4 to 10 %, not 1 %, of cases (decision 94)."""

RESAMPLES = 4000

NOTHING = Score(np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class Lead:
    """By one measure, over blocks."""

    score: Score  # the mean over blocks; sites count alike
    upper: float  # what the gain may come to by chance
    blocks: int  # disjoint ones in which jobs wait; of several sites, all together


@dataclass(frozen=True, slots=True)
class BlockEvidence:
    """Of what was learned against what was chosen; below 0 is better."""

    charged: Lead  # what all who wait are charged
    own: Lead  # means of the jobs that came in a block
    total: Score  # what all who wait are charged, of plain means

    @property
    def blocks(self) -> int:
        return min(self.charged.blocks, self.own.blocks)


Cells = Sequence[Measured]


def weigh_blocks(sites: Sequence[tuple[Cells, Cells]], aim: Objective = USUAL) -> BlockEvidence:
    """Ours and theirs of each site, cell by cell."""
    charged, own = (
        _lead([_differences(*(_stack(part, name) for part in site)) for site in sites], aim)
        for name in ("blocks", "own")
    )
    total = mean_score([total_score(*site, aim) for site in sites])
    return BlockEvidence(charged, own, total)


def _stack(cells: Cells, field: str) -> Floats:
    return np.stack([getattr(cell, field) for cell in cells])  # [cells, measures, blocks]


def _lead(sites: Sequence[Floats], aim: Objective) -> Lead:
    known = [part for part in sites if part.shape[1]]
    if not known:
        return Lead(NOTHING, np.nan, 0)
    values = np.mean([part.mean(axis=1) for part in known], axis=0).tolist()
    count = sum(part.shape[1] for part in known)
    return Lead(Score.of(aim, values), _upper(known, aim), count)


def _differences(ours: Floats, theirs: Floats) -> Floats:
    """Logarithms of ratios of all measures: [measures, blocks], each the mean over cells."""
    counted = counted_blocks(ours, theirs)  # [cells, blocks]
    sums = np.where(counted[:, None], ours - theirs, 0.0).sum(axis=0)
    times = counted.sum(axis=0)
    some = times > 0
    found: Floats = sums[:, some] / times[some]
    return found


def _upper(sites: Sequence[Floats], aim: Objective) -> float:
    """A high percentile of the gain over draws of runs of neighbouring blocks."""
    random = np.random.default_rng(0)
    means = np.mean([_drawn_means(part, random) for part in sites], axis=0)
    gains = [gain_by(aim, values) for values in means.tolist()]
    return float(np.percentile(gains, UPPER))


def _drawn_means(blocks: Floats, random: np.random.Generator) -> Floats:
    """Means of all measures of as many blocks, drawn in runs: [resamples, measures]."""
    count = blocks.shape[1]
    begins = random.integers(0, count, (RESAMPLES, -(-count // RUN)))
    rows = (begins[..., None] + np.arange(RUN)).reshape(RESAMPLES, -1)[:, :count] % count
    drawn: Floats = blocks[:, rows].mean(axis=2).T
    return drawn
