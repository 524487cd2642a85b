"""Root folders with another Debian release and its Slurm, built once and kept."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.slurm_versions.mirror import Mirror, find_mirror
from tests.slurm_versions.releases import PACKAGES, PROGRAM_PACKAGES, Release

CACHE = Path(os.environ.get("DOVETAIL_SLURM_ROOTS", "/var/cache/dovetail-slurm"))
LAUNCHER = Path(__file__).with_name("enter.c")
RECIPE = "1"
"""To be raised when the steps below change, so that root folders are built anew."""
APART = ("unshare", "--mount", "--propagation", "private")
"""Mounts inside a root folder must be seen by nobody else, least of all by whoever removes it."""


class RootProblem(RuntimeError):  # noqa: N818 - reads as what happened
    """A root folder could not be made or must not be used, and why."""


@dataclass(frozen=True)
class Root:
    """Where everything of one release lies: `tree` is the Debian, `bin` leads into it."""

    folder: Path

    @property
    def tree(self) -> Path:
        return self.folder / "root"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def source(self) -> Path:
        """The unpacked source of its Slurm, with which the plug-in is built."""
        return self.folder / "source"

    @property
    def stamp(self) -> Path:
        return self.folder / "built.json"

    @property
    def version(self) -> str:
        """Of its Slurm, such as 24.11.5."""
        return str(json.loads(self.stamp.read_text())["slurm"])

    def fresh(self, release: Release) -> bool:
        """Whether it is whole, and made by today's recipe."""
        try:
            made = json.loads(self.stamp.read_text())
        except (OSError, ValueError):
            return False
        return bool(made["recipe"] == recipe(release))


def root_of(release: Release) -> Root:
    return Root(CACHE / release.name)


def recipe(release: Release) -> str:
    """Changes when a root folder must be built anew."""
    parts = (RECIPE, *PACKAGES, *release.apt, LAUNCHER.read_text())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def build(release: Release) -> Root:
    """The release's root folder, built unless it is there; RootProblem where that is impossible."""
    root = root_of(release)
    with locked(release, fcntl.LOCK_EX):
        if root.fresh(release):
            return root
        missing = [name for name in ("debootstrap", "gcc", "setcap") if not shutil.which(name)]
        if os.geteuid() != 0 or missing:
            needed = f"no {', '.join(missing)} here" if missing else "only root can build them"
            raise RootProblem(f"no root folder of {release.name}: {needed}")
        mirror = find_mirror()
        _remove(root.folder)
        root.folder.mkdir(mode=0o755)
        _make_tree(root, release, mirror)
        _install(root, release, mirror)
        _fetch_source(root)
        _make_programs(root)
        said = _run([*APART, root.bin / "slurmctld", "-V"])
        made = {"recipe": recipe(release), "slurm": said.split()[-1]}
        root.stamp.write_text(json.dumps(made) + "\n")
    return root


@contextmanager
def locked(release: Release, how: int) -> Iterator[int]:
    """Nobody removes a root folder in which somebody else runs tests; the lock's descriptor."""
    CACHE.mkdir(mode=0o755, parents=True, exist_ok=True)
    lock = os.open(CACHE / f"{release.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, how)
        yield lock
    finally:
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove what is left of an earlier build, unless something is mounted there."""
    if not folder.exists():
        return
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    inside = [place for place in mounts if Path(place).is_relative_to(folder.resolve())]
    if inside:
        raise RootProblem(f"{folder}: not removed, as {inside[0]} is mounted there")
    shutil.rmtree(folder)


def _make_tree(root: Root, release: Release, mirror: Mirror) -> None:
    words = ["debootstrap", "--variant=minbase", "--include=ca-certificates", release.name]
    _run([*APART, *words, root.tree, mirror.address], mirror.environment)


def _install(root: Root, release: Release, mirror: Mirror) -> None:
    etc = root.tree / "etc"
    lines = [f"{kind} {mirror.address} {release.name} main" for kind in ("deb", "deb-src")]
    (etc / "apt" / "sources.list").write_text("".join(f"{line}\n" for line in lines))
    settings = [*release.apt, *mirror.apt_lines, 'APT::Install-Recommends "false";']
    (etc / "apt" / "apt.conf.d" / "90dovetail").write_text("".join(f"{x}\n" for x in settings))
    # Packages bring services, which must not start.
    policy = root.tree / "usr" / "sbin" / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    (etc / "hosts").touch()
    script = (
        'mount -t proc proc /proc && apt-get -qq update && apt-get -qq -y install "$@"'
        " && apt-get clean"
    )
    _inside(root, ["sh", "-c", script, "sh", *PACKAGES])


def _fetch_source(root: Root) -> None:
    """Headers for the plug-in: those of exactly this version, which no package has."""
    own = "$(dpkg-query -W -f '${source:Version}' slurmctld)"
    script = f'cd /var/tmp && apt-get -qq --download-only --tar-only source "slurm-wlm={own}"'
    try:
        _inside(root, ["sh", "-c", script])
    except RootProblem as problem:
        # Mirrors do not always have the source of what they have: the plug-in's tests are skipped.
        print(f"no source of Slurm: {problem}", file=sys.stderr)
        return
    (archive,) = (root.tree / "var" / "tmp").glob("slurm-wlm_*.orig.tar.*")
    root.source.mkdir()
    _run(["tar", "-xf", archive, "--strip-components=1", "-C", root.source])
    for left in (root.tree / "var" / "tmp").iterdir():
        left.unlink()


def _make_programs(root: Root) -> None:
    """One launcher under the name of every program of Slurm's."""
    root.bin.mkdir()
    launcher = root.bin / "enter"
    warnings = ["-O2", "-Wall", "-Werror"]
    _run(["gcc", *warnings, f'-DROOT="{root.tree}"', str(LAUNCHER), "-o", str(launcher)])
    _run(["setcap", "cap_sys_chroot+ep", launcher])
    files = map(Path, _inside(root, ["dpkg", "-L", *PROGRAM_PACKAGES]).split())
    # Debian's alternatives give slurmctld-wlm its usual name.
    programs = {file.name for file in files if file.parent.name in ("bin", "sbin")}
    for name in programs | {name.removesuffix("-wlm") for name in programs}:
        (root.bin / name).symlink_to("enter")


def _inside(root: Root, words: Sequence[str]) -> str:
    return _run([*APART, "chroot", root.tree, *words], {"DEBIAN_FRONTEND": "noninteractive"})


def _run(words: Sequence[str | Path], extra: dict[str, str] | None = None) -> str:
    env = os.environ | {"LC_ALL": "C"} | (extra or {})
    done = subprocess.run(
        words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1200
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()[-8:]
        raise RootProblem(f"{' '.join(map(str, words))[:200]} failed:\n" + "\n".join(said))
    return done.stdout
