"""What a decision looks like, as text or pixels: nodes with their GPUs, jobs to choose from."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.tables import Row, dtype_of
from dovetail.domain.policy import JobFacts
from dovetail.domain.registry import Registry
from dovetail.envs.batch_kernel import BatchState, Windows
from dovetail.simulator.kernel.demand_rows import Demand
from dovetail.simulator.kernel.rows import KindRow, NodeRow, RunRow

Pixels = NDArray[np.uint8]

LISTED = 16
"""Jobs that are shown: the first in the base's order."""

CELL, GAP = 8, 2
"""Pixels of a GPU's side, and between two."""

PAPER, FREE, BUSY = (255, 255, 255), (220, 226, 232), (38, 84, 124)
FITS, WAITS = (46, 139, 87), (217, 119, 54)


class WindowPool(Protocol):
    """Windows that can be played."""

    @property
    def windows(self) -> Windows: ...


class QueueBatch(Protocol):
    """Environments side by side whose rows are jobs of a queue."""

    @property
    def stage(self) -> BatchState: ...
    @property
    def pool(self) -> WindowPool: ...


class DecisionView(NamedTuple):
    """One environment at a decision."""

    now: float  # seconds since the first job of the window's trace
    gpus: NDArray[np.int64]  # [nodes]
    free: NDArray[np.int64]  # [nodes]
    jobs: NDArray[Any]  # [shown] JobFacts, action by action
    fits: NDArray[np.bool_]  # [shown] could start now


def moment(batch: QueueBatch, environment: int) -> DecisionView:
    """What the tables of an environment say."""
    world, stage = batch.stage.worlds[environment], batch.stage
    rows = stage.rows[environment, : stage.shown[environment]]
    jobs, runs = (
        table_of(world, n, r, "job_count") for n, r in (("jobs", JobFacts), ("runs", RunRow))
    )
    nodes = table_of(world, "nodes", NodeRow, "node_count")
    kinds = table_of(world, "kinds", KindRow, "kind_count")
    demands = table_of(world, "demands", Demand, "demand_count")
    begin = float(batch.pool.windows.begin[stage.playing[environment]])
    return DecisionView(
        float(world["now"]) - begin,
        kinds["gpus"][nodes["kind"]],
        nodes["gpus"].copy(),
        jobs[rows],
        demands["fits"][runs["demand"][rows]],
    )


def as_text(seen: DecisionView) -> str:
    """Lines for a terminal: `#` is a GPU in use, `.` a free one."""
    free, total = int(seen.free.sum()), int(seen.gpus.sum())
    nodes = (
        "#" * (gpus - left) + "." * left
        for gpus, left in zip(seen.gpus.tolist(), seen.free.tolist(), strict=True)
    )
    lines = [
        f"{_clock(seen.now)}: {free} of {total} GPUs free, {len(seen.jobs)} jobs to choose from",
        " ".join(nodes),
        f"{'action':>6} {'GPUs':>5} {'estimate':>12} {'now':>5}",
    ]
    for action, job in enumerate(seen.jobs[:LISTED]):
        now = "fits" if seen.fits[action] else "waits"
        lines.append(f"{action:>6} {job['gpus']:>5} {_clock(job['estimate']):>12} {now:>5}")
    if len(seen.jobs) > LISTED:
        lines.append(f"{'':>6} and {len(seen.jobs) - LISTED} more")
    return "\n".join(lines) + "\n"


def as_pixels(seen: DecisionView) -> Pixels:
    """Left a row of GPUs for each node, right a bar for each of the first jobs, its GPUs long."""
    step = CELL + GAP
    most, total = int(seen.gpus.max()), int(seen.gpus.sum())
    height, left = step * max(len(seen.gpus), LISTED) + GAP, step * most + GAP
    picture = np.full((height, 2 * left + 8 * step, 3), PAPER, np.uint8)
    for row, (gpus, free) in enumerate(zip(seen.gpus.tolist(), seen.free.tolist(), strict=True)):
        for gpu in range(gpus):
            colour = BUSY if gpu < gpus - free else FREE
            _fill(picture, row * step, gpu * step, CELL, colour)
    room = picture.shape[1] - left - step
    for row, job in enumerate(seen.jobs[:LISTED]):
        length = max(2, round(room * np.log1p(job["gpus"]) / np.log1p(total)))
        _fill(picture, row * step, left + step, length, FITS if seen.fits[row] else WAITS)
    return picture


RENDERERS: Registry[Callable[[DecisionView], Any]] = Registry(
    "render_mode", {"ansi": as_text, "rgb_array": as_pixels}
)


def _fill(picture: Pixels, top: int, left: int, width: int, colour: tuple[int, int, int]) -> None:
    picture[GAP + top : GAP + top + CELL, GAP + left : GAP + left + width] = colour


def _clock(seconds: float) -> str:
    whole = round(float(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    return f"{days} d " * (days > 0) + f"{hours}:{rest // 60:02}:{rest % 60:02}"


def table_of(world: Any, column: str, row: type[Row], count: str) -> NDArray[Any]:
    """A table of a world, in place."""
    layout, rows = dtype_of(row), int(world[count])
    memory = (ctypes.c_char * (rows * layout.itemsize)).from_address(int(world[column]))
    return np.ndarray(rows, layout, memoryview(memory))
