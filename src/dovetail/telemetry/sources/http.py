"""Fetches a page over HTTP: bounded in size and time, from http and https addresses only."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from http.client import HTTPException
from urllib.parse import urlsplit

from dovetail.telemetry.sources.base import SourceError

TIMEOUT = 10.0
"""Seconds for the whole answer; a scrape that takes longer is late for the next one."""

MOST_BYTES = 256 << 20
"""Ten times what 10,000 GPUs need; what sends more is no exporter."""

_CHUNK = 1 << 20


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """An answer from another place than the operator named is an error."""

    def redirect_request(self, *given: object) -> None:
        return None


# Without ProxyHandler: exporters stand in the cluster, and a proxy for the web cannot reach them.
_OPENER = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))


def check_address(url: str) -> str:
    """The address as it is, or an error in words."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise SourceError(f"{url}: not an address: {problem}") from problem
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise SourceError(f"{url}: expected an address such as http://node1:9400/metrics")
    return url


def fetch(url: str, timeout: float = TIMEOUT, data: bytes | None = None) -> bytes:
    """The page; SourceError in words for whatever goes wrong."""
    end = time.monotonic() + timeout
    request = urllib.request.Request(check_address(url), data=data)
    try:
        with _OPENER.open(request, timeout=timeout) as answer:
            parts, size = [], 0
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                parts.append(chunk)
                if size > MOST_BYTES:
                    raise SourceError(f"{url}: more than {MOST_BYTES >> 20} MiB; no exporter?")
                if time.monotonic() > end:
                    raise TimeoutError(f"no whole answer in {timeout:g} s")
            return b"".join(parts)
    except urllib.error.HTTPError as problem:
        with problem:
            told = problem.read(500).decode(errors="replace")
        raise SourceError(f"{url}: answered {problem.code}: {' '.join(told.split())}") from problem
    except urllib.error.URLError as problem:
        raise SourceError(f"{url}: cannot be reached: {problem.reason}") from problem
    except (OSError, HTTPException, ValueError) as problem:
        raise SourceError(f"{url}: {problem or type(problem).__name__}") from problem
