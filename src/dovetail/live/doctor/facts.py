"""What the checks look at, collected in one go; nothing is changed and nothing raises."""

from __future__ import annotations

import math
import os
import pwd
import re
import shutil
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dovetail.domain.errors import DovetailError
from dovetail.live.backends import BACKENDS
from dovetail.live.backends.base import BackendError
from dovetail.live.backends.slurm.process import Commands, advice_on, first_complaint
from dovetail.live.config import LiveConfig, MetricsConfig, load_config
from dovetail.live.model.snapshot import Snapshot
from dovetail.slurm.show import settings_of

PROGRAMS = ("scontrol", "squeue", "sprio", "sdiag", "sinfo", "sacctmgr", "sacct", "sshare")
_EPOCH = re.compile(r"sdiag output at [^(]*\((\d+)\)")


@dataclass(frozen=True)
class Facts:
    """Texts that end in `_problem` are empty where all is well."""

    config: LiveConfig = field(default_factory=LiveConfig)
    config_path: Path = Path("/etc/dovetail/dovetail.toml")
    config_problem: str = ""
    user: str = "dovetail"
    # Slurm
    programs: Mapping[str, str | None] = field(default_factory=dict)
    version: str = ""  # as in "slurm 25.11.7"
    ping_problem: str = ""
    ping_advice: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    admin_level: str = ""  # Operator, Administrator, None; empty: not known
    submit_script: str | None = ""  # text of job_submit.lua; None: cannot be read
    shut_out: bool = False  # Slurm's user is not in our group, which the run folder asks for
    hook_age: float = math.inf  # seconds since the hook on this machine was last written
    up: float = 0.0  # seconds since slurmctld was started
    clock_gap: float = 0.0  # seconds that the controller is ahead of us
    snapshot: Snapshot | None = None
    read_problem: str = ""
    read_seconds: float = 0.0
    # This machine
    run_dir_problem: str = ""
    stopped: bool = False  # the kill switch is there
    journal_problem: str = ""
    journal_free_mb: float = float("inf")
    model_problem: str = ""
    model_days: float | None = None  # None: a policy without a training
    model_objective: str = ""  # what it was trained for, if its card says it
    port_problem: str = ""
    table_problem: str = ""  # of the plug-in's table, where that is used
    order_problem: str = ""  # what the policy needs of Slurm's priorities and does not get


def collect(config_path: Path) -> Facts:
    """Ask and look; whatever fails becomes a text."""
    config, config_problem = LiveConfig(), ""
    try:
        config = load_config(config_path)
    except (DovetailError, OSError) as error:
        config_problem = str(error)
    facts = Facts(config, config_path, config_problem, _user())
    return _asked_slurm(look_around(facts))


def look_around(facts: Facts) -> Facts:
    """What there is on this machine."""
    config = facts.config
    run_dir, journal = Path(config.run_dir), Path(config.journal.path)
    model_problem, model_days = _model(config.policy)
    return replace(
        facts,
        run_dir_problem=_not_writable(run_dir),
        stopped=_is_there(config.kill_switch),
        journal_problem=_not_writable(journal.parent),
        journal_free_mb=_free_mb(journal.parent),
        model_problem=model_problem,
        model_days=model_days,
        model_objective="" if model_days is None else _trained_for(config.policy),
        port_problem=_port_taken(config.metrics),
        table_problem=_not_writable(Path(config.slurm.plugin_table).parent)
        if config.slurm.backend == "plugin"
        else "",
    )


def _asked_slurm(facts: Facts) -> Facts:
    slurm = facts.config.slurm
    commands = Commands(slurm)
    facts = replace(
        facts,
        programs={name: shutil.which(name, path=slurm.bin or None) for name in PROGRAMS},
        version=_said(commands, "scontrol", "-V").strip(),
    )
    ping = _said(commands, "scontrol", "ping")
    if " is UP" not in ping:
        # Every other question would hang for 9 s.
        said = first_complaint(ping) or "no answer"
        return replace(facts, ping_problem=said, ping_advice=advice_on(ping))
    settings = settings_of(_said(commands, "scontrol", "show", "config"))
    level = ("show", "user", facts.user, "format=AdminLevel")
    facts = replace(
        facts,
        settings=settings,
        admin_level=_said(commands, "sacctmgr", "-n", "-P", *level).strip(),
        submit_script=_submit_script(settings),
        shut_out=shut_out(settings.get("SlurmUser", "").partition("(")[0]),
        hook_age=min(map(_age, hook_scripts(settings, "PrologSlurmctld")), default=math.inf),
        up=_up(settings),
        clock_gap=_clock_gap(commands),
        order_problem=_order_problem(facts.config, settings),
    )
    return _read_once(facts)


