"""How the daemon speaks: one line per cycle on stderr, where systemd's journal takes it up."""

from __future__ import annotations

import logging
import sys

from dovetail.cli.plain import one_line


class OneLine(logging.Formatter):
    """Messages hold names from strangers: one line each, nothing that drives a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record))


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("dovetail")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
