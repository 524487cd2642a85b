"""The command line: one thin file per command, heavy imports inside the commands."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""What a shell gives for a process ended by Ctrl-C."""


def main() -> None:
    """Entry point of `dovetail`."""
    try:
        from dovetail.cli.app import app

        app(prog_name="dovetail")
    except KeyboardInterrupt:  # while modules are still being imported
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
