"""Many runs at once: policies × windows in worker processes that get the trace once."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

from dovetail.agents.engines import Engine
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import summary
from dovetail.domain.processes import submit
from dovetail.evaluation.protocols import TraceWindow
from dovetail.evaluation.run import Run
from dovetail.evaluation.timeline import UsageOverTime, timeline_of
from dovetail.policies.policy import Policy

SMALL = 3_000_000
"""Simulated jobs below which processes cost more than they gain.

A worker takes 2 to 4 s to start (imports, loading compiled code), a job 3 µs. On two cores in use
by others, one process and two took 3.9 and 5.9 s for 1.7 million jobs, 9.8 and 9.9 s for 3.4.
"""


class Task(NamedTuple):
    """One run: positions in the lists of windows and policies."""

    window: int
    policy: int


class Outcome(NamedTuple):
    """What is kept of a run."""

    metrics: dict[str, Any]  # as `summary` gives them
    wait: Floats  # [jobs] seconds; NaN: rejected
    timeline: UsageOverTime


class Stopped(Exception):  # noqa: N818 - reads as what happened
    """A worker was told to give up."""


@dataclass(frozen=True, slots=True)
class Work:
    """All that a worker needs."""

    run: Run  # of the whole trace, whatever its policy
    policies: tuple[Policy, ...]
    told: tuple[Estimates, ...]  # to each of them
    windows: tuple[TraceWindow, ...]

    def tasks(self) -> list[Task]:
        """Window by window, so that what is finished early is comparable."""
        count = len(self.policies)
        return [Task(w, p) for w in range(len(self.windows)) for p in range(count)]

    def play(self, task: Task) -> Outcome:
        """As players ask for it."""
        return self.perform(task)

    def perform(self, task: Task, progress: Callable[[float], None] | None = None) -> Outcome:
        policy, told = self.policies[task.policy], self.told[task.policy]
        whole = replace(self.run, policy=policy, estimates=told)
        schedule = self.windows[task.window].cut(whole).replay(progress)
        return Outcome(summary(schedule), schedule.wait, timeline_of(schedule))


def perform_all(
    work: Work,
    workers: int | None,
    finished: Callable[[Task, Outcome], None],
    engine: Engine | None = None,
) -> None:
    """Run every task; `finished` is called here, in whatever order they end.

    Without an engine it is this machine, in one process or several.
    """
    tasks = work.tasks()
    if workers is not None and workers < 1:
        raise ConfigError(f"workers is {workers}, expected 1 or more")
    if engine is not None:
        _travel(work.policies, workers or 1)
        away = replace(work, policies=tuple(policy.carried() for policy in work.policies))
        with engine([away], workers or 1) as players:
            for at, outcome in players.play_each([(0, task) for task in tasks]):
                finished(tasks[at], outcome)
        return
    jobs = len(work.policies) * sum(window.stop - window.start for window in work.windows)
    wanted = (1 if jobs < SMALL else os.cpu_count() or 1) if workers is None else workers
    if min(wanted, len(tasks)) > 1 and _travel(work.policies, workers):
        _perform_in_processes(work, tasks, min(wanted, len(tasks)), finished)
        return
    for task in tasks:
        finished(task, work.perform(task))


def _travel(policies: Sequence[Policy], workers: int | None) -> bool:
    """Whether other processes can be given the policies; an error if they were asked for."""
    try:
        pickle.dumps(policies)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        if workers is None:
            return False
        raise ConfigError(
            f"a policy cannot be given to {workers} processes ({problem}); "
            "define its function at the top of a module, or use workers=1"
        ) from problem
    return True


def _perform_in_processes(
    work: Work, tasks: Sequence[Task], workers: int, finished: Callable[[Task, Outcome], None]
) -> None:
    # Not fork: a lock held by one of Polars' or NumPy's threads would stay locked in the child.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    with ProcessPoolExecutor(workers, context, _start_worker, (work, stop)) as pool:
        try:
            futures = {submit(pool, _perform_here, task): task for task in tasks}
            for future in as_completed(futures):
                finished(futures[future], future.result())
        except BrokenProcessPool as problem:
            raise ConfigError(
                "a worker process ended unexpectedly; call compare under "
                '`if __name__ == "__main__":` in a script, or use workers=1'
            ) from problem
        finally:
            # After Ctrl-C runs that have begun end at their next look at `stop`.
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _Worker(NamedTuple):
    work: Work
    stop: Event


_worker: list[_Worker] = []
"""What this process was started for; a pool can hand it over only through the module."""


def _start_worker(work: Work, stop: Event) -> None:
    gc.freeze()  # what was imported stays: Python looks through it no more, not even at the end
    _worker[:] = [_Worker(work, stop)]


def _perform_here(task: Task) -> Outcome:
    work, stop = _worker[0]

    def look(share: float) -> None:
        if stop.is_set():
            raise Stopped

    look(0.0)
    return work.perform(task, look)
