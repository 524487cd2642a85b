"""Rows about jobs that wait for others before they may run."""

from __future__ import annotations

from dovetail.compiled.tables import Row

ENDED, STARTED = 0, 1
"""Moments of a job that others may wait for."""


class EligibilityRow(Row):
    """What a job waits for before it may run, and who waits for it."""

    missing: int  # things that have to come to pass yet
    held: bool  # it had to wait for something: its row is passed by
    any: bool  # of the jobs that it depends on, one is enough
    settled: bool  # and that one is there
    earliest: float  # no sooner, whatever comes to pass
    link_first: int  # dependency_links[link_first:link_last] wait for it
    link_last: int
    array: int  # the throttled array that it is a task of; -1: none


class DependencyLink(Row):
    job: int  # that waits
    moment: int  # of the other job: ENDED or STARTED
    delay: float


class ArrayRow(Row):
    """A throttled array: array_tasks[following:last] still wait for others of it to end."""

    following: int
    last: int


class ArrayTask(Row):
    job: int
