"""How a job's GPUs are spread over its hosts, where they are not spread evenly."""

from __future__ import annotations

from dovetail.live.model.snapshot import LiveJob


def uneven(job: LiveJob, counts: tuple[int, ...]) -> tuple[int, ...]:
    """GPUs on each of the job's hosts; nothing where they are spread evenly or do not add up."""
    fits = len(counts) == len(job.hosts) and sum(counts) == job.gpus and min(counts) >= 0
    return counts if fits and len(set(counts)) > 1 else ()
