"""Records what the Slurm on PATH answers to Dovetail, for tests that need no cluster.

python -m tests.live.recordings.record      # writes tests/live/recordings/<version>/
python3 -m tests.slurm_versions run sid -- .venv/bin/python -m tests.live.recordings.record
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from dovetail.live.backends.base import BackendError
from dovetail.live.backends.slurm.backend import SlurmBackend
from dovetail.live.backends.slurm.json_reader import JsonReader
from dovetail.live.backends.slurm.process import Answer, Commands
from dovetail.live.backends.slurm.scontrol import apply_changes
from dovetail.live.backends.slurm.text_reader import TextReader
from dovetail.live.config import SlurmConfig
from dovetail.live.model.decision import Change, Knob
from tests.live.recordings import FOLDER, Question
from tests.live.recordings.queue import one_of_each, options
from tests.live.slurm import Cluster

SACCT = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"
OTHERS = (
    ("scontrol", "-V"),
    ("scontrol", "-d", "show", "jobs"),
    ("sdiag",),
    ("sacct", "-a", "-X", "-P", "-o", SACCT),
    ("sprio", "-l"),
    ("sshare", "-a", "-l", "-P"),
)
"""Besides what Dovetail's readers ask."""


class Recording(Commands):
    """Notes all questions and answers."""

    def __init__(self, config: SlurmConfig) -> None:
        super().__init__(config)
        self.rows: list[dict[str, Any]] = []

    def run(self, program: str, *words: str, stdin: str = "") -> Answer:
        answer = super().run(program, *words, stdin=stdin)
        question, token = Question.of((program, *words), stdin)
        output, errors = answer.output.decode("utf-8", "replace"), answer.errors
        if token:
            output, errors = output.replace(token, "TOKEN"), errors.replace(token, "TOKEN")
        row = {"words": question.words, "stdin": question.stdin, "code": answer.code}
        self.rows.append(row | {"output": output, "errors": errors})
        return answer


def record_programs(config: SlurmConfig) -> list[dict[str, Any]]:
    """Everything that the readers ask."""
    commands = Recording(config)
    for reader in (TextReader(commands), JsonReader(commands)):
        backend = SlurmBackend("recorded", commands, reader)
        with suppress(BackendError):
            backend.read()
        with suppress(BackendError):
            backend.settings()
    for words in OTHERS:
        commands.run(*words)
    return commands.rows


def record_silence(config: SlurmConfig) -> list[dict[str, Any]]:
    """What the programs say while the controller is down; each takes 9 s to give up."""
    commands = Recording(config)
    for reader in (TextReader(commands), JsonReader(commands)):
        with suppress(BackendError):
            reader.jobs()
    for words in (("sinfo", "--json", "-a", "-N"), ("scontrol", "show", "jobs", "--json")):
        commands.run(*words)
    commands.run("scontrol", "ping")
    return commands.rows


def record_changes(config: SlurmConfig, jobs: dict[str, int]) -> list[dict[str, Any]]:
    """Two changes that are made, and two that Slurm refuses."""
    commands = Recording(config)
    changes = [
        Change(job, str(job), Knob.SITE_FACTOR, 0, value, "")
        for job, value in ((jobs["first"], 5000), (jobs["done"], 37), (99_999, 37))
    ]
    changes.append(Change(jobs["frozen"], str(jobs["frozen"]), Knob.PRIORITY, None, 4_000_000, ""))
    apply_changes(commands, changes)
    return commands.rows


def record_rest(cluster: Cluster, jobs: dict[str, int]) -> dict[str, Any]:
    asked: dict[str, tuple[str, str, object]] = {
        f"GET {what}": ("GET", what, None) for what in ("jobs", "nodes", "ping")
    }
    asked |= {
        "a priority": ("POST", f"job/{jobs['urgent']}", {"priority": _priority(cluster, 70)}),
        "a priority of no job": ("POST", "job/99999", {"priority": _priority(cluster, 70)}),
        "a priority too late": ("POST", f"job/{jobs['done']}", {"priority": _priority(cluster, 7)}),
        "no number": ("POST", f"job/{jobs['first']}", {"priority": "x"}),
    }
    found: dict[str, Any] = {}
    for name, question in asked.items():
        status, answer = cluster.rest.ask(*question)
        found[name] = {"status": status, "answer": answer}
    paths = cluster.rest.paths()
    found["GET /openapi/v3"] = {"status": 200, "answer": {"paths": {name: {} for name in paths}}}
    cluster.controller.stop()
    status, answer = cluster.rest.ask("GET", "jobs")
    return found | {"controller down": {"status": status, "answer": answer}}


def _priority(cluster: Cluster, value: int) -> object:
    plain = int(cluster.rest.api.rpartition(".")[2]) < 39
    return value if plain else {"set": True, "infinite": False, "number": value}


def write(path: Path, content: object, cluster: Cluster) -> None:
    """Neither this machine's name nor its folders belong into a recording."""
    text = json.dumps(content, indent=1)
    for own, anyone in _names(cluster):
        text = text.replace(own, anyone)
    path.write_text(re.sub(rf"\b{re.escape(os.uname().nodename)}\b", "head", text) + "\n")


def _names(cluster: Cluster) -> Iterator[tuple[str, str]]:
    yield str(cluster.layout.base), "/cluster"
    yield os.uname().version, "#1 SMP"
    yield os.uname().release, "6.1.0"


def main() -> None:
    with Cluster(options()) as cluster:
        version = cluster.run(["scontrol", "--version"]).stdout.split()[1]
        folder = FOLDER / ".".join(version.split(".")[:2])
        folder.mkdir(exist_ok=True)
        jobs = one_of_each(cluster)
        config = SlurmConfig(conf=str(cluster.layout.slurm_conf), timeout=60)
        programs = {"changes": record_changes(config, jobs)}
        cluster.wait_until(lambda: 5000 in cluster.site_factors().values())
        # slurmctld tells accounting of jobs some seconds late.
        cluster.wait_until(lambda: "FAILED" in cluster.run(["sacct", "-a"]).stdout, every=1)
        programs["up"] = record_programs(config)
        write(folder / "rest.json", record_rest(cluster, jobs), cluster)
        programs["down"] = record_silence(config)
        write(folder / "programs.json", programs, cluster)
        print(folder, file=sys.stderr)


if __name__ == "__main__":
    main()
