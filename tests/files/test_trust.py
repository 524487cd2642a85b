"""A folder counts as ours only if nobody else can have put something there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dovetail.files import (
    Folder,
    Untrusted,
    check_file,
    make_folder,
    make_private_folder,
    open_folder,
    read_file,
)

STRANGER = 61_234
"""The number of an account that owns nothing here."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ours"
    made.mkdir(mode=0o700)
    return made


def test_our_own_folder_opens_and_what_is_missing_is_made(folder: Path) -> None:
    os.close(open_folder(folder))
    os.close(make_private_folder(folder / "a" / "b"))
    assert (folder / "a" / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    with pytest.raises(Untrusted, match=r"others may write it.*chmod go-w"):
        open_folder(folder)


def test_a_folder_inside_one_that_others_may_write_is_refused(folder: Path) -> None:
    (folder / "inner").mkdir(mode=0o700)
    folder.chmod(0o777)
    with pytest.raises(Untrusted, match="others may write it"):
        open_folder(folder / "inner")


def test_a_shared_folder_with_the_sticky_bit_may_be_passed_but_not_used(folder: Path) -> None:
    (folder / "inner").mkdir(mode=0o700)
    folder.chmod(0o1777)
    os.close(open_folder(folder / "inner"))
    with pytest.raises(Untrusted):
        open_folder(folder)


@needs_root
@pytest.mark.parametrize("place", ["", "inner"])
def test_a_folder_of_somebody_else_is_refused(folder: Path, place: str) -> None:
    inner = folder / "inner"
    inner.mkdir(mode=0o700)
    os.chown(folder / place, STRANGER, STRANGER)
    with pytest.raises(Untrusted, match=f"belongs to user number {STRANGER}"):
        open_folder(inner)
    if place == "":  # whoever acts as the owner may
        os.close(open_folder(folder, owner=STRANGER))


def test_a_link_is_not_followed_even_to_a_folder_of_ours(folder: Path) -> None:
    (folder / "real").mkdir(mode=0o700)
    folder.chmod(0o1777)  # a shared folder: root's own links in root's own folders are the system's
    (folder / "link").symlink_to(folder / "real")
    for opened in (open_folder, make_folder, make_private_folder):
        with pytest.raises(Untrusted, match="a link or a file"):
            opened(folder / "link")


@needs_root
def test_a_link_of_the_system_is_walked_and_its_target_checked(folder: Path) -> None:
    (folder / "real").mkdir(mode=0o700)
    (folder / "link").symlink_to("real")
    os.close(open_folder(folder / "link"))
    (folder / "real").chmod(0o777)
    with pytest.raises(Untrusted):
        open_folder(folder / "link")


def test_a_circle_of_links_ends(folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(Untrusted):
        open_folder(folder / "a")


def test_a_private_folder_is_closed_to_all_others(folder: Path) -> None:
    folder.chmod(0o750)
    os.close(open_folder(folder))
    with pytest.raises(Untrusted, match=r"closed to all others.*chmod 700"):
        make_private_folder(folder)


def test_a_file_is_read_only_if_it_is_plain_and_closed(folder: Path) -> None:
    (folder / "file").write_text("ours")
    (folder / "link").symlink_to("file")
    os.mkfifo(folder / "pipe")
    with Folder.open(folder) as opened:
        assert opened.read("file") == b"ours"
        for name in ("link", "pipe"):
            with pytest.raises(OSError, match=r"no plain file|symbolic links"):
                opened.read(name)
        (folder / "file").chmod(0o666)
        with pytest.raises(Untrusted, match="others may write it"):
            opened.read("file")
    with pytest.raises(Untrusted):
        check_file(folder / "link")


def test_writing_replaces_a_link_and_never_writes_through_it(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder / "mode").symlink_to(victim)
    with Folder.open(folder) as opened:
        opened.write("mode", b"active", 0o640)
        assert opened.read("mode") == b"active"
    assert victim.read_text() == "precious"
    assert [entry.name for entry in folder.iterdir()] == ["mode"]
    assert (folder / "mode").stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_behind(folder: Path) -> None:
    (folder / "mode").mkdir()
    with Folder.open(folder) as opened, pytest.raises(IsADirectoryError):
        opened.write("mode", b"active")
    assert [entry.name for entry in folder.iterdir()] == ["mode"]


def test_a_file_is_read_through_a_link_of_the_system_only(folder: Path) -> None:
    (folder / "file").write_text("ours")
    (folder / "link").symlink_to("file")
    if os.geteuid() == 0:
        assert read_file(folder / "link") == b"ours"
    folder.chmod(0o1777)
    with pytest.raises(Untrusted):
        read_file(folder / "link")


def test_who_reads_need_not_be_the_owner_if_it_has_only_one(folder: Path) -> None:
    (folder / "file").write_text("ours")
    with Folder.of_its_owner(folder) as opened:
        assert opened.read("file") == b"ours"
    folder.chmod(0o770)
    with pytest.raises(Untrusted):
        Folder.of_its_owner(folder)
