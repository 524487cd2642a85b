"""The rows of the queue: whose turn it is, and what waiting jobs need."""

from __future__ import annotations

from dovetail.compiled.tables import Row, Word


class Turn(Row):
    """A demand in a heap, by its next job."""

    tier: int
    score: float
    job: int
    demand: int


class Need(Row):
    """So many nodes with room for a shape: what the large chunks of some options ask for."""

    shape: int
    nodes: int
    chain: int
    option: int  # the first option of a demand with waiting jobs that needs this; -1: none
    shortest: float  # no waiting job that needs this runs for less time, by estimate


class NeedWord(Row):
    """Up to 64 neighbouring needs of a chain."""

    bits: Word  # which of them somebody waits for
    shortest: float  # no waiting job that has one of these needs runs for less time


class NeedChain(Row):
    """Needs of which each asks for no less than the one before.

    Where one of them is not met, none after it is.
    """

    first: int  # its needs, one after the other
    word_first: int  # its words
    words: int
    options: int  # of demands with waiting jobs
