"""What a check says."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class CheckLevel(Enum):
    OK = "ok"
    WARNING = "warning"  # it works, but less well than it could
    PROBLEM = "problem"  # it does not work


class Checkup(NamedTuple):
    name: str
    level: CheckLevel
    message: str
    fix: str = ""  # empty: nothing to do


def ok(name: str, message: str) -> Checkup:
    return Checkup(name, CheckLevel.OK, message)


def warning(name: str, message: str, fix: str) -> Checkup:
    return Checkup(name, CheckLevel.WARNING, message, fix)


def problem(name: str, message: str, fix: str) -> Checkup:
    return Checkup(name, CheckLevel.PROBLEM, message, fix)
