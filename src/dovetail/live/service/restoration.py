"""Giving jobs back without a daemon, by its journal or by what Slurm shows."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dovetail.live.backends import BACKENDS
from dovetail.live.config import LiveConfig
from dovetail.live.cycle.actuator import Actuator, Clocks
from dovetail.live.journal import Journal
from dovetail.live.journal.errors import in_words
from dovetail.live.ledger import Ledger
from dovetail.live.ledger.unmarked import UnmarkedFactors
from dovetail.live.service.first_factors import remove_first_factors

LOG = logging.getLogger("dovetail.live")


@contextmanager
def restoring(config: LiveConfig) -> Iterator[Actuator]:
    """What undoes; a journal that is not there is not begun either.

    Whoever gives jobs back may be another account than the daemon's, and a file that the daemon
    cannot open would keep it from starting.
    """
    try:
        remove_first_factors(Path(config.run_dir))  # first: new jobs get none from here on
    except OSError as error:
        LOG.warning("the table of first factors stays until it expires: %s", error)
    path = Path(config.journal.path)
    with in_words(path):
        there = path.exists()
    backend = BACKENDS[config.slurm.backend](config.slurm)
    opened = Journal.open(config.journal) if there else Journal.in_memory(config.journal)
    with opened as journal:
        yield Actuator(backend, Ledger(journal), Clocks(), UnmarkedFactors(Path(config.run_dir)))
