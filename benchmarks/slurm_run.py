"""One run of the experiment: a real Slurm in faster time, the daemon beside it, jobs as they come.

    record = run_once(jobs, Setup(mode=Mode.ACTIVE, policy="dovetail", speed=100))
    record.observed.wait, record.daemon["changes_sent"]

Slurm, its database, the daemon and the jobs live in one faster clock. Everything that limits
computing time is therefore multiplied by the speed; everything about jobs is as an operator has it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.slurm_jobs import Observed, Work
from benchmarks.slurm_site import (
    EQUAL,
    GROUPS,
    HALF_LIFE,
    MAX_AGE,
    PARTITION,
    PEOPLE,
    WEIGHTS,
)
from dovetail.domain.promises import Promises
from dovetail.live.config import (
    ActConfig,
    GuardrailConfig,
    JournalConfig,
    LiveConfig,
    MetricsConfig,
    SlurmConfig,
)
from dovetail.live.guardrails.base import GuardrailOutcome
from dovetail.live.install.native import rendered
from dovetail.live.journal import JournalReader
from dovetail.live.model.mode import Mode
from dovetail.slurm.host_lists import hosts_of
from tests.live.slurm import (
    Account,
    Accounting,
    Cluster,
    Job,
    Options,
    Partition,
    SlurmProblem,
    User,
)
from tests.live.steering import Running, write_config

LONG = 14_400
"""Minutes; with the default of 60 the jobs of the warm-up ended while the daemon still compiled."""
SUBMITTERS = 3
ATTEMPTS = 5
PATIENCE = 3.0
"""Times the expected makespan after which a run is given up."""


@dataclass(frozen=True)
class Setup:
    """What differs between runs."""

    mode: Mode
    policy: str = "dovetail"
    speed: float = 100.0
    estimates: str = "limit"
    hints: bool = False
    guardrails: dict[str, Any] = field(default_factory=dict)
    promises: Promises = field(default_factory=Promises)


@dataclass(frozen=True)
class Record:
    """What one run left behind."""

    observed: Observed
    states: dict[str, int]
    nodes: tuple[tuple[str, ...], ...]  # of each job
    submitted_again: int
    daemon: dict[str, Any]
    log: str  # the daemon's, for whoever wonders


def run_once(jobs: Sequence[Work], setup: Setup) -> Record:
    """Start a cluster and the daemon, submit the jobs when they are due, wait for the last."""
    folder = Path(tempfile.mkdtemp(prefix="dovetail-experiment-"))
    try:
        with _cluster(folder, setup) as cluster, _daemon(cluster, folder, setup) as daemon:
            _warm_up(cluster, daemon, setup)
            again = submit_all(cluster, jobs, setup.speed)
            wait_for_all(cluster, jobs, setup.speed)
            daemon.stop()
            observed, states, nodes = observed_jobs(cluster, jobs)
            facts = _daemon_facts(folder, setup)
            return Record(observed, states, nodes, again, facts, daemon.said)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cluster(folder: Path, setup: Setup) -> Iterator[Cluster]:
    folder.chmod(0o755)
    (folder / "run").mkdir(mode=0o750)
    hook = folder / "wake"
    hook.write_text(rendered("wake", {"run_dir": str(folder / "run")}))
    hook.chmod(0o755)
    options = Options(
        accounting=Accounting(
            accounts=tuple(map(Account, GROUPS)),
            users=tuple(User(name, account) for name, account, _ in PEOPLE),
        ),
        # Without this, fair-share charges CPUs only.
        partitions=(Partition(PARTITION, settings=("TRESBillingWeights=GRES/gpu=1",)),),
        weights=tuple((name, EQUAL) for name in WEIGHTS),
        auth="none",  # munge's own time-outs are too short on a busy machine in faster time
        speed=setup.speed,
        prolog=hook,
        epilog=hook,
        extra=(f"PriorityMaxAge={MAX_AGE}", f"PriorityDecayHalfLife={HALF_LIFE}"),
    )
    with Cluster(options) as cluster:
        yield cluster


def live_config(folder: Path, slurm_conf: Path, setup: Setup) -> LiveConfig:
    """As an operator has it, with computing times in the cluster's seconds."""
    guardrails = GuardrailConfig(**setup.guardrails)
    speed = setup.speed
    return LiveConfig(
        mode=setup.mode,
        policy=setup.policy,
        estimates=setup.estimates,
        period=60.0,
        min_period=30.0,  # 0.3 s of real time: the daemon shares two cores with all of Slurm
        run_dir=str(folder / "run"),
        slurm=SlurmConfig(conf=str(slurm_conf), timeout=30.0 * speed),
        act=ActConfig(hints=setup.hints),
        guardrails=GuardrailConfig(
            **setup.guardrails,
            decide_seconds=guardrails.decide_seconds * speed,
            read_seconds=guardrails.read_seconds * speed,
            clock_jump=guardrails.clock_jump * speed,
        ),
        journal=JournalConfig(path=str(folder / "journal.sqlite")),
        metrics=MetricsConfig(port=0),
        promises=setup.promises,
    )


@contextmanager
def _daemon(cluster: Cluster, folder: Path, setup: Setup) -> Iterator[Running]:
    config = live_config(folder, cluster.layout.slurm_conf, setup)
    path = write_config(config, folder / "dovetail.toml")
    daemon = Running(cluster, path, folder / "daemon.log")
    try:
        yield daemon
    finally:
        daemon.kill()


