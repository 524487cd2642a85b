"""Where an installation's files go, and what is there now.

>>> places = Places(slurm_conf=Path("/etc/slurm/slurm.conf"))
>>> str(places.job_submit), str(places.config)
('/etc/slurm/job_submit.lua', '/etc/dovetail/dovetail.toml')
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from dovetail.domain.errors import ConfigError
from dovetail.files import Untrusted
from dovetail.files.trust import behind_system_links
from dovetail.live.plugin.build import NAME
from dovetail.slurm.conf import includes_of


@dataclass(frozen=True, slots=True)
class Places:
    """Where files go, as the running system names them; `prefix` is put in front when writing."""

    slurm_conf: Path = Path("/etc/slurm/slurm.conf")
    config_dir: Path = Path("/etc/dovetail")
    program_dir: Path = Path("/usr/local/libexec/dovetail")
    unit_dir: Path = Path("/etc/systemd/system")
    run_dir: Path = Path("/run/dovetail")
    prefix: Path = Path("/")

    def on_disk(self, path: Path) -> Path:
        """Where it is written; links that root made are followed, and stay what they are.

        A link that somebody else made could lead anywhere, and is refused.
        """
        place = self.prefix / path.relative_to(path.anchor)
        try:
            real = behind_system_links(place, place.parent.stat().st_uid)
        except FileNotFoundError:
            return place
        except Untrusted as problem:
            raise ConfigError(f"{problem}; nothing was done") from None
        if real.is_symlink():
            raise ConfigError(
                f"{real}: a link that is not root's, or in a folder that is not: it could lead "
                "anywhere; name the file itself with --slurm-conf. Nothing was done"
            )
        return real

    @property
    def config(self) -> Path:
        return self.config_dir / "dovetail.toml"

    @property
    def submit_settings(self) -> Path:
        return self.config_dir / "submit.conf"

    @property
    def alerts(self) -> Path:
        return self.config_dir / "alerts.yml"

    @property
    def wake(self) -> Path:
        return self.program_dir / "wake"

    @property
    def unit(self) -> Path:
        return self.unit_dir / "dovetail-live.service"

    @property
    def job_submit(self) -> Path:
        return self.slurm_conf.parent / "job_submit.lua"

    @property
    def submit_script(self) -> Path:
        return self.slurm_conf.parent / "dovetail_submit.lua"

    def values(self, dovetail: str) -> dict[str, str]:
        """What the places in our files stand for."""
        return {
            "dovetail": dovetail,
            "config": str(self.config),
            "slurm_conf": str(self.slurm_conf),
            "run_dir": str(self.run_dir),
            "script": str(self.submit_script),
            "settings": str(self.submit_settings),
        }


class PluginFile(NamedTuple):
    """site_factor/dovetail as it was built for this site."""

    path: Path
    content: str  # bytes that are not UTF-8 as in every other file here


@dataclass(frozen=True, slots=True)
class SlurmSite:
    """What is there now."""

    places: Places
    dovetail: str  # path of the command
    files: Mapping[Path, str] = field(default_factory=dict)  # only those that exist
    included: tuple[str, ...] = ()  # texts of files that slurm.conf includes
    plugin_folders: tuple[Path, ...] | None = None  # None: not to be looked into, as for a package
    plugin: PluginFile | None = None  # None: none was built


def look_at_site(
    places: Places, dovetail: str, plugin_folders: tuple[Path, ...] | None = None
) -> SlurmSite:
    """Read every file that an installation could touch."""
    known = (
        places.slurm_conf, places.job_submit, places.submit_script, places.config,
        places.submit_settings, places.wake, places.unit, places.alerts,
        *(folder / NAME for folder in plugin_folders or ()),
    )  # fmt: skip
    files = {path: _read(places.on_disk(path)) for path in known if places.on_disk(path).exists()}
    conf = files.get(places.slurm_conf, "")
    return SlurmSite(places, dovetail, files, tuple(_included(places, conf)), plugin_folders)


def _included(places: Places, conf: str) -> Iterator[str]:
    for name in includes_of(conf):
        # Slurm takes other names as relative to the folder of slurm.conf.
        pattern = places.on_disk(places.slurm_conf.parent / name)
        yield from (_read(Path(path)) for path in sorted(glob.glob(str(pattern))))


def _read(path: Path) -> str:
    """Bytes that are not UTF-8 come out of `_bytes` as they went in here."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as problem:
        raise ConfigError(f"{path}: cannot read: {problem.strerror}; run it as root") from problem
