"""A small Slurm site on a machine of its own: Debian's units and configuration, one node."""

from __future__ import annotations

import socket

from tests.live.systemd.machine import Machine

HOST = socket.gethostname().split(".")[0]
SLURM_CONF = f"""\
ClusterName=site
SlurmctldHost={HOST}(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=2,bf_max_job_test=500
SelectType=select/cons_tres
GresTypes=gpu
PriorityType=priority/multifactor
PriorityWeightAge=1000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStorageTRES=gres/gpu
NodeName={HOST} NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000 Gres=gpu:2 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES State=UP DefaultTime=60
"""
SLURMDBD_CONF = """\
AuthType=auth/munge
DbdHost=localhost
DbdAddr=127.0.0.1
CommunicationParameters=NoInAddrAny
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
"""
DATABASE = (
    "create database slurm_acct_db; create user slurm@localhost identified via unix_socket; "
    "grant all on slurm_acct_db.* to slurm@localhost;"
)


def start_slurm(machine: Machine) -> None:
    """Slurm with accounting by the units of its packages."""
    # Where there is no address but that of loopback, Slurm's daemons resolve no name at all.
    machine.run("ip", "address", "add", "192.0.2.1/32", "dev", "lo")
    machine.write("/etc/hosts", f"127.0.0.1 localhost {HOST}\n")
    machine.write("/etc/slurm/slurm.conf", SLURM_CONF)
    machine.write("/etc/slurm/gres.conf", "Name=gpu File=/etc/slurm/gpu[0-1]\n")
    # It uses none, and would refuse to look for them where a kernel has both kinds.
    machine.write("/etc/slurm/cgroup.conf", "CgroupPlugin=cgroup/v1\n")
    for number in range(2):
        machine.run("ln", "-s", "/dev/null", f"/etc/slurm/gpu{number}")
    machine.write("/etc/slurm/slurmdbd.conf", SLURMDBD_CONF, mode="600", owner="slurm")
    machine.run("install", "-d", "-o", "slurm", "/var/lib/slurm/slurmctld", "/var/lib/slurm/slurmd")
    machine.run("systemctl", "start", "munge", "mariadb")
    machine.run("mariadb", "-e", DATABASE)
    machine.run("systemctl", "start", "slurmdbd")
    add = ("sacctmgr", "-i", "add", "cluster", "site")
    machine.wait_until(lambda: machine.run(*add, check=False).returncode == 0)
    machine.run("systemctl", "start", "slurmctld", "slurmd")
    machine.wait_until(lambda: "idle" in machine.run("sinfo", "-h", check=False).stdout)


def submit(machine: Machine, minutes: int) -> int:
    """A job with both GPUs."""
    words = ["sbatch", "--parsable", "--gres=gpu:2", f"--time={minutes}", "--output=/dev/null"]
    return int(machine.run(*words, "--chdir=/", "--wrap=sleep 9000").stdout)


def site_factors(machine: Machine) -> dict[int, int]:
    rows = machine.run("sprio", "-h", "-o", "%i %S").stdout.splitlines()
    return {int(job): int(site) for job, site in map(str.split, rows)}
