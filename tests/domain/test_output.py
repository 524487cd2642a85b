"""Files that are written: whole, behind links, and through what is no regular file."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dovetail.domain.errors import OutputError
from dovetail.domain.output import make_folder, write_whole


def write(path: Path, text: str = "new") -> None:
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def test_a_link_stays_and_the_file_behind_it_changes(tmp_path: Path) -> None:
    behind, link = tmp_path / "real" / "file", tmp_path / "link"
    behind.parent.mkdir()
    behind.write_text("old")
    (tmp_path / "middle").symlink_to("real/file")
    link.symlink_to("middle")
    write(link)
    assert link.is_symlink()
    assert behind.read_text() == "new"
    assert [path.name for path in behind.parent.iterdir()] == ["file"]


def test_a_link_to_nothing_yet_makes_the_file_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write(tmp_path / "link")
    assert (tmp_path / "file").read_text() == "new"


def test_a_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    fifo, got = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()), daemon=True)
    reader.start()
    write(fifo)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    reader.join(10)
    assert got == ["new"]


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_text("")
    except OSError:
        pytest.skip("only root makes devices")
    write(null)
    assert stat.S_ISCHR(null.stat().st_mode)


def test_standard_output_keeps_what_was_printed_before(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom dovetail.domain.output import write_whole\n"
        "print('first')\nwrite_whole(Path('/dev/stdout'), lambda p: p.write_text('then\\n'))\n"
        "print('last', flush=True)"
    )
    with (tmp_path / "log").open("a") as log:
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "first\nthen\nlast\n"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def fail(part: Path) -> None:
        part.write_text("half")
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_text("old")
    with pytest.raises(OutputError, match="file: cannot write: No space left on device"):
        write_whole(tmp_path / "file", fail)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "old"}


def test_the_rights_of_a_file_survive_its_replacement(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    write(tmp_path / "file")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="links one after the other"):
        write(tmp_path / "a")


def test_a_folder_below_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot make this folder: Not a directory"):
        make_folder(tmp_path / "file" / "folder")
