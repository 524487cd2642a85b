"""Clusters written as TOML are read back as equal clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.traces.clusters.toml import cluster_to_toml


def back(cluster: Cluster) -> Cluster:
    return cluster_from_toml(cluster_to_toml(cluster))


def named(*names: str) -> Cluster:
    return Cluster(tuple(Node(name, 8, "v100") for name in names))


def test_equal_neighbours_with_consecutive_names_share_a_table() -> None:
    cluster = named(*(f"gpu{i:03d}" for i in range(98, 103)))
    text = cluster_to_toml(cluster)
    assert text.count("[[nodes]]") == 1
    assert 'name = "gpu[098-102]"' in text
    assert cluster_from_toml(text) == cluster


def test_everything_that_a_cluster_knows_survives() -> None:
    nodes = (
        Node("a-1", 8, "v100", 96.0, 511.5, "leaf 1"),
        Node("a-2", 8, "v100", 96.0, 511.5, "leaf 1"),
        Node("a-3", 2, "a100", mig=(1, 4)),
    )
    parts = (
        Partition("odd name.\u00e9\t", frozenset({0, 2}), 2.5),
        Partition("all", frozenset({0, 1, 2})),
    )
    cluster = Cluster(nodes, parts, {"v100": 0.5}, {"high": 10.0}, 'the "big" one')
    assert back(cluster) == cluster


@pytest.mark.parametrize(
    "names",
    [
        ("n9", "n10", "n11"),
        ("n09", "n10", "n011"),
        ("n0", "n1", "n02"),
        ("n[1-2]", "n1", "n2"),
        ("n[1-2]x7", "n[1-2]x8"),
        ('x"]\n[partitions.evil]', "\\", "\x00\x7f"),
        ("1", "2", "3"),
        ("9" * 20_000, "9" * 20_000 + "x"),
        ("b2", "b1"),
    ],
)
def test_unusual_names_survive(names: tuple[str, ...]) -> None:
    cluster = named(*names)
    cluster = Cluster(cluster.nodes, (Partition("p", frozenset(range(len(names)))),))
    assert back(cluster) == cluster


@given(
    st.lists(
        st.tuples(st.sampled_from(["n", "a-", "r1c"]), st.integers(0, 120), st.integers(1, 4)),
        min_size=1,
        unique_by=lambda row: (row[0], row[1]),
    )
)
def test_any_mix_of_numbered_nodes_survives(rows: list[tuple[str, int, int]]) -> None:
    cluster = Cluster(tuple(Node(f"{stem}{number}", gpus) for stem, number, gpus in rows))
    assert back(cluster) == cluster


@given(st.lists(st.text("ab019[]-\"'\\é", min_size=1), min_size=1, unique=True))
def test_any_names_survive(names: list[str]) -> None:
    assert back(named(*names)) == named(*names)
