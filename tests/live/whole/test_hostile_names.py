"""Whatever users write about their jobs is text: it moves no job, no log line, no terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dovetail.live.backends import BACKENDS
from dovetail.live.config import SlurmConfig
from dovetail.live.model.mode import Mode
from tests.live.cycle.test_controller import fill
from tests.live.slurm import Cluster
from tests.live.steering import running, steering
from tests.live.whole.test_kinds_of_jobs import ranked

NAMES = (
    "two\nlines\nJobId=1 SiteFactor=9",
    "; scontrol update jobid=1 sitefactor=9",
    "$(touch /tmp/oops) `id` | rm -rf x & \"double\" 'single'",
    "\x1b[2J\x1b]0;title\x07\rclear",
    "a\x1fb\x1ec|d,e:f\\n\t%",
    "JobId=1 SiteFactor=9 Priority=1 JobState=RUNNING",
    "x" * 250,
    "žluťoučký 🐎 \u202egnp.exe\u2028\u0085",
    "[bold red]markup[/] {format} %s %n",
    "-1",
)
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [^\x00-\x1f\x7f-\x9f\u2028\u202e]*")


def submit(cluster: Cluster) -> dict[int, str]:
    """A waiting job of each name, which it also has as its comment."""
    jobs = {}
    for place, name in enumerate(NAMES):
        extra = (f"--comment={name}",)
        minutes = 60 - place
        job = cluster.submit(4, 1, gpu_type="p100", name=name, minutes=minutes, extra=extra)
        cluster.update_job(job, admincomment=f"{name} end")
        jobs[job] = name
    return jobs


@pytest.mark.parametrize("backend", ["commands", "json"])
def test_names_are_read_as_they_are_and_nobody_else_is_touched(
    cluster: Cluster, tmp_path: Path, backend: str
) -> None:
    busy = fill(cluster)
    jobs = submit(cluster)
    ranked(cluster, *jobs)
    config = SlurmConfig(backend=backend, conf=str(cluster.layout.slurm_conf), timeout=15.0)
    snapshot = BACKENDS[backend](config).read()
    assert snapshot.doubts == ()
    assert {job.id for job in snapshot.jobs if job.pending or job.running} == {*busy, *jobs}
    for job, name in jobs.items():
        assert squashed(snapshot.by_id[job].name) == squashed(name)
    with steering(cluster, tmp_path, slurm=config) as controller:
        report = controller.cycle()
        assert (report.failed, report.managed) == (0, len(jobs))
        order = sorted(jobs, key=lambda job: -cluster.priorities()[job])
        assert order == sorted(jobs, reverse=True)  # the shortest first, as sjf says
    assert not any(cluster.site_factors().values())


def squashed(text: str) -> str:
    """Letters and digits: separators in names may be read as question marks."""
    return re.sub(r"[^a-zA-Z0-9]", "", text)


def test_log_and_status_stay_in_their_lines(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    ranked(cluster, *submit(cluster))
    cluster.update_node("k80-1", "drain", reason=NAMES[3])
    try:
        with running(cluster, tmp_path, mode=Mode.ACTIVE) as daemon:
            daemon.wait_for("changes sent")
            for words in (("status",), ("status", "--json")):
                said = daemon.command(*words).stdout
                assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", said)
            assert len(json.loads(said)["advice"]) == len(NAMES)
            assert daemon.stop() == 0
            for line in daemon.said.splitlines():
                assert LINE.fullmatch(line), line
    finally:
        cluster.update_node("k80-1", "resume")
