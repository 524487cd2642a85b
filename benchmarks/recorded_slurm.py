"""Slurm's answers for a large queue, told by small programs of their names: no Slurm is needed.

Everything of ours is as with a real Slurm: processes, pipes, parsers. Between two cycles a few
jobs start, end and come, and all others have grown older, so that no priority is as it was.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

DAY = 86_400
ENDED = 300.0
"""Seconds for which an ended job is still shown: Slurm's MinJobAge."""

PROGRAMS = {
    # The token, drawn anew for each question, is told by the question.
    "squeue": """case "$*" in
*%x*) cat excluded ;;
*) token="${*##*admin_comment:}"; sed "s/@/$token/g" jobs ;;
esac""",
    # Priorities as they are after what has been sent in this cycle.
    "sprio": """awk 'FILENAME == "changes" { split($2, job, "="); split($3, site, "=");
    now[job[2]] = site[2]; next }
$1 in now { $2 += now[$1] - $3; $3 = now[$1] }
{ print }' changes priorities""",
    "scontrol": """case "$*" in
*node*) cat nodes ;;
*partition*) cat partitions ;;
*reservation*) echo "No reservations in the system" ;;
*ping*) echo "Slurmctld(primary) at head is UP" ;;
*config*) cat config ;;
"") awk -v new="changes.$$" '/^update/ { print > new; next }
    { print "invalid keyword: " $0 > "/dev/stderr" }'
    cat changes.$$ >> changes; rm changes.$$ ;;
esac""",
    "sshare": "cat shares",
    "sacctmgr": "echo normal",
}
JOBS_HEADER = (
    "JOBID JOBID STATE REASON START_TIME END_TIME ELIGIBLE_TIME USER ACCOUNT PARTITION QOS "
    "SUBMIT_TIME TIME_LIMIT TRES_ALLOC TRES_PER_JOB TRES_PER_NODE TRES_PER_SOCKET TRES_PER_TASK "
    "TASKS FEATURES REQ_NODES NODELIST DEPENDENCY RESERVATION HET_JOB_ID RESTART_COUNT NICE "
).replace(" ", "\x1f") + "@PRIORITY@NAME@ADMIN_COMMENT@\n"
NODE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=1  CPUAlloc=4 CPUEfctv=16 CPUTot=16 "
    "CPULoad={load} AvailableFeatures=a100 ActiveFeatures=a100 Gres=gpu:a100:{gpus} GresDrain=N/A "
    "GresUsed=gpu:a100:{gpus}(IDX:0-3) NodeAddr=127.0.0.1 NodeHostName=head Port=12005 "
    "Version=22.05.8 OS=Linux 6.1.0 #1 SMP  RealMemory=128000 AllocMem=400 FreeMem={free} "
    "Sockets=16 Boards=1 State=MIXED ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A "
    "Partitions=gpu  BootTime=1794829247 SlurmdStartTime=1794859025 LastBusyTime=1794859026 "
    "CfgTRES=cpu=16,mem=125G,billing=16,gres/gpu={gpus},gres/gpu:a100={gpus} "
    "AllocTRES=cpu=4,mem=400M,gres/gpu={gpus},gres/gpu:a100={gpus} CapWatts=n/a CurrentWatts=0 "
    "AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s\n"
)


@dataclass
class RecordedJob:
    """What the answers say of one job."""

    id: int
    gpus: int
    minutes: int
    user: int
    submit: float
    start: float = 0.0
    end: float = 0.0
    node: str = ""
    site: int = 0

    @property
    def size(self) -> int:
        return 100 + 9 * self.gpus

    def row(self, age: int) -> str:
        state, reason = "PENDING", "Priority"
        if self.start:
            state, reason = ("COMPLETED" if self.end else "RUNNING"), "None"
        end = self.end or (self.start + 60 * self.minutes if self.start else 0)
        when = [str(int(moment)) if moment else "N/A" for moment in (self.start, end)]
        tres = f"cpu=1,mem=100M,node=1,billing=1,gres/gpu={self.gpus}"
        hours, minutes = divmod(self.minutes, 60)
        submit, days = int(self.submit), f"{hours // 24}-" if hours >= 24 else ""
        fields = (
            f"{self.id}", f"{self.id}", state, reason, *when, f"{submit}", f"user{self.user}",
            f"lab{self.user % 8}", "gpu", "normal", f"{submit}",
            f"{days}{hours % 24:02}:{minutes:02}:00", tres, "N/A", f"gres:gpu:{self.gpus}", "N/A",
            "N/A", "1", "(null)", "", self.node, "(null)", "(null)", "N/A", "0", "0", "",
        )  # fmt: skip
        return "\x1f".join(fields) + f"@{self.priority(age)}@job{self.id}@(null)@\n"

    @property
    def weight(self) -> int:
        return 154 * self.gpus

    def parts(self, age: int) -> tuple[int, int, int, int]:
        """Age, fair-share, size, partition, as sprio tells them."""
        aged = int(age + self.id % 997)
        return aged, 300 + 10 * (self.user % 40), self.size, 1000

    def priority(self, age: int) -> int:
        return max(1, sum(self.parts(age)) + self.weight + self.site)

    def factors(self, age: int) -> str:
        aged, share, size, part = self.parts(age)
        head = f"{self.id} {self.priority(age)} {self.site} 0 {aged} 0"
        return f"{head} {share} {size} {part} 0 |gres/gpu={self.weight}\n"


