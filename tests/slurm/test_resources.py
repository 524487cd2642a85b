"""GPUs and other resources of jobs and nodes, host lists and job arrays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ClusterError
from dovetail.slurm.gres import gpu_counts, gpus_of, mig_profile, without_mig
from dovetail.slurm.host_lists import expand, host_list, hosts_of
from dovetail.slurm.job_arrays import ranges_of, tasks_of
from dovetail.slurm.tres import amounts_of, request_of, resources_of

TYPES = ("a100", "H100_SXM", "1g.10gb", "gtx-1080", "a100_3g.20gb")
counts = st.dictionaries(st.sampled_from(TYPES), st.integers(1, 999), min_size=1)


@pytest.mark.parametrize(
    ("gres", "gpus", "kind"),
    [
        ("gpu:p100:4(IDX:0-3)", 4, "p100"),
        ("gpu:p100:2(IDX:0,3),gpu:k80:1(IDX:4)", 3, "p100|k80"),
        ("gpu:2(S:0)", 2, ""),
        ("gpu", 1, ""),
        ("gpu:a100", 1, "a100"),
        ("gres/gpu:a100=2", 2, "a100"),
        ("gpu:a100:2,gpu:1g.5gb:3,shard:8", 5, "a100|1g.5gb"),
        ("gpu:(null):0(IDX:N/A)", 0, ""),
        ("gpu:a100:0(IDX:N/A)", 0, ""),
        ("fake_gpu:8,nogpu:4", 0, ""),
        ("craynetwork:1", 0, ""),
        ("(null)", 0, ""),
        ("", 0, ""),
    ],
)
def test_generic_resources(gres: str, gpus: int, kind: str) -> None:
    assert gpus_of(gres) == (gpus, kind)


@given(
    counts, st.sampled_from(["", "gres:", "gres/"]), st.sampled_from(["", "(S:0-1)", "(IDX:0,2)"])
)
def test_generic_resources_come_back_as_they_went(
    gpus: dict[str, int], prefix: str, suffix: str
) -> None:
    gres = ",".join(f"{prefix}gpu:{name}:{number}{suffix}" for name, number in gpus.items())
    assert gpu_counts(gres) == gpus
    assert gpu_counts(f"shard:8,{gres},craynetwork:4") == gpus


@given(counts, st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**6))
def test_trackable_resources_come_back_as_they_went(
    gpus: dict[str, int], cpus: int, nodes: int, megabytes: int
) -> None:
    total = sum(gpus.values())
    plain = f"billing=9,cpu={cpus},mem={megabytes}M,node={nodes}"
    typed = ",".join(f"gres/gpu:{name}={number}" for name, number in gpus.items())
    for tres in (f"{plain},gres/gpu={total},{typed}", f"{plain},{typed}"):
        assert resources_of(tres) == (total, tuple(gpus), nodes, cpus, megabytes / 1024)
    assert resources_of(f"{plain},gres/gpu={total}") == (total, (), nodes, cpus, megabytes / 1024)
    assert amounts_of(plain)["billing"] == "9"


def test_nothing_told_is_nothing_asked_for() -> None:
    assert (
        resources_of("") == resources_of("(null)") == resources_of("energy=7") == (0, (), 0, 0, 0)
    )


def test_gpus_are_counted_from_the_request_where_slurm_does_not_count_them() -> None:
    plain = "cpu=6,mem=3000M,node=2,billing=6"
    assert request_of(plain, "gres:gpu:a100:3", "", "", "", "6").gpus == 3
    assert request_of(plain, "", "gres:gpu:4", "", "", "6").gpus == 8
    assert request_of(plain, "", "", "", "gres/gpu:h100:1", "6")[:2] == (6, ("h100",))
    assert request_of(plain, "", "gres/gpu=2", "", "", "6").gpus == 4
    assert request_of(plain, "N/A", "N/A", "N/A", "N/A", "1").gpus == 0
    counted = request_of(f"{plain},gres/gpu=5,gres/gpu:a100=3,gres/gpu:h100=2", "", "gres:gpu:4")
    assert (counted.gpus, counted.gpu_type) == (5, "a100|h100")


@pytest.mark.parametrize(
    ("name", "gpu", "profile"),
    [
        ("a100_1g.5gb", "a100", "1g.5gb"),
        ("1g.10gb+me", "", "1g.10gb"),
        ("h100", "h100", None),
        ("a100-3g.20gb", "a100", "3g.20gb"),
    ],
)
def test_slices_are_named_in_the_type(name: str, gpu: str, profile: str | None) -> None:
    assert (without_mig(name), mig_profile(name)) == (gpu, profile)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("a[08-10,12]", ["a08", "a09", "a10", "a12"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("", []),
    ],
)
def test_host_lists_expand_as_slurm_does(text: str, names: list[str]) -> None:
    assert expand(text) == names


@given(
    st.lists(
        st.builds(
            lambda head, number, width, tail: f"{head}{number:0{width}d}{tail}",
            st.sampled_from(["n", "gpu-", "rack1-"]),
            st.integers(0, 120),
            st.integers(0, 4),
            st.sampled_from(["", "x", ".site"]),
        )
    )
)
def test_host_lists_come_back_as_they_went(names: list[str]) -> None:
    assert expand(host_list(names)) == names


@pytest.mark.parametrize("text", ["a[x-y]", "a[5-1]", "a[0-999999999]", "a" + "[0-9]" * 6])
def test_host_lists_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ClusterError):
        hosts_of(text)


def test_task_lists_in_all_their_forms() -> None:
    assert tasks_of("1-9:4,12,20-21%3") == {1, 5, 9, 12, 20, 21}


@given(st.sets(st.integers(0, 500), min_size=1))
def test_task_lists_come_back_as_they_went(tasks: set[int]) -> None:
    assert tasks_of(ranges_of(tasks)) == tasks
