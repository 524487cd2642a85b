"""A faster clock for the whole cluster, by libfaketime."""

from __future__ import annotations

from pathlib import Path

from tests.live.slurm.daemons import Daemon, Kept
from tests.live.slurm.layout import Layout

# Writes down the environment that makes a process share the clock, then keeps the clock alive.
_HOLD = 'env -0 >"$0.new" && mv "$0.new" "$0" && exec sleep infinity'


def start_fake_time(kept: Kept, layout: Layout, speed: float) -> dict[str, str]:
    """Start the clock; the environment of everything that is to live by it."""
    found = layout.base / "run" / "fake-time.env"
    # A relative start: with an absolute one the clock begins anew in every process. The clock's
    # memory lives as long as this wrapper, hence one wrapper around a sleep.
    argv = ["faketime", "-m", "-f", f"+0 x{speed:g}", "sh", "-c", _HOLD, str(found)]
    env = {"PATH": "/usr/bin:/bin"}
    Daemon(kept, argv, env, layout.printed("faketime"), found.exists).start()
    words = found.read_bytes().decode().split("\0")
    given = dict(word.split("=", 1) for word in words if "=" in word)
    _share(kept, given["FAKETIME_SHARED"])
    return {k: v for k, v in given.items() if k == "LD_PRELOAD" or k.startswith("FAKETIME")}


def _share(kept: Kept, names: str) -> None:
    """Open the clock's memory to jobs of other users, and have it removed in the end."""
    semaphore, memory = (name.lstrip("/") for name in names.split())
    paths = [Path("/dev/shm") / f"sem.{semaphore}", Path("/dev/shm") / memory]
    kept.ask("remove", paths=[str(path) for path in paths])
    for path in paths:
        path.chmod(0o666)
