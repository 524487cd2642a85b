"""The plug-in as a part of an installation: built, rehearsed, and only then a file among others.

>>> from dovetail.live.install.places import Places
>>> for line in plugin_lines(Places(), "dovetail"):
...     print(line)
PrioritySiteFactorPlugin=site_factor/dovetail
PrioritySiteFactorParameters=table=/run/dovetail/factors,owner=dovetail
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dovetail.live.install.places import Places, PluginFile
from dovetail.live.plugin.build import (
    NAME,
    PluginRefused,
    build_plugin,
    find_source,
    slurm_version,
)
from dovetail.live.plugin.rehearsal import rehearse

LOADED = "site_factor/dovetail"
_FOREIGN = "prioritysitefactorplugin"


def prepare_plugin(source: Path | None, folders: tuple[Path, ...]) -> tuple[PluginFile, str]:
    """The plug-in for the Slurm at hand and where it goes, and in words how it was tried.

    source: of Slurm, by default where sources usually lie; folders: where slurmctld looks for
    plug-ins. PluginRefused where it cannot be built, or a throw-away slurmctld does not bear it.
    """
    if not folders:
        raise PluginRefused("nobody knows where slurmctld looks for plug-ins; set PluginDir")
    version = slurm_version()
    with tempfile.TemporaryDirectory(prefix="dovetail-plugin-") as work:
        built = build_plugin(source or find_source(version), version, Path(work))
        said = rehearse(built, [str(folder) for folder in folders])
        content = built.read_bytes().decode("utf-8", "surrogateescape")
    return PluginFile(folders[0] / NAME, content), f"built for Slurm {version}; {said}"


def plugin_lines(places: Places, user: str) -> list[str]:
    """What slurm.conf needs."""
    return [
        f"PrioritySiteFactorPlugin={LOADED}",
        f"PrioritySiteFactorParameters=table={places.run_dir / 'factors'},owner={user}",
    ]


def plugin_conflicts(found: Mapping[str, str]) -> Iterator[str]:
    """What of the site's own settings is in the way, in words."""
    other = found.get(_FOREIGN, LOADED)
    if other not in (LOADED, "site_factor/none", "(null)"):
        yield f"PrioritySiteFactorPlugin is {other}, and slurmctld loads only one."
    if found.get("prioritytype", "priority/multifactor") != "priority/multifactor":
        yield "PriorityType is not priority/multifactor, which alone asks site factor plug-ins."
