"""The three ways to a real Slurm: they tell the same, and change what they are told to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dovetail.live.backends import BACKENDS
from dovetail.live.backends.base import Backend, Unreachable
from dovetail.live.model.decision import Change, Knob, Value
from dovetail.live.model.snapshot import LiveJob, Snapshot
from tests.live.slurm import SMALL_LAYOUT, Cluster, Job, Options, why_not

OPTIONS = Options(nodes=SMALL_LAYOUT, rest="jwt")
EVIL = "evil\nname|x\x1b[31m\x1f\x1e#,:'\"" + "y" * 900

READERS = ("commands", "json", "rest")
"""`plugin` reads as `commands` does; tests/live/plugin has a slurmctld that has it loaded."""


@pytest.fixture(scope="module")
def live() -> Iterator[Cluster]:
    reason = why_not(OPTIONS)
    if reason is not None:
        pytest.skip(reason)
    with Cluster(OPTIONS) as cluster:
        yield cluster


@pytest.fixture
def queue(live: Cluster) -> Iterator[Cluster]:
    yield live
    live.cancel_all()
    live.wait_idle()


def backend(name: str, cluster: Cluster, timeout: float = 30.0) -> Backend:
    return BACKENDS[name](replace(cluster.rest.config, timeout=timeout))


def change(job: LiveJob, knob: Knob, after: Value) -> Change:
    return Change(job.id, job.label, knob, None, after, "test")


def busy(cluster: Cluster) -> dict[str, int]:
    """Jobs of all kinds, by what is special about them."""
    submit = cluster.submit
    long = 600
    made = {
        "wide": submit(0, long, extra=("--gpus=p100:3", "-N2", "-n2"), name="wide", minutes=30),
        "even": submit(0, long, extra=("-N2", "--gpus-per-node=p100:1"), name="even"),
        "requeued": submit(2, long, gpu_type="k80", extra=("--requeue",), name="requeued"),
    }
    cluster.wait_for("RUNNING", *made.values())
    cluster.run(["scontrol", "requeue", str(made["requeued"])])
    made |= {
        "evil": submit(4, long, name=EVIL, extra=("--comment=a\nb",)),
        "held": submit(1, long, extra=("--hold", "--nice=100"), name="held"),
        "later": submit(1, long, extra=("--begin=now+1hour",), name="later"),
        "after": submit(1, long, extra=(f"--dependency=afterok:{made['wide']}",), name="after"),
        "choosy": submit(4, long, extra=("-C", "p100|k80", "-x", "k80-1"), name="choosy"),
        "pinned": submit(4, long, extra=("-w", "p100-1"), name="pinned"),
        "tasks": submit(0, long, extra=("--gpus-per-task=1", "-n", "4"), name="tasks"),
        "array": cluster.submit_array(Job(4, long, name="array", gpu_type="p100"), 9),
        "stepped": submit(4, long, extra=("--array=1-9:2%2",), name="stepped"),
        "pair": submit(4, long, extra=("--array=1-3:2",), name="pair"),
    }
    het = ["sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", "--job-name=het"]
    het += ["--gres=gpu:p100:4", ":", "--gres=gpu:k80:2", str(cluster.layout.job_script), "60"]
    made["het"] = int(cluster.run(het).stdout)
    cluster.update_job(made["choosy"], sitefactor=77)
    cluster.run(["scontrol", "update", f"jobid={made['array']}_4", "sitefactor=5"])
    cluster.run(["scontrol", "hold", f"{made['array']}_6"])
    cluster.update_job(made["pinned"], priority=4000)
    return made


def same(first: Snapshot, second: Snapshot) -> None:
    """Field by field; only the order of jobs is each one's own."""
    assert first.doubts == second.doubts == ()
    for one, other in (
        ({job.id: job._asdict() for job in first.jobs}, {j.id: j._asdict() for j in second.jobs}),
        ({node.name: node for node in first.nodes}, {node.name: node for node in second.nodes}),
    ):
        assert {key: repr(value) for key, value in one.items()} == {
            key: repr(value) for key, value in other.items()
        }
    assert repr(first.partitions) == repr(second.partitions)


