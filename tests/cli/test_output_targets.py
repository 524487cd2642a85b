"""What --json, --out, --report and --schedule may name: links, FIFOs, full disks."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import CLUSTER, Command

WRITERS = {
    "simulate --json": ("simulate", "TRACE", "--cluster", CLUSTER, "--json"),
    "simulate --schedule": ("simulate", "TRACE", "--cluster", CLUSTER, "--schedule"),
    "compare --report": (
        "compare",
        "TRACE",
        "--cluster",
        CLUSTER,
        "--policies",
        "fcfs",
        "--report",
    ),
    "trace synth --out": ("trace", "synth", "helios", "--jobs", "20", "--out"),
    "cluster import --out": ("cluster", "import", "NODES", "--out"),
}


@pytest.fixture
def words(small: Path, tmp_path: Path) -> dict[str, str]:
    nodes = tmp_path / "slurm.conf"
    nodes.write_text("NodeName=n[1-2] Gres=gpu:a100:4 CPUs=8 RealMemory=1000\n")
    return {"TRACE": str(small), "NODES": str(nodes)}


@pytest.mark.parametrize("writer", WRITERS)
def test_links_and_fifos_stay_what_they_are(
    writer: str, words: dict[str, str], dovetail: Command, tmp_path: Path
) -> None:
    command = [words.get(word, word) for word in WRITERS[writer]]
    link, fifo, got = tmp_path / "link", tmp_path / "fifo", []
    link.symlink_to("file")
    os.mkfifo(fifo)
    assert dovetail(*command, link).code == 0
    assert link.is_symlink()
    assert (tmp_path / "file").stat().st_size > 0
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()), daemon=True)
    reader.start()
    assert dovetail(*command, fifo).code == 0
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    reader.join(10)
    assert len(got[0]) > 0


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "import sys; from dovetail.cli import main; sys.argv[0] = 'dovetail'; main()"
    )
    command = ("trace", "synth", "helios", "--jobs", "5000", "--out", str(tmp_path / "t.parquet"))
    found = subprocess.run(
        [sys.executable, "-c", limited, *command], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "cannot write: File too large" in found.stderr
    assert "Traceback" not in found.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.parametrize("command", [("policies",), ("trace", "formats"), ("--version",)])
def test_a_full_disk_behind_standard_output_is_one_line(command: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "dovetail.cli", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].endswith("No space left on device")
    assert "Traceback" not in found.stderr
