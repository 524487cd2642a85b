"""Puts Dovetail's files beside Slurm's, and takes them away again: first a plan, then its steps.

>>> from dovetail.live.install.places import Places
>>> site = SlurmSite(Places(), "/usr/bin/dovetail", {Places().slurm_conf: "ClusterName=a"})
>>> [str(change.path) for change in plan_install(site, frozenset({InstallPart.HOOKS}))]
['/usr/local/libexec/dovetail/wake', '/etc/slurm/slurm.conf']
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.live.install.native import native_text, rendered
from dovetail.live.install.places import SlurmSite
from dovetail.live.install.plugin_part import plugin_conflicts, plugin_lines
from dovetail.live.install.sample_config import sample_config
from dovetail.live.install.slurm_conf import with_block, without_block
from dovetail.live.plugin.build import NAME
from dovetail.slurm.conf import settings_of_conf


class InstallPart(Enum):
    SERVICE = "service"  # configuration file and systemd unit
    HOOKS = "hooks"  # wake the daemon when a job starts or ends
    SUBMIT = "submit"  # tags and first factors for new jobs
    PLUGIN = "plugin"  # site_factor/dovetail, built for this Slurm


LUA = "job_submit_lua.so"
"""The plug-in that JobSubmitPlugins=lua loads."""

ALL_PARTS = frozenset(InstallPart) - {InstallPart.PLUGIN}
"""Those that need nothing to be built."""

USER = "dovetail"
"""The daemon's own: neither root nor Slurm's."""
OPERATOR = ("sacctmgr", "-i", "add", "user", USER, "account=root", "adminlevel=operator")
"""Gives it the right to change jobs of others, and no other: not nodes, not the configuration."""


class InstallRefused(ConfigError):  # noqa: N818 - reads as what happened
    """The site has something of its own where ours would go."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file, as it is and as it shall be; None: it is not there."""

    path: Path  # as the running system names it
    target: Path  # where it is written
    before: str | None
    after: str | None
    mode: int = 0o644


def plan_install(site: SlurmSite, parts: frozenset[InstallPart]) -> tuple[FileChange, ...]:
    """All changes that are still to be made; raises where something of the site's is in the way."""
    places, values = site.places, site.places.values(site.dovetail)
    wanted: dict[Path, tuple[str | None, int]] = {}
    lines: list[str] = []
    if InstallPart.SERVICE in parts:
        wanted[places.config] = (site.files.get(places.config, sample_config()), 0o644)
        wanted[places.unit] = (rendered("dovetail-live.service", values), 0o644)
        own_rules = native_text("alerts.yml")
        wanted[places.alerts] = (site.files.get(places.alerts, own_rules), 0o644)
    if InstallPart.HOOKS in parts:
        wanted[places.wake] = (rendered("wake", values), 0o755)
        lines += [f"PrologSlurmctld={places.wake}", f"EpilogSlurmctld={places.wake}"]
    if InstallPart.SUBMIT in parts:
        own = native_text("submit.conf")
        wanted[places.submit_settings] = (site.files.get(places.submit_settings, own), 0o644)
        wanted[places.submit_script] = (native_text("dovetail_submit.lua"), 0o644)
        ours = rendered("job_submit.lua", values)
        wanted[places.job_submit] = (site.files.get(places.job_submit, ours), 0o644)
        lines.append("JobSubmitPlugins=lua")
    if InstallPart.PLUGIN in parts and site.plugin is not None:
        wanted[site.plugin.path] = (site.plugin.content, 0o755)
        lines += plugin_lines(places, USER)
    conf = _conf_of(site, parts)
    if lines:
        _refuse_conflicts(site, conf, parts)
        missing = [line for line in lines if not _stands(line, site, conf)]
        wanted[places.slurm_conf] = (with_block(conf, missing), 0o644)
    return tuple(_changes(site, wanted))


def plan_uninstall(site: SlurmSite) -> tuple[FileChange, ...]:
    """Take out what is ours; files that somebody has edited since stay, see `left_behind`.

    What slurmctld runs until it is reconfigured goes only when slurm.conf no longer names it: a
    PrologSlurmctld that is missing would send every job back into the queue.
    """
    places = site.places
    ours = [places.unit, places.wake, places.submit_script, *_plugins(site)]
    ours += [path for path, own in _ours_if_unchanged(site).items() if site.files.get(path) == own]
    removed = [path for path in ours if path not in _still_named(site)]
    wanted: dict[Path, tuple[str | None, int]] = dict.fromkeys(removed, (None, 0))
    if places.slurm_conf in site.files:
        wanted[places.slurm_conf] = (without_block(site.files[places.slurm_conf]), 0o644)
    return tuple(_changes(site, wanted))


def left_behind(site: SlurmSite) -> tuple[str, ...]:
    """What an uninstallation does not touch, in words."""
    named = [
        f"{path}: slurmctld uses it until `scontrol reconfigure`; then run this again"
        for path in sorted(_still_named(site) & site.files.keys())
    ]
    edited = [
        f"{path}: changed since it was installed; remove what is Dovetail's by hand"
        for path, own in _ours_if_unchanged(site).items()
        if path in site.files
        and site.files[path] != own
        # A job_submit.lua of the site's own is nobody's business here unless it loads ours.
        and (path != site.places.job_submit or site.places.submit_script.name in site.files[path])
    ]
    return (*named, *edited)


def _still_named(site: SlurmSite) -> set[Path]:
    conf = site.files.get(site.places.slurm_conf, "")
    if conf == without_block(conf):
        return set()
    return {site.places.wake, site.places.job_submit, *_plugins(site)}


def _plugins(site: SlurmSite) -> list[Path]:
    return [path for path in site.files if path.name == NAME]


