"""Slurm's Fair Tree in plain Python, as its source walks it (semantics, tree of accounts)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dovetail.domain.cluster import Cluster
from tests.oracles.shapes import Amount, Job, open_partitions

Owner = tuple[str | None, str | None]  # account and user

DAY = 86_400.0


class FairTree:
    """Who has used what, and whose turn it is; factors are worked out every so often."""

    def __init__(self, jobs: Sequence[Job], cluster: Cluster, half_life: float = 7 * DAY) -> None:
        self.cluster, self.half_life = cluster, half_life
        self.period = 60.0 * float(cluster.slurm.get("PriorityCalcPeriod", 5))
        named = [one for one in cluster.associations if one.user or one.shares < math.inf]
        self.users: list[Owner] = [(one.account, one.user) for one in named if one.user]
        self.accounts = [one.account for one in named if not one.user]
        self.own_shares = {(one.account, one.user): one.shares for one in named}
        self.usage = dict.fromkeys(self.users, 0.0)
        self.rate = dict.fromkeys(self.users, 0.0)
        self.since = dict.fromkeys(self.users, jobs[0].submit)
        self.last, self.now = -math.inf, jobs[0].submit
        self.factor: dict[Owner, float] = {self.account(job): 0.0 for job in jobs}

    def account(self, job: Job) -> Owner:
        return job.account, job.user

    def advance(self, now: float, running_gpus: object) -> None:
        """Work out everybody's factor, if that is due."""
        self.now = now
        if now < self.last + self.period:
            return
        for user in self.users:
            self.settle(user)
            self.usage[user] *= 2.0 ** (-(now - self.last) / self.half_life)
        self.last = now
        self.total = {"root": 0.0, **dict.fromkeys(self.accounts, 0.0)}
        for one in reversed(list(self.breadth_first())):
            account, name = one
            parent = self.parent(account or "", name or "")
            self.total[parent] += self.usage[one] if name else self.total[account or ""]
        self.rank = self.untied = len(self.users)
        self.walk("root", tied=False)

    def settle(self, user: Owner) -> None:
        self.usage[user] += self.rate[user] * (self.now - self.since[user])
        self.since[user] = self.now

    def change(self, job: Job, amounts: list[Amount], sign: int) -> None:
        """A job has started (1) or ended (-1)."""
        user = self.account(job)
        if user in self.rate:
            self.settle(user)
            self.rate[user] += sign * self.charge(job, amounts)

    def charge(self, job: Job, amounts: list[Amount]) -> float:
        """What the job counts for in a second: what its first partition bills, or CPUs."""
        parts = open_partitions(job, self.cluster)
        weights = dict(parts[0].billing) if parts and parts[0].billing else {"cpu": 1.0}
        known = [[0 if part >= 10**15 else part for part in amount] for amount in amounts]
        asked = {
            "gpu": sum(gpus for gpus, _, _ in known),
            "cpu": sum(cpus for _, cpus, _ in known) / 1000 or len(known),
            "memory_gb": sum(memory for _, _, memory in known) / 1024,
            "node": len(known),
        }
        total = 0.0
        for what, weight in weights.items():
            total += weight * asked[what]
        return math.ceil(total * 1024) / 1024

    def parent(self, account: str, user: str) -> str:
        """The first account above that has shares of its own."""
        own = {one.account: one for one in self.cluster.associations if not one.user}
        above = account if user else own[account].parent
        while above in own and own[above].shares == math.inf:
            above = own[above].parent
        return above

    def children(self, parent: str) -> list[Owner]:
        return [
            (one.account, one.user)
            for one in self.cluster.associations
            if (one.user or one.shares < math.inf) and self.parent(one.account, one.user) == parent
        ]

    def breadth_first(self) -> Iterator[Owner]:
        level = self.children("root")
        while level:
            yield from level
            level = [c for account, user in level if not user for c in self.children(account or "")]

    def level(self, one: Owner, siblings: list[Owner], parent: str) -> float:
        """Shares over use, as parts of those of the siblings."""
        mine = self.own_shares[one]  # type: ignore[index]
        if mine == math.inf:
            return math.inf
        every = [self.own_shares[other] for other in siblings]  # type: ignore[index]
        if mine == 0.0:
            return 0.0
        norm = mine / sum(shares for shares in every if shares < math.inf)
        used = self.usage[one] if one[1] else self.total[one[0] or ""]
        if used == 0.0:
            return math.inf
        return norm / (used / self.total[parent])

    def walk(self, parent: str, tied: bool) -> None:
        """Rank what is below an account, the least served first."""
        siblings = self.children(parent)
        level = {one: self.level(one, siblings, parent) for one in siblings}
        siblings.sort(key=lambda one: (-level[one], not one[1]))
        before = None
        for place, one in enumerate(siblings):
            same = (place == 0 and tied) or (place > 0 and level[one] == before)
            if one[1]:
                if not same:
                    self.rank = self.untied
                self.factor[one] = self.rank / len(self.users)
                self.untied -= 1
            elif self.children(one[0] or ""):
                self.walk(one[0] or "", same)
            before = level[one]

    def shares(self) -> dict[Owner, float]:
        return self.factor
