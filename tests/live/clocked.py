"""The daemon with a wall clock that others can set: its step stands in a file, in seconds.

Only the wall clock steps, as with `date --set`. (libfaketime would also bend the sleeps of the
steady clock: Python's time.sleep then fails with EINVAL.)
"""

from __future__ import annotations

import os
import time
from pathlib import Path

STEP = Path(os.environ["CLOCK_STEP_FILE"])
_true_time = time.time


def stepped() -> float:
    return _true_time() + float(STEP.read_text() or "0")


time.time = stepped

if __name__ == "__main__":
    from dovetail.cli import main  # only now: parts of it take time.time as a default

    main()
