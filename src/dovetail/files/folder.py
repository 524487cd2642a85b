"""Reads and writes files of one trusted folder by its descriptor, and follows no link.

`write` makes a new file under a name drawn at random and puts it in place of the old one. A file or
link that somebody left under either name is replaced, never written through.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Self

from dovetail.files.trust import behind_system_links, check_entry, make_folder, open_folder

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in the place of a file would block who opens it.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MOST = 16 * 2**20
"""Bytes that are read of a file; none of ours comes near."""


class Folder:
    """An open folder; its path is for messages only."""

    def __init__(self, path: Path, descriptor: int, owner: int) -> None:
        self.path, self.descriptor, self.owner = path, descriptor, owner

    @classmethod
    def open(cls, path: Path, owner: int | None = None) -> Folder:
        """A folder that only root and `owner`, by default this account, can write."""
        owner = os.geteuid() if owner is None else owner
        return cls(path, open_folder(path, owner), owner)

    @classmethod
    def make(cls, path: Path, mode: int = 0o750) -> Folder:
        """The same; made with these permissions where it is missing."""
        return cls(path, make_folder(path, mode), os.geteuid())

    @classmethod
    def of_its_owner(cls, path: Path) -> Folder:
        """A folder that nobody but root and its owner can write, whoever that is: for readers."""
        return cls.open(path, path.stat().st_uid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def read(self, name: str, most: int = MOST) -> bytes:
        """A plain file of the owner's or root's; Untrusted for anything else."""
        descriptor = os.open(name, _READ, dir_fd=self.descriptor)
        with os.fdopen(descriptor, "rb") as file:
            check_entry(self.path / name, os.fstat(descriptor), self.owner)
            return file.read(most)

    def write(
        self, name: str, data: bytes, mode: int = 0o640, owner: tuple[int, int] | None = None
    ) -> None:
        """Put a file there, with these permissions whatever the umask; whole or not at all.

        owner: user and group that it is given to; only root can. On disk when it returns.
        """
        part = f".{name}.{secrets.token_hex(8)}"
        descriptor = os.open(part, _NEW, 0o600, dir_fd=self.descriptor)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if owner is not None:
                    os.fchown(descriptor, *owner)
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            os.replace(part, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=self.descriptor)
            raise

    def remove(self, name: str) -> bool:
        """Take a file away; False: there was none."""
        try:
            os.unlink(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        return True

    def status(self, name: str) -> os.stat_result | None:
        """Of the entry itself, a link included; None: there is none."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None


def read_file(path: Path, owner: int | None = None, most: int = MOST) -> bytes:
    """The content of a file that nobody but root and `owner`, by default we, can have written."""
    path = behind_system_links(path, os.geteuid() if owner is None else owner)
    with Folder.open(path.parent, owner) as folder:
        return folder.read(path.name, most)
