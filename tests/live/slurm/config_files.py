"""The files that make a cluster: slurm.conf and its kin, keys, fake GPUs."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from pathlib import Path

from tests.live.slurm.layout import CLUSTER_NAME, Layout, user_name
from tests.live.slurm.options import NodeGroup, Options, Partition
from tests.live.slurm.rest import REST_USER
from tests.live.slurm.version import CGROUPS_SINCE, slurm_version

JOB_SCRIPT = """#!/bin/sh
echo "node=$SLURMD_NODENAME gpus=$CUDA_VISIBLE_DEVICES"
exec sleep "$1"
"""


def write_files(options: Options, layout: Layout) -> None:
    """Create the folder's content; daemons need nothing else."""
    for folder in ("etc", "run", "log", "state", "spool", "dev", "db", "db-tmp"):
        (layout.base / folder).mkdir(mode=0o755)
    layout.rest_socket.parent.mkdir()
    if options.rest != "local" and os.geteuid() == 0:
        shutil.chown(layout.rest_socket.parent, REST_USER)
    layout.job_output.mkdir()
    layout.job_output.chmod(0o1777)  # jobs of other users write here too
    for number in range(options.most_gpus):
        # Plain files are refused ("not a valid character or block device"); links are not.
        (layout.base / "dev" / f"gpu{number}").symlink_to("/dev/null")
    _secret(layout.base / "etc" / "munge.key", secrets.token_bytes(128))
    _secret(layout.base / "etc" / "jwt.key", secrets.token_bytes(32))
    _secret(layout.base / "etc" / "slurmdbd.conf", slurmdbd_conf(options, layout).encode())
    layout.slurm_conf.write_text(slurm_conf(options, layout))
    (layout.base / "etc" / "gres.conf").write_text(gres_conf(options, layout))
    if slurm_version() >= CGROUPS_SINCE:
        # Without it slurmd never registers; an older Slurm would not know its nodes with it.
        (layout.base / "etc" / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
    layout.job_script.write_text(JOB_SCRIPT)
    layout.job_script.chmod(0o755)
    if options.job_submit_lua is not None:
        shutil.copy(options.job_submit_lua, layout.base / "etc" / "job_submit.lua")


def _secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def slurm_conf(options: Options, layout: Layout) -> str:
    base, user = layout.base, user_name()
    lines = [
        f"ClusterName={CLUSTER_NAME}",
        f"SlurmctldHost={_host()}(127.0.0.1)",
        f"SlurmUser={user}",
        f"SlurmdUser={user}",
        f"SlurmctldPort={layout.controller_port}",
        f"StateSaveLocation={base}/state",
        f"SlurmdSpoolDir={base}/spool/%n",
        f"SlurmctldPidFile={base}/run/slurmctld.pid",
        f"SlurmdPidFile={base}/run/slurmd.%n.pid",
        f"SlurmctldLogFile={layout.log('slurmctld')}",
        f"SlurmdLogFile={layout.log('slurmd.%n')}",
        "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",  # loopback only
        "MailProg=/bin/true",
        "MpiDefault=none",
        "SwitchType=switch/none",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none",
        "SlurmdParameters=config_overrides",
        "ReturnToService=2",
        "InactiveLimit=0",
        "KillWait=1",
        "Waittime=0",
        f"MinJobAge={options.min_job_age}",
        f"MaxJobCount={options.max_jobs}",
        f"MaxArraySize={options.max_jobs + 1}",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core_Memory",
        "DefMemPerCPU=100",
        "SchedulerType=sched/backfill",
        "GresTypes=gpu",
        "PriorityType=priority/multifactor",
        "PriorityDecayHalfLife=7-0",
        "PriorityCalcPeriod=1",
        "PriorityMaxAge=0-1",
        "JobCompType=jobcomp/filetxt",
        f"JobCompLoc={layout.completed_jobs}",
        *_authentication(options, layout),
        *_times(options),
        *_weights(options),
        *_hooks(options),
        *_accounting(options, layout),
        *options.extra,
        *_nodes(options, layout),
        *(_partition(place, part) for place, part in enumerate(options.partitions)),
    ]
    return "\n".join(lines) + "\n"


def gres_conf(options: Options, layout: Layout) -> str:
    lines = []
    for group in options.nodes:
        first = 0
        for kind, count in group.gres:
            files = f"{layout.base}/dev/gpu[{first}-{first + count - 1}]"
            lines.append(f"NodeName={_names(group)} Name=gpu Type={kind} File={files}")
            first += count
    return "\n".join(lines) + "\n"


def slurmdbd_conf(options: Options, layout: Layout) -> str:
    lines = [
        f"AuthType=auth/{options.auth}",
        "DbdHost=localhost",
        "DbdAddr=127.0.0.1",
        f"DbdPort={layout.accounting_port}",
        "CommunicationParameters=NoInAddrAny",
        f"SlurmUser={user_name()}",
        f"LogFile={layout.log('slurmdbd')}",
        f"PidFile={layout.base}/run/slurmdbd.pid",
        "StorageType=accounting_storage/mysql",
        "StorageHost=localhost",
        f"StorageUser={user_name()}",
        "StorageLoc=slurm_acct_db",
    ]
    if options.auth == "munge":
        lines.append(f"AuthInfo=socket={layout.munge_socket}")
    return "\n".join(lines) + "\n"


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _authentication(options: Options, layout: Layout) -> list[str]:
    lines = [f"AuthType=auth/{options.auth}", f"CredType=cred/{options.auth}"]
    if options.auth == "munge":
        lines.append(f"AuthInfo=socket={layout.munge_socket}")
    if options.rest in ("jwt", "jwt over TCP"):
        lines.append("AuthAltTypes=auth/jwt")
        lines.append(f"AuthAltParameters=jwt_key={layout.base}/etc/jwt.key")
    return lines


def _times(options: Options) -> list[str]:
    """Time-outs and the scheduler's pace; in fake time all of them are fake seconds."""
    if options.speed > 1:
        pace, times = "bf_continue", (3000, 3000, 100, 600, 60)
    else:
        # 43.7 jobs/s against 13.2 with Slurm's own pace, and 0.5 s from one job to the next.
        pace = "batch_sched_delay=0,sched_min_interval=0,bf_interval=2,bf_continue"
        times = (30, 30, 10, 60, 2)
    names = ("SlurmctldTimeout", "SlurmdTimeout", "MessageTimeout", "BatchStartTimeout")
    lines = [f"{name}={value}" for name, value in zip((*names, "TCPTimeout"), times, strict=True)]
    return [*lines, f"SchedulerParameters={options.scheduler or pace}"]


def _weights(options: Options) -> list[str]:
    # Slurm complains about these two where there is no accounting.
    needs_accounting = {"Age", "Fairshare"} if options.accounting is None else set()
    return [
        f"PriorityWeight{name}={value}"
        for name, value in options.weights
        if name not in needs_accounting
    ]


def _hooks(options: Options) -> list[str]:
    lines = []
    if options.prolog is not None:
        lines.append(f"PrologSlurmctld={options.prolog}")
    if options.epilog is not None:
        lines.append(f"EpilogSlurmctld={options.epilog}")
    if options.job_submit_lua is not None:
        lines.append("JobSubmitPlugins=lua")
    return lines


def _accounting(options: Options, layout: Layout) -> list[str]:
    if options.accounting is None:
        return ["AccountingStorageType=accounting_storage/none"]
    types = ",".join(f"gres/gpu:{kind}" for kind in options.gpu_types)
    lines = [
        "AccountingStorageType=accounting_storage/slurmdbd",
        "AccountingStorageHost=127.0.0.1",
        f"AccountingStoragePort={layout.accounting_port}",
        f"AccountingStorageTRES=gres/gpu,{types}",
        f"AccountingStorageEnforce={options.accounting.enforce}",
    ]
    if options.auth == "munge":
        # The connection to slurmdbd takes munge's socket from here, not from AuthInfo.
        lines.append(f"AccountingStoragePass={layout.munge_socket}")
    return lines


def _nodes(options: Options, layout: Layout) -> list[str]:
    lines, first = [], layout.first_node_port
    for group in options.nodes:
        gres = ",".join(f"gpu:{kind}:{count}" for kind, count in group.gres)
        lines.append(
            f"NodeName={_names(group)} NodeHostname={_host()} NodeAddr=127.0.0.1"
            f" Port=[{first}-{first + group.count - 1}] CPUs={group.cpus}"
            f" RealMemory={group.memory_mb} Feature={group.gpu} Weight={group.weight}"
            f" State={group.state}" + (f" Gres={gres}" if gres else "")
        )
        first += group.count
    return lines


def _names(group: NodeGroup) -> str:
    return f"{group.prefix}-[1-{group.count}]"


def _partition(place: int, partition: Partition) -> str:
    words = [
        f"PartitionName={partition.name}",
        f"Nodes={','.join(partition.nodes)}",
        f"Default={'YES' if place == 0 else 'NO'}",
        "State=UP MaxTime=INFINITE DefaultTime=60 OverSubscribe=NO",
        *partition.settings,
    ]
    return " ".join(words)
