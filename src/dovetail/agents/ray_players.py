"""Players on Ray: on a running cluster, or on one of our own on this machine.

A task is a pure function of what it is given. So when a node is lost, its tasks are given to those
that are left, and the results are what they would have been.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from dovetail.agents.players import Playable, Players, Task
from dovetail.domain.errors import ConfigError

STORE = 256 << 20
"""Bytes of shared memory of our own cluster; a replay of 30,000 jobs takes 10 MB.

Ray's default, 30 % of the machine's memory, is more than /dev/shm has in many containers.
"""


REACHED_WITHIN = 10.0
"""Seconds for a connection to a running cluster."""

LOOPBACK = "127.0.0.1"
STAY_LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
"""Read when Ray is imported. Whoever reaches Ray's ports can run code, and on Linux Ray replaces
127.0.0.1 by an address that others can reach, and listens on all of them. With the first of these
all its sockets are on the loopback, as they are on other systems; the second stops its reports."""


def require_ray() -> None:
    """Raise an error that says how to install Ray, if it is missing."""
    if find_spec("ray") is None:
        raise ConfigError(
            "--engine ray needs Ray, which is not installed: pip install 'dovetail-scheduler[ray]'"
        )


class RayPlayers(Players):
    """On Ray: every worker is an actor that gets the playables once."""

    def __init__(
        self, playables: Sequence[Playable], workers: int = 1, address: str | None = None
    ) -> None:
        super().__init__(playables, workers)
        self._address = address
        require_ray()
        self._ray: Any = None
        self._actors: list[Any] = []

    def __enter__(self) -> Self:
        if self._address is None:
            os.environ.update(STAY_LOCAL)
        self._ray = import_module("ray")
        if self._ray.is_initialized():
            raise ConfigError("this process is connected to Ray already; leave that first")
        try:
            self._connect()
            actor = self._ray.remote(_Player).options(num_cpus=1)
            shared = self._ray.put(self._playables)
            self._actors = [actor.remote(shared) for _ in range(self._workers)]
        except BaseException:
            self._ray.shutdown()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._actors = []
        self._ray.shutdown()  # ends our own cluster, or our actors on a running one

    def play_each(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        waiting = list(reversed(range(len(tasks))))
        idle = list(self._actors)
        played: dict[Any, tuple[int, Any]] = {}  # what is awaited: which task, and who plays it
        while waiting or played:
            while waiting and idle:
                actor, at = idle.pop(), waiting.pop()
                played[actor.play.remote(*tasks[at])] = at, actor
            ready, _ = self._ray.wait(list(played), num_returns=1)
            at, actor = played.pop(ready[0])
            try:
                result = self._ray.get(ready[0])
            except self._ray.exceptions.RayActorError as problem:
                self._go_on_without(actor, problem)
                waiting.append(at)
                continue
            idle.append(actor)
            yield at, result

    def _go_on_without(self, actor: Any, problem: Exception) -> None:
        """A worker or its node is lost; those that are left play its task."""
        self._actors = [other for other in self._actors if other is not actor]
        if not self._actors:
            raise ConfigError(
                "the last Ray worker ended unexpectedly: is this version of Dovetail installed on "
                f"every node, and is there memory? Run the command again to go on. {problem}"
            ) from problem

    def _connect(self) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._address is None:
            self._ray.init(
                "local", num_cpus=self._workers, object_store_memory=STORE,
                include_dashboard=False, _node_ip_address=LOOPBACK, **quiet,
            )  # fmt: skip
            if any(node["NodeManagerAddress"] != LOOPBACK for node in self._ray.nodes()):
                raise ConfigError(
                    "Ray was imported before and would listen to the network; start it from a "
                    "process that does not import it, or give --address"
                )
            return
        _reach(self._address)
        self._ray.init(self._address, **quiet)
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        if cores < self._workers:
            raise ConfigError(
                f"--workers {self._workers}: the Ray cluster at {self._address} has {cores} CPUs"
            )


def _reach(address: str) -> None:
    """Raise if nobody listens at HOST:PORT; Ray itself would go on trying for many minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(f"--address {address!r}: expected HOST:PORT, for example head:6379")
    try:
        socket.create_connection((host, int(port)), REACHED_WITHIN).close()
    except (OSError, OverflowError) as problem:
        raise ConfigError(
            f"--address {address}: no Ray there ({problem}); start it with: ray start --head"
        ) from problem


class _Player:
    """An actor: one process that plays."""

    def __init__(self, playables: list[Playable]) -> None:
        # Arrays in Ray's shared memory are read-only, for which kernels compile anew: 1.8 s.
        self._playables = deepcopy(playables)

    def play(self, number: int, contestant: Any) -> Any:
        return self._playables[number].play(deepcopy(contestant))