def _ours_if_unchanged(site: SlurmSite) -> dict[Path, str]:
    return {
        site.places.config: sample_config(),
        site.places.submit_settings: native_text("submit.conf"),
        site.places.alerts: native_text("alerts.yml"),
        site.places.job_submit: rendered("job_submit.lua", site.places.values(site.dovetail)),
    }


def _changes(
    site: SlurmSite, wanted: Mapping[Path, tuple[str | None, int]]
) -> Iterator[FileChange]:
    for path, (after, mode) in wanted.items():
        before = site.files.get(path)
        if before != after:
            yield FileChange(path, site.places.on_disk(path), before, after, mode)


def _conf_of(site: SlurmSite, parts: frozenset[InstallPart]) -> str:
    conf = site.files.get(site.places.slurm_conf)
    if conf is None:
        if parts == {InstallPart.SERVICE}:
            return ""
        raise InstallRefused(
            f"{site.places.on_disk(site.places.slurm_conf)}: no such file; name it with "
            "--slurm-conf, or leave Slurm's configuration alone with --parts service"
        )
    return without_block(conf)


def _set_by_site(site: SlurmSite, conf: str) -> dict[str, str]:
    """What slurm.conf says without our block; files that it includes count as well."""
    return settings_of_conf("\n".join([conf, *site.included]))


def _stands(line: str, site: SlurmSite, conf: str) -> bool:
    """Whether the site's own lines say it already."""
    name, _, value = line.partition("=")
    found = _set_by_site(site, conf).get(name.lower())
    return found is not None and value in (found, *found.split(","))


def _refuse_conflicts(site: SlurmSite, conf: str, parts: frozenset[InstallPart]) -> None:
    problems = list(_conflicts(site, conf, parts))
    if problems:
        raise InstallRefused("nothing was changed. " + " ".join(problems))


def _conflicts(site: SlurmSite, conf: str, parts: frozenset[InstallPart]) -> Iterator[str]:
    places, found = site.places, _set_by_site(site, conf)
    if InstallPart.HOOKS in parts:
        for name in ("PrologSlurmctld", "EpilogSlurmctld"):
            other = found.get(name.lower())
            if other and other != str(places.wake):
                yield (
                    f"{name} is {other}: add the line {places.wake} to that script and install "
                    "with --parts service,submit."
                )
    if InstallPart.SUBMIT in parts:
        plugins = found.get("jobsubmitplugins", "")
        if plugins and "lua" not in plugins.split(","):
            yield (
                f"JobSubmitPlugins is {plugins}: make it {plugins},lua in slurm.conf, "
                "then run this again."
            )
        elif not plugins and not _has_lua(site):
            looked = ", ".join(map(str, site.plugin_folders or ())) or "no folder known"
            yield (
                f"Slurm's Lua plug-in, {LUA}, is not there (looked in {looked}): with "
                "JobSubmitPlugins=lua slurmctld would not start. Install it (Debian: "
                "slurm-wlm-basic-plugins), or install with --parts service,hooks."
            )
        script = site.files.get(places.job_submit)
        if script is not None and places.submit_script.name not in script:
            yield (
                f"{places.job_submit} is the site's own: add as its last line "
                f"{include_line(site)} and run this again."
            )
    if InstallPart.PLUGIN in parts:
        yield from plugin_conflicts(found)


def _has_lua(site: SlurmSite) -> bool:
    """Whether slurmctld could load a Lua script; taken to be so where nobody can look."""
    folders = site.plugin_folders
    return folders is None or any((folder / LUA).exists() for folder in folders)


def slurm_user_of(site: SlurmSite) -> str:
    """As slurm.conf has it, or root, as Slurm takes it where it says nothing."""
    return _set_by_site(site, site.files.get(site.places.slurm_conf, "")).get("slurmuser", "root")


def include_line(site: SlurmSite) -> str:
    """What a site's own job_submit.lua needs as its last line."""
    text = rendered("job_submit.lua", site.places.values(site.dovetail))
    return text.rstrip("\n").rpartition("\n")[2]


def diff(changes: Sequence[FileChange]) -> str:
    """Every line that is added or taken away."""
    return "".join(line for change in changes for line in _diff(change))


def _diff(change: FileChange) -> Iterator[str]:
    before, after = change.before or "", change.after or ""
    if "\0" in before + after:
        yield f"binary file {change.path}: {len(before):,} characters become {len(after):,}\n"
        return
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        "/dev/null" if change.before is None else str(change.path),
        "/dev/null" if change.after is None else str(change.path),
    )
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def next_steps(site: SlurmSite, parts: frozenset[InstallPart]) -> tuple[tuple[str, ...], ...]:
    """Commands for the administrator, in order; none of them is run by an installation."""
    steps: list[tuple[str, ...]] = []
    if InstallPart.SERVICE in parts:
        steps.append(
            ("useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER)
        )
        steps.append(OPERATOR)
    slurm_user = slurm_user_of(site)
    if parts - {InstallPart.SERVICE} and slurm_user != "root":
        # The run folder is closed to others; hook and submit script run as Slurm's user.
        steps.append(("usermod", "--append", "--groups", USER, slurm_user))
    if parts - {InstallPart.SERVICE}:
        # A new group counts from the next start, and so does a new hook: seen with 22.05.8,
        # `scontrol reconfigure` shows it and does not run it.
        steps.append(("systemctl", "restart", "slurmctld"))
    if InstallPart.SERVICE in parts:
        doctor = (site.dovetail, "live", "doctor", "--config", str(site.places.config))
        steps.append(("runuser", "-u", USER, "--", *doctor))
        steps.append(("systemctl", "daemon-reload"))
        steps.append(("systemctl", "enable", "--now", site.places.unit.name))
    return tuple(steps)
