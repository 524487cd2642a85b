"""Builds the plug-in against the headers of exactly the Slurm at hand.

>>> plugin_number("22.05.8")
'0x160508'

The plug-in reads job_record_t, whose layout changes from one micro version to the next: headers of
26.05.3 crashed a slurmctld 26.05.5. Distributions do not package these headers, so that the source
of the very same version must be there; it needs neither ./configure nor make.
"""

from __future__ import annotations

import glob
import re
import shutil
import subprocess
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from dovetail.domain.errors import ConfigError

NAME = "site_factor_dovetail.so"
SOURCES = ("site_factor_dovetail.c", "factor_table.c")
FLAGS = (
    "-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fstack-protector-strong",
    # Names that slurmctld does not have are found when it loads the plug-in, not when it runs it.
    "-Wl,-z,relro,-z,now",
)  # fmt: skip
USUAL_PLACES = ("/usr/src/slurm-{0}", "/usr/src/slurm-wlm-{0}", "/usr/local/src/slurm-{0}")
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")
_META = re.compile(r"^\s*Version:\s*(\S+)\s*$", re.MULTILINE)


class PluginRefused(ConfigError):  # noqa: N818 - reads as what happened
    """The plug-in cannot be built or must not be loaded here, and why."""


def slurm_version(folder: str = "") -> str:
    """Of the slurmctld that would load the plug-in; folder: where it lies, by default on PATH."""
    path = f"{folder}/slurmctld" if folder else which("slurmctld")
    said = run([path, "-V"], "asking slurmctld for its version").strip()
    found = _VERSION.search(said)
    if found is None:
        raise PluginRefused(f"slurmctld -V says {said[:80]!a}, which is no version")
    return found.group()


def source_version(source: Path) -> str:
    """Of a source tree, as its file META has it."""
    try:
        text = (source / "META").read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise PluginRefused(
            f"{source}: no source of Slurm (no file META); name the unpacked source"
        ) from None
    found = _META.search(text)
    return found.group(1) if found else "unknown"


def find_source(version: str) -> Path:
    """The source of this version where sources usually lie."""
    tried = [Path(place.format(version)) for place in USUAL_PLACES]
    for place in tried:
        if (place / "META").is_file():
            return place
    raise PluginRefused(
        f"no source of Slurm {version} in {', '.join(map(str, tried))}; name it with "
        "--slurm-source (on Debian: apt-get source slurm-wlm)"
    )


def build_plugin(source: Path, version: str, folder: Path) -> Path:
    """Compile the plug-in into the folder; PluginRefused where source and Slurm differ."""
    has = source_version(source)
    if has != version:
        raise PluginRefused(
            f"{source} is Slurm {has}, slurmctld is {version}: a plug-in that is built with the "
            "headers of another version crashes it; nothing was built"
        )
    target = folder / NAME
    with tempfile.TemporaryDirectory() as work, as_file(files(__package__) / "source") as own:
        _generated_headers(Path(work), version)
        sources = [str(own / name) for name in SOURCES]
        # Headers of Slurm's own do not all compile without a warning; ours must.
        words = [which("gcc"), *FLAGS, "-Werror", f"-I{own}", f"-I{work}"]
        run([*words, "-isystem", str(source), *sources, "-o", str(target)], "compiling")
    return target


def _generated_headers(folder: Path, version: str) -> None:
    """What ./configure would make, as far as it matters: job_record_t does not depend on it."""
    (folder / "config.h").write_text("")
    (folder / "slurm").mkdir()
    (folder / "slurm" / "slurm_version.h").write_text(
        f"""#ifndef _SLURM_VERSION_H_
#define _SLURM_VERSION_H_
#define SLURM_VERSION_NUMBER {plugin_number(version)}
#define SLURM_VERSION_NUM(a,b,c) (((a) << 16) + ((b) << 8) + (c))
#define SLURM_VERSION_MAJOR(a) (((a) >> 16) & 0xff)
#define SLURM_VERSION_MINOR(a) (((a) >> 8) & 0xff)
#define SLURM_VERSION_MICRO(a) ((a) & 0xff)
#endif
"""
    )


def plugin_number(version: str) -> str:
    """The version as Slurm compares it when it loads a plug-in."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise PluginRefused(f"{version!a:.40} is no version of Slurm such as 24.11.5")
    major, minor, micro = map(int, found.groups())
    return f"0x{major:02x}{minor:02x}{micro:02x}"


def run(words: list[str], what: str, env: dict[str, str] | None = None) -> str:
    """What a program prints; PluginRefused with its complaint where it fails."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=env
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PluginRefused(f"{what} failed: {problem}") from problem
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-600:]
        raise PluginRefused(f"{what} failed with {done.returncode}: {said}")
    return done.stdout


def which(program: str) -> str:
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin:/usr/local/sbin")
    if found is None:
        hint = "; on Debian: apt install gcc libc6-dev" if program == "gcc" else ""
        raise PluginRefused(f"no {program} on this machine{hint}")
    return found


def plugin_folders() -> tuple[str, ...]:
    """Where Slurm's own plug-ins lie on this machine."""
    usual = ("/usr/lib/*/slurm-wlm", "/usr/lib/*/slurm", "/usr/lib64/slurm", "/usr/local/lib/slurm")
    found = [glob.glob(f"{place}/priority_multifactor.so") for place in usual]
    return tuple(str(Path(path).parent) for paths in found for path in sorted(paths))
