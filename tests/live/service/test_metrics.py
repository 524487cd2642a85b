"""The metrics endpoint, scraped as Prometheus does."""

from __future__ import annotations

import contextlib
import logging
import math
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from dovetail.domain.errors import ConfigError
from dovetail.live.config import MetricsConfig
from dovetail.live.cycle.report import CycleReport, Load, Times, Waits, loads
from dovetail.live.guardrails.base import GuardrailOutcome, Verdict
from dovetail.live.guardrails.slurm_order import Moved
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveJob, LivePartition, Snapshot
from dovetail.live.service.metrics import endpoint
from dovetail.live.service.metrics.endpoint import Metrics
from dovetail.live.service.metrics.server import MOST_CONNECTIONS

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

REPORT = CycleReport(
    Mode.ADVISE,
    "3 jobs ordered",
    times=Times(0.2, 0.02, 0.001, math.nan, 0.221),
    snapshot_age=0.5,
    partitions={"gpu": Load(3, 12, 2, 8, 60.0, 7200.0), "cpu": Load(1, 0, 0, 0)},
    managed=3,
    untouched={"held": 2},
    moved=Moved(1.5, 4),
    verdicts=(
        Verdict("pins", GuardrailOutcome.AMENDED, "…"),
        Verdict("rate", GuardrailOutcome.PASS, "…"),
    ),
    sent=5,
    failed=1,
    twin_difference=-0.2,
    twin_error=0.05,
    model_drift=0.3,
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    with Metrics(MetricsConfig(port=free_port())) as serving:
        yield serving


def scrape(metrics: Metrics, path: str = "/metrics") -> str:
    address = f"http://127.0.0.1:{metrics.config.port}{path}"
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return str(answer.read().decode())


def samples(page: str) -> Samples:
    found = [
        ((sample.name, frozenset(sample.labels.items())), sample.value)
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    ]
    assert len(dict(found)) == len(found)  # no series twice
    return dict(found)


def value(found: Samples, name: str, **labels: str) -> float:
    return found["dovetail_" + name, frozenset(labels.items())]


def test_a_scrape_tells_what_the_last_cycle_saw_and_did(metrics: Metrics) -> None:
    metrics.observe(REPORT)
    found = samples(scrape(metrics))
    assert value(found, "mode", mode="advise") == 1.0
    assert value(found, "mode", mode="active") == 0.0
    assert value(found, "pending_jobs", partition="gpu") == 3
    assert value(found, "pending_gpus", partition="gpu") == 12
    assert value(found, "running_jobs", partition="gpu") == 2
    assert value(found, "running_gpus", partition="gpu") == 8
    assert value(found, "wait_seconds", partition="gpu", level="0.5") == 60.0
    assert value(found, "wait_seconds", partition="gpu", level="0.95") == 7200.0
    assert value(found, "jobs_managed") == 3
    assert value(found, "jobs_untouched", reason="held") == 2
    assert value(found, "moved_places_mean") == 1.5
    assert value(found, "moved_places_max") == 4
    assert value(found, "twin_difference_ratio") == -0.2
    assert value(found, "twin_error_ratio") == 0.05
    assert value(found, "model_drift") == 0.3
    assert any(name == "dovetail_build_info" for name, _ in found)
    assert all(name.startswith("dovetail_") for name, _ in found)


def test_counters_and_histograms_add_up_over_cycles(metrics: Metrics) -> None:
    metrics.observe(REPORT)
    metrics.observe(replace(REPORT, sent=2, failed=0, times=Times(5.0, 0.1, 0.1, 40.0, 45.2)))
    found = samples(scrape(metrics))
    assert value(found, "cycles_total") == 2
    assert value(found, "changes_sent_total") == 7
    assert value(found, "changes_failed_total") == 1
    assert value(found, "verdicts_total", guardrail="pins", outcome="amended") == 2
    assert value(found, "cycle_seconds_count", part="read") == 2
    assert value(found, "cycle_seconds_sum", part="read") == 5.2
    assert value(found, "cycle_seconds_count", part="act") == 1  # the first did not come to it
    buckets = [
        value(found, "cycle_seconds_bucket", part="decide", le=edge)
        for edge in ("0.01", "0.03", "0.1", "+Inf")
    ]
    assert buckets == [0, 1, 2, 2]


def test_the_age_of_the_snapshot_grows_by_itself(metrics: Metrics) -> None:
    assert math.isnan(value(samples(scrape(metrics)), "snapshot_age_seconds"))
    metrics.observe(REPORT)
    first = value(samples(scrape(metrics)), "snapshot_age_seconds")
    assert 0.5 < first < value(samples(scrape(metrics)), "snapshot_age_seconds")
    metrics.stale(900.0)
    assert value(samples(scrape(metrics)), "snapshot_age_seconds") > 900.0


HOSTILE = (
    'a"} 1\ndovetail_mode{mode="active',
    "back\\slash",
    "tab\tand\rreturn\x00",
    "\udcff not utf-8",
    "\u202e right to left",
    "",
    "x" * 5000,
    "größe ✓",
)


def test_hostile_partition_names_stay_labels(metrics: Metrics) -> None:
    partitions = dict.fromkeys(HOSTILE, Load(1, 2, 3, 4))
    metrics.observe(replace(REPORT, partitions=partitions, untouched=dict.fromkeys(HOSTILE, 1)))
    found = samples(scrape(metrics))
    assert value(found, "mode", mode="active") == 0.0
    names = {dict(labels)["partition"] for name, labels in found if name == "dovetail_pending_jobs"}
    assert {'a"} 1?dovetail_mode{mode="active', "back\\slash", "größe ✓", "x" * 100} <= names
    assert len(names) == len(HOSTILE)


def test_names_that_look_alike_are_summed_up(metrics: Metrics) -> None:
    metrics.observe(replace(REPORT, partitions={"a\n": Load(1, 0, 0, 0, 5.0), "a\t": Load(2)}))
    found = samples(scrape(metrics))
    assert value(found, "pending_jobs", partition="a?") == 3
    assert not any(name == "dovetail_wait_seconds" for name, _ in found)


def test_beyond_sixty_four_partitions_the_rest_is_one(metrics: Metrics) -> None:
    partitions = {f"p{number:03}": Load(1, 2, 3, 4, 5.0, 6.0) for number in range(100)}
    metrics.observe(replace(REPORT, partitions={**partitions, "other": Load(10)}))
    found = samples(scrape(metrics))
    assert value(found, "pending_jobs", partition="p063") == 1
    assert value(found, "pending_jobs", partition="other") == 36 + 10
    series = [name for name, _ in found if name == "dovetail_running_gpus"]
    assert len(series) == 65
    assert sum(name == "dovetail_wait_seconds" for name, _ in found) == 2 * 64


def test_nothing_grows_over_ten_thousand_cycles_with_ever_new_names() -> None:
    metrics = Metrics(MetricsConfig(port=0))
    sizes = set()
    for cycle in range(10_000):
        names = (
            [f"p{cycle}-{number}" for number in range(70)] if cycle % 100 == 0 else [f"p{cycle}"]
        )
        metrics.observe(
            replace(
                REPORT,
                partitions=dict.fromkeys(names, Load(1, 2, 3, 4, 5.0, 6.0)),
                untouched={f"reason {cycle} {number}": 1 for number in range(40)},
            )
        )
        if cycle % 100 == 0:
            sizes.add(len(samples(generate_latest(metrics.registry).decode())))
    assert len(sizes) == 1


PROMTOOL = shutil.which("promtool")


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
@pytest.mark.parametrize("partitions", [REPORT.partitions, dict.fromkeys(HOSTILE, Load(1, 2))])
def test_promtool_finds_nothing_to_mend(metrics: Metrics, partitions: dict[str, Load]) -> None:
    metrics.observe(replace(REPORT, partitions=partitions))
    done = subprocess.run(
        [str(PROMTOOL), "check", "metrics"],
        input=scrape(metrics),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_only_the_metrics_page_is_served(metrics: Metrics) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as answer:
        scrape(metrics, "/")
    answer.value.close()
    assert scrape(metrics, "/metrics?x=1").startswith("# HELP dovetail_build_info")


def test_port_zero_serves_nothing() -> None:
    before = threading.active_count()
    with Metrics(MetricsConfig(port=0)) as metrics:
        metrics.observe(REPORT)
        assert threading.active_count() == before


def test_closing_ends_the_thread_and_frees_the_port() -> None:
    config = MetricsConfig(port=free_port())
    for _ in range(2):
        metrics = Metrics(config)
        metrics.start()
        scrape(metrics)
        with socket.create_connection(("127.0.0.1", config.port)):  # a client that says nothing
            metrics.close()
        metrics.close()
        assert "dovetail-metrics" not in {thread.name for thread in threading.enumerate()}


def test_clients_that_say_nothing_do_not_pile_up(metrics: Metrics) -> None:
    address = ("127.0.0.1", metrics.config.port)
    silent = [socket.create_connection(address, timeout=5) for _ in range(MOST_CONNECTIONS + 1)]
    closed = silent[-1].recv(1)  # the last one finds no room
    for client in silent:
        client.close()
    assert closed == b""


def test_a_port_in_use_keeps_nobody_from_steering_and_is_taken_when_it_is_free(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "RETRY", 0.0)
    config = MetricsConfig("127.0.0.1", free_port())
    with Metrics(config), Metrics(config) as second:
        said = caplog.messages[0]
        assert said.startswith(f"metrics: cannot listen on 127.0.0.1:{config.port}")
        assert "choose another metrics.port, or 0 for none" in said
        second.observe(CycleReport(Mode.SHADOW, "all is well"))
    with Metrics(config) as third, contextlib.closing(second):
        third.close()
        second.observe(CycleReport(Mode.SHADOW, "all is well"))
        with socket.create_connection(("127.0.0.1", config.port), timeout=5):
            pass


@pytest.mark.parametrize("wrong", [-1, 65_536, 987_654])
def test_a_port_that_cannot_be_is_refused(wrong: int) -> None:
    with pytest.raises(ConfigError, match=r"expected 0 \(none\) to 65535"):
        MetricsConfig(port=wrong)
    with pytest.raises(ConfigError, match="expected an address"):
        MetricsConfig(host="http://here")


@pytest.mark.parametrize(
    ("host", "warned"),
    [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True), ("", True)],
)
def test_an_endpoint_that_others_can_reach_is_warned_about(
    host: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), Metrics(MetricsConfig(host, free_port())):
        assert ("can be read from other machines" in caplog.text) == warned


def test_loads_count_tasks_of_arrays_and_the_first_of_several_partitions() -> None:
    jobs = (
        LiveJob(1, "1_[1-5]", "PENDING", partitions=("gpu", "cpu"), gpus=2, tasks=5),
        LiveJob(2, "2", "RUNNING", partitions=("gpu",), gpus=4),
        LiveJob(3, "3", "COMPLETED", partitions=("gpu",), gpus=4),
        LiveJob(4, "4", "PENDING"),
    )
    snapshot = Snapshot(0.0, jobs, (), (LivePartition("gpu"), LivePartition("idle")))
    found = loads(snapshot, {"gpu": Waits(1.0, 2.0)})
    assert found["gpu"] == Load(5, 10, 1, 4, 1.0, 2.0)
    assert found["idle"][:4] == (0, 0, 0, 0)
    assert found[""][:4] == (1, 0, 0, 0)
    assert list(found) == ["gpu", "idle", ""]
