"""Ways to a live Slurm, by name; each gives the same snapshot and carries out the same changes.

>>> sorted(BACKENDS)
['commands', 'json', 'plugin', 'rest']
"""

from __future__ import annotations

from collections.abc import Callable

from dovetail.domain.registry import Registry
from dovetail.live.backends.base import Backend
from dovetail.live.backends.plugin.backend import PluginBackend
from dovetail.live.backends.slurm.backend import SlurmBackend
from dovetail.live.backends.slurm.json_reader import JsonReader
from dovetail.live.backends.slurm.process import Commands
from dovetail.live.backends.slurm.rest import RestClient, RestReader, RestWriter
from dovetail.live.backends.slurm.text_reader import TextReader
from dovetail.live.config import SlurmConfig


def commands_backend(config: SlurmConfig) -> Backend:
    """squeue, scontrol, sprio and sshare as text: the fastest, and there on every cluster."""
    commands = Commands(config)
    return SlurmBackend("commands", commands, TextReader(commands))


def json_backend(config: SlurmConfig) -> Backend:
    """The same programs, jobs and nodes as JSON."""
    commands = Commands(config)
    return SlurmBackend("json", commands, JsonReader(commands))


def rest_backend(config: SlurmConfig) -> Backend:
    """slurmrestd for jobs, nodes and priorities; Slurm's programs for what it lacks."""
    client = RestClient(config)
    return RestWriter(SlurmBackend("rest", Commands(config), RestReader(client)), client)


def plugin_backend(config: SlurmConfig) -> Backend:
    """Site factors by the table of site_factor/dovetail, all else as `commands`: no updates."""
    return PluginBackend(commands_backend(config), config)


BACKENDS: Registry[Callable[[SlurmConfig], Backend]] = Registry(
    "backend",
    {
        "commands": commands_backend,
        "json": json_backend,
        "rest": rest_backend,
        "plugin": plugin_backend,
    },
)
