"""Changes as commands of scontrol processes, and their complaints matched to them again.

>>> command(Change(17, "17_[1-4]", Knob.SITE_FACTOR, 0, 120, ""))
'update jobid=17_[1-4] SiteFactor=120'
>>> refusal(Change(17, "17", Knob.NODE, "", "a priority=1", ""))
"not sent: 'a priority=1' is no node"

scontrol prints complaints to stderr without saying which line they belong to. After each command
comes a word that scontrol does not know; its complaint about that word, unbuffered and in order,
closes the answer to the command before it, and costs no message to the controller.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from dovetail.live.backends.slurm.process import Answer, Commands
from dovetail.live.model.decision import PLAIN_FEATURE, Change, Knob, Result

MANY = 50
"""Commands from which on it is worth trying them without words between."""

AT_ONCE = 4
"""Processes that share many commands: each waits for the controller's answer to every one.

600 changes took 1.6 to 3.2 s by one process, 1.2 to 1.3 by two and 1.0 by four, on a busy machine.
"""

NO_ANSWER = "unknown: no answer"

_LABEL = re.compile(r"[0-9]{1,10}(?:_[0-9]{1,7}|_\[[0-9]{1,7}(?:[-,][0-9]{1,7})*\]|\+[0-9]{1,4})?")
_NODE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*)?")
_TEXTS = {Knob.NODE: _NODE, Knob.FEATURES: re.compile(f"(?:{PLAIN_FEATURE})?")}
_LIMITS = {Knob.SITE_FACTOR: (-2147483645, 2147483645), Knob.PRIORITY: (1, 4294967293)}
_WORDS = {
    Knob.SITE_FACTOR: "SiteFactor",
    Knob.PRIORITY: "Priority",
    Knob.NODE: "ReqNodeList",
    Knob.FEATURES: "Features",
}


def apply_changes(commands: Commands, changes: Sequence[Change]) -> list[Result]:
    """One result for each change, in their order."""
    errors = {number: refusal(change) for number, change in enumerate(changes)}
    sound = [number for number in errors if not errors[number]]
    shares = shared([changes[number].label for number in sound])
    with ThreadPoolExecutor(max(1, len(shares))) as pool:
        scripts = [[command(changes[sound[at]]) for at in share] for share in shares]
        for share, said in zip(shares, pool.map(partial(_send, commands), scripts), strict=True):
            errors |= {sound[at]: words for at, words in zip(share, said, strict=True)}
    return [Result(change, errors[number]) for number, change in enumerate(changes)]


def shared(labels: Sequence[str]) -> list[list[int]]:
    """Rows of each process; what concerns one job stays together, in its order.

    >>> shared(["17", "18", "17"])
    [[0, 1, 2]]
    """
    parts = min(AT_ONCE, max(1, len(labels) // MANY))
    place = {label: number % parts for number, label in enumerate(dict.fromkeys(labels))}
    shares: list[list[int]] = [[] for _ in range(parts)]
    for row, label in enumerate(labels):
        shares[place[label]].append(row)
    return shares


def refusal(change: Change) -> str:
    """Why a change is not sent; a line feed in it would be a command of its own."""
    if not _LABEL.fullmatch(change.label):
        return f"not sent: {change.label[:60]!a} is no job id"
    value, word = change.after, change.knob.value
    if change.knob in _TEXTS:
        named = isinstance(value, str) and _TEXTS[change.knob].fullmatch(value)
        return "" if named else f"not sent: {value!a:.60} is no {word}"
    if value is None and change.knob is Knob.PRIORITY:
        return ""
    low, high = _LIMITS[change.knob]
    # scontrol takes a value that is no number as 0, and says nothing.
    if not isinstance(value, int) or not low <= value <= high:
        return f"not sent: {word} {value!a:.60} is not within {low} to {high}"
    return ""


def command(change: Change) -> str:
    if change.after is None:
        return f"release {change.label}"
    return f"update jobid={change.label} {_WORDS[change.knob]}={change.after}"


def _send(commands: Commands, lines: Sequence[str]) -> list[str]:
    """What scontrol says of each line; a process that dies of a signal is tried once more."""
    if not lines:
        return []
    if len(lines) >= MANY:
        # The words between the commands make a third of the time of a thousand. Where one fails,
        # all are sent again with them, to tell which: each sets a value, and may be sent twice.
        answer = commands.run("scontrol", stdin="".join(f"{line}\n" for line in lines))
        if answer.code is None:
            return [NO_ANSWER] * len(lines)
        if answer.code == 0 and not answer.errors.strip():
            return [""] * len(lines)
    said: list[str] = []
    for _ in range(2):
        if len(said) == len(lines):
            break
        token = f"@{secrets.token_hex(8)}"
        script = "".join(f"{line}\n{token}\n" for line in lines[len(said) :])
        answer = commands.run("scontrol", stdin=script)
        said += complaints(answer, token)[: len(lines) - len(said)]
        if answer.code is None or answer.code >= 0:
            break
    return said + [NO_ANSWER] * (len(lines) - len(said))


def complaints(answer: Answer, token: str) -> list[str]:
    """Of each command that was carried out to its end; empty: it was done."""
    *closed, _ = re.split(rf"[^\n]*{re.escape(token)}[^\n]*\n", answer.errors)
    return [" ".join(text.split())[:300] for text in closed]
