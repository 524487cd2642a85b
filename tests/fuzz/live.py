"""Targets that read what a live Slurm says: JSON, text and its configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from tests.live.recordings import VERSIONS, Question, Recorded, rest_answers
from tests.traces.test_cluster_files import FILES


class SpoiltAnswers(Recorded):
    """Answers that a real Slurm gave, one of them spoilt."""

    def __init__(self, random: Random, version: str) -> None:
        super().__init__(version)
        self.random = random
        self.spoilt = random.choice(list(self.answers))

    def run(self, program: str, *words: str, stdin: str = "") -> Answer:
        question, _ = Question.of((program, *words), stdin)
        if question not in self.answers:
            # After a job that no Slurm has ever named.
            return Answer(b"", f"{program}: error: Invalid job id specified\n", 1)
        answer = super().run(program, *words, stdin=stdin)
        if question != self.spoilt:
            return answer
        text = answer.output.decode()
        if "--json" in words:
            return replace(answer, output=spoil_json(text, self.random))
        return replace(answer, output=spoil_text(text, self.random).encode("utf-8", "replace"))


def read_json(random: Random, folder: Path) -> None:
    answers = SpoiltAnswers(random, random.choice(VERSIONS))
    backend = SlurmBackend("json", answers, JsonReader(answers))
    backend.read()
    with in_known_shape():
        backend.settings()


def read_text(random: Random, folder: Path) -> None:
    answers = SpoiltAnswers(random, random.choice(VERSIONS))
    backend = SlurmBackend("text", answers, TextReader(answers))
    backend.read()
    backend.read()  # what was asked before is kept
    with in_known_shape():
        backend.settings()


def read_rest(random: Random, folder: Path) -> None:
    name, read = random.choice((("GET jobs", jobs_of), ("GET nodes", nodes_of)))
    text = rest_answers(random.choice(VERSIONS))[name].text.decode()
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
