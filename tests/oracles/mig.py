"""Sliced GPUs again, in plain Python: slow, obvious, and the same schedule job by job."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.policy import Busy, ClusterView, Preemption, Repartitioner
from dovetail.mig.simulator import MigRules
from dovetail.mig.workload.jobs import MigWorkload
from tests.oracles.mig_beliefs import Beliefs

MASK = 2**64 - 1
Rank = Callable[[dict[str, Any], dict[str, Any]], tuple[float, ...]]


@dataclass
class Instance:
    size: int
    memory: float
    offset: int
    exists: bool = True
    job: int | None = None
    begun: float = 0.0
    until: float = math.inf

    def same(self, other: Instance) -> bool:
        return (self.size, self.memory, self.offset) == (other.size, other.memory, other.offset)


@dataclass
class Device:
    kind: GpuModel
    number: int  # of the configuration, from 1
    instances: list[Instance]
    goal: int | None = None
    ready: float = math.inf

    @property
    def busy(self) -> int:
        return sum(part.size for part in self.instances if part.job is not None)


def instances_of(kind: GpuModel, number: int) -> list[Instance]:
    found, offset = [], 0
    for part in kind.configurations[number - 1].slices:
        found.append(Instance(part.compute, part.memory_gb, offset))
        offset += round(8 * part.memory_gb / 40) if kind.compute_slices == 7 else part.compute
    return found


class Oracle:
    """One simulation; the results stand in its attributes afterwards."""

    def __init__(
        self, workload: MigWorkload, cluster: MigCluster, rank: Rank, rules: MigRules, seed: int,
        passes: int = 0, told: list[float] | None = None,
    ) -> None:  # fmt: skip
        jobs = workload.trace.jobs
        self.passes = passes
        self.workload, self.rank, self.rules, self.state = workload, rank, rules, seed
        self.release, self.memory = jobs.submit.tolist(), jobs.memory.tolist()
        self.deadline, self.times = workload.deadline.tolist(), workload.times.tolist()
        self.category = workload.sublinearity().tolist()
        self.beliefs = Beliefs(workload, told or [1.0] * len(workload))
        self.thought = [1.0] * len(workload)  # what is left by estimate, as a share
        self.expected = [math.inf] * len(workload)
        self.devices = [
            Device(kind, number, instances_of(kind, number))
            for kind, number in zip(cluster.models, cluster.configurations, strict=True)
        ]
        count = len(workload)
        self.start, self.end = [math.nan] * count, [math.nan] * count
        self.gpu, self.size, self.left = [-1] * count, [0] * count, [1.0] * count
        self.offset = [0] * count
        self.now, self.arrived, self.waiting = self.release[0], 0, list[int]()
        self.energy = [0.0] * len(self.devices)
        self.events = self.repartitions = self.preemptions = 0

    def run(self, repartitioner: Repartitioner | None = None) -> None:
        asked = 0
        while True:
            self.place_all()
            if not self.next_moment():
                return
            if repartitioner is not None and self.events - asked >= repartitioner.every:
                asked = self.events
                for device, way in zip(
                    self.devices,
                    repartitioner.wanted(self.view()).tolist(),
                    strict=True,
                ):
                    if way >= 0:
                        self.ask(device, way)

    def view(self) -> ClusterView:
        return ClusterView(
            now=self.now,
            way=np.array([d.kind.way_of(d.number) for d in self.devices]),
            busy=np.array([d.busy for d in self.devices]),
            waiting=np.array(self.waiting, np.int64),
            deadline=np.array([self.deadline[job] for job in self.waiting]),
            times=np.array(
                [
                    [time * self.beliefs.told[job] for time in self.times[job]]
                    for job in self.waiting
                ]
            ).reshape(-1, 8),
        )

    # --- time -------------------------------------------------------------------------------

    def next_moment(self) -> bool:
        times = [self.release[self.arrived]] if self.arrived < len(self.release) else []
        times += [part.until for device in self.devices for part in device.instances]
        times += [device.ready for device in self.devices]
        now = min(times, default=math.inf)
        if now == math.inf:
            return False
        for i, device in enumerate(self.devices):
            self.energy[i] += device.kind.watts[device.busy] * (now - self.now)
        self.now = now
        for device in self.devices:
            ended = [part for part in device.instances if part.until == now]
            for part in ended:
                assert part.job is not None
                self.end[part.job], self.left[part.job] = now, 0.0
                self.beliefs.note(part.job)
                part.job, part.until = None, math.inf
                self.events += 1
            if ended and device.goal is not None and self.can_cut(device, device.goal):
                goal, device.goal = device.goal, None
                self.cut(device, goal)
        for device in self.devices:
            if device.ready == now:
                device.ready = math.inf
                for part in device.instances:
                    part.exists = True
        while self.arrived < len(self.release) and self.release[self.arrived] == now:
            self.beliefs.tell(self.arrived)
            self.waiting.append(self.arrived)
            self.arrived += 1
            self.events += 1
        self.waiting.sort(key=lambda job: (self.deadline[job], job))
        return True

    # --- repartitioning ---------------------------------------------------------------------

    def target(self, device: Device, way: int) -> int | None:
        """The first configuration of this way that has all running instances where they are."""
        for position in device.kind.ways[way]:
            new = instances_of(device.kind, position + 1)
            running = [part for part in device.instances if part.job is not None]
            if all(any(part.same(other) for other in new) for part in running):
                return position + 1
        return None

    def can_cut(self, device: Device, way: int) -> bool:
        return self.target(device, way) is not None

    def cut(self, device: Device, way: int) -> None:
        number = self.target(device, way)
        assert number is not None
        new = instances_of(device.kind, number)
        for i, part in enumerate(new):
            kept = [old for old in device.instances if old.same(part)]
            if kept:
                new[i] = kept[0]
            else:
                part.exists = False
        device.number, device.instances = number, new
        device.ready = self.now + self.rules.pause
        self.repartitions += 1

    def ask(self, device: Device, way: int) -> None:
        if device.ready < math.inf:
            return
        device.goal = None
        if way == device.kind.way_of(device.number) or way >= len(device.kind.ways):
            return
        if self.can_cut(device, way):
            self.cut(device, way)
        elif self.rules.busy is Busy.DRAIN:
            device.goal = way

    # --- placement --------------------------------------------------------------------------

    def duration(self, job: int, device: Device, part: Instance) -> float:
        return float(self.times[job][part.size]) / device.kind.speed

    def told(self, job: int, device: Device, part: Instance) -> float:
        """The same by estimate."""
        return self.duration(job, device, part) * self.beliefs.told[job]

    def ends(self, part: Instance) -> float:
        """When the job of an instance ends by estimate: doubled whenever that has passed."""
        if part.job is None:
            return math.inf
        if self.expected[part.job] <= self.now:
            length = max(1e-3, self.expected[part.job] - part.begun)
            while part.begun + length <= self.now:
                length *= 2
            self.expected[part.job] = part.begun + length
        return self.expected[part.job]

    def fits(self, job: int, device: Device, part: Instance) -> bool:
        possible = self.duration(job, device, part) < math.inf
        return possible and self.memory[job] <= part.memory

    def free(self) -> list[tuple[int, Instance]]:
        return [
            (i, part)
            for i, device in enumerate(self.devices)
            for part in device.instances
            if part.exists and part.job is None and device.goal is None
        ]

    def choices(self, job: int) -> list[tuple[int, Instance]]:
        return [(i, part) for i, part in self.free() if self.fits(job, self.devices[i], part)]

    def place_all(self) -> None:
        passed = 0
        while True:
            found = self.next_job(passed)
            if found is None:
                return
            job, choices = found
            moment = self.moment(job)
            facts = [self.facts(job, i, part) for i, part in choices]
            keys = [self.rank(moment, fact) for fact in facts]
            allowed = [k for k in range(len(keys)) if keys[k][0] < math.inf]
            if not allowed:
                passed = self.waiting.index(job) + 1
                if passed > self.passes:
                    return
                continue
            best = min(allowed, key=lambda k: (keys[k], k))
            i, part = choices[best]
            self.waiting.remove(job)
            part.job, part.begun = job, self.now
            part.until = self.now + self.duration(job, self.devices[i], part) * self.left[job]
            length = self.told(job, self.devices[i], part) * self.thought[job]
            self.expected[job] = self.now + length
            self.beliefs.start(job, length)
            if math.isnan(self.start[job]):
                self.start[job] = self.now
            self.gpu[job], self.size[job], self.offset[job] = i, part.size, part.offset

    def next_job(self, passed: int) -> tuple[int, list[tuple[int, Instance]]] | None:
        for job in self.waiting[passed:]:
            choices = self.choices(job)
            if not choices and self.rules.preemption is Preemption.LATEST_DEADLINE:
                if self.evict(job):
                    choices = self.choices(job)
            if choices:
                return job, choices
        return None

    def evict(self, job: int) -> bool:
        victims = [
            (self.deadline[part.job], i, part)
            for i, device in enumerate(self.devices)
            for part in device.instances
            if part.job is not None and device.goal is None and self.fits(job, device, part)
        ]
        victims = [victim for victim in victims if victim[0] > self.deadline[job]]
        if not victims:
            return False
        _, i, part = max(victims, key=lambda victim: victim[0])
        victim = part.job
        assert victim is not None
        done = (self.now - part.begun) / self.duration(victim, self.devices[i], part)
        self.left[victim] = max(0.0, self.left[victim] - done)
        told = self.told(victim, self.devices[i], part)
        if self.expected[victim] <= self.now:
            self.thought[victim] = (self.ends(part) - self.now) / told
        else:
            done = (self.now - part.begun) / told
            self.thought[victim] = max(1e-9, self.thought[victim] - done)
        part.job, part.until = None, math.inf
        self.waiting.append(victim)
        self.waiting.sort(key=lambda job: (self.deadline[job], job))
        self.preemptions += 1
        return True

    # --- what a policy sees -----------------------------------------------------------------

    def moment(self, job: int) -> dict[str, Any]:
        kinds = {device.kind for device in self.devices}
        likely, spread = self.beliefs.believe(job)
        told = self.beliefs.told[job]
        return {
            "now": self.now,
            "left": self.deadline[job] - self.now,
            "shortest": min(
                self.times[job][kind.compute_slices] / kind.speed * told for kind in kinds
            ),
            "likely": likely,
            "spread": spread,
            "category": self.category[job],
            "queued": len(self.waiting),
            "overdue": sum(self.deadline[other] <= self.now for other in self.waiting),
            "free": len(self.free()),
            "slots": sum(len(device.instances) for device in self.devices),
            "busy": sum(device.busy for device in self.devices),
            "compute": sum(device.kind.compute_slices for device in self.devices),
            "later": self.later(job),
            "rest": self.rest(job),
        }

    def rest(self, job: int) -> dict[int, float]:
        """Size -> how long the first busy slice of it is likely to go on."""
        found: dict[int, float] = {}
        for device in self.devices:
            for part in device.instances:
                if part.job is not None and device.goal is None and self.fits(job, device, part):
                    ends = self.ends(part) - self.now
                    rest = self.beliefs.rest(part.job, self.now - part.begun, ends)
                    found[part.size] = min(found.get(part.size, math.inf), rest)
        return found

    def later(self, job: int) -> dict[int, tuple[float, float]]:
        """Size -> when the first busy slice of it is free, and how long the job would run there."""
        busy = [
            (
                self.ends(part) - self.now,
                i,
                self.told(job, device, part) * self.thought[job],
                part.size,
            )
            for i, device in enumerate(self.devices)
            for part in device.instances
            if part.job is not None and device.goal is None and self.fits(job, device, part)
        ]
        # Reversed, so that of slices that end together the first one stays.
        ordered = sorted(busy, key=lambda one: one[:2], reverse=True)
        return {size: (soon, then) for soon, _, then, size in ordered}

    def facts(self, job: int, i: int, part: Instance) -> dict[str, Any]:
        device = self.devices[i]
        duration = self.told(job, device, part) * self.thought[job]
        sizes = [other.size for other in device.instances]
        return {
            "size": part.size,
            "slices": device.kind.compute_slices,
            "duration": duration,
            "lateness": self.now + duration - self.deadline[job],
            "energy": self.extra_energy(device, part.size, duration),
            "packed": device.busy / device.kind.compute_slices,
            "mean_size": sum(sizes) / len(sizes),
            "chance": self.chance(),
        }

    def extra_energy(self, device: Device, size: int, duration: float) -> float:
        end = self.now + duration
        ends = {self.ends(part) for part in device.instances if self.now < self.ends(part) < end}
        total, at = 0.0, self.now
        for change in [*sorted(ends), end]:
            busy = sum(p.size for p in device.instances if p.job is not None and self.ends(p) > at)
            total += (device.kind.watts[busy + size] - device.kind.watts[busy]) * (change - at)
            at = change
        return total

    def chance(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        word = self.state
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        return float((word ^ (word >> 31)) >> 11) / 2.0**53
