"""What one does with a cluster: submit, look, change, wait; always by Slurm's own programs."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.live.slurm.daemons import SlurmProblem, tail
from tests.live.slurm.layout import Layout
from tests.live.slurm.records import Completed, completed_of, fields_of

NOT_YET = "the DB index is being set, try again"
"""What slurmctld says to changes of a job that the accounting has just heard of."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A job that sleeps; `seconds` are seconds of the cluster's time."""

    gpus: int = 1
    seconds: float = 5
    name: str = "job"
    partition: str = ""
    gpu_type: str = ""
    minutes: int = 0
    user: str = ""
    extra: tuple[str, ...] = ()

    def argv(self, layout: Layout) -> list[str]:
        words = ["sbatch", "--parsable", f"--job-name={self.name}", "--chdir=/tmp"]
        words.append(f"--output={layout.job_output}/%j.txt")
        if self.gpus:
            kind = f"{self.gpu_type}:" if self.gpu_type else ""
            words.append(f"--gres=gpu:{kind}{self.gpus}")
        if self.partition:
            words.append(f"--partition={self.partition}")
        if self.minutes:
            words.append(f"--time={self.minutes}")
        if self.user:
            words.append(f"--uid={self.user}")
        return [*words, *self.extra, str(layout.job_script), str(self.seconds)]


