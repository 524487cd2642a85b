"""Records small real outputs of the installed Slurm, for tests that need no cluster.

python -m tests.live.backends.samples.record    # writes tests/live/backends/samples/<version>/
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from tests.live.slurm import Account, Accounting, Cluster, Job, Options, Partition, Qos, User
from tests.live.slurm.layout import user_name

SACCT = (
    "JobID,JobIDRaw,JobName,User,Account,Partition,QOS,AllocTRES,ReqTRES,Submit,Eligible,Start,End,"
    "ElapsedRaw,TimelimitRaw,State,ExitCode,NodeList,NNodes,AllocCPUS,Priority,Reserved"
)
TEXTS: dict[str, list[str]] = {
    "scontrol-show-jobs.txt": ["scontrol", "-o", "show", "jobs"],
    "scontrol-d-show-jobs.txt": ["scontrol", "-d", "-o", "show", "jobs"],
    "scontrol-show-nodes.txt": ["scontrol", "-o", "show", "nodes"],
    "scontrol-d-show-nodes.txt": ["scontrol", "-d", "-o", "show", "nodes"],
    "scontrol-show-partitions.txt": ["scontrol", "-o", "show", "partitions"],
    "scontrol-show-reservations.txt": ["scontrol", "-o", "show", "reservations"],
    "scontrol-show-config.txt": ["scontrol", "show", "config"],
    "scontrol-ping.txt": ["scontrol", "ping"],
    "squeue-r.txt": ["squeue", "-r", "-a", "-t", "all"],
    "sprio-l.txt": ["sprio", "-l"],
    "sprio-format.txt": ["sprio", "-h", "-o", "%i|%r|%u|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T"],
    "sshare-l-P.txt": ["sshare", "-a", "-l", "-P", "-n"],
    "sshare-header-l-P.txt": ["sshare", "-a", "-l", "--parsable2"],
    "sdiag.txt": ["sdiag"],
    "sacct-parsable2.txt": ["sacct", "-a", "-X", "--parsable2", "-o", SACCT],
    "sinfo-N.txt": ["sinfo", "-N", "-l"],
    "version.txt": ["scontrol", "--version"],
}
DOCUMENTS: dict[str, list[str]] = {
    "squeue.json": ["squeue", "--json"],
    "sinfo.json": ["sinfo", "--json"],
}
RESOURCES = ("jobs", "nodes", "partitions", "reservations", "diag", "ping")


def options() -> Options:
    others = ("games", "nobody") if os.geteuid() == 0 else ()
    accounting = Accounting(
        accounts=(Account("physics", shares=70), Account("biology", shares=30)),
        users=tuple(
            User(name, account, settings=("qos=normal,urgent",))
            for name, account in zip(others, ("physics", "biology"), strict=False)
        ),
        qos=(Qos("urgent", priority=100),),
    )
    partitions = (Partition("gpu"), Partition("late", settings=("PriorityTier=2", "State=DOWN")))
    return Options(accounting=accounting, rest="local", partitions=partitions)


def submit_one_of_each(cluster: Cluster) -> None:
    """A finished, a failed, a running, a requeued, and every kind of waiting job."""
    done = cluster.submit(seconds=0, name="done")
    # `sleep` refuses this number, and the job fails.
    failed = cluster.submit_job(Job(seconds=float("-inf"), name="failed"))
    cluster.wait_for("COMPLETED", done)
    cluster.wait_for("FAILED", failed)
    again = cluster.submit(gpus=1, seconds=900, name="requeued", gpu_type="m40")
    cluster.wait_for("RUNNING", again)
    cluster.run(["scontrol", "requeue", str(again)])
    running = [cluster.submit(gpus=4, seconds=900, name="run", gpu_type="p100") for _ in range(2)]
    cluster.wait_for("RUNNING", *running)
    first = cluster.submit(gpus=4, name="waits", gpu_type="p100", minutes=30)
    cluster.submit(gpus=4, name="after", gpu_type="p100", extra=(f"--dependency=afterok:{first}",))
    cluster.submit(name="held", extra=("--hold",))
    cluster.submit(name="later", extra=("--begin=now+3600",))
    cluster.submit(gpus=4, name="nice one & <b>", gpu_type="p100", extra=("--nice=100",))
    cluster.submit(name="closed", partition="late")
    cluster.submit(gpus=0, name="total", gpu_type="", extra=("--gpus=p100:6", "--nodes=2"))
    cluster.submit_array(Job(gpus=4, name="array", gpu_type="p100"), count=3)
    pair = ["--gres=gpu:p100:4", "--time=5", ":", "--gres=gpu:k80:2", "--time=5"]
    cluster.run(["sbatch", "--job-name=pair", "--hold", *pair, str(cluster.layout.job_script), "1"])
    if os.geteuid() == 0:
        cluster.submit(gpus=4, name="theirs", gpu_type="p100", user="games")
        cluster.submit(
            gpus=4, name="urgent", gpu_type="p100", user="nobody", extra=("--qos=urgent",)
        )
    cluster.update_job(first, sitefactor=5000)


def record(cluster: Cluster, folder: Path) -> None:
    for name, argv in TEXTS.items():
        _write(folder / name, cluster.run(argv).stdout, cluster)
    for name, argv in DOCUMENTS.items():
        _write(folder / name, _indented(json.loads(cluster.run(argv).stdout)), cluster)
    for resource in RESOURCES:
        _, answer = cluster.rest.ask("GET", f"/slurm/v0.0.38/{resource}")
        _write(folder / f"rest-{resource}.json", _indented(answer), cluster)
    cluster.controller.stop()
    for name, argv in DOCUMENTS.items():
        answer = json.loads(cluster.run(argv).stdout)
        _write(folder / f"{Path(name).stem}-controller-down.json", _indented(answer), cluster)
    down = cluster.run(["scontrol", "-o", "show", "jobs"], check=False)
    _write(folder / "scontrol-controller-down.txt", down.stdout + down.stderr, cluster)


def _write(path: Path, text: str, cluster: Cluster) -> None:
    """Neither this machine's name nor its folders belong into a sample."""
    ours = {
        str(cluster.layout.base): "/cluster",
        os.uname().version: "#1 SMP",
        os.uname().release: "6.1.0",
    }
    for own, anyone in ours.items():
        text = text.replace(own, anyone)
    text = re.sub(rf"\b{re.escape(os.uname().nodename)}\b", "head", text)
    path.write_text(text)


def _indented(answer: Any) -> str:
    return json.dumps(answer, indent=1) + "\n"


def main() -> None:
    with Cluster(options()) as cluster:
        version = cluster.run(["scontrol", "--version"]).stdout.split()[1]
        folder = Path(__file__).parent / ".".join(version.split(".")[:2])
        folder.mkdir(exist_ok=True)
        submit_one_of_each(cluster)
        reservation = ["reservationname=service", "starttime=now+7200", "duration=60"]
        who = [f"users={user_name()}", "nodes=k80-2"]
        cluster.run(["scontrol", "create", "reservation", *reservation, *who, "flags=maint"])
        cluster.update_node("k80-2", "drain", reason="fan broken, see ticket 7")
        # slurmctld tells accounting of new jobs some seconds late.
        sacct = TEXTS["sacct-parsable2.txt"]
        cluster.wait_until(lambda: "array" in cluster.run(sacct).stdout, every=1)
        record(cluster, folder)
        print(folder, file=sys.stderr)


if __name__ == "__main__":
    main()
