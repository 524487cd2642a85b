"""Which running jobs hold GPUs that do nothing, since when, and what that costs.

>>> holding = IdleHolding("17", "ada", ("n1",), idle=2, held=4, since=0.0, hours=20.0)
>>> holding.sentence(now=36_000.0)
'job 17 of ada: 2 of 4 GPUs idle for 10 h 0 min on n1, 20.0 GPU hours'
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dovetail.domain.errors import ConfigError
from dovetail.telemetry.holdings import Holding
from dovetail.telemetry.quantities import COLUMN
from dovetail.telemetry.readings import GpuName, Readings, short_host


@dataclass(frozen=True, slots=True)
class IdleRule:
    """When a GPU counts as idle."""

    below: float = 0.05  # utilisation
    after: float = 600.0  # seconds without a break
    forget: float = 900.0  # seconds without a reading after which nothing is known any more

    def __post_init__(self) -> None:
        if not 0 < self.below <= 1 or not self.after >= 0 or not self.forget > 0:
            raise ConfigError(
                f"idle below {self.below}, after {self.after} s, forgotten after {self.forget} s: "
                "expected a share up to 1 and seconds"
            )


class IdleHolding(NamedTuple):
    """A job that holds idle GPUs; `among`: one of these jobs does, it is not known which."""

    job: str
    user: str
    hosts: tuple[str, ...]
    idle: int
    held: int
    since: float  # of the GPU that has been idle longest
    hours: float  # GPU hours that went by idle
    among: tuple[str, ...] = ()

    def sentence(self, now: float) -> str:
        """In words."""
        who = f"one of the jobs {', '.join(self.among)}" if self.among else f"job {self.job}"
        of = f" of {self.user}" if self.user and not self.among else ""
        minutes = max(0, int((now - self.since) // 60))
        long = f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
        return (
            f"{who}{of}: {self.idle} of {self.held} GPUs idle for {long} on "
            f"{', '.join(self.hosts)}, {self.hours:.1f} GPU hours"
        )


class _Seen(NamedTuple):
    idle_since: float  # NaN: busy
    at: float  # the last reading that said something


class IdleWatch:
    """Follows every GPU from reading to reading.

    A reading that is not known leaves a GPU as it was, for a while; two that contradict each other
    are not known.
    """

    def __init__(self, rule: IdleRule | None = None) -> None:
        self.rule = rule or IdleRule()
        self._seen: dict[GpuName, _Seen] = {}

    def remember(self, last_busy: Mapping[GpuName, float], now: float) -> None:
        """Begin with what a source knows of the past."""
        for gpu, busy in last_busy.items():
            self._seen[gpu] = _Seen(busy, now)

    def observe(self, readings: Readings) -> None:
        """Take in checked readings."""
        now = readings.time
        used = readings.values[:, COLUMN["utilisation"]].tolist()
        moved = readings.values[:, COLUMN["dram_active"]].tolist()
        below = self.rule.below
        for gpu, busy, memory in zip(readings.gpus, used, moved, strict=True):
            if math.isnan(busy):
                continue
            before = self._seen.get(gpu)
            # `not <`, so that a memory of which nothing is known does not make a GPU busy.
            idle = busy < below and not memory >= below
            since = before.idle_since if before and before.idle_since <= now else now
            self._seen[gpu] = _Seen(since if idle else math.nan, now)
        self._forget(now)

    def idle_since(self, now: float) -> dict[GpuName, float]:
        """GPUs that are idle now, and since when."""
        return {gpu: seen.idle_since for gpu, seen in self._seen.items() if seen.idle_since <= now}

    def holdings(self, held: Sequence[Holding], now: float) -> tuple[IdleHolding, ...]:
        """Jobs that hold idle GPUs long enough, the costliest first."""
        found = _attribute(held, self.idle_since(now), self._hosts(), self.rule.after, now)
        return tuple(sorted(found, key=lambda each: (-each.hours, each.job)))

    def _hosts(self) -> dict[str, list[GpuName]]:
        hosts: dict[str, list[GpuName]] = {}
        for gpu in self._seen:
            hosts.setdefault(short_host(gpu.host), []).append(gpu)
        return hosts

    def _forget(self, now: float) -> None:
        late = now - self.rule.forget
        if any(seen.at < late for seen in self._seen.values()):
            self._seen = {gpu: seen for gpu, seen in self._seen.items() if seen.at >= late}


def _attribute(
    held: Iterable[Holding],
    idle: Mapping[GpuName, float],
    hosts: Mapping[str, Sequence[GpuName]],
    after: float,
    now: float,
) -> list[IdleHolding]:
    """Idle GPUs to jobs: exact where GPUs are named or a node has one holder, else the least."""
    by_host: dict[str, list[Holding]] = {}
    for part in held:
        by_host.setdefault(short_host(part.host), []).append(part)
    exact: dict[str, list[tuple[Holding, list[float]]]] = {}
    found: list[IdleHolding] = []
    for host, parts in by_host.items():
        gpus = hosts.get(host, ())
        vague = [part for part in parts if not part.indices]
        named = {index for part in parts for index in part.indices}
        rest = [gpu for gpu in gpus if gpu.slot not in named]
        for part in parts:
            if part.indices:
                own = [gpu for gpu in gpus if gpu.slot in part.indices]
                exact.setdefault(part.job, []).append((part, _since(own, idle, part.start)))
        spare = max(0, len(rest) - sum(part.gpus for part in vague))
        if len(vague) == 1:
            # GPUs that nobody holds are idle as they should be: those idle longest.
            since = _since(rest, idle, vague[0].start)[spare:]
            exact.setdefault(vague[0].job, []).append((vague[0], since))
        elif vague:
            start = max((part.start for part in vague), key=lambda at: (at == at, at))
            since = [at for at in _since(rest, idle, start)[spare:] if now - at >= after]
            if since:
                jobs = tuple(part.job for part in vague)
                count = sum(part.gpus for part in vague)
                found.append(_holding(jobs[0], "", (host,), count, since, now, jobs))
    for job, pieces in exact.items():
        since = [at for _, times in pieces for at in times if now - at >= after]
        if since:
            names = tuple(part.host for part, times in pieces if times)
            count = sum(part.gpus for part, _ in pieces)
            found.append(_holding(job, pieces[0][0].user, names, count, since, now))
    return found


def _since(gpus: Iterable[GpuName], idle: Mapping[GpuName, float], start: float) -> list[float]:
    """Since when these are idle, longest first; before it started a job held none."""
    known = sorted(idle[gpu] for gpu in gpus if gpu in idle)
    return [at if math.isnan(start) else max(at, start) for at in known]


def _holding(
    job: str, user: str, hosts: tuple[str, ...], held: int, since: Sequence[float], now: float,
    among: tuple[str, ...] = (),
) -> IdleHolding:  # fmt: skip
    hours = sum(now - at for at in since) / 3600.0
    return IdleHolding(job, user, hosts, len(since), held, min(since), hours, among)
