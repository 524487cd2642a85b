"""A base policy that looks at the state of the cluster plays as any other."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.envs.batch import QueuePriorityBatch
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.index import IndexWeights, index, order_alone
from tests.envs.scenes import small_pool


def test_what_the_base_would_choose_scores_as_the_base_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = order_alone(index(IndexWeights()))
    assert base.uses_state
    monkeypatch.setitem(ORDERINGS._parts, "of-the-state", base)
    batch = QueuePriorityBatch(small_pool("of-the-state"), 4)
    batch.begin({"window": np.arange(4)})
    ended = 0
    while ended < 4:
        batch.step(np.zeros(4, np.int64))
        for e in np.flatnonzero(batch.dones).tolist():
            found = batch.ended()
            assert found["score"][e] == found["base"][e]
            ended += 1
