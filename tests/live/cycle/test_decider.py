"""Deciding on a live queue: the simulator's policies, on the facts that Slurm gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.live.config import ActConfig
from dovetail.live.cycle import selection
from dovetail.live.cycle.decider import Decider
from dovetail.live.cycle.feature_hints import features_of_types
from dovetail.live.cycle.queue_window import by_limit, queue_window_of, told_by_limit
from dovetail.live.model.decision import Decision, Hint
from dovetail.live.model.snapshot import LiveJob, LiveNode, LivePartition
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.policy import Policy
from dovetail.simulator import simulate_window
from tests.live.builders import NOW, large, node, running, snapshot, waiting

BUSY = [running(1, "p100-1", 4), running(2, "p100-2", 3)]


def decide(
    jobs: Sequence[LiveJob], act: ActConfig | None = None, nodes: Sequence[LiveNode] = ()
) -> Decision:
    """What sjf decides on a queue."""
    return Decider(Policy.parse("sjf"), act or ActConfig()).decide(snapshot(jobs, nodes))


def test_the_shortest_job_goes_first_under_sjf() -> None:
    queue = [waiting(11, limit=900), waiting(12, limit=60), waiting(13, limit=300)]
    assert decide([*BUSY, *queue]).order == (12, 13, 11)


def test_a_job_that_may_pass_the_blocked_one_now_goes_before_it() -> None:
    # p100-2 has one GPU free; 12 would need two and is first, 11 ends before it could start.
    queue = [waiting(11, limit=900), waiting(12, gpus=2, limit=60), waiting(13, gpus=4, limit=70)]
    long = [running(1, "p100-1", 4, limit=90_000), running(2, "p100-2", 3, limit=90_000)]
    assert decide([*long, *queue]).order == (11, 12, 13)


def test_a_job_that_would_delay_the_blocked_one_does_not_pass_it() -> None:
    queue = [waiting(11, limit=80_000), waiting(12, gpus=4, limit=60)]
    soon = [running(1, "p100-1", 4, limit=90_000), running(2, "p100-2", 3, limit=4_000)]
    assert decide([*soon, *queue]).order == (12, 11)


LIMITS = (
    "QOSMaxJobsPerUserLimit", "QOSGrpGRES", "AssocGrpGRES", "AssocMaxJobsLimit",
    "MaxGRESPerAccount", "Licenses", "JobArrayTaskLimit",
)  # fmt: skip
NOT_YET = (
    {"priority": 0, "reason": "JobHeldUser"},
    {"reason": "Dependency", "dependency": "afterok:1"},
    {"reason": "BeginTime", "eligible": NOW + 900},
    {"reason": "Reservation", "reservation": "course"},
)


@pytest.mark.parametrize("why", [*({"reason": word} for word in LIMITS), *NOT_YET], ids=str)
def test_a_job_that_slurm_passes_over_blocks_nobody(why: dict[str, Any]) -> None:
    # 11 would delay 12, for which all of a node was to be kept; but 12 could not start there.
    soon = [running(1, "p100-1", 4, limit=90_000), running(2, "p100-2", 3, limit=4_000)]
    queue = [waiting(11, limit=80_000), waiting(12, **{"gpus": 4, "limit": 60, **why})]
    found = decide([*soon, *queue], ActConfig(hints=True))
    assert list(found.hints) == [11]
    assert found.order == ((11, 12) if why["reason"] in LIMITS else (11,))


@pytest.mark.parametrize("why", [*({"reason": word} for word in LIMITS), *NOT_YET], ids=str)
def test_a_job_that_slurm_passes_over_takes_no_room(why: dict[str, Any]) -> None:
    queue = [waiting(11, limit=900), waiting(12, **{"limit": 60, **why})]  # one GPU is free
    found = decide([*BUSY, *queue], ActConfig(hints=True))
    assert list(found.hints) == [11]


@pytest.mark.parametrize("order", ["fcfs", "sjf", "wfp3"])
@pytest.mark.parametrize("barred", [{11, 12}, {11, 13, 15, 17}, {12, 14, 16, 18}, {13, 14, 15, 16}])
def test_of_many_alike_those_start_that_may(order: str, barred: set[int]) -> None:
    queue = [
        waiting(n, limit=60.0 * n, ago=100.0 - n, reason="QOSGrpGRES" if n in barred else "")
        for n in range(11, 19)
    ]
    busy = [running(1, "p100-1", 4), running(2, "p100-2", 1)]  # three GPUs are free
    found = Decider(Policy.parse(order), ActConfig(hints=True)).decide(snapshot([*busy, *queue]))
    assert sorted(found.hints) == [n for n in range(11, 19) if n not in barred][:3]


def test_cpus_that_a_job_without_gpus_holds_are_not_free_for_one_with() -> None:
    # Each node has 64 CPUs: 4 are left, enough for 12, which ends long before 11 can start.
    full = [running(n, f"p100-{n}", 0, limit=90_000, cpus=60.0) for n in (1, 2)]
    queue = [waiting(11, limit=60, cpus=16.0), waiting(12, limit=900, cpus=2.0)]
    assert decide(queue).order == (11, 12)
    assert decide([*full, *queue]).order == (12, 11)


def test_jobs_without_gpus_are_simulated_where_others_meet_them_and_left_alone() -> None:
    machines = (node("p100-1"), node("cpu-1", 0, partitions=("gpu", "cpu")),
                node("far-1", 0, partitions=("far",)))  # fmt: skip
    jobs = [
        running(1, "cpu-1", 0, cpus=64.0, partitions=("cpu",)),
        running(2, "far-1", 0, cpus=64.0, partitions=("far",)),
        waiting(11, 0, cpus=8.0),
        waiting(12, 0, cpus=8.0, partitions=("far",)),
        waiting(13, 1, cpus=8.0),
        waiting(14, 0),  # asks for nothing that is counted
    ]
    shown = snapshot(jobs, machines)
    queue = queue_window_of(shown)
    assert [each.name for each in queue.cluster.nodes] == ["p100-1", "cpu-1"]
    assert sorted(queue.ids.tolist()) == [1, 11, 13]
    decision = Decider(Policy.parse("sjf"), ActConfig()).decide(shown)
    assert decision.order == (13,)
    assert decision.untouched[11] == selection.NO_GPU


def test_cpus_that_running_jobs_share_are_not_taken_twice() -> None:
    jobs = [running(n, "p100-1", 0, cpus=40.0) for n in (1, 2)]
    queue = queue_window_of(snapshot([*jobs, waiting(11)]))
    assert sorted(queue.ids.tolist()) == [1, 11]
    assert queue.left_out == {2: "p100-1 has more in use than it has"}


def test_equal_scores_go_as_they_came() -> None:
    queue = [waiting(11, ago=10), waiting(12, ago=30), waiting(13, ago=20)]
    assert decide([*BUSY, *queue]).order == (12, 13, 11)


@pytest.mark.parametrize("order", [*ORDERINGS, "dovetail"])
def test_every_ordering_ranks_every_job_that_may_be_touched(order: str) -> None:
    full = large(200, 20)
    decision = Decider(Policy.parse(order), ActConfig()).decide(full)
    assert sorted(decision.order) == sorted(job.id for job in full.pending)
    again = Decider(Policy.parse(order), ActConfig()).decide(full)
    assert again.order == decision.order


@pytest.mark.parametrize("order", ["fcfs", "sjf", "saf", "priority", "wfp3", "dovetail"])
def test_on_one_gpu_jobs_start_in_the_simulator_in_the_order_decided(order: str) -> None:
    one = [node("p100-1", 1)]
    jobs = [running(1, "p100-1", 1, limit=4000)] + [
        waiting(10 + i, limit=60.0 * (7 * i % 11 + 1), ago=50.0 + i, priority=100 + 3 * i % 7)
        for i in range(8)
    ]
    state = snapshot(jobs, one)
    decided = Decider(Policy.parse(order), ActConfig()).decide(state).order
    world = queue_window_of(state)
    ordering, place, fill = Policy.parse(order).parts()
    estimates = Estimates("limit", world.window.trace.jobs.limit)
    schedule = simulate_window(world.window, world.cluster, ordering, place, fill, estimates)
    rows = sorted(range(1, len(jobs)), key=lambda row: schedule.start[row])
    assert world.ids[rows[0]] == decided[0]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"priority": 0, "reason": "JobHeldAdmin"}, selection.HELD),
        ({"reason": "Dependency", "dependency": "afterok:1"}, selection.DEPENDS),
        ({"reason": "BeginTime", "eligible": NOW + 100}, selection.LATER),
        ({"eligible": float("nan")}, selection.LATER),
        ({"reservation": "maintenance"}, selection.RESERVED),
        ({"het": 11}, selection.HETEROGENEOUS),
        ({"gpus": 0}, selection.NO_GPU),
        ({"partitions": ("debug",)}, selection.PARTITION),
        ({"partitions": ("gpu", "debug")}, selection.PARTITION),
        ({"account": "board"}, selection.ACCOUNT),
        ({"qos": "urgent"}, selection.QOS),
        ({"comment": "dovetail:kind=training dovetail:sla"}, selection.SLA),
    ],
)
def test_some_jobs_are_never_touched(more: dict[str, Any], reason: str) -> None:
    act = ActConfig(
        exclude_partitions=("debug",), exclude_accounts=("board",), exclude_qos=("urgent",)
    )
    decision = decide([*BUSY, waiting(11, **more), waiting(12)], act=act)
    assert decision.order == (12,)
    assert decision.untouched == {11: reason}


def test_only_named_partitions_are_steered_where_some_are_named() -> None:
    jobs = [*BUSY, waiting(11), waiting(12, partitions=("other",))]
    assert decide(jobs, act=ActConfig(partitions=("gpu",))).order == (11,)


def test_a_job_that_starts_now_is_sent_to_the_node_that_the_policy_chose() -> None:
    jobs = [*BUSY, waiting(11), waiting(12, gpus=4, limit=99)]
    decision = decide(jobs, act=ActConfig(hints=True))
    assert {job: hint.node for job, hint in decision.hints.items()} == {11: "p100-2"}


def test_a_job_that_starts_now_is_sent_to_the_feature_of_the_gpus_that_the_policy_chose() -> None:
    nodes = [
        node("p100-1")._replace(features=frozenset({"p100", "rack1", "ib"})),
        node("p100-2")._replace(features=frozenset({"p100", "ib"})),
        node("k80-1")._replace(gpu_type="k80", features=frozenset({"ib"})),
    ]
    jobs, act = [*BUSY, waiting(11)], ActConfig(hints=True, hint_by="features")
    assert decide(jobs, ActConfig(hints=True), nodes).hints == {11: Hint("p100-2")}
    assert decide(jobs, act, nodes).hints == {11: Hint(feature="p100")}
    assert decide([*BUSY, waiting(11, gpu_type="p100")], act, nodes).hints == {}  # it says so
    assert decide(jobs, ActConfig(hint_by="features"), nodes).hints == {}


def test_a_type_that_no_feature_names_is_no_hint() -> None:
    nodes = [
        node("p100-1")._replace(features=frozenset({"ib"})),
        node("k80-1")._replace(gpu_type="k80", features=frozenset({"ib", "k80&old"})),
    ]
    act = ActConfig(hints=True, hint_by="features")
    assert decide([waiting(11)], act, nodes).hints == {}
    assert features_of_types(nodes) == {}
    alike = [node(name)._replace(features=frozenset({"p100"})) for name in ("p100-1", "p100-2")]
    assert features_of_types(alike) == {}  # all GPUs are of one type: nothing to tell


def test_a_way_to_hint_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected node or features"):
        ActConfig(hint_by="rack")


def test_a_job_that_names_its_nodes_is_not_sent_elsewhere() -> None:
    jobs = [waiting(11, wants=("p100-2",)), waiting(12, avoids=("p100-1",))]
    assert decide(jobs, act=ActConfig(hints=True)).hints == {}


def test_nodes_out_of_use_do_not_count() -> None:
    nodes = [
        node("p100-1"),
        node("p100-2", flags=frozenset({"DRAIN"})),
        node("p100-3", state="DOWN"),
    ]
    world = queue_window_of(snapshot([*BUSY, waiting(11)], nodes))
    assert [machine.name for machine in world.cluster.nodes] == ["p100-1"]


def test_a_job_of_two_partitions_may_use_the_nodes_of_both() -> None:
    nodes = [node("a", partitions=("one",)), node("b", partitions=("two",))]
    parts = (LivePartition("one", ("a",)), LivePartition("two", ("b",)))
    world = queue_window_of(
        snapshot([waiting(11, partitions=("one", "two"))], nodes, partitions=parts)
    )
    union = next(part for part in world.cluster.partitions if part.name == "one,two")
    assert union.nodes == {0, 1}


def test_a_node_said_to_have_more_gpus_in_use_than_it_has_is_noted_not_believed() -> None:
    world = queue_window_of(
        snapshot([running(1, "p100-1", 4), running(2, "p100-1", 2), waiting(11)])
    )
    assert list(world.left_out) == [2]


def test_many_kinds_of_nodes_are_told_apart_by_gpus_alone() -> None:
    nodes = [node(f"n{i}", memory_gb=100.0 + i) for i in range(80)]
    assert decide([waiting(11)], nodes=nodes).order == (11,)


def test_a_job_without_a_limit_is_taken_to_run_a_day() -> None:
    assert by_limit([waiting(1, limit=float("nan")), waiting(2, limit=60)]).tolist() == [86400, 60]


def test_limits_that_a_policy_believes_less_are_told_so() -> None:
    told = told_by_limit([waiting(1, limit=3600), waiting(2, limit=400)], 0.0, power=0.5)
    assert (told.seconds.tolist(), told.reserve.tolist()) == ([60, 20], [3600, 400])


def test_an_empty_queue_gives_an_empty_decision() -> None:
    assert decide(BUSY).order == ()
