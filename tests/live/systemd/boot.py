"""Becomes systemd: mounts the machine's file systems and executes it. Run as root in namespaces.

python boot.py WORK FOLDER=PLACE...     WORK: an empty folder; folders appear at other places, too
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
UNWANTED = ("getty.target", "console-getty.service", "systemd-logind.service", "apt-daily.timer")
READ_ONLY = ("proc/sys", "sys")
"""The kernel's settings are those of the whole machine: systemd must not touch them."""


def main() -> None:
    if os.getpid() != 1:
        raise SystemExit("nothing is mounted outside of namespaces of its own")
    work = Path(sys.argv[1])
    mount("-t", "tmpfs", "work", work)
    for name in ("upper", "temporary", "root"):
        (work / name).mkdir()
    layers = f"lowerdir=/,upperdir={work}/upper,workdir={work}/temporary"
    root = work / "root"
    mount("-t", "overlay", "root", "-o", layers, root)
    make_devices(root)
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "sysfs", "sysfs", root / "sys")
    for name in READ_ONLY:
        mount("--bind", root / name, root / name)
        mount("-o", "remount,bind,ro", root / name)
    # One hierarchy, whatever this machine has; it begins at a group made for this systemd.
    mount("-t", "cgroup2", "cgroup2", root / "sys/fs/cgroup")
    for name in ("run", "tmp"):
        mount("-t", "tmpfs", name, root / name)
    for pair in sys.argv[2:]:
        folder, _, place = pair.partition("=")
        target = root / place.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        mount("--bind", folder, target)
        mount("-o", "remount,bind,ro", target)
    choose_units(root / "etc" / "systemd" / "system")
    os.chdir(root)
    # Not chroot: units that ask for a file system of their own begin at the namespace's root.
    subprocess.run(["pivot_root", ".", "mnt"], check=True)
    subprocess.run(["umount", "--lazy", "/mnt"], check=True)
    os.chdir("/")
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    words = ["/lib/systemd/systemd", "--system", "--show-status=no"]
    os.execve(words[0], words, {"container": "dovetail", "PATH": path})


def make_devices(root: Path) -> None:
    mount("-t", "tmpfs", "dev", root / "dev")
    for name in DEVICES:
        (root / "dev" / name).touch()
        mount("--bind", f"/dev/{name}", root / "dev" / name)
    for name, kind in (("shm", "tmpfs"), ("pts", "devpts"), ("mqueue", "mqueue")):
        (root / "dev" / name).mkdir()
        mount("-t", kind, name, root / "dev" / name)
    (root / "dev" / "ptmx").symlink_to("pts/ptmx")


def choose_units(units: Path) -> None:
    """Nothing is started that is not asked for."""
    for wanted in units.glob("*.wants"):
        shutil.rmtree(wanted)
    for name in UNWANTED:
        (units / name).unlink(missing_ok=True)
        (units / name).symlink_to("/dev/null")
    (units / "default.target").unlink(missing_ok=True)
    (units / "default.target").symlink_to("/lib/systemd/system/multi-user.target")


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)


if __name__ == "__main__":
    main()
