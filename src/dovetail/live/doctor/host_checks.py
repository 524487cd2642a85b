"""Checks of this machine: configuration, folders, model, port, kill switch."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.live.doctor.checkup import Checkup, ok, problem, warning
from dovetail.live.doctor.facts import Facts

WATCHDOG = 300
"""WatchdogSec of the unit."""


def configuration(facts: Facts) -> Checkup:
    name = "configuration"
    if facts.config_problem:
        return problem(
            name, facts.config_problem, "mend the file; until then defaults are checked here"
        )
    return ok(name, f"{facts.config_path}: mode {facts.config.mode.value}")


def pace(facts: Facts) -> Checkup:
    name, period = "period", facts.config.period
    if 2 * period > WATCHDOG:
        return warning(
            name,
            f"a cycle every {period:g} s: systemd takes {WATCHDOG} s of silence for a hang",
            f"systemctl edit dovetail-live: [Service] WatchdogSec={3 * period:.0f}",
        )
    return ok(name, f"a cycle every {period:g} s")


def run_folder(facts: Facts) -> Checkup:
    name = "run folder"
    if facts.run_dir_problem:
        return problem(
            name,
            facts.run_dir_problem,
            "the systemd unit makes it; without: mkdir it and chown it to the daemon's user",
        )
    return ok(name, f"{facts.config.run_dir} can be written")


def kill_switch(facts: Facts) -> Checkup:
    name, path = "kill switch", facts.config.kill_switch
    if facts.stopped:
        return warning(
            name, f"{path} exists: nothing is sent to Slurm", f"when all is well: rm {path}"
        )
    return ok(name, f"not set; to stop at once: touch {path}")


def journal(facts: Facts) -> Checkup:
    name, wanted = "journal", facts.config.journal
    if facts.journal_problem:
        return problem(
            name, facts.journal_problem, "the systemd unit makes it; or set journal.path"
        )
    if facts.journal_free_mb < wanted.max_mb:
        return warning(
            name,
            f"{facts.journal_free_mb:,.0f} MB free for a journal of up to {wanted.max_mb:,.0f} MB",
            "make room, or lower journal.max_mb",
        )
    return ok(name, f"{wanted.path} can be written")


def model(facts: Facts) -> Checkup:
    name, policy, most = "policy", facts.config.policy, facts.config.guardrails.model_days
    if facts.model_problem:
        return problem(name, facts.model_problem, "set policy to one of `dovetail policies`")
    if facts.model_days is None:
        return ok(name, f"{policy}: a rule, nothing to load")
    if facts.model_days > most:
        return warning(
            name,
            f"{policy}: {facts.model_days:.0f} days old, beyond guardrails.model_days of {most:g}: "
            "it would not be used",
            "train it again on newer history, or raise guardrails.model_days",
        )
    aim = f", trained for {facts.model_objective}" if facts.model_objective else ""
    return ok(name, f"{policy}: loads, {facts.model_days:.0f} days old{aim}")


def metrics_port(facts: Facts) -> Checkup:
    name, metrics = "metrics", facts.config.metrics
    if metrics.port == 0:
        return ok(name, "switched off")
    if facts.port_problem:
        return warning(
            name,
            f"{metrics.host}:{metrics.port}: {facts.port_problem}",
            "fine if the daemon is running; else set metrics.port to a free one, or to 0",
        )
    return ok(name, f"{metrics.host}:{metrics.port} is free")


HOST_CHECKS: tuple[Callable[[Facts], Checkup], ...] = (
    configuration,
    pace,
    run_folder,
    kill_switch,
    journal,
    model,
    metrics_port,
)
