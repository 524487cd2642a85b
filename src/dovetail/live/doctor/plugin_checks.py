"""Whether slurmctld has the plug-in, reads the table that the daemon writes, and counts it in."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from dovetail.live.doctor.checkup import Checkup, ok, problem, warning
from dovetail.live.doctor.facts import Facts
from dovetail.live.plugin.build import NAME as FILE

LOADED = "site_factor/dovetail"
COUNTS_ALONE = (24, 11)
"""The first version known to ask plug-ins without slurmdbd: 22.05 never does."""


def plugin(facts: Facts) -> Checkup:
    """The plug-in, slurm.conf's words about it, and the daemon's configuration fit together."""
    name, slurm = "plug-in", facts.config.slurm
    loaded = facts.settings.get("PrioritySiteFactorPlugin", "") == LOADED
    if slurm.backend != "plugin":
        if not loaded:
            return ok(name, "not used; changes go as messages")
        return warning(
            name,
            f'slurmctld has loaded {LOADED}, but slurm.backend is "{slurm.backend}"',
            'set slurm.backend = "plugin", or take the plug-in out of slurm.conf',
        )
    if not loaded:
        return problem(
            name,
            f"slurm.backend is plugin, but slurmctld has not loaded {LOADED}",
            "`dovetail live install --plugin` shows how; until then changes do not count",
        )
    wrong = _mismatch(facts)
    if wrong is not None:
        return wrong
    return ok(name, f"loaded; reads {slurm.plugin_table} of {facts.user}")


def _mismatch(facts: Facts) -> Checkup | None:
    """What would keep the table from being counted in; None: nothing that can be seen here."""
    name, slurm, said = "plug-in", facts.config.slurm, parameters(facts)
    table, owner = said.get("table", "/run/dovetail/factors"), said.get("owner", "root")
    if table != slurm.plugin_table:
        return problem(
            name,
            f"slurmctld reads {table}, the daemon writes {slurm.plugin_table}",
            "make slurm.plugin_table and table= of PrioritySiteFactorParameters the same",
        )
    if owner != facts.user and facts.user != "root":
        return problem(
            name,
            f"slurmctld takes tables of {owner} alone, the daemon runs as {facts.user}",
            f"add owner={facts.user} to PrioritySiteFactorParameters, and restart slurmctld",
        )
    if facts.table_problem:
        return problem(
            name,
            f"the table cannot be written: {facts.table_problem}",
            f"let {facts.user} write there",
        )
    database = facts.settings.get("AccountingStorageType", "") == "accounting_storage/slurmdbd"
    if not database and version_of(facts.version) < COUNTS_ALONE:
        return problem(
            name,
            f"{facts.version or 'this Slurm'} asks plug-ins only where it has slurmdbd",
            'set slurm.backend = "commands"',
        )
    folders = [Path(text) for text in facts.settings.get("PluginDir", "").split(":") if text]
    here = [folder for folder in folders if folder.is_dir()]
    if here and not any((folder / FILE).exists() for folder in here):
        return warning(
            name,
            f"{FILE} is not in PluginDir on this machine",
            "should slurmctld run here, its next start fails: put it back, or take it out of "
            "slurm.conf",
        )
    return None


def parameters(facts: Facts) -> dict[str, str]:
    """PrioritySiteFactorParameters, by word."""
    text = facts.settings.get("PrioritySiteFactorParameters", "")
    return dict(word.partition("=")[::2] for word in text.split(",") if "=" in word)


def version_of(text: str) -> tuple[int, int]:
    """Major and minor of "slurm 22.05.8"; 0.0 where none is told."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


PLUGIN_CHECKS: tuple[Callable[[Facts], Checkup], ...] = (plugin,)
