"""Scores of (job, GPU) pairs by a small network in NumPy: what ADLRO's training leaves behind.

The same weights serve any number of jobs and GPUs: each pair is scored from its job, its GPU, what
the two are together, and a summary of all. Exchanging two GPUs exchanges their scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError

Singles = NDArray[np.float32]

PAIR_FEATURES = 4
"""Speed, run time on this GPU, by how much it would end later than elsewhere, speed against the
best."""

RUN, LATER = 1, 2
"""Which of them are the run time and by how much later."""

NOTHING = 5.0
"""Stands for it where no job could start at all."""

PRIOR_LATER, PRIOR_RUN, PRIOR_WAIT = 2.0, 0.1, 0.7
"""What a value is before anything is learned: by how much later a job would end here than elsewhere
counts most, short jobs go first, and waiting is better than a loss of a third. Found on validation
episodes among eleven such sets; the network learns what to add."""

PARTS = (
    "job", "gpu", "pair", "context", "first_bias", "second", "second_bias", "last",
    "wait", "wait_bias", "wait_last", "wait_last_bias",
)  # fmt: skip


def pair_features(gpus: Singles, jobs: Singles, speeds: Singles) -> Singles:
    """[..., jobs, GPUs, PAIR_FEATURES] from what an environment shows (see GpuAssignment)."""
    length = np.expm1(jobs[..., 0])[..., None]
    speed = np.maximum(speeds, 1e-3)
    run = length / speed
    left = np.expm1(gpus[..., 1])[..., None, :] * gpus[..., 0][..., None, :]
    soonest = (left + run).min(axis=-1, keepdims=True)
    later = np.log1p(run) - np.log1p(soonest)
    share = speeds / np.maximum(speeds.max(axis=-1, keepdims=True), 1e-3)
    found: Singles = np.stack([speeds, np.log1p(run), later, share], axis=-1).astype(np.float32)
    return found


def prior_of_pairs(pairs: Singles) -> Singles:
    """[..., jobs, GPUs]: the value of each pair before learning."""
    found: Singles = -PRIOR_LATER * pairs[..., LATER] - PRIOR_RUN * pairs[..., RUN]
    return found


def summarise(gpus: Singles, jobs: Singles, queue: Singles) -> Singles:
    """What all jobs and GPUs are like: means over each, and how many wait."""
    shown = jobs[..., 3:].sum(axis=-1, keepdims=True) > 0
    count = np.maximum(shown.sum(axis=-2), 1)
    parts = [gpus.mean(axis=-2), (jobs * shown).sum(axis=-2) / count, queue]
    found: Singles = np.concatenate(parts, axis=-1).astype(np.float32)
    return found


class AssignmentNetwork:
    """Weights by name, as saved; `values` scores one decision."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        missing = [name for name in PARTS if name not in arrays]
        if missing:
            raise ConfigError(f"the assignment network lacks {', '.join(missing)}")
        self._w: dict[str, Singles] = {
            name: np.ascontiguousarray(arrays[name], np.float32) for name in PARTS
        }
        hidden = self._w["job"].shape[-1] if self._w["job"].ndim == 2 else -1
        shapes = {name: self._w[name].shape for name in PARTS}
        good = (
            hidden > 0
            and shapes["gpu"][-1:] == shapes["context"][-1:] == (hidden,)
            and shapes["pair"] == (PAIR_FEATURES, hidden)
            and shapes["second"] == (hidden, hidden)
            and shapes["last"] == (hidden, 1)
            and all(np.isfinite(part).all() for part in self._w.values())
        )
        if not good:
            raise ConfigError("the assignment network's weights do not fit together")
        self._room: tuple[Singles, Singles] = (np.empty((0, hidden), np.float32),) * 2

    def values(self, gpus: Singles, jobs: Singles, speeds: Singles, queue: Singles) -> Singles:
        """[jobs * GPUs + 1]: how each action compares with the others, waiting last."""
        w = self._w
        if jobs.shape[-1] != len(w["job"]) or gpus.shape[-1] != len(w["gpu"]):
            raise ConfigError("the assignment network was trained for other kinds or GPU types")
        context = summarise(gpus, jobs, queue)
        pairs = pair_features(gpus, jobs, speeds)
        first, second = self._layers(len(jobs), len(gpus))
        np.matmul(pairs.reshape(-1, PAIR_FEATURES), w["pair"], out=first)
        by_job = first.reshape(len(jobs), len(gpus), -1)
        by_job += (jobs @ w["job"])[:, None]
        by_job += (gpus @ w["gpu"] + (context @ w["context"] + w["first_bias"]))[None]
        np.maximum(first, 0.0, out=first)
        np.matmul(first, w["second"], out=second)
        second += w["second_bias"]
        np.maximum(second, 0.0, out=second)
        later = pairs[:, gpus[:, 0] < 0.5, LATER]
        least = float(later.min()) if later.size else NOTHING
        wait = np.append(context, np.float32(least)) @ w["wait"] + w["wait_bias"]
        wait = np.maximum(wait, 0.0) @ w["wait_last"]
        scores = (second @ w["last"])[:, 0] + prior_of_pairs(pairs).ravel()
        return np.append(scores, wait + w["wait_last_bias"] - PRIOR_WAIT)

    def _layers(self, jobs: int, gpus: int) -> tuple[Singles, Singles]:
        """Room for both layers, used again: half a megabyte each of fresh memory took 1 of 2 ms."""
        if len(self._room[0]) != jobs * gpus:
            hidden = self._w["second"].shape[0]
            self._room = (
                np.empty((jobs * gpus, hidden), np.float32),
                np.empty((jobs * gpus, hidden), np.float32),
            )
        return self._room

    def choose(self, seen: Mapping[str, NDArray[Any]]) -> int:
        """The best valid action of one environment's decision; jobs that are not there are not
        scored."""
        count = int((seen["jobs"][:, 3:].sum(axis=1) > 0).sum())
        jobs, speeds = seen["jobs"][:count], seen["speeds"][:count]
        values = self.values(seen["gpus"], jobs, speeds, seen["queue"])
        valid = seen["mask"] > 0
        values[:-1][~valid[: len(values) - 1]] = -np.inf
        best = int(values[:-1].argmax()) if count else -1
        wait = len(seen["jobs"]) * len(seen["gpus"])
        if best >= 0 and valid[best] and not (valid[wait] and values[-1] > values[best]):
            return best
        return wait