class Clients:
    """Slurm's programs, pointed at one cluster by `env`."""

    layout: Layout
    env: dict[str, str]

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | None = None,
        check: bool = True,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program inside the cluster's environment (and its time)."""
        done = self._run_once(argv, stdin, timeout)
        if done.returncode == -signal.SIGPIPE and stdin is None:
            # Clients of a controller that is busy, or lives by a fast clock, now and then die so.
            done = self._run_once(argv, stdin, timeout)
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise SlurmProblem(f"{' '.join(argv)} ended with {done.returncode}: {said}")
        return done

    def _run_once(
        self, argv: Sequence[str], stdin: str | None, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        # Without text on stdin a program must not wait for the terminal's.
        return subprocess.run(
            list(argv),
            input=stdin or "",
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    # Submitting

    def submit(self, gpus: int = 1, seconds: float = 5, **details: Any) -> int:
        """Submit one sleeping job (see Job for the details); its id."""
        return self.submit_job(Job(gpus=gpus, seconds=seconds, **details))

    def submit_job(self, job: Job) -> int:
        printed = self.run(job.argv(self.layout)).stdout
        return int(printed.strip().partition(";")[0])

    def submit_many(self, jobs: Iterable[Job], parallel: int = 4) -> list[int]:
        """Submit different jobs quickly; ids in the order of the jobs, not of arrival."""
        with ThreadPoolExecutor(parallel) as pool:
            return list(pool.map(self.submit_job, jobs))

    def submit_array(self, job: Job, count: int) -> int:
        """Submit `count` jobs that are alike as one array; the array's id."""
        words = job.argv(self.layout)
        words.insert(1, f"--array=1-{count}")
        return int(self.run(words).stdout.strip().partition(";")[0])

    # Looking

    def jobs(self) -> list[Json]:
        """`squeue --json`: all jobs, those that ended within MinJobAge too."""
        found: list[Json] = self._json(["squeue", "--json", "-a", "-t", "all"])["jobs"]
        return found

    def job(self, job: int) -> dict[str, str]:
        """All fields of `scontrol show job` with details such as GRES."""
        return fields_of(self.run(["scontrol", "-d", "-o", "show", "job", str(job)]).stdout)

    def node(self, name: str) -> dict[str, str]:
        return fields_of(self.run(["scontrol", "-d", "-o", "show", "node", name]).stdout)

    def states(self) -> dict[int, str]:
        """Job id -> PENDING, RUNNING, ...; arrays are taken apart."""
        return {int(a): b for a, b in self._pairs(["squeue", "-h", "-r", "-t", "all"], "%A %T")}

    def priorities(self) -> dict[int, int]:
        return {int(a): int(b) for a, b in self._pairs(["squeue", "-h", "-r", "-t", "PD"], "%A %Q")}

    def site_factors(self) -> dict[int, int]:
        """Job id -> what `sitefactor=` gave it, for pending jobs."""
        return {int(a): int(b) for a, b in self._pairs(["sprio", "-h"], "%i %S")}

    def node_states(self) -> dict[str, str]:
        """Node name -> idle, mixed, allocated, down*, ..."""
        return dict(self._pairs(["sinfo", "-h", "-N"], "%N %T"))

    def output(self, job: int) -> str:
        """What the job has printed so far: first its node and its GPUs."""
        path = self.layout.job_output / f"{job}.txt"
        return path.read_text() if path.exists() else ""

    def history(self) -> list[Completed]:
        """All jobs that ended, in the order in which they did."""
        if not self.layout.completed_jobs.exists():
            return []
        lines = self.layout.completed_jobs.read_text(errors="replace").splitlines()
        # A name may hold line ends: such a job has no line of its own.
        told = (line for line in lines if " Name=" in line and " JobState=" in line)
        return [completed_of(line) for line in told]

    def answers(self) -> bool:
        """Whether slurmctld is there; it may listen some time before."""
        return "is UP" in self.run(["scontrol", "ping"], check=False).stdout

    def now(self) -> float:
        """Seconds since 1970 in the cluster's time."""
        return float(self.run(["date", "+%s.%N"]).stdout)

    # Changing

    def update_job(self, job: int, **values: object) -> None:
        """`update_job(7, sitefactor=2000)`."""
        self._update(f"jobid={job}", values)

    def update_node(self, name: str, state: str, reason: str = "test") -> None:
        """`state` is down, drain or resume."""
        self._update(f"nodename={name}", {"state": state, "reason": reason})

    def script(self, lines: Iterable[str]) -> subprocess.CompletedProcess[str]:
        """Many scontrol commands in one process: 0.7 ms for each."""
        return self.run(["scontrol"], stdin="".join(f"{line}\n" for line in lines))

    def hold(self, *jobs: int) -> None:
        self.run(["scontrol", "hold", ",".join(map(str, jobs))])

    def release(self, *jobs: int) -> None:
        self.run(["scontrol", "release", ",".join(map(str, jobs))])

    def cancel(self, *jobs: int) -> None:
        self.run(["scancel", *map(str, jobs)])

    def cancel_all(self, timeout: float = 30) -> None:
        """Cancel every job and wait until no node is busy."""
        self.run(["scancel", "--state=PENDING"])
        self.run(["scancel", "--state=RUNNING"])
        self.wait_until(lambda: not self.run(["squeue", "-h"]).stdout, timeout)

    # Waiting

    def wait_until(
        self, holds: Callable[[], bool], timeout: float = 30, every: float = 0.05
    ) -> None:
        """Wait until `holds`; times are those outside of the cluster."""
        until = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > until:
                raise SlurmProblem(f"not within {timeout} s\n{self.circumstances()}")
            time.sleep(every)

    def wait_for(self, state: str, *jobs: int, timeout: float = 60) -> None:
        """Wait until all `jobs` are in `state` (COMPLETED, RUNNING, ...)."""

        def all_there() -> bool:
            states = self.states()
            return all(states.get(job) == state for job in jobs)

        self.wait_until(all_there, timeout)

    def log_tail(self, daemon: str = "slurmctld", lines: int = 20) -> str:
        """The end of a log: slurmctld, slurmdbd, slurmrestd, slurmd.NODE, munged, mariadb."""
        log = self.layout.log(daemon)
        return tail(log if log.exists() else self.layout.printed(daemon), lines)

    def circumstances(self) -> str:
        """Queue, nodes and the end of slurmctld's log, for error messages."""
        seen = [self.run(argv, check=False) for argv in (["squeue", "-t", "all"], ["sinfo", "-N"])]
        parts = [(done.stdout + done.stderr)[-2000:] for done in seen]
        return "\n".join([*parts, self.log_tail()])

    def _update(self, what: str, values: dict[str, Any]) -> None:
        argv = ["scontrol", "update", what, *(f"{key}={v}" for key, v in values.items())]
        for _ in range(50):
            try:
                self.run(argv)
                return
            except SlurmProblem as problem:
                if NOT_YET not in str(problem):
                    raise
            time.sleep(0.1)
        raise SlurmProblem(f"{' '.join(argv)}: {NOT_YET} for five seconds")

    def _json(self, argv: Sequence[str]) -> Json:
        answer: Json = json.loads(self.run(argv).stdout)
        if answer["errors"]:
            raise SlurmProblem(f"{' '.join(argv)}: {answer['errors']}")
        return answer

    def _pairs(self, argv: Sequence[str], form: str) -> list[tuple[str, str]]:
        lines = self.run([*argv, "-o", form]).stdout.splitlines()
        return [(words[0], words[1]) for words in map(str.split, lines) if len(words) > 1]
