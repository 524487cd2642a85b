"""A tiny file of every format, with the oddities that the published ones have."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

HELIOS = """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
11,u1,vc1,8,64,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:11,2020-06-09 19:41:11,3600,10
12,u2,vc2,16,128,2,FAILED,2020-06-09 18:42:01,2020-06-09 18:42:01,2020-06-09 18:43:01,60,0
13,u1,vc1,0,4,1,COMPLETED,2020-06-09 18:43:01,2020-06-09 18:43:01,2020-06-09 18:44:01,60,0
14,u1,vc1,1,4,1,CANCELLED,2020-06-09 18:44:01,,2020-06-09 18:44:09,0,8
"""

ACME = """\
job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,state,submit_time,start_time,end_time,\
duration,queue,gpu_time
a1,u1,2,16,128,800,Pretrain,COMPLETED,2023-03-20 13:57:15+08:00,2023-03-20T13:58:15+08:00,\
2023-03-20 14:58:15+08:00,3600,60,57600
a2,u2,1,1,8,40,Evaluation,FAILED,2023-03-20 05:57:20+00:00,2023-03-20 05:57:21+00:00,\
2023-03-20 05:58:21+00:00,60,1,60
"""

OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,\
scheduled_time
pod-0,12000,16384,1,1000,,LS,Running,100,400,110
pod-1,6000,12288,1,460,V100M16|V100M32,LS,Succeeded,120,420,120
pod-2,6000,12288,0,0,,BE,Succeeded,130,430,130
pod-3,6000,12288,2,1000,,LS,Pending,140,430,
"""

PAI_TASKS = """\
j1,worker,4,Terminated,1000.0,1600.0,600,29.3,100,V100
j1,ps,1,Terminated,1000.0,1600.0,600,29.3,,
j2,tensorflow,1,Terminated,1100.0,1200.0,600,30,25,MISC
j3,worker,2,Running,1200.0,,600,30,100,T4
j4,worker,3,Terminated,1300.0,1310.0,600,30,150,P100
j4,evaluator,1,Terminated,1305.0,1310.0,600,30,50,T4
j5,worker,1,Waiting,,,600,30,100,T4
"""

PAI_JOBS = """\
j1,i1,u1,Terminated,990.0,1600.0
j2,i2,u2,Terminated,1100.0,1200.0
j4,i4,u1,Terminated,1290.0,1310.0
"""

CSV = """\
id,submit,duration,gpus,user
a,2024-05-01T12:00:00,1-00:00:10,8,u1
b,2024-05-01T14:00:00+02:00,60,1,u2
"""

SWF = """\
; Version: 2.2
; Computer: IBM SP2
; MaxProcs: 100
;
  1 0 10 60 4 -1 -1 8 120 1048576 1 3 1 -1 2 1 -1 -1

  2 5 0 -1 -1 -1 -1 4 120 -1 5 3 1 -1 2 -1 -1 -1
  3 7 -1 30 2 -1 -1 -1 -1 -1 1 4 1 -1 -1 -1 -1 -1
"""

RLTUNE = """\
1,0,-1,3600,2,-1,-1,2,7200,-1,1,5,-1,-1,-1,-1,-1,3,4
2,60,-1,60,1,-1,-1,1,-1,-1,1,6,-1,-1,-1,-1,-1,0,0
"""

SACCT = """\
JobID|JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|\
State|ReqTRES|AllocTRES|ReqNodes|NNodes|NodeList|Priority|Constraints
100|100|ann|a|gpu,long|normal|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-01T10:05:00|\
2024-03-01T11:05:00|3600|120|COMPLETED|cpu=8,mem=64G,node=1,billing=8,gres/gpu=2|\
cpu=8,mem=64G,node=1,billing=8,gres/gpu=2,gres/gpu:a100=2|1|1|gpu01|4000|
100.batch|100.batch||a|||2024-03-01T10:05:00|2024-03-01T10:05:00|2024-03-01T10:05:00|\
2024-03-01T11:05:00|3600||COMPLETED||cpu=8,mem=64G,node=1,gres/gpu=2|1|1|gpu01||
101_4|102|bob|b|gpu|high|2024-03-01T09:00:00|2024-03-01T10:01:00|2024-03-01T10:06:00|\
2024-03-01T10:07:00|60|UNLIMITED|CANCELLED by 1000|cpu=4,mem=1024M,node=2,gres/gpu:V100=8|\
cpu=4,mem=1024M,node=2,gres/gpu:V100=4,gres/gpu:A100=4|2|2|gpu[02-03]|4100|v100
103_[5-9%2]|103|bob|b|gpu|high|2024-03-01T10:02:00|Unknown|Unknown|Unknown|0|Partition_Limit|\
PENDING|cpu=4,mem=4G,node=1,gres/gpu=1||1|1|None assigned||
104|104|ann|a|cpu|normal|2024-03-01T10:03:00|2024-03-01T10:03:00|2024-03-01T10:03:00|\
2024-03-01T10:04:00|60|60|TIMEOUT|cpu=4,mem=4G,node=1|cpu=4,mem=4G,node=1|1|1|c01|1|
105|105|ann|a|gpu|normal|2024-03-01T10:04:00|2024-03-01T10:04:00|2024-03-01T10:10:00|\
2024-03-01T10:20:00|600|60|NODE_FAIL|gres/gpu=1|gres/gpu=1|1|1|gpu01|1|
105|105|ann|a|gpu|normal|2024-03-01T10:20:00|2024-03-01T10:22:00|2024-03-01T10:30:00|\
2024-03-01T10:35:00|300|60|COMPLETED|gres/gpu=1|gres/gpu=1|1|1|gpu01|1|
106|106|ann|a|gpu|normal|2024-03-01T10:30:00|2024-03-01T10:30:00|2024-03-01T10:31:00|\
Unknown|999|60|RUNNING|gres/gpu=1|gres/gpu=1|1|1|gpu01|1|
107|107|ann|a|gpu|normal|2024-03-01T10:30:00|2024-03-01T10:30:00|2024-03-01T10:31:00|\
2024-03-01T10:31:00|0|60|CANCELLED by 7|gres/gpu=1||1|1|None assigned|1|
"""


