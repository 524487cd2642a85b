"""How long it takes to read, check and normalise 10,000 GPUs: an exporter's or Prometheus' text.

python -m benchmarks.run telemetry
"""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from dovetail.telemetry import check, normalise
from dovetail.telemetry.quantities import DCGM
from dovetail.telemetry.sources.base import Source
from dovetail.telemetry.sources.exporter import Exporters

GPUS, PER_NODE, REPEATS = 10_000, 8, 5


def labels(number: int) -> dict[str, str]:
    """As dcgm-exporter writes them, the ones that nobody here reads included."""
    node, gpu = divmod(number, PER_NODE)
    return {
        "gpu": str(gpu),
        "UUID": f"GPU-{number:08x}-7f5a-4a0e-a5b0-0123456789ab",
        "pci_bus_id": f"00000000:{gpu:02X}:00.0",
        "device": f"nvidia{gpu}",
        "modelName": "NVIDIA A100-SXM4-80GB",
        "Hostname": f"gpu-{node:04d}.cluster.example",
        "DCGM_FI_DRIVER_VERSION": "550.90.07",
    }


def samples(number: int) -> dict[str, float]:
    return {name: float((number * 7 + column * 13) % 90) for column, name in enumerate(DCGM)} | {
        "DCGM_FI_PROF_DRAM_ACTIVE": 0.25
    }


def exposition() -> str:
    lines = []
    for name in DCGM:
        lines += [f"# HELP {name} A quantity.", f"# TYPE {name} gauge"]
        for number in range(GPUS):
            text = ",".join(f'{key}="{value}"' for key, value in labels(number).items())
            lines.append(f"{name}{{{text}}} {samples(number)[name]}")
    return "\n".join(lines) + "\n"


@contextmanager
def served(page: bytes) -> Iterator[str]:
    """A page on loopback."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *given: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def seconds(work: Callable[[], object]) -> list[float]:
    """Of this process' CPU: on a shared machine the clock measures the others."""
    found = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        found.append(round(time.process_time() - start, 3))
    return found


def run() -> dict[str, Any]:
    text = exposition()

    def use(source: Source) -> None:
        checked = check(source.read())
        assert len(checked.readings) == GPUS
        assert not checked.faults, checked.sentence()
        normalise(checked.readings)

    with served(text.encode()) as url:
        source = Exporters([f"{url}/metrics"])
        first, *later = seconds(lambda: use(source))
    plain = seconds(lambda: list(text_string_to_metric_families(text)))
    result = {
        "gpus": GPUS,
        "samples": GPUS * len(DCGM),
        "first_reading_cpu_seconds": first,
        "later_reading_cpu_seconds": min(later),
        "prometheus_client_parser_alone_cpu_seconds": min(plain),
    }
    print(json.dumps(result, indent=1))
    return result
