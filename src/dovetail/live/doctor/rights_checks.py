"""Checks of what the daemon's user may do, and of what is installed inside Slurm."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.live.doctor.checkup import Checkup, ok, problem, warning
from dovetail.live.doctor.facts import Facts, hook_scripts
from dovetail.live.model.mode import Mode


def rights(facts: Facts) -> Checkup:
    """By what Slurm says of the user; no job is changed to find out."""
    name = "rights"
    slurm_user = facts.settings.get("SlurmUser", "").partition("(")[0]
    if facts.user in ("root", slurm_user):
        return warning(
            name,
            f"{facts.user} may do everything, which is more than the daemon needs",
            "run it, and this command, as a user of its own with adminlevel=operator",
        )
    if facts.admin_level in ("Operator", "Administrator"):
        return ok(name, f"{facts.user} is {facts.admin_level}")
    complain = problem if facts.config.mode is Mode.ACTIVE else warning
    if not _has_accounting(facts):
        return complain(
            name,
            f"{facts.user} may not change jobs, and without accounting nobody can be operator",
            f"stay in shadow mode, set up slurmdbd, or run the daemon as {slurm_user}",
        )
    return complain(
        name,
        f"{facts.user} may not change jobs of others; enough for shadow, not for active mode",
        f"sacctmgr add user {facts.user} account=root adminlevel=operator",
    )


def accounting(facts: Facts) -> Checkup:
    name, said = "accounting", facts.settings
    if not _has_accounting(facts):
        return warning(
            name,
            "none: no fair-share, no operators, no history of ended jobs",
            "set AccountingStorageType=accounting_storage/slurmdbd",
        )
    enforced = said.get("AccountingStorageEnforce", "").lower().split(",")
    if "limits" not in enforced and "all" not in enforced:
        return warning(
            name,
            "AccountingStorageEnforce has no limits: jobs shorter than PriorityCalcPeriod may not "
            "count in fair-share",
            "add limits to AccountingStorageEnforce",
        )
    if "gres/gpu" not in said.get("AccountingStorageTRES", "").split(","):
        return warning(
            name,
            "GPUs are not accounted for: fair-share and history do not see them",
            "add gres/gpu to AccountingStorageTRES",
        )
    return ok(name, "slurmdbd, limits enforced, GPUs counted")


def _has_accounting(facts: Facts) -> bool:
    kind = facts.settings.get("AccountingStorageType", "")
    # Newer versions show nothing instead of accounting_storage/none.
    return kind.startswith("accounting_storage/") and kind != "accounting_storage/none"


def hooks(facts: Facts) -> Checkup:
    name = "hooks"
    scripts = [hook_scripts(facts.settings, key) for key in ("PrologSlurmctld", "EpilogSlurmctld")]
    if not all(any(script.endswith("/wake") for script in each) for each in scripts):
        return warning(
            name,
            f"Slurm does not wake the daemon: it looks every {facts.config.period:g} s only "
            "(fine if a script of the site's calls ours)",
            "dovetail live install --parts hooks",
        )
    if facts.shut_out:
        slurm_user = facts.settings.get("SlurmUser", "").partition("(")[0]
        return warning(
            name,
            f"they run as {slurm_user}, who may not enter {facts.config.run_dir}",
            f"usermod --append --groups {facts.user} {slurm_user}, then restart slurmctld",
        )
    # The controller tells its start in whole seconds.
    if facts.hook_age < facts.up - 1.0:
        # Seen with 22.05.8: `scontrol reconfigure` shows a new hook and does not run it.
        return warning(
            name,
            "installed after slurmctld was started: it may not run them yet",
            "systemctl restart slurmctld (running jobs go on)",
        )
    return ok(name, "Slurm wakes the daemon when jobs start and end")


def submit_script(facts: Facts) -> Checkup:
    name = "submit script"
    if "lua" not in facts.settings.get("JobSubmitPlugins", "").split(","):
        return warning(
            name,
            "not loaded: jobs get no tags (dovetail:sla) and no first factor",
            "dovetail live install --parts submit",
        )
    if facts.submit_script is None:
        return ok(name, "a job_submit.lua is loaded; it cannot be read from here")
    if "dovetail_submit.lua" not in facts.submit_script:
        return warning(
            name,
            "the site's job_submit.lua does not load Dovetail's",
            "dovetail live install --parts submit says which line to add",
        )
    return ok(name, "loaded")


RIGHTS_CHECKS: tuple[Callable[[Facts], Checkup], ...] = (
    rights,
    accounting,
    hooks,
    submit_script,
)
