"""Slurm's host lists: `gpu[001-004,007],login1` to names, and names back to ranges.

>>> hosts_of("gpu[08-10],login1"), hosts_of("(null)")
(('gpu08', 'gpu09', 'gpu10', 'login1'), ())
>>> host_list(("gpu08", "gpu09", "gpu10", "login1"))
'gpu[08-10],login1'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from dovetail.domain.cluster import MAX_NODES
from dovetail.domain.errors import ClusterError
from dovetail.slurm.words import NOTHING

MAX_DIGITS, MAX_BRACKETS = 9, 5
"""Of a number, and of one name: Slurm knows no more than three dimensions."""

_ITEM = re.compile(r"(?:[^,\[\]]|\[[^\]]*\])+")
_BRACKETS = re.compile(r"^([^\[]*)\[([^\]]*)\](.*)$")


def expand(text: str) -> list[str]:
    """All names of a host list."""
    names: list[str] = []
    for item in _ITEM.findall(text):
        for name in _expand_item(item.strip()):
            names.append(name)
            if len(names) > MAX_NODES:
                raise ClusterError(f"host list {text[:40]!r}: more than {MAX_NODES:,} nodes")
    return [name for name in names if name]


@lru_cache(maxsize=4096)
def hosts_of(text: str) -> tuple[str, ...]:
    """The names, none for Slurm's words for nothing; a list that cannot be read is an error."""
    return () if text in NOTHING else tuple(expand(text))


def _expand_item(item: str) -> Iterator[str]:
    if item.count("[") > MAX_BRACKETS:
        raise ClusterError(f"host list {item[:40]!r}: more than {MAX_BRACKETS} brackets")
    match = _BRACKETS.match(item)
    if match is None:
        yield item
        return
    head, ranges, tail = match.groups()
    rests = list(islice(_expand_item(tail), MAX_NODES + 1))
    for part in ranges.split(","):
        width = len(part.partition("-")[0])
        for number in _numbers(part, item):
            for rest in rests:
                yield f"{head}{number:0{width}d}{rest}"


def _numbers(part: str, item: str) -> range:
    low, _, high = part.partition("-")
    high = high or low
    readable = low.isdecimal() and high.isdecimal() and max(len(low), len(high)) <= MAX_DIGITS
    if not readable or int(low) > int(high):
        raise ClusterError(f"host list {item[:40]!r}: cannot read [{part[:40]}]")
    return range(int(low), int(high) + 1)


def compress(names: Sequence[str]) -> list[tuple[str, int]]:
    """Runs of consecutive numbers as `gpu[001-004]`, each with how many names it stands for."""
    runs: list[tuple[str, int]] = []
    start = 0
    while start < len(names):
        stop = start + 1
        while stop < len(names) and _follows(names[stop - 1], names[stop], names[start]):
            stop += 1
        runs.append((_pattern(names[start], names[stop - 1]), stop - start))
        start = stop
    return runs


def host_list(names: Sequence[str]) -> str:
    """Names as Slurm and people write many of them."""
    return ",".join(pattern for pattern, _ in compress(names))


def _pattern(first: str, last: str) -> str:
    if first == last:
        return _literal(first)
    (head, low, tail), (_, high, _) = _split(first), _split(last)
    return f"{head}[{low}-{high}]{tail}"


def _split(name: str) -> tuple[str, str, str]:
    """What is before, in and behind the last number of a name.

    By hand: a regular expression takes time with the square of a name of many digits.
    """
    end = len(name)
    while end and not name[end - 1].isdecimal():
        end -= 1
    start = end
    while start and name[start - 1].isdecimal():
        start -= 1
    return (name[:start], name[start:end], name[end:]) if "\n" not in name else (name, "", "")


def _follows(before: str, name: str, first: str) -> bool:
    """Whether `name` is the next of a run that cluster files expand as it was."""
    (head, low, tail), (next_head, number, next_tail) = _split(before), _split(name)
    if not (low.isascii() and low and number.isascii() and number and len(number) <= MAX_DIGITS):
        return False
    # Leading zeros hold the width of the first number; without them numbers grow freely.
    zeros = _split(first)[1]
    width = len(zeros) if zeros.startswith("0") else 0
    follows = int(number) == int(low) + 1 and number == f"{int(number):0{width}d}"
    return (head, tail) == (next_head, next_tail) and follows and "[" not in tail


def _literal(name: str) -> str:
    """A name that looks like a range, written as a range of one so that it stays as it is."""
    if re.search(r"\[\d+-\d+\]", name) is None:
        return name
    head, number, tail = _split(name)
    return f"{head}{number[:-1]}[{number[-1]}-{number[-1]}]{tail}" if number else name