def settled(cluster: Cluster, readers: list[Backend]) -> list[Snapshot]:
    """A reading of each while nothing moves."""
    for _ in range(20):
        before = cluster.run(["squeue", "-r", "-o", "%A %T %r %Q %N"]).stdout
        snapshots = [reader.read() for reader in readers]
        if cluster.run(["squeue", "-r", "-o", "%A %T %r %Q %N"]).stdout == before:
            return snapshots
    raise AssertionError("the queue never stood still")


def test_all_backends_tell_the_same_of_a_queue_of_all_kinds(queue: Cluster) -> None:
    made = busy(queue)
    queue.wait_until(lambda: queue.states().get(made["requeued"]) == "PENDING")
    # sprio tells of a task that was split off only after the scheduler has looked at it.
    queue.wait_until(lambda: 5 in queue.site_factors().values())
    text, other, rest = settled(queue, [backend(name, queue) for name in READERS])
    same(text, other)
    same(text, rest)
    jobs = text.by_id
    assert jobs[made["wide"]].host_gpus == () or sum(jobs[made["wide"]].host_gpus) == 3
    assert jobs[made["wide"]].gpus == 3
    assert jobs[made["wide"]].hosts == ("p100-1", "p100-2")
    assert jobs[made["even"]].host_gpus == ()
    assert jobs[made["even"]].gpus == 2
    assert jobs[made["evil"]].name == EVIL
    assert jobs[made["held"]].held
    assert jobs[made["held"]].nice == 100
    assert jobs[made["later"]].eligible > text.time + 3000
    assert jobs[made["after"]].dependency == f"afterok:{made['wide']}(unfulfilled)"
    assert jobs[made["choosy"]].avoids == ("k80-1",)
    assert jobs[made["choosy"]].features == "p100|k80"
    assert jobs[made["pinned"]].wants == ("p100-1",)
    assert jobs[made["requeued"]].restarts == 1
    assert jobs[made["tasks"]].gpus == 4
    array, stepped = made["array"], made["stepped"]
    assert jobs[array].label == f"{array}_[1-3,5,7-9]"
    assert jobs[stepped].label == f"{stepped}_[1,3,5,7,9]"
    assert jobs[made["pair"]].label == f"{made['pair']}_[1,3]"
    split = {job.label: job for job in text.jobs if job.array == array}
    assert split[f"{array}_6"].held
    assert text.site_of(split[f"{array}_4"].id) == 5
    assert text.site_of(made["choosy"]) == 77
    assert text.factors[made["pinned"]].frozen
    assert text.factors[made["pinned"]].priority == 4000
    assert {job.label for job in text.jobs if job.het} == {f"{made['het']}+0", f"{made['het']}+1"}
    # wide and even hold five; tasks may have got what the requeued job gave back.
    held = sum(job.gpus for job in text.jobs if job.running)
    assert sum(node.gpus_used for node in text.nodes) == held
    assert held in (5, 9)


@pytest.mark.parametrize("name", READERS)
def test_changes_are_made_and_read_back(queue: Cluster, name: str) -> None:
    queue.submit_many([Job(4, 600, gpu_type="p100")] * 2 + [Job(2, 600, gpu_type="k80")])
    queue.wait_until(lambda: list(queue.states().values()).count("RUNNING") == 3)
    first = queue.submit(4, 600, gpu_type="p100")
    frozen = queue.submit(4, 600, gpu_type="p100")
    array = queue.submit_array(Job(4, 600, gpu_type="p100"), 5)
    reader = backend(name, queue)
    # A job has no factors before Slurm has looked at it for the first time.
    queue.wait_until(lambda: {first, frozen, array} <= reader.factors().keys())
    jobs = reader.read().by_id
    results = reader.apply(
        [
            change(jobs[first], Knob.SITE_FACTOR, 5000),
            change(jobs[frozen], Knob.PRIORITY, 9000),
            change(jobs[array], Knob.SITE_FACTOR, 300),
            change(jobs[first], Knob.NODE, "p100-2"),
            change(jobs[frozen], Knob.FEATURES, "p100"),
        ]
    )
    assert [result.error for result in results] == [""] * 5
    factors = reader.factors()
    assert factors[first].site == 5000
    assert not factors[first].frozen
    assert (factors[frozen].priority, factors[frozen].frozen) == (9000, True)
    assert factors[array].site == 300
    after = reader.read()
    assert after.by_id[first].wants == ("p100-2",)
    assert after.by_id[frozen].features == "p100"
    # All tasks were named, so the array is still one record.
    assert after.by_id[array].tasks == 5
    released, cleared = reader.apply(
        [change(jobs[frozen], Knob.PRIORITY, None), change(jobs[frozen], Knob.FEATURES, "")]
    )
    assert released.done
    assert cleared.done
    assert reader.read().by_id[frozen].features == ""
    assert not reader.factors()[frozen].frozen


