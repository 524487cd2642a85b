"""What ended jobs tell of others on sliced GPUs, again: all of them are looked at every time."""

from __future__ import annotations

import math

from dovetail.mig.workload.jobs import SIZES, MigWorkload

PRIOR = 2.0
FIRST_GUESS = 600.0


class Beliefs:
    """Estimates of all jobs, and what has become of them."""

    def __init__(self, workload: MigWorkload, told: list[float]) -> None:
        times = workload.times.tolist()
        self.length = [
            next(row[size] for size in reversed(SIZES) if row[size] < math.inf) for row in times
        ]
        kinds, classes = workload.trace.jobs.kind.codes.tolist(), workload.sublinearity().tolist()
        self.group = list(zip(kinds, classes, strict=True))
        self.given, self.told = told, list(told)
        self.ended: list[int] = []
        self.likely = [math.nan] * len(told)
        self.spread = [math.nan] * len(told)

    def tell(self, job: int) -> None:
        """NaN: as long as ended jobs of the group, or all, or a guess."""
        if math.isnan(self.given[job]):
            alike = [other for other in self.ended if self.group[other] == self.group[job]]
            logs = [math.log(self.length[other]) for other in alike or self.ended]
            guess = math.exp(added(logs) / len(logs)) if logs else FIRST_GUESS
            self.told[job] = guess / self.length[job]

    def note(self, job: int) -> None:
        self.ended.append(job)

    def estimated(self, job: int) -> float:
        return math.log(self.length[job] * self.told[job])

    def believe(self, job: int) -> tuple[float, float]:
        alike = [other for other in self.ended if self.group[other] == self.group[job]]
        if not alike:
            return 1.0, 0.0
        n = float(len(alike))
        xs = [self.estimated(other) for other in alike]
        ys = [math.log(self.length[other]) for other in alike]
        pairs = list(zip(xs, ys, strict=True))
        x, y = added(xs), added(ys)
        xx = PRIOR + max(0.0, added([a * a for a in xs]) - x * x / n)
        xy = PRIOR + (added([a * b for a, b in pairs]) - x * y / n)
        yy = PRIOR + max(0.0, added([b * b for b in ys]) - y * y / n)
        slope = xy / xx
        shift = (y - x) / (n + PRIOR) + (slope - 1.0) * (self.estimated(job) - x / n)
        return math.exp(shift), math.sqrt(max(0.0, yy - slope * xy) / (n + PRIOR))

    def start(self, job: int, length: float) -> None:
        factor, self.spread[job] = self.believe(job)
        self.likely[job] = length * factor

    def rest(self, job: int, run: float, by_estimate: float) -> float:
        """The mean of what is left of a lognormal time, given that it has lasted so long."""
        median, spread = self.likely[job], self.spread[job]
        if spread < 1e-9:
            return by_estimate
        mean = median * math.exp(0.5 * spread * spread)
        if run <= 0:
            return mean
        off = math.log(run / median) / spread
        if off > 5.0:
            return run * spread / off
        return mean * below(spread - off) / below(-off) - run


def added(numbers: list[float]) -> float:
    """One after the other, in the order of ends: sum() rounds otherwise."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def below(deviations: float) -> float:
    return 0.5 * math.erfc(-deviations * 0.7071067811865476)
