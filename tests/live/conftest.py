"""Clusters for live tests: a small one for the whole session, and special ones on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.live.slurm import SMALL_LAYOUT, Cluster, Options, why_not

StartCluster = Callable[[Options], Cluster]


@pytest.fixture(scope="session")
def _session_cluster() -> Iterator[Cluster]:
    options = Options(nodes=SMALL_LAYOUT)
    _skip_unless_possible(options)
    with Cluster(options) as cluster:
        yield cluster


@pytest.fixture
def cluster(_session_cluster: Cluster) -> Iterator[Cluster]:
    """Two p100 nodes with 4 GPUs and a k80 node with 2, without accounting; empty and idle."""
    yield _session_cluster
    _session_cluster.cancel_all()
    _session_cluster.wait_idle()


@pytest.fixture
def start_cluster() -> Iterator[StartCluster]:
    """Starts clusters of any kind, which last until the end of the test."""
    with ExitStack() as stack:

        def start(options: Options) -> Cluster:
            _skip_unless_possible(options)
            return stack.enter_context(Cluster(options))

        yield start


def _skip_unless_possible(options: Options) -> None:
    reason = why_not(options)
    if reason is not None:
        pytest.skip(reason)
