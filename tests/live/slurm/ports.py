"""A block of free ports that no other cluster on this machine takes at the same time."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Below the ports that the kernel hands out for outgoing connections (32768 and up).
FIRST, LAST, BLOCK = 12_000, 32_000, 1_000
LISTENING = "0A"


@contextmanager
def claimed_ports(count: int) -> Iterator[range]:
    """Yield `count` adjoining free ports; they stay ours until the block is left."""
    wide = -(-count // BLOCK) * BLOCK
    for first in range(FIRST, LAST - wide + 1, BLOCK):
        locks = _lock(first, wide)
        if locks is None:
            continue
        with _closing(locks):
            if all(_is_free(port) for port in range(first, first + count)):
                yield range(first, first + count)
                return
    raise OSError(f"no {count} free ports between {FIRST} and {LAST}; stop other clusters")


def _lock(first: int, wide: int) -> list[socket.socket] | None:
    """An abstract socket for each block: the kernel lets go of it when we die."""
    held: list[socket.socket] = []
    for block in range(first, first + wide, BLOCK):
        lock = socket.socket(socket.AF_UNIX)
        held.append(lock)
        try:
            lock.bind(f"\0dovetail-slurm-ports-{block}")
        except OSError:
            for one in held:
                one.close()
            return None
    return held


@contextmanager
def _closing(locks: list[socket.socket]) -> Iterator[None]:
    try:
        yield
    finally:
        for lock in locks:
            lock.close()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def is_listening(port: int) -> bool:
    """Whether somebody listens there; asks the kernel, so that the listener is not disturbed."""
    wanted = f":{port:04X}"
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = row.split()
        if words[1].endswith(wanted) and words[3] == LISTENING:
            return True
    return False
