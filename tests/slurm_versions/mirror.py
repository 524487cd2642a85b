"""Where this machine gets its Debian packages, by apt's own configuration."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass


class NoMirror(RuntimeError):  # noqa: N818 - reads as what is the matter
    """apt names no Debian mirror here."""


@dataclass(frozen=True)
class Mirror:
    """Its address, and the proxy on the way there, if any."""

    address: str
    proxy: str = ""

    @property
    def environment(self) -> dict[str, str]:
        return {"http_proxy": self.proxy} if self.proxy else {}

    @property
    def apt_lines(self) -> tuple[str, ...]:
        return (f'Acquire::http::Proxy "{self.proxy}";',) if self.proxy else ()


def find_mirror() -> Mirror:
    """The mirror from which this machine's own Debian comes."""
    if shutil.which("apt-get") is None:
        raise NoMirror("no apt here, and so no Debian mirror")
    # What is labelled Debian is neither the security archive nor a stranger's packages.
    rows = _said("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)").splitlines()
    found = [row.partition(" ")[2] for row in rows if row.startswith("Debian ")]
    if not found:
        raise NoMirror("apt knows no Debian mirror; run apt-get update first")
    proxy = _said("apt-config", "shell", "proxy", "Acquire::http::Proxy").strip()
    return Mirror(found[0], proxy.removeprefix("proxy=").strip("'"))


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, timeout=60).stdout
