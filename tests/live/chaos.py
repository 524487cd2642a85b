"""Random faults, drawn from a seed, on a real cluster with a daemon in active mode.

    python -m tests.live.chaos --faults 60 --seed 1

Jobs flow all the time, and some wait throughout, so that there always are factors to lose track
of. The daemon is started again whenever it is gone, as systemd would. At the end no job may be
lost, none may have a factor, and the daemon must cycle by itself.

Faults that lose jobs by Slurm's own doing are kept off: slurmctld saves its state with a delay of
up to 5 s, and Slurm 22.05 leaves GPUs taken by jobs that end while it is down. So it goes down only
after the flow has dried up, and is killed only after it has had the time to save.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from dovetail.live.config import GuardrailConfig, LiveConfig
from dovetail.live.model.mode import Mode
from dovetail.live.service.switchboard import STOP, Switchboard
from tests.live.chaos_surroundings import Surroundings
from tests.live.slurm import SMALL_LAYOUT, Cluster, Options, SlurmProblem
from tests.live.steering import Running, config_for, until, write_config

SAVED = 8.0
"""Seconds after which slurmctld has saved all that it was told."""

WAITERS = 6
CLOCKED = str(Path(__file__).with_name("clocked.py"))


@dataclass(frozen=True, slots=True)
class ChaosOutcome:
    """What was done, and what became of it."""

    faults: Counter[str]
    submitted: int
    completed: int
    restarts: int
    cycles: int

    def __str__(self) -> str:
        done = ", ".join(f"{count} {name}" for name, count in sorted(self.faults.items()))
        return (
            f"{self.faults.total()} faults ({done}): {self.completed} of {self.submitted} jobs "
            f"completed, {self.restarts} restarts, {self.cycles} cycles"
        )


@dataclass
class Flow:
    """Submits small jobs until told to stop; can be held up."""

    cluster: Cluster
    draw: random.Random
    jobs: list[int] = field(default_factory=list)
    last: float = 0.0
    open: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    busy: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        while not self.stop.wait(0.3):
            if self.open.wait(0.1):
                self.submit()

    def submit(self) -> None:
        seconds = round(self.draw.uniform(0.1, 0.8), 2)
        with self.busy:
            if self.open.is_set():
                self.jobs.append(
                    self.cluster.submit(
                        self.draw.choice((1, 2, 4)), seconds, gpu_type="p100", minutes=5
                    )
                )
                self.last = time.monotonic()

    def dry_up(self) -> None:
        """No more jobs until `open` is set, and none of those before left."""
        self.open.clear()
        with self.busy:
            until(lambda: not self.left(), "the flow dries up", 120.0)

    def left(self) -> set[int]:
        """Jobs that have not ended yet."""
        states = self.cluster.states()
        return {job for job in self.jobs if states.get(job) in ("PENDING", "RUNNING", "COMPLETING")}


class Supervisor:
    """Starts the daemon again whenever it is gone, and notes when it went by itself."""

    def __init__(self, daemon: Running) -> None:
        self.daemon, self.restarts, self.refusals = daemon, 0, 0
        self.crashes: list[int] = []
        self.lock = threading.Lock()
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.wait(0.1):
            with self.lock:
                if not self.daemon.alive:
                    # SIGHUP before it listens for one ends any program.
                    if self._refused():
                        self.refusals += 1
                    elif self.daemon.code not in (-signal.SIGKILL, -signal.SIGHUP):
                        self.crashes.append(self.daemon.code)
                    self.restarts += 1
                    self.daemon.again()

    def _refused(self) -> bool:
        """Whether it would not start because others could write its folder just then."""
        last = self.daemon.said.rstrip().rpartition("\n")[2]
        return last.startswith("error: ") and "others may write it" in last


class Chaos:
    """One cluster, one daemon, one seed."""

    def __init__(self, cluster: Cluster, folder: Path, seed: int) -> None:
        self.cluster, self.folder = cluster, folder
        self.draw = random.Random(seed)
        self.clock = folder / "clock"
        self.clock.write_text("0")
        self.around = Surroundings(folder, random.Random(seed + 2))
        config = config_for(
            cluster, folder, mode=Mode.ACTIVE, period=0.4, guardrails=GuardrailConfig()
        )
        self.config = replace(config, slurm=replace(config.slurm, bin=str(self.around.folder)))
        self.board = Switchboard(Path(config.run_dir))
        path = write_config(self.config, folder / "dovetail.toml")
        self.daemon = Running(
            cluster, path, folder / "daemon.log", (CLOCKED,), {"CLOCK_STEP_FILE": str(self.clock)}
        )
        self.supervisor = Supervisor(self.daemon)
        self.flow = Flow(cluster, random.Random(seed + 1))
        self.done: Counter[str] = Counter()

    # -- faults

    def kill_daemon(self) -> None:
        with self.supervisor.lock:
            self.daemon.kill()

    def freeze_daemon(self) -> None:
        with self.supervisor.lock:
            self.daemon.signal(signal.SIGSTOP)
            self._moment()
            self.daemon.signal(signal.SIGCONT)

    def freeze_slurmctld(self) -> None:
        self.cluster.controller.pause()
        self._moment()
        self.cluster.controller.resume()

    def freeze_slurmd(self) -> None:
        node = self.cluster.slurmd[self.draw.choice(sorted(self.cluster.slurmd))]
        node.pause()
        self._moment()
        node.resume()

    def kill_slurmd(self) -> None:
        node = self.cluster.slurmd[self.draw.choice(sorted(self.cluster.slurmd))]
        node.kill()
        self._moment()
        node.start()

    def restart_slurmctld(self) -> None:
        with self._dry():
            self.cluster.controller.stop()
            self._moment()
            self.cluster.controller.start()

    def kill_slurmctld(self) -> None:
        with self._dry():
            time.sleep(SAVED)
            self.cluster.controller.kill()
            self._moment()
            self.cluster.controller.start()

    def step_clock(self) -> None:
        part = self.clock.with_suffix(".new")
        part.write_text(str(self.draw.choice((-7200, -90, -5, 0, 0, 5, 90, 86_400))))
        part.replace(self.clock)

    def kill_switch(self) -> None:
        (self.board.folder / STOP).touch()
        self._moment()
        (self.board.folder / STOP).unlink()
        self.board.ask_for(Mode.ACTIVE, "chaos")

    def switch_mode(self) -> None:
        self.board.ask_for(self.draw.choice(list(Mode)), "chaos")
        self._moment()
        self.board.ask_for(Mode.ACTIVE, "chaos")

    def lose_journal(self) -> None:
        """Killed, and the journal is gone: only what Slurm shows can tell what is ours."""
        with self.supervisor.lock:
            self.daemon.kill()
            for file in self.folder.glob("journal.sqlite*"):
                file.unlink()
            told = self.daemon.command("restore", "--ours", check=False)
            left = [factor for factor in self.cluster.site_factors().values() if factor]
            assert not left, f"{left} after a lost journal: {told.stdout}{told.stderr}"

    def lose_rights(self) -> None:
        """Slurm refuses every change until the right is back."""
        denied = self.around.begin_denial()
        self._linger()
        denied.unlink()
        self.board.ask_for(Mode.ACTIVE, "chaos")

    def answer_garbage(self) -> None:
        garbage = self.around.begin_garbage()
        self._linger()
        garbage.unlink()
        self.board.ask_for(Mode.ACTIVE, "chaos")

    def spend_budget(self) -> None:
        """No change is left for this hour: active mode must end by itself, in order."""
        poor = replace(self.config, guardrails=GuardrailConfig(changes_per_hour=1))
        self._reload(poor)
        self._linger()
        self._reload(self.config)
        self.board.ask_for(Mode.ACTIVE, "chaos")

    def plant_links(self) -> None:
        """A folder that others can write for a moment, and what they leave there."""
        self.board.folder.chmod(0o777)
        self.around.plant_links(self.board.folder)
        self._moment()
        self.board.folder.chmod(0o750)

    def _reload(self, config: LiveConfig) -> None:
        write_config(config, self.daemon.config)
        with self.supervisor.lock:
            if self.daemon.alive:
                self.daemon.signal(signal.SIGHUP)

    def _linger(self) -> None:
        """Long enough for several cycles to fail."""
        time.sleep(self.draw.uniform(0.5, 3.0))

    def _moment(self) -> None:
        time.sleep(self.draw.uniform(0.1, 0.5))

    @contextmanager
    def _dry(self) -> Iterator[None]:
        self.flow.dry_up()
        yield
        until(lambda: _answers(self.cluster), "slurmctld answers again")
        self.flow.open.set()

    # -- the course of it

    def run(self, faults: int) -> ChaosOutcome:
        blocker = self.cluster.submit(2, 3600, gpu_type="k80", minutes=120)
        self.cluster.wait_for("RUNNING", blocker)
        waiters = [
            self.cluster.submit(2, 0.1, gpu_type="k80", minutes=60 - 7 * place)
            for place in range(WAITERS)
        ]
        self.daemon.wait_for("changes sent")
        threads = [threading.Thread(target=part.run) for part in (self.flow, self.supervisor)]
        for thread in threads:
            thread.start()
        self.flow.open.set()
        try:
            for fault in self._drawn(faults):
                fault()
                self.done[fault.__name__] += 1
                self._moment()
            self.flow.dry_up()
            self._recovers()
        finally:
            self.flow.stop.set()
            self.supervisor.stop.set()
            for thread in threads:
                thread.join()
        assert self.supervisor.refusals <= self.done["plant_links"]
        assert not self.supervisor.crashes, f"ended by itself:\n{self.daemon.said[-3000:]}"
        return self._settled(blocker, waiters)

    def _drawn(self, faults: int) -> list[Callable[[], None]]:
        """Quick ones mostly; slurmctld goes down for good once in thirty, each way."""
        quick: tuple[Callable[[], None], ...] = (
            self.kill_daemon, self.kill_daemon, self.freeze_daemon, self.freeze_slurmctld,
            self.freeze_slurmd, self.kill_slurmd, self.step_clock, self.kill_switch,
            self.switch_mode, self.lose_journal, self.answer_garbage, self.spend_budget,
        )  # fmt: skip
        if os.geteuid() == 0:  # only root can be refused as somebody else, and give links away
            quick += (self.lose_rights, self.plant_links)
        slow = [self.restart_slurmctld, self.kill_slurmctld] * max(faults // 60, 1)
        drawn = [*slow, *(self.draw.choice(quick) for _ in range(faults - len(slow)))]
        self.draw.shuffle(drawn)
        return drawn

    def _recovers(self) -> None:
        """By itself, once everything is as it should be, and somebody wants it active."""
        self.clock.write_text("0")
        self.board.ask_for(Mode.ACTIVE, "chaos")
        cycles = self.daemon.said.count("active: ")
        try:
            until(lambda: self.daemon.said.count("active: ") >= cycles + 3, "it cycles", 180.0)
            until(
                lambda: sum(factor != 0 for factor in self.cluster.site_factors().values()) > 1,
                "waiting jobs have factors",
                180.0,
            )
        except AssertionError as problem:
            raise AssertionError(f"{problem}; it said last:\n{self.daemon.said[-3000:]}") from None

    def _settled(self, blocker: int, waiters: list[int]) -> ChaosOutcome:
        self.daemon.kill()
        self.around.check()
        self.daemon.command("restore")
        left = {job: factor for job, factor in self.cluster.site_factors().items() if factor}
        assert not left, f"jobs with factors after restore: {left}"
        self.cluster.cancel(blocker)
        jobs = [*self.flow.jobs, *waiters]
        ended = Counter[str]()
        until(lambda: {done.id for done in self.cluster.history()} >= set(jobs), "jobs end")
        for done in self.cluster.history():
            if done.id in jobs:
                ended[done.state] += 1
        assert ended.keys() == {"COMPLETED"}, f"{ended}\n{self.cluster.circumstances()}"
        return ChaosOutcome(
            self.done,
            len(jobs),
            ended["COMPLETED"],
            self.supervisor.restarts,
            self.daemon.said.count("active: "),
        )


def _answers(cluster: Cluster) -> bool:
    try:
        return "idle" in cluster.node_states().values()
    except SlurmProblem:
        return False


def run_chaos(faults: int, seed: int, folder: Path) -> ChaosOutcome:
    """All of it, on a cluster of its own."""
    with Cluster(Options(nodes=SMALL_LAYOUT)) as cluster:
        chaos = Chaos(cluster, folder, seed)
        try:
            return chaos.run(faults)
        finally:
            chaos.daemon.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_chaos(asked.faults, asked.seed, Path(folder))
    print(f"seed {asked.seed}: {outcome}, in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
