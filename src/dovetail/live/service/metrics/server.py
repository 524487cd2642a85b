"""A small HTTP server for one page, in a thread of its own."""

from __future__ import annotations

import ipaddress
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer

from prometheus_client import CollectorRegistry, generate_latest

from dovetail.domain.errors import ConfigError

# The plain format that every Prometheus reads.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_CONNECTIONS = 16  # at a time; a scraper needs one


class MetricsServer:
    """Listens from construction to `close`."""

    def __init__(self, host: str, port: int, registry: CollectorRegistry) -> None:
        self._server = _listen(host, port, registry)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.1},
            name="dovetail-metrics",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int, registry: CollectorRegistry) -> _Server:
    try:
        family, *_, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return _Server(family, (str(address[0]), int(address[1])), registry)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"metrics: cannot listen on {host}:{port}: {error}; "
            "choose another metrics.port, or 0 for none"
        ) from None


class _Server(ThreadingTCPServer):
    """One thread per connection, no more than a few; none of them outlives the process.

    Not an HTTPServer: that asks the name service for its own name before it listens.
    """

    allow_reuse_address = True
    request_queue_size = MOST_CONNECTIONS
    daemon_threads = True
    block_on_close = False  # a client that dawdles must not keep the daemon from ending

    def __init__(self, family: int, address: tuple[str, int], registry: CollectorRegistry) -> None:
        self.address_family = family
        self.registry = registry
        self.room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(address, _Page)

    def process_request(self, request: object, client_address: object) -> None:
        if self.room.acquire(blocking=False):
            super().process_request(request, client_address)  # type: ignore[arg-type]
        else:
            self.shutdown_request(request)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self.room.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are no news."""


class _Page(BaseHTTPRequestHandler):
    """GET /metrics, and nothing else."""

    server: _Server
    timeout = 10.0  # seconds that a client may dawdle
    server_version = "dovetail"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND, "only /metrics is here")
            return
        page = generate_latest(self.server.registry)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """A line per scrape would drown the daemon's own."""
