"""Jobs and nodes as squeue and scontrol print them: 10,000 jobs within a second."""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import itemgetter

from dovetail.live.backends.base import Unreadable
from dovetail.live.backends.slurm.arrays import doubtful, joined, without_split
from dovetail.live.backends.slurm.host_gpus import uneven
from dovetail.live.backends.slurm.job_rows import JobRows, Told
from dovetail.live.backends.slurm.process import Commands
from dovetail.live.backends.slurm.show import NodeRecords
from dovetail.live.model.snapshot import RUNNING, LiveJob, LiveNode
from dovetail.slurm.gres import gpus_of
from dovetail.slurm.host_lists import hosts_of

MANY = 10_000
"""Job ids in one argument: Linux allows 128 KB."""
REFRESH = 10
"""Readings after which excluded nodes are asked for again, should an operator change them."""
DETAILS = 50
"""Jobs on several nodes that are asked for one by one in a reading, at 5 ms each."""

_ID = itemgetter(LiveJob._fields.index("id"))
_PAIR = re.compile(r"^(\d+) (?!N/A|\(null\))(\S+)$", re.MULTILINE)
_SPREAD = re.compile(r" Nodes=(\S+) CPU_IDs=\S* Mem=\d+ GRES=(\S*)")


class TextReader:
    """What `squeue -O` cannot tell is asked for apart, and only for jobs that are new."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._rows = JobRows()
        self._nodes = NodeRecords()
        self._avoids: dict[int, tuple[str, ...]] = {}
        self._asked: set[int] = set()
        self._turn = 0
        self._shown: dict[int, tuple[int, ...]] = {}
        self._exact: dict[int, set[int]] = {}
        self._spread: dict[tuple[int, tuple[str, ...]], tuple[int, ...]] = {}

    def jobs(self, told: Told = dict) -> tuple[list[LiveJob], list[str]]:
        token, words = self._rows.question()
        rows, doubts = self._rows.parse(self._commands.ask("squeue", *words), token, told)
        jobs = joined(rows, self._exact_tasks(rows))
        others = [job for job in jobs if job.state != "PENDING"]
        avoids, spread = self._avoided(jobs, others), self._spread_of(others)
        for number, job in enumerate(jobs) if avoids or spread else ():
            if job.pending and avoids.get(job.id):
                jobs[number] = job._replace(avoids=avoids[job.id])
            elif job.running and spread.get((job.id, job.hosts)):
                jobs[number] = job._replace(host_gpus=spread[job.id, job.hosts])
        return jobs, doubts

    def nodes(self) -> tuple[LiveNode, ...]:
        # sinfo has a row for each node of each partition, and with 500 nodes took 3 times as long.
        return self._nodes.parse(self._commands.ask("scontrol", "-a", "-d", "-o", "show", "node"))

    def _exact_tasks(self, rows: list[LiveJob]) -> Mapping[int, set[int]]:
        """The tasks of arrays of which `squeue -r` may have lost one; asked again when changed."""
        shown = doubtful(rows)
        if shown != self._shown:
            self._shown = shown
            words = ("-j", ",".join(map(str, list(shown)[:MANY])), "-o", "%A %K")
            self._exact = without_split(self._pairs(*words), rows) if shown else {}
        return self._exact

    def _avoided(self, jobs: list[LiveJob], others: list[LiveJob]) -> Mapping[int, tuple[str, ...]]:
        """-O has no field for the nodes that a job excludes; -o has, and lacks others.

        Of 10,000 jobs that takes Slurm a third of a second: asked for new jobs, and now and then.
        """
        waiting = set(map(_ID, jobs)).difference(map(_ID, others))
        self._turn += 1
        if self._turn % REFRESH == 0 or not waiting <= self._asked:
            told = self._pairs("-r", "-o", "%A %x")
            self._avoids = {number: hosts_of(hosts) for number, hosts in told.items()}
            self._asked = waiting
        return self._avoids

    def _pairs(self, *words: str) -> dict[int, str]:
        """Numbers of pending jobs, and a word where there is one."""
        text = self._commands.ask("squeue", "-a", "-t", "PD", *words)
        if not text.startswith("JOBID "):
            raise Unreadable(f"squeue: no header, but {text[:200]!a}: is it Slurm's own squeue?")
        return {int(number): word for number, word in _PAIR.findall(text)}

    def _spread_of(
        self, others: list[LiveJob]
    ) -> Mapping[tuple[int, tuple[str, ...]], tuple[int, ...]]:
        """How the GPUs of jobs on several nodes are spread, told by `scontrol -d` alone."""
        wide = {
            (job.id, job.hosts): job
            for job in others
            if job.state in RUNNING and len(job.hosts) > 1 and job.gpus > 0
        }
        self._spread = {key: value for key, value in self._spread.items() if key in wide}
        unknown = [key for key in wide if key not in self._spread]
        for key in unknown[:DETAILS]:
            self._spread[key] = self._spread_on(wide[key])
        return self._spread

    def _spread_on(self, job: LiveJob) -> tuple[int, ...]:
        answer = self._commands.run("scontrol", "-d", "-o", "show", "job", str(job.id))
        counts: dict[str, int] = {}
        for hosts, gres in _SPREAD.findall(answer.output.decode("utf-8", "replace")):
            for host in hosts_of(hosts):
                counts[host] = counts.get(host, 0) + gpus_of(gres)[0]
        # The job's own name may say such things too; then nothing fits together.
        return uneven(job, tuple(counts.get(host, -1) for host in job.hosts))
