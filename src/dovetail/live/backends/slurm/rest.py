"""Slurm's REST service: jobs and nodes are read through it, and priorities set.

It has no site factor, no node lists and no sprio: these go through Slurm's programs as always.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import stat
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dovetail.domain.errors import ConfigError
from dovetail.files import read_file
from dovetail.live.backends.base import Backend, BackendError, Unreachable, Unreadable
from dovetail.live.backends.slurm.job_rows import Told
from dovetail.live.backends.slurm.json_shapes import (
    Json,
    answer_of,
    jobs_of,
    nodes_of,
    words_of_errors,
)
from dovetail.live.backends.slurm.process import MAX_OUTPUT
from dovetail.live.backends.slurm.scontrol import NO_ANSWER, refusal
from dovetail.live.config import SlurmConfig
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, Snapshot

NEWEST, OLDEST = 45, 36
_VERSION = re.compile(r"/slurm/v0\.0\.(\d+)/")
_OBJECTS_SINCE = 39
"""The version since which numbers are {set, infinite, number}."""


class RestClient:
    """One connection per question: slurmrestd closes it after a while, and 1 ms is little."""

    def __init__(self, config: SlurmConfig) -> None:
        self._url = config.rest_url
        self._timeout = config.timeout
        self._config = config
        self._version = 0
        if not self._url:
            raise ConfigError(
                "slurm.rest_url is empty; the rest backend needs it, such as unix:PATH"
            )
        address_of(self._url)

    def get(self, what: str) -> Json:
        return self._checked("GET", what, None)

    def post(self, what: str, body: Mapping[str, Any]) -> Json:
        return self._checked("POST", what, body)

    @property
    def version(self) -> int:
        """The newest version that both sides know, found out once."""
        if not self._version:
            self._version = self._discover()
        return self._version

    def number(self, value: int) -> Any:
        if self.version < _OBJECTS_SINCE:
            return value
        return {"set": True, "infinite": False, "number": value}

    def _checked(self, method: str, what: str, body: Mapping[str, Any] | None) -> Json:
        path = f"/slurm/v0.0.{self.version}/{what}"
        status, text = self._ask(method, path, body)
        if status == 404:
            # Slurm was upgraded under our feet.
            self._version = 0
        if status in (401, 403):
            raise Unreachable(f"slurmrestd refuses us ({status}); is slurm.rest_token_file valid?")
        if status != 200 and not text.lstrip().startswith(b"{"):
            raise Unreachable(f"slurmrestd: {path} answers {status}")
        answer = answer_of(text, f"slurmrestd {path}")
        if status != 200:
            raise Unreachable(f"slurmrestd: {path} answers {status}")
        return answer

    def _discover(self) -> int:
        status, text = self._ask("GET", "/openapi/v3", None)
        offered = {
            int(number)
            for number in _VERSION.findall(text.decode("utf-8", "replace").replace("\\/", "/"))
        }
        known = [number for number in offered if OLDEST <= number <= NEWEST]
        if status == 200 and known:
            return max(known)
        for number in range(NEWEST, OLDEST - 1, -1):
            status, _ = self._ask("GET", f"/slurm/v0.0.{number}/ping", None)
            if status not in (404, 405):
                return number
        raise Unreadable(f"slurmrestd: no version of its API from v0.0.{OLDEST} to v0.0.{NEWEST}")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        connection = connection_to(self._url, self._timeout)
        headers = self._headers()
        text = None if body is None else json.dumps(body)
        if text is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, text, headers)
            response = connection.getresponse()
            content = response.read(MAX_OUTPUT + 1)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"slurmrestd at {self._url}: {error}; is it running?") from None
        finally:
            connection.close()
        if len(content) > MAX_OUTPUT:
            raise Unreadable(f"slurmrestd: more than {MAX_OUTPUT >> 20} MB of output")
        return response.status, content

    def _headers(self) -> dict[str, str]:
        if not self._config.rest_token_file:
            return {}
        # Read every time: tokens expire, and whoever renews them writes the file anew. One that
        # is missing meanwhile is a reason to wait, not to end.
        try:
            token = read_token(self._config.rest_token_file)
        except ConfigError as error:
            raise Unreachable(f"slurmrestd cannot be asked: {error}") from None
        user = {"X-SLURM-USER-NAME": self._config.rest_user} if self._config.rest_user else {}
        return {"X-SLURM-USER-TOKEN": token, **user}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def address_of(url: str) -> tuple[str, int]:
    """A socket's path and 0, or host and port of this machine: tokens go in the clear."""
    if url.startswith("unix:/"):
        return url.removeprefix("unix:"), 0
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise ConfigError(
            f"slurm.rest_url is {url!r}, expected unix:/PATH or http://127.0.0.1:PORT"
        )
    return parts.hostname, parts.port or 6820


def connection_to(url: str, timeout: float) -> http.client.HTTPConnection:
    host, port = address_of(url)
    if not port:
        return _UnixConnection(host, timeout)
    return http.client.HTTPConnection(host, port, timeout=timeout)


def read_token(path: str) -> str:
    """A token from a file that nobody else may read."""
    try:
        if os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"{path}: others may use the token in it; chmod 600 {path}")
        text = read_file(Path(path), most=65536).decode("ascii")
        token = text.strip().removeprefix("SLURM_JWT=")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: no token: {error}") from None
    if not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", token):
        raise ConfigError(f"{path}: no token in it; `scontrol token` prints one")
    return token


class RestReader:
    """Jobs and nodes, asked for anew every time."""

    def __init__(self, client: RestClient) -> None:
        self._client = client

    def jobs(self, told: Told = dict) -> tuple[list[LiveJob], list[str]]:
        return jobs_of(self._client.get("jobs"))

    def nodes(self) -> tuple[LiveNode, ...]:
        return nodes_of(self._client.get("nodes"))


class RestWriter:
    """A backend whose priorities are set through REST, and all else as before."""

    def __init__(self, inner: Backend, client: RestClient) -> None:
        self.name = inner.name
        self._inner = inner
        self._client = client

    def read(self) -> Snapshot:
        return self._inner.read()

    def factors(self) -> Mapping[int, Factor]:
        return self._inner.factors()

    def settings(self) -> Mapping[str, str]:
        return self._inner.settings()

    def site(self) -> SiteSettings:
        return self._inner.site()

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        results: list[Result] = []
        for by_rest, group in groupby(changes, _can):
            part = list(group)
            results += map(self._post, part) if by_rest else self._inner.apply(part)
        return results

    def _post(self, change: Change) -> Result:
        error, priority = refusal(change), change.after
        if error or not isinstance(priority, int):
            return Result(change, error)
        body = {"priority": self._client.number(priority)}
        try:
            answer = self._client.post(f"job/{change.label}", body)
        except Unreachable as problem:
            return Result(change, str(problem) if "slurmrestd /" in str(problem) else NO_ANSWER)
        except BackendError as problem:
            return Result(change, str(problem))
        failed = [item for item in answer.get("results") or [] if item.get("error_code")]
        return Result(change, words_of_errors(failed) if failed else "")


def _can(change: Change) -> bool:
    """REST takes plain job numbers only: a part of an array would be all of it."""
    freezes = change.knob is Knob.PRIORITY and change.after is not None
    return freezes and change.label.isdecimal()
