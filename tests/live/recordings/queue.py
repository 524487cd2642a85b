"""The cluster that is recorded: one job of each kind, told apart by their names."""

from __future__ import annotations

from typing import Any

from tests.live.slurm import Account, Accounting, Cluster, Job, Options, Partition, Qos, User

EVIL = "evil\nname|x\x1b[31m\x1f\x1e#,:'\" é"
"""A name as no decent user would give."""
REASON = "fan broken, see ticket 7"
TASKS = "1-9:2"


def options() -> Options:
    accounting = Accounting(
        accounts=(
            Account("physics", shares=70),
            Account("hot", shares=3, settings=("parent=physics",)),
            Account("cold", shares=1, settings=("parent=physics",)),
            Account("biology", shares=29),
        ),
        users=(
            User("root", "hot", settings=("qos=normal,urgent",)),
            User("games", "biology", settings=("qos=normal,urgent",)),
        ),
        qos=(Qos("urgent", priority=100),),
    )
    partitions = (Partition("gpu"), Partition("late", settings=("PriorityTier=2", "State=DOWN")))
    extra = ("PriorityWeightTRES=GRES/gpu=2000",)
    return Options(accounting=accounting, rest="jwt", partitions=partitions, extra=extra)


def one_of_each(cluster: Cluster) -> dict[str, int]:
    """Jobs by name: finished ones, running ones, and every kind of waiting."""
    submit = cluster.submit
    made = {
        "done": submit(seconds=0, name="done"),
        # `sleep` refuses this number, and the job fails.
        "failed": cluster.submit_job(Job(seconds=float("-inf"), name="failed")),
    }
    cluster.wait_for("COMPLETED", made["done"])
    cluster.wait_for("FAILED", made["failed"])
    made |= {
        "wide": submit(0, 9000, name="wide", minutes=120, extra=("--gpus=p100:3", "-N2", "-n2")),
        "again": submit(gpus=1, seconds=9000, name="again", gpu_type="m40"),
    }
    cluster.wait_for("RUNNING", made["wide"], made["again"])
    cluster.run(["scontrol", "requeue", str(made["again"])])
    reserve = ["reservationname=course", "starttime=now+7200", "duration=60", "users=root"]
    cluster.run(["scontrol", "create", "reservation", *reserve, "nodes=k80-2"])
    big: dict[str, Any] = {"gpus": 4, "gpu_type": "p100"}
    made["array"] = submit(
        gpus=1, seconds=9000, name="array", gpu_type="k80", extra=(f"--array={TASKS}%1",)
    )
    cluster.wait_until(lambda: "RUNNING" in cluster.states().values())
    made |= {
        "first": submit(**big, name="first", minutes=30),
        "nice": submit(**big, name="nice", extra=("--nice=100",)),
        "below": submit(**big, name="below"),
        "frozen": submit(**big, name="frozen"),
        "held": submit(
            name="held",
            extra=("--hold", "-x", "p100-1", f"--dependency=afterok:{made['wide']}"),
        ),
        "later": submit(name="later", extra=("--begin=now+3600",)),
        "closed": submit(name="closed", partition="late"),
        "choosy": submit(
            **big, name="choosy", partition="gpu,late", extra=("-C", "p100", "-w", "p100-2")
        ),
        "student": submit(gpus=2, name="student", extra=("--reservation=course",)),
        "tasks": submit(0, name="tasks", extra=("--gpus-per-task=p100:3", "-n", "2", "-N", "2")),
        "evil": submit(**big, name=EVIL),
        "theirs": submit(**big, name="theirs", user="games"),
        "urgent": submit(**big, name="urgent", user="games", extra=("--qos=urgent",)),
    }
    pair = ["--gres=gpu:p100:4", "--time=5", ":", "--gres=gpu:k80:2", "--time=5"]
    words = ["sbatch", "--parsable", "--job-name=pair", "--hold", *pair]
    printed = cluster.run([*words, str(cluster.layout.job_script), "1"]).stdout
    made["pair"] = int(printed.partition(";")[0])
    cluster.update_job(made["held"], admincomment="dovetail:sla")
    cluster.update_job(made["below"], sitefactor=-999_999)
    cluster.update_node("k80-2", "drain", reason=REASON)
    cluster.wait_until(lambda: -999_999 in cluster.site_factors().values())
    return made
