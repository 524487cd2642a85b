"""Builds root folders and runs commands with their Slurm; see the package."""

from __future__ import annotations

import argparse
import fcntl
import sys
from pathlib import Path

from tests.slurm_versions.mirror import NoMirror
from tests.slurm_versions.namespace import go_inside, run_with
from tests.slurm_versions.releases import RELEASES
from tests.slurm_versions.roots import Root, RootProblem, build, locked, root_of
from tests.slurm_versions.suites import SUITES, check, default_python


def main() -> int:
    words = _parser().parse_args()
    if words.do == "inside":
        go_inside(Root(words.folder), words.outside, words.command)
    if words.do == "build":
        return max(_built(name) for name in words.releases or RELEASES)
    if words.do == "check":
        return check(SUITES[words.suite], words.python)
    release = RELEASES[words.release]
    root = root_of(release)
    with locked(release, fcntl.LOCK_SH) as lock:
        if not root.fresh(release):
            print(f"Slurm of {release.name}: no root folder, build it first", file=sys.stderr)
            return 3
        return run_with(root, words.command, lock)


def _built(name: str) -> int:
    try:
        root = build(RELEASES[name])
    except (NoMirror, RootProblem) as problem:
        print(f"Slurm of {name}: {problem}", file=sys.stderr)
        return 3
    print(f"Slurm of {name}: {root.version} in {root.folder}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m tests.slurm_versions")
    does = parser.add_subparsers(dest="do", required=True)
    making = does.add_parser("build", help="make root folders, unless they are there")
    making.add_argument("releases", nargs="*", choices=[*RELEASES, []])
    running = does.add_parser("run", help="run a command with another Slurm")
    running.add_argument("release", choices=RELEASES)
    running.add_argument("command", nargs="+")
    checking = does.add_parser("check", help="run live tests on every other Slurm")
    checking.add_argument("suite", choices=SUITES)
    checking.add_argument("--python", default=default_python(), help="one with the tests' packages")
    inside = does.add_parser("inside")
    inside.add_argument("folder", type=Path)
    inside.add_argument("outside")
    inside.add_argument("command", nargs="+")
    return parser


if __name__ == "__main__":
    sys.exit(main())
