"""Folders and files that nobody but their owner and root can have prepared for us.

Stands below every other package and imports none of them: the folder of compiled code is chosen
before anything else is imported.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as name, Folder.open(Path(name)) as folder:
...     folder.write("mode", b"shadow ada")
...     folder.read("mode")
b'shadow ada'
"""

from __future__ import annotations

from dovetail.files.folder import Folder, read_file
from dovetail.files.trust import (
    Untrusted,
    check_file,
    make_folder,
    make_private_folder,
    open_folder,
)

__all__ = [
    "Folder",
    "Untrusted",
    "check_file",
    "make_folder",
    "make_private_folder",
    "open_folder",
    "read_file",
]
