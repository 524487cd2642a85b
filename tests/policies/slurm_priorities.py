"""A site with all that counts in Slurm's priorities, and what its sprio and sshare say."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.cluster import Cluster as Site
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import JobColumns, Jobs
from dovetail.domain.policy import Backfill
from dovetail.domain.trace import Trace
from dovetail.policies.configured import configured_policy
from dovetail.simulator.engine import Simulation
from dovetail.simulator.fair_tree import ordered_tree
from dovetail.simulator.kernel import fair_tree
from dovetail.traces.clusters import read_cluster

if TYPE_CHECKING:
    from tests.live.slurm import Cluster

NUMBERS = "%i|%Y|%A|%F|%J|%P|%Q|%a|%f|%j|%p|%q"
"""What is asked of sprio: weighted, then as factors from 0 to 1."""

MAX_AGE = 3600


@dataclass(frozen=True)
class Waiting:
    """A job that waits, as it was submitted; amounts of one node."""

    user: str
    account: str
    qos: str
    partition: str
    gpus: int
    cpus: int
    megabytes: int
    nodes: int
    minutes: int

    @property
    def words(self) -> tuple[str, ...]:
        return (
            f"--nodes={self.nodes}", "--ntasks-per-node=1", f"--cpus-per-task={self.cpus}",
            f"--account={self.account}", f"--mem={self.megabytes}", f"--qos={self.qos}",
        )  # fmt: skip


WAITING = (
    Waiting("games", "optics", "normal", "batch", 1, 2, 2048, 1, 30),
    Waiting("man", "optics", "high", "gpu", 2, 4, 4096, 2, 60),
    Waiting("lp", "plasma", "mid", "batch", 0, 3, 1024, 1, 5),
    Waiting("news", "genes", "normal", "gpu", 4, 16, 1000, 1, 120),
    Waiting("uucp", "biology", "high", "batch", 0, 1, 512, 3, 1),
)


def capture(slurm: Cluster, folder: Path) -> None:
    """Charge users for a little work, fill the nodes, let WAITING wait; keep what Slurm says."""
    names = "name=" + ",".join({job.user for job in WAITING})
    slurm.run(["sacctmgr", "-i", "modify", "user", names, "set", "qos+=high,mid"])
    time.sleep(0.5)
    for number, (user, account, cpus) in enumerate(
        (("games", "optics", 4), ("man", "optics", 2), ("lp", "plasma", 1), ("mail", "genes", 3))
    ):
        words = (f"--account={account}", f"--cpus-per-task={cpus}", "--mem=1024")
        slurm.submit(number % 2, 60, user=user, minutes=5, extra=words)
    slurm.wait_until(lambda: not slurm.run(["squeue", "-h"]).stdout, 60)
    whole = ("--exclusive", "--account=genes", "--mem=1024")
    for gpus in (1, 1, 0):
        slurm.submit(gpus, 5000, user="mail", minutes=200, extra=whole)
    # From now on only who fills the nodes is charged, and ranks no longer change.
    slurm.wait_until(lambda: _shares(_sshare(slurm))[0]["genes", "mail"] > 1500, 60, every=0.5)
    for job in WAITING:
        slurm.submit(
            job.gpus, 5, user=job.user, minutes=job.minutes, partition=job.partition,
            extra=job.words,
        )  # fmt: skip
    slurm.wait_until(lambda: len(slurm.site_factors()) == len(WAITING), 30)
    (folder / "sprio.txt").write_text(slurm.run(["sprio", "-h", "-o", NUMBERS]).stdout)
    (folder / "sshare.txt").write_text(_sshare(slurm))
    (folder / "assoc.txt").write_text(slurm.run(["sacctmgr", "-P", "show", "assoc", "tree"]).stdout)
    (folder / "qos.txt").write_text(slurm.run(["sacctmgr", "-P", "show", "qos"]).stdout)
    (folder / "slurm.conf").write_text(slurm.layout.slurm_conf.read_text())


def _sshare(slurm: Cluster) -> str:
    return slurm.run(["sshare", "-a", "-l", "-P"]).stdout


def differences(folder: Path) -> list[str]:
    """Where our numbers are not those of Slurm, in words."""
    site = read_cluster(
        folder / "slurm.conf", more=(folder / "qos.txt", folder / "assoc.txt")
    ).cluster
    simulation = _simulation(_jobs(), site)
    used, shown = _shares((folder / "sshare.txt").read_text())
    factors = _factors(simulation, used)
    wrong = [
        f"sshare says {shown[owner]} of {owner}, we {factor}"
        for owner, factor in factors.items()
        if abs(factor - shown[owner]) > 1e-6
    ]
    for line, job, row in zip(
        (folder / "sprio.txt").read_text().splitlines(),
        WAITING,
        simulation.tables.jobs,
        strict=True,
    ):
        said = line.split("|")
        age = round(float(said[7]) * MAX_AGE) / MAX_AGE
        ours = math.floor(
            simulation.rules.parameters[0] * age
            + simulation.rules.parameters[1] * factors[job.account, job.user]
            + row["points"]
        )
        if ours != int(said[1]):
            wrong.append(f"sprio says {said} of {job}, we {ours}")
    return wrong


def _jobs() -> Jobs:
    nodes = np.array([job.nodes for job in WAITING])
    return JobColumns(
        submit=np.arange(5.0),
        run=np.full(5, 5.0),
        gpus=[job.gpus * job.nodes for job in WAITING],
        nodes=nodes,
        cpus=[job.cpus * job.nodes for job in WAITING],
        memory=[job.megabytes * job.nodes / 1024 for job in WAITING],
        limit=[60.0 * job.minutes for job in WAITING],
        partition=[job.partition for job in WAITING],
        qos=[job.qos for job in WAITING],
        user=[job.user for job in WAITING],
        account=[job.account for job in WAITING],
    ).build()


def _simulation(jobs: Jobs, site: Site) -> Simulation:
    policy = configured_policy(site)
    assert policy is not None
    order, placement, _ = policy.parts()
    told = Estimates("limit", jobs.limit)
    return Simulation(Trace(jobs), site, order, placement, Backfill.NONE, told)


def _shares(text: str) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """What sshare says everybody has used, and everybody's factor."""
    rows = [line.split("|") for line in text.splitlines()[1:]]
    users = [row for row in rows if row[1]]
    return (
        {(row[0].strip(), row[1]): float(row[4]) for row in users},
        {(row[0].strip(), row[1]): float(row[7]) for row in users},
    )


def _factors(simulation: Simulation, used: dict[tuple[str, str], float]) -> dict[Any, float]:
    """Our factors of those who wait, had everybody used so much."""
    tables, cluster = simulation.tables, simulation.cluster
    for row, (one, _) in enumerate(ordered_tree(cluster.associations)):
        if one.user:
            tables.shares["usage"][row] = used[one.account, one.user]
    tables.world["last_shares"] = tables.world["now"]  # nothing decays
    _calculate(tables.world)
    return {
        (job.account, job.user): float(tables.accounts["fair_share"][number])
        for job, number in zip(WAITING, tables.jobs["account"], strict=True)
    }


@kernel
def _calculate(world: Any) -> None:
    fair_tree.calculate(world[0], 1.0)
