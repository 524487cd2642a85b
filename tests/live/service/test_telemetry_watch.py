"""Readings join the snapshot and name jobs with idle GPUs; a source that hangs holds up nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from dovetail.domain.errors import ConfigError, DovetailError
from dovetail.live.backends.recorded import RecordedBackend
from dovetail.live.config import MetricsConfig, TelemetryConfig
from dovetail.live.service.daemon import Daemon
from dovetail.live.service.metrics.endpoint import Metrics
from dovetail.live.service.switchboard import Switchboard
from dovetail.live.service.telemetry_watch import TelemetryWatch
from dovetail.telemetry.readings import Readings, ReadingsBuilder
from tests.live.memory import clocks_of, full_cluster, memory_config


def recorded(folder: Path, hosts: tuple[str, ...], minutes: int = 30) -> Path:
    """Nodes of four GPUs that did nothing for half an hour, up to now; the first GPU is busy."""
    now = time.time()
    rows = [
        f"{now - 60 * (minutes - minute)},{host},{gpu},{0.9 if gpu == 0 else 0.0}"
        for minute in range(minutes + 1)
        for host in hosts
        for gpu in range(4)
    ]
    path = folder / "readings.csv"
    path.write_text("\n".join(["time,host,gpu,utilisation", *rows]) + "\n")
    return path


def until(done: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


class Sequence:
    """A source that gives one moment after the other, and the last one again and again."""

    def __init__(self, moments: list[Readings]) -> None:
        self.moments = moments
        self.last = moments[-1]

    def read(self) -> Readings:
        return self.moments.pop(0) if self.moments else self.last

    def has_at_most(self, left: int) -> bool:
        return len(self.moments) <= left


class Hanging:
    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def read(self) -> Readings:
        self.asked.set()
        self.released.wait(20)
        return ReadingsBuilder(0.0).build()  # nobody listens any more


def test_a_daemon_joins_readings_and_names_jobs_with_idle_gpus(tmp_path: Path) -> None:
    cluster, _ = full_cluster([5])
    hosts = tuple(node.name for node in RecordedBackend(cluster).read().nodes)
    telemetry = TelemetryConfig(
        source=f"csv:{recorded(tmp_path, hosts)}", every=0.001, idle_minutes=0.001
    )
    config = memory_config(tmp_path, telemetry=telemetry)
    metrics, told = Metrics(MetricsConfig(port=0)), []

    def pause() -> None:
        cluster.advance(60.0)
        until(lambda: b"dovetail_telemetry_gpus 8.0" in generate_latest(metrics.registry))
        told.append(Switchboard(Path(config.run_dir)).status())

    Daemon(
        config,
        backend=RecordedBackend(cluster),
        clocks=clocks_of(cluster),
        metrics=metrics,
        pause=pause,
    ).run(cycles=3)
    assert len(told) == 2
    assert told[-1] is not None
    assert b"dovetail_idle_jobs" in generate_latest(metrics.registry)


def test_jobs_that_hold_idle_gpus_are_told_in_words(tmp_path: Path) -> None:
    from dovetail.telemetry.sources.recording import Recording

    cluster, _ = full_cluster([5])
    snapshot = RecordedBackend(cluster).read()
    hosts = tuple(node.name for node in snapshot.nodes)
    source = Sequence(list(Recording(recorded(tmp_path, hosts)).replay()))
    config = TelemetryConfig(source="", every=1e-6, idle_minutes=10.0)
    with TelemetryWatch(config, source) as watch:
        for left in range(len(source.moments) - 1, -1, -1):
            watch.look(snapshot.running)
            until(partial(source.has_at_most, left))
        until(lambda: watch.sentences)
        assert watch.nodes[hosts[0]].idle == 3
        assert "3 of 4 GPUs idle for 30 min" in watch.sentences[0]
        assert len(watch.sentences) == 2


def test_a_source_that_hangs_holds_up_neither_cycles_nor_the_end(tmp_path: Path) -> None:
    source = Hanging()
    with TelemetryWatch(TelemetryConfig(every=1e-6), source) as watch:
        watch.look(())
        assert source.asked.wait(20)
        before = time.monotonic()
        for _ in range(100):
            watch.look(())
        assert time.monotonic() - before < 5
        assert not watch.nodes
        assert not list(watch.families())
    source.released.set()


def test_without_a_source_nothing_is_read() -> None:
    before = set(threading.enumerate())
    with TelemetryWatch(TelemetryConfig()) as watch:
        watch.look(())
        assert not watch.nodes
        assert set(threading.enumerate()) <= before


def test_a_wrong_source_is_refused_at_the_start(tmp_path: Path) -> None:
    config = memory_config(tmp_path, telemetry=TelemetryConfig(source="http://prometheus:9090"))
    with pytest.raises(DovetailError, match="say what it is"):
        Daemon(config, backend=RecordedBackend(full_cluster([5])[0])).run(1)
    with pytest.raises(ConfigError, match="idle_below"):
        TelemetryConfig(idle_below=5)