def _warm_up(cluster: Cluster, daemon: Running, setup: Setup) -> None:
    """Until the daemon has ordered a queue once: loading the simulator takes seconds."""
    wide = ("--nodes=2", "--ntasks-per-node=1", f"--account={PEOPLE[0][1]}")
    pair = [
        cluster.submit(
            gpus=4, seconds=1e6, minutes=LONG, name="warm-up", user=PEOPLE[0][0], extra=wide
        )
        for _ in range(2)
    ]
    daemon.wait_for(f"{setup.mode.value}: 1 wait, 1 run;", timeout=900)
    cluster.cancel(*pair)
    cluster.wait_until(lambda: len(cluster.history()) == len(pair))
    # Eight GPUs for up to an hour would count as use of the first group for the rest of the run.
    cluster.run(["sacctmgr", "-i", "modify", "account", *GROUPS[:1], "set", "RawUsage=0"])


def submit_all(cluster: Cluster, jobs: Sequence[Work], speed: float) -> int:
    """Every job when it is due; how many times that took more than one attempt."""
    began = time.monotonic()

    def submit(work: Work) -> int:
        time.sleep(max(0.0, began + work.arrival / speed - time.monotonic()))
        for attempt in range(ATTEMPTS):
            # Time-outs shrink with the clock's speed: on a busy machine a client dies of SIGPIPE.
            with suppress(SlurmProblem):
                cluster.submit_job(_job(work))
                return attempt
            if _is_known(cluster, work):
                return attempt + 1
        raise SlurmProblem(f"job {work.number} could not be submitted\n{cluster.circumstances()}")

    with ThreadPoolExecutor(SUBMITTERS) as pool:  # jobs are taken up in the order of arrival
        return sum(pool.map(submit, jobs))


def _job(work: Work) -> Job:
    return Job(
        gpus=work.gpus_per_node,
        seconds=work.run,
        name=_name(work),
        minutes=work.minutes,
        user=work.user,
        extra=work.sbatch(),
    )


def _name(work: Work) -> str:
    return f"{work.kind}-{work.number}"


def _is_known(cluster: Cluster, work: Work) -> bool:
    """Whether Slurm took the job although the client said nothing."""
    for _ in range(ATTEMPTS):
        with suppress(SlurmProblem):
            return bool(cluster.run(["squeue", "-h", "-t", "all", "-n", _name(work)]).stdout)
    raise SlurmProblem("squeue does not answer")


def wait_for_all(cluster: Cluster, jobs: Sequence[Work], speed: float) -> None:
    patience = 60.0 + PATIENCE * sum(job.gpus * job.run for job in jobs) / 13 / speed
    names = {_name(job) for job in jobs}
    cluster.wait_until(
        lambda: names <= {done.name for done in cluster.history()}, timeout=patience, every=0.5
    )


def observed_jobs(
    cluster: Cluster, jobs: Sequence[Work]
) -> tuple[Observed, dict[str, int], tuple[tuple[str, ...], ...]]:
    found = {done.name: done for done in cluster.history() if done.name != "warm-up"}
    rows = [found[_name(job)] for job in jobs]
    times = np.array([(row.submit, row.start, row.end) for row in rows], float)
    times -= times[:, 0].min()
    states = Counter(row.state for row in rows)
    return Observed(*times.T), dict(states), tuple(hosts_of(row.nodes) for row in rows)


def _daemon_facts(folder: Path, setup: Setup) -> dict[str, Any]:
    """From the journal: what was sent, what failed, what guardrails said; real seconds."""
    with JournalReader.open(folder / "journal.sqlite") as past:
        cycles = past.cycles(10**9)
        said: Counter[str] = Counter()
        for number, _ in cycles:
            for verdict in past.verdicts(number):
                if verdict.outcome is not GuardrailOutcome.PASS:
                    said[f"{verdict.guardrail}: {verdict.outcome.value}"] += 1
        errors = Counter(
            re.sub(r"\d+", "N", action.error)
            for job in {run.job for run in past.started(0.0)}
            for action in past.actions(job)
            if action.error
        )
        switches = [f"{switch.mode.value}: {switch.why}" for switch in past.switches()]
    rows = [cycle for _, cycle in cycles]
    busy = [cycle for cycle in rows if cycle.pending]
    return {
        "cycles": len(rows),
        "changes_sent": sum(cycle.sent for cycle in rows),
        "changes_failed": sum(cycle.failed for cycle in rows),
        "failures": dict(errors),
        "unreadable": sum("cannot be read" in cycle.sentence for cycle in rows),
        "undecided": sum("nothing decided" in cycle.sentence for cycle in rows),
        "verdicts": dict(said),
        "modes": switches,
        "longest_queue": max((cycle.pending for cycle in rows), default=0),
        "read_ms": _middle([cycle.read_seconds for cycle in busy], setup.speed),
        "decide_ms": _middle([cycle.decide_seconds for cycle in busy], setup.speed),
        "act_ms": _middle([cycle.act_seconds for cycle in busy if cycle.sent], setup.speed),
    }


def _middle(seconds: Sequence[float], speed: float) -> dict[str, float]:
    if not seconds:
        return {}
    real = 1000.0 * np.array(seconds) / speed
    return {"median": float(np.median(real)), "p95": float(np.quantile(real, 0.95))}
