"""How input is spoiled: bytes, text and values, from one source of chance."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

TOKENS = (
    "", " ", "-1", "0", "-0", "+5", "1", "2.9", "8.7", "1e308", "-1e308", "1e-300", "nan", "inf",
    "-inf", "9" * 19, "9" * 400, "9" * 5000, "0x10", "0x" + "f" * 5000, "1_000", "٣", "²", "true",
    "false", "null", "None", "[]", "{}", "[[[[", "]]", "[1-99999999]", "[0-3]", "a,b", ",", ";",
    "=", "|", ":", "::", "x" * 10_000, "\0", "\n", "\r\n", "\t", "\x1b[31m", "é", "😀", "\u202e",
    "\ufeff", '"', "'", "\\", "\\u0000", "%s", "{0}", "${HOME}", "../..", "/dev/null", "N/A",
    "Unknown", "UNLIMITED", "1-00:00:00", "99999-99:99:99", "2020-13-45 99:99:99",
    "9999-12-31 23:59:59", "0001-01-01 00:00:00", "2020-06-09T18:41:01+99:99", "1979-05-27",
    "gpu:a100:4(S:0-1)", "gpu:-1", "64x8:v100", "0x0", "3000000x8", "1x65", "easy", "fcfs",
    "noisy:", "noisy:1e9", "+", "@", "[x]",
)  # fmt: skip
"""What breaks readers, from experience."""

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**63), 10**30, 10**400, 0.5, 1e308, -1e308, float("nan"),
    float("inf"), "", "x", "nan", "\0", "9" * 400, [], [None], {}, {"a": 1}, [[[]]],
    {"set": True, "infinite": False, "number": -1}, {"number": None}, "2020-13-45", ["a", 1],
)  # fmt: skip


def spoil_bytes(data: bytes, random: Random) -> bytes:
    """One to a few changes of any kind; sometimes a good file stays good."""
    spoilt = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        random.choice((_flip, _flip, _cut, _repeat, _insert, _end, _replace_word))(spoilt, random)
    return bytes(spoilt)


def spoil_text(text: str, random: Random) -> str:
    """The same for text that has to stay text."""
    return spoil_bytes(text.encode("utf-8", "replace"), random).decode("utf-8", "replace")


def spoil_json(text: str, random: Random) -> bytes:
    """Another value somewhere in the tree, or spoilt text."""
    if random.random() < 0.3:
        return spoil_bytes(text.encode(), random)
    tree = json.loads(text)
    for _ in range(random.choice((1, 1, 2, 4))):
        tree = _spoil_tree(tree, random)
    return json.dumps(tree).encode()


def _spoil_tree(tree: Any, random: Random) -> Any:
    if not isinstance(tree, dict | list) or not tree or random.random() < 0.1:
        return deepcopy(random.choice(VALUES))
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key, act = random.choice(keys), random.random()
    if act < 0.1:
        del tree[key]
    else:
        tree[key] = _spoil_tree(tree[key], random)
    return tree


def _place(data: bytearray, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _flip(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _cut(data: bytearray, random: Random) -> None:
    start = _place(data, random)
    del data[start : start + random.choice((1, 2, 10, 100))]


def _end(data: bytearray, random: Random) -> None:
    if random.random() < 0.5:
        del data[_place(data, random) :]


def _repeat(data: bytearray, random: Random) -> None:
    start = _place(data, random)
    part = data[start : start + random.choice((1, 5, 40, 200))]
    data[start:start] = part * random.choice((1, 1, 3, 50))


def _insert(data: bytearray, random: Random) -> None:
    data[_place(data, random) : 0] = b""
    start = _place(data, random)
    data[start:start] = random.choice(TOKENS).encode()


def _replace_word(data: bytearray, random: Random) -> None:
    """A cell, a number or a value becomes one of the tokens."""
    ends = [i for i, byte in enumerate(data) if byte in b',;|= \t\n":[]']
    if len(ends) < 2:
        return
    which = random.randrange(len(ends) - 1)
    data[ends[which] + 1 : ends[which + 1]] = random.choice(TOKENS).encode()
