"""Small builders that keep a journal's test on one screen."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dovetail.live.config import JournalConfig
from dovetail.live.journal import CycleRecord, Journal, RecordedRun
from dovetail.live.ledger import Ledger
from dovetail.live.model.decision import Change, Knob, Result, Value
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveJob, LiveNode, Snapshot


def open_journal(folder: Path, **limits: float) -> Journal:
    return Journal.open(JournalConfig(path=str(folder / "journal.sqlite"), **limits))


def change(job: int, after: Value = 7, before: Value = 0, knob: Knob = Knob.SITE_FACTOR) -> Change:
    return Change(job, str(job), knob, before, after, f"place {after}")


def act(journal: Journal, *changes: Change, wall: float = 0.0, error: str = "") -> None:
    """Send changes to a cluster that answers the same to all, as a daemon that just started."""
    settle(Ledger(journal), *changes, wall=wall, error=error)


def settle(ledger: Ledger, *changes: Change, wall: float = 0.0, error: str = "") -> None:
    """The same, as a daemon that goes on."""
    intents = ledger.intend(changes, wall)
    ledger.settle(intents, [Result(sent, error) for sent in changes], wall)


def cycle(wall: float, sentence: str = "went round", mode: Mode = Mode.ACTIVE) -> CycleRecord:
    return CycleRecord(wall=wall, steady=wall, mode=mode, sentence=sentence)


def waiting(job: int, **facts: Any) -> LiveJob:
    return LiveJob(**{"id": job, "label": str(job), "state": "PENDING", "submit": 0.0, **facts})


def running(job: int, start: float, **facts: Any) -> LiveJob:
    plain = {"state": "RUNNING", "start": start, "gpus": 1, "hosts": ("n0",)}
    return waiting(job, **{**plain, **facts})


def at(time: float, *jobs: LiveJob, nodes: Iterable[LiveNode] = ()) -> Snapshot:
    return Snapshot(time, jobs, tuple(nodes))


def run(job: int, start: float, **facts: Any) -> RecordedRun:
    plain: dict[str, Any] = {
        "job": job, "label": str(job), "user": "ann", "account": "lab", "partition": "gpu",
        "qos": "", "submit": 0.0, "eligible": 0.0, "start": start, "limit": 3600.0, "gpus": 1,
        "gpu_type": "", "nodes": 0, "cpus": 0.0, "memory_gb": 0.0, "hosts": ("n0",),
        "host_gpus": (),
    }  # fmt: skip
    return RecordedRun(**{**plain, **facts})
