"""slurmrestd: how each version is started, and a small client on its socket or its port."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
from pathlib import Path
from typing import Any

from dovetail.live.config import SlurmConfig
from tests.live.slurm.layout import Layout, user_name
from tests.live.slurm.options import Options
from tests.live.slurm.version import ONE_API_SINCE, slurm_version

REST_USER = "daemon"
"""slurmrestd runs so where the tests run as root and callers bring a token."""


def rest_argv(options: Options, layout: Layout) -> list[str]:
    """The words that start slurmrestd."""
    if slurm_version() >= ONE_API_SINCE:
        plugins = ["openapi/slurmctld", "openapi/slurmdbd"]
    else:
        plugins = ["openapi/v0.0.38", "openapi/dbv0.0.38"]
    asked = ",".join(plugins if options.accounting is not None else plugins[:1])
    kind = "local" if options.rest == "local" else "jwt"
    words = ["slurmrestd", "-a", f"rest_auth/{kind}", "-s", asked]
    if kind == "jwt" and os.geteuid() == 0:
        words += ["-u", REST_USER, "-g", REST_USER]
    tcp = options.rest == "jwt over TCP"
    return [*words, f"127.0.0.1:{layout.rest_port}" if tcp else f"unix:{layout.rest_socket}"]


def rest_environment(options: Options) -> dict[str, str]:
    if options.rest == "local":
        # It refuses to run as root otherwise.
        return {"SLURMRESTD_SECURITY": "disable_user_check"}
    return {"SLURM_JWT": "daemon"}


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Rest:
    """`rest.ask("GET", "jobs")` -> (status, document)."""

    def __init__(self, options: Options, layout: Layout) -> None:
        self._tcp = options.rest == "jwt over TCP"
        self._layout = layout
        self._token = layout.rest_token.read_text() if options.rest != "local" else ""
        self._api = ""

    @property
    def config(self) -> SlurmConfig:
        """What Dovetail must be told to use it."""
        layout = self._layout
        tcp = f"http://127.0.0.1:{layout.rest_port}"
        return SlurmConfig(
            backend="rest",
            conf=str(layout.slurm_conf),
            timeout=15.0,
            rest_url=tcp if self._tcp else f"unix:{layout.rest_socket}",
            rest_user=user_name() if self._token else "",
            rest_token_file=str(layout.rest_token) if self._token else "",
        )

    @property
    def api(self) -> str:
        """The newest that it offers, such as /slurm/v0.0.38."""
        if not self._api:
            found = re.findall(r"/slurm/v0\.0\.(\d+)/", " ".join(self.paths()))
            self._api = f"/slurm/v0.0.{max(map(int, found))}"
        return self._api

    def paths(self) -> list[str]:
        """All that it offers, by its own description."""
        _, answer = self._ask("GET", "/openapi/v3", None)
        return list(answer["paths"])

    def ask(self, method: str, what: str, body: object = None) -> tuple[int, Any]:
        """The HTTP status (200 even for a failed update: look at "errors") and the answer."""
        return self._ask(method, f"{self.api}/{what}", body)

    def _ask(self, method: str, path: str, body: object) -> tuple[int, Any]:
        connection = (
            http.client.HTTPConnection("127.0.0.1", self._layout.rest_port, timeout=60)
            if self._tcp
            else _OverSocket(self._layout.rest_socket)
        )
        headers = {} if body is None else {"Content-Type": "application/json"}
        if self._token:
            headers |= {"X-SLURM-USER-NAME": user_name(), "X-SLURM-USER-TOKEN": self._token}
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text else None
