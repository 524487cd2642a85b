"""A small exporter on loopback whose page a test may change; a real Prometheus that scrapes it."""

from __future__ import annotations

import http.server
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROMETHEUS = shutil.which("prometheus")


class Exporter:
    """Serves `page` at any address."""

    def __init__(self) -> None:
        self.page = ""
        self.code = 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = outer.page.encode()
                self.send_response(outer.code)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *given: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def exporting(page: str = "") -> Iterator[Exporter]:
    exporter = Exporter()
    exporter.page = page
    try:
        yield exporter
    finally:
        exporter.close()


@contextmanager
def scraping(folder: Path, *targets: str) -> Iterator[str]:
    """A Prometheus server that scrapes every second; its address."""
    assert PROMETHEUS is not None
    listed = ", ".join(f"'{target}'" for target in targets)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
        "scrape_configs:\n"
        "- job_name: gpus\n"
        "  honor_labels: true\n"
        f"  static_configs: [{{targets: [{listed}]}}]\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            PROMETHEUS,
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=error",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_ready(f"http://127.0.0.1:{port}/-/ready")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _await_ready(url: str) -> None:
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=2.0):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"Prometheus is not ready at {url}")


def dcgm(host: str, gpu: int, util: float, temp: float = 40.0, more: str = "") -> str:
    """Lines as dcgm-exporter writes them."""
    labels = (
        f'gpu="{gpu}",UUID="GPU-{host}-{gpu}",pci_bus_id="00000000:0{gpu}:00.0",'
        f'device="nvidia{gpu}",modelName="NVIDIA A100-SXM4-80GB",Hostname="{host}"{more}'
    )
    return (
        f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} {util}\n"
        f"DCGM_FI_DEV_GPU_TEMP{{{labels}}} {temp}\n"
        f"DCGM_FI_DEV_FB_USED{{{labels}}} 1024\n"
    )
