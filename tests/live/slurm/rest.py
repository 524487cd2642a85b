"""A small client for slurmrestd on its unix socket."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from typing import Any

from tests.live.slurm.layout import user_name


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Rest:
    """`rest.ask("GET", "/slurm/v0.0.38/jobs")` -> (status, document)."""

    def __init__(self, path: Path, token: str) -> None:
        self.path, self.token = path, token

    @property
    def headers(self) -> dict[str, str]:
        if not self.token:
            return {}
        return {"X-SLURM-USER-NAME": user_name(), "X-SLURM-USER-TOKEN": self.token}

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """The HTTP status (200 even for a failed update: look at "errors") and the answer."""
        connection = _OverSocket(self.path)
        try:
            sent = None if body is None else json.dumps(body)
            headers = self.headers | ({"Content-Type": "application/json"} if sent else {})
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text else None
