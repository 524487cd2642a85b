"""Long queues of gangs and single jobs that end early are promised what the oracle promises.

Among the dozen jobs of generated cases a gang seldom lacks nodes, has them but never at once, or
moves into holes that others leave. Here many do, in every pass.
"""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.policy import Backfill
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.answers import difference
from tests.oracles.simulator import simulate as play
from tests.simulator.runs import compiled

NODES, GPUS, MEMORY = 7, 4, 12.0


@pytest.mark.parametrize("seed", range(6))
def test_gangs_in_a_long_queue_move_as_in_the_oracle(seed: int) -> None:
    jobs, ordering = _long_queue(seed), ("fcfs", "sjf")[seed % 2]
    trace, cluster = trace_of(*jobs), cluster_of(f"{NODES}x{GPUS}", memory_gb=MEMORY)
    estimates = estimates_of(*jobs)
    seconds = estimates.seconds.tolist()
    oracle = play(trace, cluster, ordering, "best-fit", Backfill.CONSERVATIVE, seconds, {}, None)
    answer = compiled(trace, cluster, ordering, "best-fit", Backfill.CONSERVATIVE, estimates)
    assert difference(oracle, answer) is None


def _long_queue(seed: int) -> list[JobRow]:
    """Single jobs and gangs of whole nodes; few lengths are believed, and most are far too long."""
    rng, rows, submit = np.random.default_rng(seed), [], 0.0
    for _ in range(26):
        submit += 0.1 * rng.integers(0, 40)  # sums of such times are rounded
        gang = rng.random() < 0.45
        estimate = float(rng.choice([30.0, 60.0, 200.0, 720.0]))
        part = rng.choice([0.01, 0.1, 0.3, 0.8, 1.0, 1.4], p=[0.2, 0.2, 0.2, 0.2, 0.17, 0.03])
        rows.append(
            job(
                submit,
                max(1.0, round(estimate * float(part))),
                GPUS * int(rng.integers(2, 6)) if gang else int(rng.integers(1, GPUS + 1)),
                estimate=estimate,
                memory=0.0 if gang else float(rng.choice([0.0, 1.0, 5.0])),
            )
        )
    return rows
