"""What real Slurms answered to Dovetail's own questions, and how to be answered so again.

    answers = Recorded("24.11")                                    # instead of Commands
    SlurmBackend("commands", answers, TextReader(answers)).read()

`record.py` makes the recordings, in a throw-away cluster of each version; nothing in them is
written by hand. Names of this machine and its folders are replaced, and slurmrestd's description
of itself is cut down to the names of its paths.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.live.backends.slurm.process import Answer, Commands
from dovetail.live.config import SlurmConfig

FOLDER = Path(__file__).parent
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if (path / "programs.json").exists())
# Questions hold a word that is drawn anew every time, so that no job can forge an answer.
_TOKEN = re.compile(r"#[A-Za-z0-9_-]{12}(?=,|$)|@[0-9a-f]{16}")


@dataclass(frozen=True)
class Question:
    """Words and input of a program, with the token taken out."""

    words: tuple[str, ...]
    stdin: str = ""

    @staticmethod
    def of(words: tuple[str, ...], stdin: str) -> tuple[Question, str]:
        """The question, and the token that it was asked with."""
        found = _TOKEN.search(" ".join((*words, stdin)))
        token = found.group() if found else ""
        cut = (lambda text: text.replace(token, "TOKEN")) if token else str
        return Question(tuple(map(cut, words)), cut(stdin)), token


class Recorded(Commands):
    """Gives the answers that a Slurm of this version gave; `part` is "up" or "down"."""

    def __init__(self, version: str, part: str = "up") -> None:
        super().__init__(SlurmConfig())
        rows = json.loads((FOLDER / version / "programs.json").read_text())[part]
        self.answers: dict[Question, Answer] = {}
        for row in rows:
            answer = Answer(row["output"].encode(), row["errors"], row["code"])
            self.answers[Question(tuple(row["words"]), row["stdin"])] = answer

    def run(self, program: str, *words: str, stdin: str = "") -> Answer:
        question, token = Question.of((program, *words), stdin)
        if question not in self.answers:
            raise AssertionError(f"never asked when answers were recorded: {question}")
        answer = self.answers[question]
        output = answer.output.replace(b"TOKEN", token.encode()) if token else answer.output
        errors = answer.errors.replace("TOKEN", token) if token else answer.errors
        return Answer(output, errors, answer.code)

    def said(self, program: str, *words: str) -> str:
        """What it printed, whatever its exit code."""
        return self.run(program, *words).output.decode()

    def document(self, program: str) -> Any:
        """What it answered to Dovetail's question for JSON."""
        (found,) = (q for q in self.answers if q.words[:2] == (program, "--json"))
        return json.loads(self.answers[found].output)

    def job_rows(self) -> list[dict[str, str]]:
        """All rows of `squeue -O`, by the names of their fields, cut up in the plainest way."""
        (asked,) = (question for question in self.answers if "-O" in question.words)
        names = [field.partition(":")[0] for field in asked.words[-1].split(",")]
        many = asked.words[-1].count("TOKEN")
        texts = self.answers[asked].output.decode().split("TOKEN")[many:]
        rows = zip(*(texts[n::many] for n in range(many)), strict=False)
        return [
            dict(zip(names, [*checked.strip("\n").split("\x1f")[:-1], *others], strict=True))
            for checked, *others in rows
        ]


@dataclass(frozen=True)
class RestAnswer:
    status: int
    text: bytes


def rest_answers(version: str) -> dict[str, RestAnswer]:
    """By what was asked, such as "GET jobs" or "controller down"."""
    rows = json.loads((FOLDER / version / "rest.json").read_text())
    return {
        name: RestAnswer(row["status"], json.dumps(row["answer"]).encode())
        for name, row in rows.items()
    }