@dataclass
class RecordedSlurm:
    """The folder of programs and what they tell; `pass_time` moves it to the next cycle."""

    folder: Path
    waiting: int
    nodes: int
    gpus: int
    turns: int = 5  # jobs that end, start and come between two cycles
    _jobs: dict[int, RecordedJob] = field(default_factory=dict)
    _age: int = 0

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng(0)
        for name, script in PROGRAMS.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\ncd {self.folder}\n{script}\n", encoding="ascii")
            path.chmod(0o755)
        now = time.time()
        for number in range(self.nodes):
            job = self._arrive(now - DAY, self.gpus)
            job.start, job.node = now - 600.0, self._node(number)
        for _ in range(self.waiting):
            self._arrive(now - float(self._draw.integers(60, DAY)), 0)
        names = f"n[1-{self.nodes}]"
        self._write("partitions", f"PartitionName=gpu MaxTime=UNLIMITED Nodes={names} "
                    "PriorityJobFactor=1 PriorityTier=1 State=UP\n")  # fmt: skip
        shares = [f" lab{i}||1|{1000 * i}" for i in range(8)]
        self._write("shares", "Account|User|RawShares|RawUsage\nroot|||28000\n" + "\n".join(shares))
        self._write("config", "PriorityType = priority/multifactor\nPriorityWeightAge = 1000\n")
        self._tell()

    def pass_time(self) -> None:
        """Some jobs end, as many start and come, and all that wait are older."""
        self._take_changes()
        now = time.time()
        self._age += 1
        running = sorted(
            (job for job in self._jobs.values() if job.start and not job.end),
            key=lambda job: (job.start, job.id),
        )
        waiting = sorted(
            (job for job in self._jobs.values() if not job.start),
            key=lambda job: (-job.priority(self._age), job.id),
        )
        for ended, started in zip(running[: self.turns], waiting, strict=False):
            ended.end, started.start, started.node = now, now, ended.node
            self._arrive(now, 0)
        self._jobs = {
            number: job
            for number, job in self._jobs.items()
            if not job.end or job.end > now - ENDED
        }
        self._tell()

    def _arrive(self, submit: float, gpus: int) -> RecordedJob:
        number = next(reversed(self._jobs), 0) + 1
        job = self._jobs[number] = RecordedJob(
            number,
            gpus or int(self._draw.choice([1, 2, 4])),
            int(self._draw.integers(10, 2000)),
            int(self._draw.integers(200)),
            submit,
        )
        return job

    def _take_changes(self) -> None:
        for line in (self.folder / "changes").read_text(encoding="ascii").splitlines():
            _, job, site = line.split()
            self._jobs[int(job.partition("=")[2])].site = int(site.partition("=")[2])

    def _tell(self) -> None:
        jobs, age = self._jobs.values(), self._age
        # squeue shows jobs by priority, as a rule.
        rows = sorted(jobs, key=lambda job: (-job.priority(age), job.id))
        self._write("jobs", JOBS_HEADER + "".join(job.row(age) for job in rows))
        factors = "".join(job.factors(age) for job in jobs if not job.start)
        header = "JOBID PRIORITY SITE NICE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS |TRES\n"
        self._write("priorities", header + factors)
        waiting = "".join(f"{job.id} \n" for job in jobs if not job.start)
        self._write("excluded", "JOBID EXC_NODES\n" + waiting)
        nodes = (
            NODE.format(
                name=self._node(i), gpus=self.gpus,
                load=f"{self._draw.random():.2f}", free=int(self._draw.integers(1000, 100_000)),
            )
            for i in range(self.nodes)
        )  # fmt: skip
        self._write("nodes", "".join(nodes))
        self._write("changes", "")

    def _node(self, number: int) -> str:
        return f"n{number + 1}"

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