@pytest.mark.parametrize("name", READERS)
def test_jobs_that_are_gone_held_or_running_answer_in_slurms_words(
    queue: Cluster, name: str
) -> None:
    done = queue.submit(1, 0)
    runs = queue.submit(1, 600)
    held = queue.submit(1, 600, extra=("--hold",))
    queue.wait_for("COMPLETED", done)
    queue.wait_for("RUNNING", runs)
    reader = backend(name, queue)
    jobs = reader.read().by_id
    assert jobs[done].state == "COMPLETED"
    assert jobs[done].end >= jobs[done].start
    unknown = jobs[done]._replace(id=999_999, label="999999")
    results = reader.apply(
        [
            change(jobs[held], Knob.SITE_FACTOR, 7),
            change(jobs[done], Knob.SITE_FACTOR, 7),
            change(unknown, Knob.PRIORITY, 7),
            change(jobs[held], Knob.PRIORITY, 7),
            change(jobs[runs], Knob.NODE, "p100-1"),
            change(jobs[runs], Knob.SITE_FACTOR, 7),
        ]
    )
    errors = [result.error for result in results]
    assert errors[0] == errors[5] == ""
    assert "already" in errors[1]
    assert "nvalid job id" in errors[2]
    assert "held state" in errors[3]
    assert errors[4] != ""


def test_settings_are_those_of_the_cluster(live: Cluster) -> None:
    settings = backend("commands", live).settings()
    assert settings["ClusterName"]
    assert settings["SLURM_CONF"] == str(live.layout.slurm_conf)
    site = backend("commands", live).site()
    assert site.settings["ClusterName"] == settings["ClusterName"]
    assert site.billing == {"gpu": ()}
    assert site.associations == ()  # no accounting here


@pytest.mark.parametrize("name", READERS)
def test_an_empty_queue_is_empty_and_has_no_shares_without_accounting(
    queue: Cluster, name: str
) -> None:
    snapshot = backend(name, queue).read()
    assert snapshot.pending == ()
    assert snapshot.shares == ()
    assert len(snapshot.nodes) == 3
    assert all(node.usable for node in snapshot.nodes)


def test_a_drained_node_is_out_of_use_in_all_of_them(queue: Cluster) -> None:
    queue.update_node("k80-1", "drain", "bad memory = yes")
    text, other, rest = (backend(name, queue).read() for name in READERS)
    queue.update_node("k80-1", "resume")
    same(text, other)
    same(text, rest)
    (node,) = (node for node in text.nodes if node.name == "k80-1")
    assert not node.usable
    assert node.reason == "bad memory = yes"


def test_nobody_mistakes_a_lost_controller_for_an_empty_queue(queue: Cluster) -> None:
    readers = [backend(name, queue, timeout=3.0) for name in READERS]
    for reader in readers:
        reader.read()
    queue.controller.stop()
    try:
        for reader in readers:
            for _ in range(2):
                with pytest.raises(Unreachable):
                    reader.read()
            with pytest.raises(Unreachable):
                reader.factors()
    finally:
        queue.controller.start()
        queue.wait_idle()
    for reader in readers:
        assert reader.read().nodes
