"""Where compiled kernels are kept: one folder per state of the source.

Numba looks only at the file that a kernel stands in. A kernel whose callee changed, or that was
compiled by an older release, would be loaded all the same; a folder named after the whole source
cannot go stale.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

COMPILED = ("domain", "policies", "prediction", "simulator", "envs", "evaluation")
"""Packages with compiled code; a change of any of them compiles anew."""

KEPT = 3
"""Folders of earlier states that stay, so that switching branches does not compile anew."""


def use(version: str) -> None:
    """Point Numba at the folder; what the user has set in the environment is left alone."""
    # The kernels run as fast at level 2 and compile in four fifths of the time.
    os.environ.setdefault("NUMBA_OPT", "2")
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    name = f"{version}-{_source_state()}"
    for base in (user_cache(), Path(tempfile.gettempdir()) / f"dovetail-{os.getuid()}"):
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
            os.environ["NUMBA_CACHE_DIR"] = str(folder)
            _forget_old(base, folder)
            return


def user_cache() -> Path:
    """The user's own folder for what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dovetail"


def _source_state() -> str:
    """A hash over names, sizes and times of source files: 2 ms, where contents take 6."""
    package = Path(__file__).parent
    sha = hashlib.sha256(str(package).encode())
    for folder in COMPILED:
        for file in sorted((package / folder).rglob("*.py")):
            status = file.stat()
            sha.update(f"{file.name}:{status.st_size}:{status.st_mtime_ns}".encode())
    return sha.hexdigest()[:12]


def _forget_old(base: Path, current: Path) -> None:
    others = [entry for entry in base.iterdir() if entry.is_dir() and entry != current]
    if len(others) <= KEPT:
        return
    others.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in others[:-KEPT]:
        shutil.rmtree(entry, ignore_errors=True)