def sacct_job(number: int, submit: int, **more: Any) -> dict[str, Any]:
    """One job as `sacct --json` of 23.11 has it."""
    gpu = {"type": "gres", "name": "gpu", "id": 1001, "count": 4}
    typed = {"type": "gres", "name": "gpu:h100", "id": 1002, "count": 4}
    memory = {"type": "mem", "name": "", "id": 2, "count": 65536}
    return {
        "job_id": number,
        "array": {"job_id": 0, "task_id": {"set": False, "infinite": False, "number": 0}},
        "association": {"account": "a", "user": "ann"},
        "user": "ann",
        "partition": "gpu",
        "qos": "normal",
        "priority": {"set": True, "infinite": False, "number": 77},
        "allocation_nodes": 2,
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "time": {
            "submission": submit,
            "eligible": submit,
            "start": submit + 10,
            "end": submit + 70,
            "elapsed": 60,
            "limit": {"set": True, "infinite": False, "number": 60},
        },
        "tres": {"allocated": [memory, gpu, typed], "requested": [gpu]},
        **more,
    }


def philly_job(name: str, submitted: str, *attempts: tuple[str | None, str | None, int]) -> Any:
    """One job of Philly's log; an attempt is its start, its end and its GPUs."""
    return {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": name,
        "submitted_time": submitted,
        "user": "ce2f7d",
        "attempts": [
            {
                "start_time": start,
                "end_time": end,
                "detail": [{"ip": "m1", "gpus": [f"gpu{i}" for i in range(gpus)]}],
            }
            for start, end, gpus in attempts
        ],
    }


PHILLY = [
    philly_job(
        "application_2",
        "2017-10-07 01:06:03",
        ("2017-10-07 01:07:03", "2017-10-07 02:07:03", 1),
        ("2017-10-07 02:08:03", "2017-10-07 03:07:03", 2),
    ),
    philly_job("application_1", "2017-10-07 01:00:03", ("2017-10-07 01:00:04", None, 1)),
    philly_job("application_3", "2017-10-06 01:00:03"),
    philly_job(
        "application_4", "2017-10-07 01:06:00", ("2017-10-07 01:06:02", "2017-10-07 01:06:12", 8)
    ),
]

PARQUET: dict[str, list[Any]] = {
    "job_id": [7, 8, 9],
    "submit_time": [0, 10, 20],
    "duration": [60.0, 0.0, 3600.0],
    "req_gpus": [1, 0, 16],
    "num_nodes": [1, 1, 2],
    "gpu_type": [None, None, "V100|P100"],
    "user": [1.0, 2.0, 1.0],
    "vc": ["a", None, "b"],
    "req_time": [None, 5.0, 7200.0],
}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_pai(folder: Path) -> Path:
    write(folder / "pai_task_table.csv", PAI_TASKS)
    write(folder / "pai_job_table.csv", PAI_JOBS)
    write(folder / "pai_job_table.header", "job_name,inst_id,user,status,start_time,end_time\n")
    write(
        folder / "pai_task_table.header",
        "job_name,task_name,inst_num,status,start_time,end_time,"
        "plan_cpu,plan_mem,plan_gpu,gpu_type\n",
    )
    return folder


def write_parquet(path: Path, **columns: Any) -> Path:
    pl.DataFrame(columns or PARQUET, strict=False).write_parquet(path)
    return path


SAMPLES: dict[str, Callable[[Path], Path]] = {
    "helios": lambda folder: write(folder / "cluster_log.csv", HELIOS),
    "acme": lambda folder: write(folder / "trace_kalos.csv", ACME),
    "openb": lambda folder: write(folder / "openb_pod_list_default.csv", OPENB),
    "pai2020": write_pai,
    "swf": lambda folder: write(folder / "KTH.swf.gz", gzip.compress(SWF.encode())),
    "rltune": lambda folder: write(folder / "philly.csv", RLTUNE),
    "sacct": lambda folder: write(folder / "sacct.txt", SACCT),
    "sacct-json": lambda folder: write(
        folder / "sacct.json", json.dumps({"jobs": [sacct_job(5, 1000)], "meta": {}})
    ),
    "philly": lambda folder: write(folder / "cluster_job_log", json.dumps(PHILLY, indent=1)),
    "csv": lambda folder: write(folder / "jobs.csv", CSV),
    "parquet": lambda folder: write_parquet(folder / "trace.parquet"),
}
