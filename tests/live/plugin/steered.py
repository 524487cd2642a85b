"""A cluster whose slurmctld has loaded the plug-in, and the table that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dovetail.live.plugin.table import FactorRow, FactorTable, remove_table, write_table
from tests.live.slurm import Accounting, Cluster, NodeGroup, Options

SPEED = 60.0
"""PriorityCalcPeriod is a minute at least: a second so."""
HOLDS = 7200
"""Seconds of the cluster's time for which tables hold: two minutes here."""


def plugin_options(folder: Path, table: Path, own: Sequence[str], speed: float = SPEED) -> Options:
    """slurmdbd, without which slurmctld 22.05 never updates; one node, so that jobs wait."""
    return Options(
        nodes=(NodeGroup("p100", count=1, gpus=1, cpus=4),),
        accounting=Accounting(),
        auth="none",
        speed=speed,
        max_jobs=30_000,
        extra=(
            f"PluginDir={':'.join([*own, str(folder)])}",
            "PrioritySiteFactorPlugin=site_factor/dovetail",
            f"PrioritySiteFactorParameters=table={table}",
        ),
    )


class Steered:
    """Writes tables in the cluster's own time."""

    def __init__(self, cluster: Cluster, table: Path) -> None:
        self.cluster, self.table = cluster, table

    def write(
        self,
        factors: Mapping[int, int],
        default: int = 0,
        held: Mapping[int, int] | None = None,
        seconds: int = HOLDS,
    ) -> None:
        rows = [FactorRow(job, value, (held or {}).get(job, 0)) for job, value in factors.items()]
        table = FactorTable(rows, int(self.cluster.now()), seconds, default)
        write_table(self.table, table)

    def remove(self) -> None:
        remove_table(self.table)

    def waiting(self, count: int) -> list[int]:
        """Jobs that wait, because one before them has the only GPU for a year."""
        if "RUNNING" not in self.cluster.states().values():
            self.cluster.wait_for("RUNNING", self.cluster.submit(gpus=1, seconds=1e8))
        return [self.cluster.submit(gpus=1, seconds=1) for _ in range(count)]

    def shows(self, factors: Mapping[int, int], timeout: float = 15) -> None:
        """Wait until Slurm has exactly these factors of these jobs."""

        def so() -> bool:
            has = self.cluster.site_factors()
            return all(has.get(job) == value for job, value in factors.items())

        self.cluster.wait_until(so, timeout, every=0.2)

    def updates(self) -> int:
        """How often slurmctld has been asked to change a job, by its own count."""
        for line in self.cluster.run(["sdiag"]).stdout.splitlines():
            if "REQUEST_UPDATE_JOB" in line:
                return int(line.partition("count:")[2].split()[0])
        return 0
