"""Time limits as people choose them: round, generous, and by habit rather than by job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.traces.synthetic.rhythm import DAY, HOUR

HOURS = (0.5, 1, 2, 4, 8, 12, 24, 48, 72, 7 * 24, 14 * 24, 30 * 24, 60 * 24)
ROUND = HOUR * np.array(HOURS)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much more time people ask for than their jobs take.

    Real limits are poor: the median of run time over limit is 0.03 at MIT, 0.04 at Buffalo,
    0.41 at KTH. Part of the people leave the site's default in place.
    """

    padding: float = 3.0  # median of limit over a habit's typical run time
    spread: float = 1.0  # sigma of its logarithm
    default: float = DAY  # seconds
    default_share: float = 0.3  # of habits

    def __post_init__(self) -> None:
        if not (self.padding > 0 and self.spread >= 0 and self.default > 0):
            raise ConfigError("limits: padding and default must be above 0, spread 0 or more")
        if not 0 <= self.default_share <= 1:
            raise ConfigError(f"limits: default_share is {self.default_share}, expected 0 to 1")

    def draw(self, run: Floats, habit: Ints, random: np.random.Generator) -> Floats:
        """One limit per habit, from its typical run time; a longer job gets the next round one.

        `habit` numbers what people repeat: jobs of one habit share a limit, so that a limit
        says little about the single job.
        """
        count = int(habit.max()) + 1
        jobs = np.maximum(np.bincount(habit, minlength=count), 1)
        typical = np.exp(np.bincount(habit, np.log(run), count) / jobs)
        asked = typical * self.padding * np.exp(self.spread * random.standard_normal(count))
        asked = np.where(random.random(count) < self.default_share, self.default, asked)
        return _round_up(np.maximum(_round_up(asked)[habit], run))


def _round_up(seconds: Floats) -> Floats:
    """The smallest round limit that is long enough; the longest one if none is."""
    index = np.searchsorted(ROUND, seconds, side="left")
    return ROUND[np.minimum(index, len(ROUND) - 1)]
