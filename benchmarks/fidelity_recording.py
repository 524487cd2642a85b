"""A workload through a real Slurm in faster time, kept as the texts that an operator exports."""

from __future__ import annotations

import gzip
import os
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.fidelity_jobs import SMALL, Ask, site_options
from dovetail.slurm.sacct import EXPORTED
from tests.live.slurm import Cluster, SlurmProblem, why_not

SUBMITTERS, ATTEMPTS = 3, 3
PATIENCE = 1800.0
"""Seconds, after the last submission, until everything must have ended."""

SACCT, QOS, ASSOCIATIONS, CONF = "sacct.txt.gz", "qos.txt", "assoc.txt", "slurm.conf"
KEPT = re.compile(r"^(?:Priority|Scheduler|Select|NodeName|PartitionName)")
ELSEWHERE = re.compile(r" (?:NodeHostname|NodeAddr|Port)=\S+")
"""Lines of slurm.conf that matter to a replay, and what of them is about this machine only."""

LOADED = "load.txt"
"""How busy the machine was: its mean load, once a second."""


def record(asks: Sequence[Ask], speed: float, folder: Path) -> None:
    """Let a real Slurm run the jobs; write what `sacct`, `sacctmgr` and slurm.conf say of it."""
    options = site_options(speed)
    if (reason := why_not(options)) is not None:
        raise SystemExit(f"fidelity cannot be measured here: {reason}")
    folder.mkdir(parents=True, exist_ok=True)
    with Cluster(options) as slurm:
        conf = filter(KEPT.match, slurm.layout.slurm_conf.read_text().splitlines())
        (folder / CONF).write_text("".join(ELSEWHERE.sub("", line) + "\n" for line in conf))
        slurm.run(["sacctmgr", "-i", "modify", "qos", "small", "set", SMALL])
        time.sleep(1.0)  # slurmctld hears of it some time later
        loads = _submit_all(slurm, asks, speed)
        loads += _wait_for_all(slurm, sum(ask.tasks for ask in asks))
        slurm.env["SLURM_TIME_FORMAT"] = "%s"
        fields = ",".join(("JobID", *(name for name in EXPORTED if name != "Restarts"), "NodeList"))
        history = ["sacct", "-a", "-X", "-P", "--noconvert", "-S", "2020-01-01", "-o", fields]
        for name, argv in (
            (QOS, ["sacctmgr", "-P", "show", "qos"]),
            (ASSOCIATIONS, ["sacctmgr", "-P", "show", "assoc", "tree"]),
        ):
            (folder / name).write_text(slurm.run(argv).stdout)
        text = _with_lost_starts(slurm, slurm.run(history).stdout)
        (folder / SACCT).write_bytes(gzip.compress(text.encode(), mtime=0))
        (folder / LOADED).write_text(f"{sum(loads) / max(1, len(loads)):.2f}\n")


def _with_lost_starts(slurm: Cluster, text: str) -> str:
    """In faster time the database now and then misses a start; Slurm's own log of jobs has it."""
    started = {str(job.id): str(job.start) for job in slurm.history()}
    header, *lines = (line.split("|") for line in text.splitlines())
    raw, start, elapsed, end = (header.index(n) for n in ("JobIDRaw", "Start", "ElapsedRaw", "End"))
    for cells in lines:
        if not cells[start].isdigit() and cells[raw] in started:
            cells[start] = started[cells[raw]]
            cells[elapsed] = str(int(cells[end]) - int(cells[start]))
    return "".join("|".join(cells) + "\n" for cells in (header, *lines))


def _submit_all(slurm: Cluster, asks: Sequence[Ask], speed: float) -> list[float]:
    began = time.monotonic()

    def submit(ask: Ask) -> float:
        time.sleep(max(0.0, began + ask.arrival / speed - time.monotonic()))
        for attempt in range(ATTEMPTS):
            try:
                slurm.submit_job(ask.job())
                break
            except SlurmProblem:  # a busy machine in faster time: now and then one is not heard
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(0.2)
        return os.getloadavg()[0]

    with ThreadPoolExecutor(SUBMITTERS) as pool:
        return list(pool.map(submit, asks))


def _wait_for_all(slurm: Cluster, jobs: int) -> list[float]:
    loads: list[float] = []

    def ended() -> bool:
        loads.append(os.getloadavg()[0])
        told = slurm.run(["sacct", "-a", "-X", "-n", "-P", "-S", "2020-01-01", "-o", "State"])
        states = told.stdout.split()
        return len(states) >= jobs and not {"PENDING", "RUNNING", "COMPLETING"} & set(states)

    slurm.wait_until(ended, timeout=PATIENCE, every=3.0)
    return loads
