"""The command line: one thin file per command, heavy imports inside the commands."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from dovetail.cli.ctrl_c import listen

INTERRUPTED = 130
"""What a shell gives for a process ended by Ctrl-C."""

SELDOM = 100_000
"""After how many new objects Python looks for garbage. Imports make 170,000 that stay: looking
through them after every 700, as Python does, was an eighth of a start and of compiling."""

FAILED = 1
"""Where the machine is at fault, not the input: a full disk behind stdout, missing rights."""


def main() -> None:
    """Entry point of `dovetail`."""
    listen()
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)  # nor for the last time, when all of it goes: another sixth
    try:
        from dovetail.cli.app import app

        try:
            app(prog_name="dovetail")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # while modules are still being imported
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except OSError as problem:
        if not isinstance(problem, BrokenPipeError):  # `dovetail ... | head` ends quietly
            where = f"{problem.filename}: " if problem.filename is not None else ""
            print(f"error: {where}{problem.strerror or problem}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python would try to write the rest again
        sys.exit(FAILED)
