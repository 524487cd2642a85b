"""Every check says what is wrong and what to do; on a healthy machine all are content."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.live.config import ActConfig, JournalConfig, LiveConfig, MetricsConfig
from dovetail.live.doctor import CheckLevel, Checkup, Facts, collect, examine
from dovetail.live.doctor import host_checks as host
from dovetail.live.doctor import rights_checks as rights
from dovetail.live.doctor import slurm_checks as slurm
from dovetail.live.doctor.facts import shut_out
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveJob, LiveNode, Snapshot

NODE = LiveNode("n1", "MIXED", gpus=4, gpus_used=2)
JOB = LiveJob(1, "1", "RUNNING", gpus=2, hosts=("n1",))
SETTINGS = {
    "AccountingStorageEnforce": "associations,limits",
    "AccountingStorageTRES": "cpu,mem,gres/gpu",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "EpilogSlurmctld": "/usr/local/libexec/dovetail/wake",
    "JobSubmitPlugins": "lua",
    "MinJobAge": "300 sec",
    "PriorityCalcPeriod": "00:05:00",
    "PrioritySiteFactorPlugin": "(null)",
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "1000",
    "PriorityWeightTRES": "cpu=500,gres/gpu=2000",
    "PrologSlurmctld": "/usr/local/libexec/dovetail/wake",
    "SchedulerParameters": "bf_max_job_test=1000",
    "SchedulerType": "sched/backfill",
    "SlurmUser": "slurm(64030)",
}
HEALTHY = Facts(
    programs={"scontrol": "/usr/bin/scontrol"},
    version="slurm 25.11.7",
    settings=SETTINGS,
    admin_level="Operator",
    submit_script='pcall(loadfile("/etc/slurm/dovetail_submit.lua"))',
    snapshot=Snapshot(0.0, (JOB,), (NODE,)),
    journal_free_mb=10_000,
)


def set_to(**settings: str) -> Facts:
    return replace(HEALTHY, settings={**SETTINGS, **settings})


def configured(**values: object) -> Facts:
    return replace(HEALTHY, config=replace(HEALTHY.config, **values))  # type: ignore[arg-type]


def seen(jobs: tuple[LiveJob, ...], nodes: tuple[LiveNode, ...], **rest: object) -> Facts:
    return replace(HEALTHY, snapshot=Snapshot(0.0, jobs, nodes, **rest))  # type: ignore[arg-type]


def test_a_healthy_machine_gives_no_reason_to_complain() -> None:
    found = list(examine(HEALTHY))
    assert [item for item in found if item.level is not CheckLevel.OK] == []
    assert len({item.name for item in found}) == len(found) == 26


DEFERS = SETTINGS | {"SchedulerParameters": "defer"}
SMALL_HORIZON = replace(configured(act=ActConfig(horizon=500)), settings=DEFERS)
NO_ACCOUNTING = {"AccountingStorageType": "accounting_storage/none"}
WARNING, PROBLEM, OK = CheckLevel.WARNING, CheckLevel.PROBLEM, CheckLevel.OK
Check = Callable[[Facts], Checkup]

CASES: Mapping[str, tuple[Check, Facts, CheckLevel, str]] = {
    "config": (host.configuration, replace(HEALTHY, config_problem="x.toml"), PROBLEM, "x.toml"),
    "run folder": (host.run_folder, replace(HEALTHY, run_dir_problem="/run/x"), PROBLEM, "/run/x"),
    "pace": (host.pace, configured(period=151.0), WARNING, "300 s of silence"),
    "kill switch": (host.kill_switch, replace(HEALTHY, stopped=True), WARNING, "nothing is sent"),
    "journal": (host.journal, replace(HEALTHY, journal_problem="/var: no"), PROBLEM, "/var"),
    "disk": (host.journal, replace(HEALTHY, journal_free_mb=100), WARNING, "100 MB free"),
    "model": (host.model, replace(HEALTHY, model_problem="no 'saff'"), PROBLEM, "saff"),
    "old model": (host.model, replace(HEALTHY, model_days=91.0), WARNING, "91 days old"),
    "aim": (host.model, replace(HEALTHY, model_days=1.0, model_objective="tail=1"), OK,
            "1 days old, trained for tail=1"),
    "young model": (host.model, replace(HEALTHY, model_days=89.0), OK, "89 days old"),
    "port": (host.metrics_port, replace(HEALTHY, port_problem="in use"), WARNING, "in use"),
    "no port": (host.metrics_port, configured(metrics=MetricsConfig(port=0)), OK, "off"),
    "programs": (slurm.programs, replace(HEALTHY, programs={"sprio": None}), PROBLEM, "sprio"),
    "old slurm": (slurm.version, replace(HEALTHY, version="slurm 21.08.8"), WARNING, "22.05 to"),
    "debian": (slurm.version, replace(HEALTHY, version="slurm-wlm 22.05.8"), OK, "22.05.8"),
    "new slurm": (slurm.version, replace(HEALTHY, version="slurm 26.11.0"), WARNING, "26.11.0"),
    "no version": (slurm.version, replace(HEALTHY, version="not found"), PROBLEM, "not found"),
    "down": (slurm.controller, replace(HEALTHY, ping_problem="is DOWN"), PROBLEM, "DOWN"),
    "unread": (
        slurm.reading, replace(HEALTHY, snapshot=None, read_problem="bad"), PROBLEM, "bad"
    ),
    "slow": (slurm.reading, replace(HEALTHY, read_seconds=21.0), WARNING, "21.0 s"),
    "doubts": (slurm.reading, seen((), (), doubts=("job 7: odd",)), WARNING, "job 7"),
    "ahead": (slurm.clock, replace(HEALTHY, clock_gap=6.0), WARNING, "+6 s"),
    "behind": (slurm.clock, replace(HEALTHY, clock_gap=-40.0), WARNING, "-40 s"),
    "basic": (slurm.priority_type, set_to(PriorityType="priority/basic"), PROBLEM, "basic"),
    "plug-in": (
        slurm.priority_type, set_to(PrioritySiteFactorPlugin="site_factor/x"), PROBLEM, "factor/x"
    ),
    "no weights": (
        slurm.weights, set_to(PriorityWeightAge="0", PriorityWeightTRES="(null)"), OK, "all zero"
    ),
    "weights": (slurm.weights, set_to(PriorityWeightQOS="3000000"), WARNING, "3,003,500"),
    "order": (slurm.order, replace(HEALTHY, order_problem="no age"), PROBLEM, "no age"),
    "backfill": (slurm.backfill, set_to(SchedulerParameters="defer"), WARNING, "500 jobs"),
    "horizon": (slurm.backfill, SMALL_HORIZON, OK, "defer"),
    "builtin": (slurm.backfill, set_to(SchedulerType="sched/builtin"), WARNING, "builtin"),
    "seldom": (slurm.recalculation, set_to(PriorityCalcPeriod="1-00:00:00"), WARNING, "1-00"),
    "never": (slurm.job_age, set_to(MinJobAge="0 sec"), WARNING, "never forgotten"),
    "long age": (slurm.job_age, set_to(MinJobAge="7200 sec"), WARNING, "7200"),
    "short age": (slurm.job_age, set_to(MinJobAge="100 sec"), WARNING, "unseen"),
    "stuck": (
        slurm.gpus_in_use, seen((), (LiveNode("n1", "IDLE", gpus=4, gpus_used=4),)), PROBLEM, "n1"
    ),
    "one too many": (
        slurm.gpus_in_use, seen((JOB,), (NODE._replace(gpus_used=3),)), PROBLEM, "n1"
    ),
    "spread": (
        slurm.gpus_in_use,
        seen((JOB._replace(gpus=5, hosts=("n1", "n2")),), (NODE._replace(gpus_used=4),)),
        OK, "running jobs",
    ),
    "no GPUs": (
        slurm.gpus_in_use, seen((JOB._replace(gpus=0, hosts=("n1", "n2")),), (NODE,)), PROBLEM, "n1"
    ),
    "unknown name": (
        slurm.names,
        replace(configured(act=ActConfig(exclude_qos=("urgnt",))),
                snapshot=Snapshot(0.0, (JOB,), (NODE,), qos=("urgent",))),
        PROBLEM, "urgnt",
    ),
    "root": (rights.rights, replace(HEALTHY, user="root"), WARNING, "more than"),
    "slurm user": (rights.rights, replace(HEALTHY, user="slurm"), WARNING, "more than"),
    "no rights": (rights.rights, replace(HEALTHY, admin_level="None"), WARNING, "not for active"),
    "active": (
        rights.rights, replace(configured(mode=Mode.ACTIVE), admin_level=""), PROBLEM, "may not"
    ),
    "nobody": (
        rights.rights, replace(set_to(**NO_ACCOUNTING), admin_level=""), WARNING, "nobody can be"
    ),
    "no accounts": (rights.accounting, set_to(**NO_ACCOUNTING), WARNING, "no fair-share"),
    "nothing shown": (rights.accounting, set_to(AccountingStorageType="(null)"), WARNING, "none"),
    "limits": (rights.accounting, set_to(AccountingStorageEnforce="none"), WARNING, "limits"),
    "gpus": (rights.accounting, set_to(AccountingStorageTRES="cpu"), WARNING, "GPUs"),
    "hooks": (rights.hooks, set_to(EpilogSlurmctld="(null)"), WARNING, "every 60 s"),
    "shut out": (rights.hooks, replace(HEALTHY, shut_out=True), WARNING, "they run as slurm"),
    "new hooks": (rights.hooks, replace(HEALTHY, hook_age=5, up=60), WARNING, "not run them yet"),
    "no lua": (rights.submit_script, set_to(JobSubmitPlugins="(null)"), WARNING, "no tags"),
    "other lua": (rights.submit_script, replace(HEALTHY, submit_script="-"), WARNING, "the site's"),
    "elsewhere": (rights.submit_script, replace(HEALTHY, submit_script=None), OK, "from here"),
}  # fmt: skip


@pytest.mark.parametrize(("check", "facts", "level", "words"), CASES.values(), ids=CASES.keys())
def test_a_check_tells_what_is_wrong_and_what_to_do(
    check: Check, facts: Facts, level: CheckLevel, words: str
) -> None:
    found = check(facts)
    assert found.level is level
    assert words in found.message
    assert bool(found.fix) == (level is not CheckLevel.OK)


def test_a_controller_that_is_down_is_not_asked_any_further() -> None:
    found = list(examine(replace(HEALTHY, settings={}, ping_problem="is DOWN")))
    assert [item.name for item in found if item.level is PROBLEM] == ["controller"]
    assert "weights" not in {item.name for item in found}


def test_this_machine_is_looked_at_without_slurm(tmp_path: Path) -> None:
    """A folder of programs that has none stands for a machine without Slurm."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = tmp_path / "dovetail.toml"
        path.write_text(
            f'policy = "fcfs"\nrun_dir = "{tmp_path}"\n[slurm]\nbin = "{tmp_path}"\n'
            f'[journal]\npath = "{tmp_path}/missing/journal"\n[metrics]\nport = {port}\n'
        )
        (tmp_path / "stop").touch()
        facts = collect(path)
    assert facts.config_problem == facts.run_dir_problem == facts.model_problem == ""
    assert facts.stopped
    assert "missing" in facts.journal_problem
    assert facts.port_problem
    assert set(facts.programs.values()) == {None}
    assert facts.ping_problem