def _said(commands: Commands, program: str, *words: str) -> str:
    """What a program printed, the good part and the complaint."""
    try:
        answer = commands.run(program, *words)
    except BackendError as error:
        return str(error)
    return answer.output.decode("utf-8", "replace") or (answer.errors if answer.code else "")


def _clock_gap(commands: Commands) -> float:
    """The controller tells whole seconds, some time between question and answer."""
    asked = time.time()
    found = _EPOCH.search(_said(commands, "sdiag"))
    answered = time.time()
    if found is None:
        return 0.0
    theirs = float(found.group(1))
    return max(0.0, theirs - answered) - max(0.0, asked - 1.0 - theirs)


def _read_once(facts: Facts) -> Facts:
    """Read the cluster as the daemon does."""
    slurm = facts.config.slurm
    started = time.monotonic()
    try:
        snapshot = BACKENDS[slurm.backend](slurm).read()
    except DovetailError as error:
        return replace(facts, read_problem=str(error))
    return replace(facts, snapshot=snapshot, read_seconds=time.monotonic() - started)


def shut_out(name: str) -> bool:
    """False also where this machine does not know the user: then the hooks run elsewhere."""
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        return False
    # Root needs no group to enter; and who root would act as, nobody knows without its folder.
    if user.pw_uid in (0, os.geteuid()) or os.geteuid() == 0:
        return False
    return os.getegid() not in os.getgrouplist(name, user.pw_gid)


def _age(script: str) -> float:
    path = Path(script)
    try:
        return time.time() - path.stat().st_mtime if path.is_absolute() else math.inf
    except OSError:
        return math.inf


def hook_scripts(settings: Mapping[str, str], name: str) -> tuple[str, ...]:
    """The scripts of a hook: one up to 24.05, numbered ones from 24.11 on.

    >>> hook_scripts({"PrologSlurmctld[0]": "/a", "PrologSlurmctld[1]": "/b"}, "PrologSlurmctld")
    ('/a', '/b')
    """
    return tuple(
        value
        for key, value in settings.items()
        if key.partition("[")[0] == name and value not in ("", "(null)")
    )


def _up(settings: Mapping[str, str]) -> float:
    started = settings.get("BOOT_TIME", "")
    return time.time() - int(started) if started.isdecimal() else 0.0


def _submit_script(settings: Mapping[str, str]) -> str | None:
    """Only where it is on this machine; on others nothing can be said about it."""
    path = Path(settings.get("SLURM_CONF", "/etc/slurm/slurm.conf")).parent / "job_submit.lua"
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _model(policy: str) -> tuple[str, float | None]:
    from dovetail.live.cycle.policy import load_policy
    from dovetail.policies.policy import checkpoint_folder  # takes a second

    try:
        folder = checkpoint_folder(load_policy(policy).order)
        if folder is None:
            return "", None
        return "", (time.time() - (folder / "policy.npz").stat().st_mtime) / 86_400
    except (DovetailError, OSError) as error:
        return str(error), None


def _order_problem(config: LiveConfig, settings: Mapping[str, str]) -> str:
    from dovetail.live.cycle.policy import check_beside_slurm

    try:
        check_beside_slurm(config.policy, config.act, lambda: settings)
    except DovetailError as error:
        return str(error)
    return ""


def _trained_for(policy: str) -> str:
    from dovetail.policies.trained_objective import trained_objective

    found = trained_objective(policy)
    return "" if found is None else str(found)


def _user() -> str:
    """By the process's number: what the environment says is anybody's claim."""
    return pwd.getpwuid(os.geteuid()).pw_name


def _not_writable(folder: Path) -> str:
    if not _is_there(folder):
        return f"{folder}: no such folder, or {_user()} may not look"
    return (
        ""
        if os.access(folder, os.W_OK | os.X_OK, effective_ids=True)
        else f"{folder}: {_user()} may not"
    )


def _is_there(path: Path) -> bool:
    """False also where nobody lets us look: that is said elsewhere."""
    try:
        return path.exists()
    except OSError:
        return False


def _free_mb(folder: Path) -> float:
    try:
        return shutil.disk_usage(folder).free / 2**20
    except OSError:
        return float("inf")  # the folder is missing: said elsewhere


def _port_taken(metrics: MetricsConfig) -> str:
    if metrics.port == 0:
        return ""
    try:
        with socket.create_server((metrics.host, metrics.port)):
            return ""
    except OSError as error:
        return error.strerror or str(error)
