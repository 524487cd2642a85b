"""Targets that read what a live Slurm says: JSON, text and its configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from dovetail.live.backends.slurm.backend import SlurmBackend, in_known_shape
from dovetail.live.backends.slurm.json_reader import JsonReader
from dovetail.live.backends.slurm.json_shapes import answer_of, jobs_of, nodes_of
from dovetail.live.backends.slurm.process import Answer
from dovetail.live.backends.slurm.scontrol import complaints
from dovetail.live.backends.slurm.text_reader import TextReader
from dovetail.live.install.slurm_conf import with_block, without_block
from dovetail.slurm.conf import includes_of, lines_of, settings_of_conf
from tests.fuzz.mutations import spoil_json, spoil_text
from tests.fuzz.target import Target
from tests.live.backends.test_job_rows import DEFAULTS
from tests.traces.test_cluster_files import FILES

SAMPLES = Path(__file__).parents[1] / "live" / "backends" / "samples"
VERSIONS = ("22.05", "23.02", "23.11", "24.05", "25.05")
TEXTS = {
    ("scontrol", "node"): "scontrol-d-show-nodes.txt",
    ("scontrol", "partition"): "scontrol-show-partitions.txt",
    ("scontrol", "reservation"): "scontrol-show-reservations.txt",
    ("scontrol", "config"): "scontrol-show-config.txt",
    ("scontrol", "job"): "scontrol-d-show-jobs.txt",
    ("scontrol", "ping"): "scontrol-ping.txt",
}
LINES = {
    "tasks": "7 1-3\n9 5\n",
    "avoided": "7 n1,n2\n9 n[3-5]\n",
    "sprio": "7 1500 0 0 100 200 0 1000 100 0 |cpu=3,gres/gpu=20\n9 1 0 0 0 0 0 0 0 0 |\n",
    "sshare": "root||1|0\n root|root|1|0\nphysics||parent|2000\n physics|ada|7|1999\n",
    "sacctmgr": "normal\nhigh\n",
}


class SpoiltAnswers:
    """Answers that a real Slurm gave, one of them spoilt."""

    timeout = 1.0

    def __init__(self, random: Random, version: str) -> None:
        self.random, self.version = random, version
        self.spoilt = random.choice(("squeue", "sinfo", *LINES, *TEXTS))

    def run(self, program: str, *words: str, stdin: str = "") -> Answer:
        return Answer(self.ask(program, *words).encode("utf-8", "replace"), "", 0)

    def ask(self, program: str, *words: str) -> str:
        if "--json" in words:
            text = (SAMPLES / self.version / f"{program}.json").read_text()
            spoilt = spoil_json(text, self.random).decode("utf-8", "replace")
            return spoilt if program == self.spoilt else text
        if program == "squeue":
            if "-O" in words:
                return self._told("squeue", self._rows(words[-1]))
            program = "avoided" if words[-1].endswith("%x") else "tasks"
        if program in LINES:
            return self._told(program, LINES[program])
        key = next(key for key in TEXTS if key[0] == program and key[1] in words)
        return self._told(key, (SAMPLES / "22.05" / TEXTS[key]).read_text())

    def _told(self, key: object, text: str) -> str:
        return spoil_text(text, self.random) if key == self.spoilt else text

    def _rows(self, asked: str) -> str:
        fields = [field.partition(":") for field in asked.split(",")]
        rows = []
        for number, state in enumerate(("PENDING", "RUNNING", "PENDING", "COMPLETING"), start=7):
            job = {**DEFAULTS, "JobID": str(number), "JobArrayID": f"7_{number}", "State": state}
            rows.append("".join(job[name] + suffix for name, _, suffix in fields))
        return "".join(f"{row}\n" for row in rows)


def read_json(random: Random, folder: Path) -> None:
    answers: Any = SpoiltAnswers(random, random.choice(VERSIONS))
    backend = SlurmBackend("json", answers, JsonReader(answers))
    backend.read()
    with in_known_shape():
        backend.settings()


def read_text(random: Random, folder: Path) -> None:
    answers: Any = SpoiltAnswers(random, "22.05")
    backend = SlurmBackend("text", answers, TextReader(answers))
    backend.read()
    backend.read()  # what was asked before is kept
    with in_known_shape():
        backend.settings()


def read_rest(random: Random, folder: Path) -> None:
    name, read = random.choice((("rest-jobs", jobs_of), ("rest-nodes", nodes_of)))
    text = (SAMPLES / "22.05" / f"{name}.json").read_text()
    reader: Callable[[Any], object] = read
    with in_known_shape():
        reader(answer_of(spoil_json(text, random), "slurmrestd"))


def read_slurm_conf(random: Random, folder: Path) -> None:
    """What `install` looks for in it; our own block can be put in and taken out again."""
    text = spoil_text(FILES["slurm-conf"][1], random)
    settings_of_conf(text)
    includes_of(text)
    list(lines_of(text))
    own = with_block(text, ["JobSubmitPlugins=lua"])
    assert with_block(own, ["JobSubmitPlugins=lua"]) == own
    assert settings_of_conf(without_block(own)) == settings_of_conf(without_block(text))


def read_complaints(random: Random, folder: Path) -> None:
    """What scontrol says of changes, with a token between them."""
    told = "a1b2 0\nslurm_update error: Invalid job id specified\na1b2 1\na1b2 2\n"
    complaints(Answer(b"", spoil_text(told, random), 0), "a1b2")


SINGLE: dict[str, Callable[[Random, Path], None]] = {
    "live:json": read_json,
    "live:text": read_text,
    "live:rest": read_rest,
    "live:slurm-conf": read_slurm_conf,
    "live:complaints": read_complaints,
}
TARGETS = tuple(Target(name, run) for name, run in SINGLE.items())
