"""10,000 waiting jobs of a real Slurm in another order, by the plug-in's table.

    python -m benchmarks.run live_plugin

Needs gcc and the source of the installed Slurm, in /usr/src or named by DOVETAIL_SLURM_SOURCE. The
cluster's minute is six seconds, because slurmctld asks the plug-in once a minute. `apply` is what
the plug-in takes the place of: all changes of a cycle handed to Slurm. The ledger, which writes
every change down before and after, costs the same with every backend; `send` includes it. Beside it
1,000 of the same changes as messages.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dovetail.live.backends import BACKENDS
from dovetail.live.backends.base import Backend
from dovetail.live.config import JournalConfig, SlurmConfig
from dovetail.live.cycle.actuator import Actuator, Clocks
from dovetail.live.journal import Journal
from dovetail.live.ledger import Ledger
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.plugin.build import build_plugin, find_source, plugin_folders, slurm_version
from tests.live.plugin.steered import Steered, plugin_options
from tests.live.slurm import Cluster, Job

JOBS, MESSAGES, TIMES = 10_000, 1000, 5


def run() -> dict[str, Any]:
    """Reverse the queue, several times, and count what slurmctld was asked to change."""
    version = slurm_version()
    source = Path(os.environ.get("DOVETAIL_SLURM_SOURCE") or find_source(version))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_plugin(source, version, folder)
        options = plugin_options(folder, folder / "factors", plugin_folders(), speed=10.0)
        # Jobs that wait shall wait: nothing is to start while we measure. And nothing but the
        # table shall tell them apart: with a weight for age, tasks that were split off minutes of
        # the cluster's time apart differed by hundreds of points of their own, a table's by 50.
        options = replace(
            options, scheduler="bf_max_job_test=10,default_queue_depth=10", weights=()
        )
        with Cluster(options) as cluster:
            result = _measure(Steered(cluster, folder / "factors"), folder)
    return {"slurm": version, "jobs": JOBS, **result}


def _measure(steered: Steered, folder: Path) -> dict[str, Any]:
    cluster = steered.cluster
    jobs = _queue(steered)
    config = SlurmConfig(
        conf=str(cluster.layout.slurm_conf),
        timeout=60.0,
        plugin_table=str(steered.table),
        plugin_seconds=86_400,
    )
    plugin, commands = BACKENDS["plugin"](config), BACKENDS["commands"](config)
    plugin.read()
    before = steered.updates()
    turns = [_reversed(jobs, turn) for turn in range(TIMES)]
    rows = [_timed(partial(_apply, plugin, changes)) for changes in turns]
    shown = _timed(lambda: steered.shows(_wanted(jobs, TIMES - 1), timeout=60))
    with Journal.open(JournalConfig(path=str(folder / "journal.sqlite"))) as journal:
        actuator = Actuator(plugin, Ledger(journal), Clocks())
        sent = _timed(lambda: actuator.send(_reversed(jobs, TIMES)))
    updates = steered.updates() - before
    steered.shows(_wanted(jobs, TIMES), timeout=60)
    has, wanted = cluster.priorities(), _wanted(jobs, TIMES)
    in_order = sorted(jobs, key=has.__getitem__) == jobs
    own = [has[job] - wanted[job] for job in jobs]
    apart = max(own) - min(own)
    steered.remove()
    steered.shows(dict.fromkeys(jobs, 0), timeout=60)
    answers: list[Result] = []
    messages = _timed(lambda: answers.extend(commands.apply(_reversed(jobs[:MESSAGES], 0))))
    return {
        "apply_wall_seconds": round(statistics.median(row[0] for row in rows), 4),
        "apply_most_wall_seconds": round(max(row[0] for row in rows), 4),
        "apply_own_seconds": round(statistics.median(row[1] for row in rows), 4),
        "send_wall_seconds": round(sent[0], 4),
        "send_own_seconds": round(sent[1], 4),
        "shown_after_cluster_seconds": round(shown[0] * steered.cluster.options.speed, 1),
        "update_messages": updates,
        "in_the_wanted_order": in_order,
        "own_priorities_apart": apart,
        f"apply_{MESSAGES}_as_messages_wall_seconds": round(messages[0], 4),
        f"apply_{MESSAGES}_as_messages_done": sum(answer.done for answer in answers),
    }


def _queue(steered: Steered) -> list[int]:
    """An array whose tasks were set one by one is a record for each: faster than 10,000 sbatch."""
    steered.waiting(0)
    cluster = steered.cluster
    array = cluster.submit_array(Job(gpus=1, seconds=1), JOBS)
    # slurmctld may take longer than its client waits; it does it all the same.
    cluster.run(["scontrol", "update", f"jobid={array}_[2-{JOBS}]", "nice=1"], check=False)
    cluster.wait_until(lambda: len(cluster.site_factors()) >= JOBS, timeout=300, every=2.0)
    return sorted(cluster.site_factors())


def _wanted(jobs: list[int], turn: int) -> dict[int, int]:
    """The last job first, by other values in every turn."""
    return {job: 1000 * turn + 50 * place + 37 for place, job in enumerate(jobs)}


def _reversed(jobs: list[int], turn: int) -> list[Change]:
    wanted = _wanted(jobs, turn)
    return [
        Change(job, str(job), Knob.SITE_FACTOR, 0, factor, "measured")
        for job, factor in wanted.items()
    ]


def _apply(backend: Backend, changes: list[Change]) -> None:
    assert all(result.done for result in backend.apply(changes))


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of our own processor time."""
    wall, own = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - own