def test_a_configuration_that_others_may_write_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "dovetail.toml"
    path.write_text(f'policy = "fcfs"\n[slurm]\nbin = "{tmp_path}"\n')
    path.chmod(0o666)
    (found,) = (item for item in examine(collect(path)) if item.name == "configuration")
    assert found.level is PROBLEM
    assert "chmod go-w" in found.message


def test_an_unknown_policy_is_a_problem_with_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "dovetail.toml"
    path.write_text(f'policy = "dovetial"\n[slurm]\nbin = "{tmp_path}"\n')
    (found,) = (item for item in examine(collect(path)) if item.name == "policy")
    assert found.level is PROBLEM
    assert "dovetial" in found.message


def test_the_shipped_policy_loads(tmp_path: Path) -> None:
    path = tmp_path / "dovetail.toml"
    path.write_text(f'[slurm]\nbin = "{tmp_path}"\n')
    facts = collect(path)
    assert facts.config.journal == JournalConfig()
    assert facts.config == replace(LiveConfig(), slurm=facts.config.slurm)
    assert facts.model_problem == ""
    assert facts.model_days is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="asks what root is told")
def test_root_is_never_told_to_share_its_group() -> None:
    settings = {
        "SlurmUser": "daemon(1)",
        "PrologSlurmctld": "/x/wake",
        "EpilogSlurmctld": "/x/wake",
    }
    facts = Facts(user="root", settings=settings, shut_out=shut_out("daemon"))
    assert "usermod" not in rights.hooks(facts).fix


def test_hooks_are_found_as_slurm_24_11_words_them() -> None:
    settings = {key: value for key, value in SETTINGS.items() if "logSlurmctld" not in key}
    hook = "/usr/local/libexec/dovetail/wake"
    numbered = {
        "PrologSlurmctld[0]": "/site/prolog",
        "PrologSlurmctld[1]": hook,
        "EpilogSlurmctld[0]": hook,
    }
    assert rights.hooks(replace(HEALTHY, settings={**settings, **numbered})).level is OK
    assert rights.hooks(replace(HEALTHY, settings=settings)).level is WARNING
    assert rights.hooks(replace(HEALTHY, hook_age=59.5, up=60.0)).level is OK  # whole seconds
