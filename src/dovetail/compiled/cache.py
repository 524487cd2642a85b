"""Where compiled kernels are kept: one folder per state of the source.

Numba looks only at the file that a kernel stands in. A kernel whose callee changed, or that was
compiled by an older release, would be loaded all the same; a folder named after the whole source
cannot go stale.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import time
from pathlib import Path

from dovetail.files import make_private_folder

LOG = logging.getLogger("dovetail")

VARIABLE = "NUMBA_CACHE_DIR"

COMPILED = (
    "compiled",
    "domain",
    "policies",
    "prediction",
    "simulator",
    "envs",
    "evaluation",
    "mig",
)
"""Packages with compiled code; a change of any of them compiles anew."""

KEPT, USED_LATELY = 3, 86_400.0
"""Folders of other states that stay, so that switching branches does not compile anew: the last
few, and what was used within so many seconds."""


def use(version: str) -> None:
    """Point Numba at a folder that is ours alone, or let it compile in memory; see `is_kept`.

    Numba unpickles what it finds there, so that whoever can write the folder runs code as us. What
    the user has set in the environment is taken, if it is such a folder.
    """
    # The kernels run as fast at level 2 and compile in four fifths of the time.
    os.environ.setdefault("NUMBA_OPT", "2")
    given = os.environ.pop(VARIABLE, None)
    try:
        folder = Path(given) if given else user_cache() / f"{version}-{_source_state()}"
        os.close(make_private_folder(folder))
        os.utime(folder)  # used today, for `_forget_old`
    except (OSError, RuntimeError) as problem:
        LOG.warning("compiled code is not kept, every start compiles anew: %s", problem)
        return
    os.environ[VARIABLE] = str(folder.absolute())
    if "numba" in sys.modules:
        # It has read its environment, and would keep code beside the source, where it goes stale.
        sys.modules["numba"].core.config.reload_config()
    if not given:
        _forget_old(folder.parent, folder)


def is_kept() -> bool:
    """Whether compiled code may be read from and written to Numba's folder."""
    return VARIABLE in os.environ


def user_cache() -> Path:
    """The user's own folder for what can be made again.

    RuntimeError where there is neither a setting nor a home folder.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dovetail"


def _source_state() -> str:
    """A hash over names, sizes and times of source files: 2 ms, where contents take 6."""
    package = Path(__file__).parents[1]
    sha = hashlib.sha256(str(package).encode())
    for folder in COMPILED:
        for file in sorted((package / folder).rglob("*.py")):
            status = file.stat()
            sha.update(f"{file.name}:{status.st_size}:{status.st_mtime_ns}".encode())
    return sha.hexdigest()[:12]


def _forget_old(base: Path, current: Path) -> None:
    """Empty the folders that nobody has used for long.

    The folders themselves stay: a process that still runs would make its own anew, open to others.
    """
    others = [entry for entry in base.iterdir() if entry.is_dir() and entry != current]
    others.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in others[:-KEPT]:
        used = entry.stat().st_mtime
        if time.time() - used < USED_LATELY or not any(entry.iterdir()):
            continue
        for part in entry.iterdir():
            shutil.rmtree(part, ignore_errors=True)
        os.utime(entry, (used, used))
