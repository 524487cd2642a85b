"""What the assignment environments show, with alike GPUs taken together: a column per type."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.jobs import Ints
from dovetail.envs.batch import Seen
from dovetail.envs.gpu_assignment.kernel import GPU_FEATURES, JOB_FEATURES
from dovetail.policies.learned.assignment_facts import AssignmentFacts, AssignmentFeatures


def types_of(seen: Seen) -> Ints:
    """[GPUs]: the type of each, the same in all environments."""
    found: Ints = seen["gpus"][0, :, GPU_FEATURES:].argmax(axis=-1)
    return found


def facts_of(seen: Seen) -> AssignmentFacts:
    """Of all environments; a type's speed is that of its best free GPU, should one be slow."""
    jobs, gpus, speeds = seen["jobs"], seen["gpus"], seen["speeds"]
    types = types_of(seen)
    count = gpus.shape[-1] - GPU_FEATURES
    idle = gpus[..., 0] < 0.5
    left = np.where(idle, 0.0, np.expm1(gpus[..., 1]))
    speed = np.zeros((*jobs.shape[:2], count), np.float32)
    free, total, ready, mean = (np.zeros((len(jobs), count), np.float32) for _ in range(4))
    for number in range(count):
        own = types == number
        none = idle[:, own].sum(axis=1) == 0
        usable = idle[:, own] | none[:, None]
        speed[..., number] = np.where(usable[:, None], speeds[..., own], 0.0).max(axis=-1)
        free[:, number], total[:, number] = idle[:, own].sum(axis=1), own.sum()
        ready[:, number], mean[:, number] = left[:, own].min(axis=1), left[:, own].mean(axis=1)
    return AssignmentFacts(
        np.expm1(jobs[..., 0]), np.expm1(jobs[..., 1]), jobs[..., 2],
        jobs[..., JOB_FEATURES:].sum(axis=-1) > 0, speed, free, total, ready, mean,
        np.expm1(4.0 * seen["queue"][..., 0]),
    )  # fmt: skip


def gpu_actions(seen: Seen, choices: Ints) -> Ints:
    """The environments' own actions for `job * types + type`, the last one waiting: each job gets
    the fastest free GPU of its type."""
    gpus, types = seen["gpus"].shape[1], types_of(seen)
    columns = seen["gpus"].shape[2] - GPU_FEATURES
    wait = choices == seen["jobs"].shape[1] * columns
    job, number = np.divmod(np.where(wait, 0, choices), columns)
    rows = np.arange(len(choices))
    fit = (seen["gpus"][:, :, 0] < 0.5) & (types == number[:, None])
    best = np.where(fit, seen["speeds"][rows, job], -1.0).argmax(axis=1)
    found: Ints = np.where(wait, seen["mask"].shape[1] - 1, job * gpus + best)
    return found


def type_choices(seen: Seen, actions: Ints) -> Ints:
    """The other way round: what `gpu_actions` is given, from the environments' own actions."""
    gpus, types = seen["gpus"].shape[1], types_of(seen)
    columns = seen["gpus"].shape[2] - GPU_FEATURES
    wait = actions == seen["mask"].shape[1] - 1
    job, gpu = np.divmod(np.where(wait, 0, actions), gpus)
    found: Ints = np.where(wait, seen["jobs"].shape[1] * columns, job * columns + types[gpu])
    return found


def choice_mask(features: AssignmentFeatures, seen: Seen) -> NDArray[np.bool_]:
    """[environments, jobs * types + 1]: valid pairs, and whether waiting may be chosen."""
    pairs = features.valid.reshape(len(features.valid), -1)
    wait = features.may_wait()[:, None] & (seen["mask"][:, -1:] > 0)
    return np.concatenate([pairs, wait], axis=1)
