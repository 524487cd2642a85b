"""Checks of Slurm itself: reachable, known, and set up so that a site factor decides."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping

from dovetail.domain.errors import ConfigError
from dovetail.live.cycle.selection import refuse_unknown_names
from dovetail.live.doctor.checkup import Checkup, ok, problem, warning
from dovetail.live.doctor.facts import Facts
from dovetail.live.doctor.plugin_checks import LOADED
from dovetail.live.guardrails.lines import lines_of
from dovetail.live.model.snapshot import Snapshot
from dovetail.live.service.first_factors import MOST_FACTOR
from dovetail.slurm.durations import seconds_of

OLDEST, NEWEST = (22, 5), (26, 5)
"""Versions whose answers are known."""
BF_MAX_JOB_TEST = 500
"""Slurm's own, where nothing is set."""


def programs(facts: Facts) -> Checkup:
    name = "programs"
    missing = [program for program, path in facts.programs.items() if path is None]
    if missing:
        return problem(
            name,
            f"not found: {', '.join(missing)}",
            "install Slurm's client programs, or set slurm.bin to their folder",
        )
    return ok(name, ", ".join(facts.programs))


def version(facts: Facts) -> Checkup:
    name = "version"
    found = re.search(r"(\d+)\.(\d+)(?:\.\d+)?", facts.version)
    if found is None:
        return problem(name, f"scontrol -V says {facts.version!r}", "see that scontrol can be run")
    number = int(found.group(1)), int(found.group(2))
    if not OLDEST <= number <= NEWEST:
        return warning(
            name,
            f"Slurm {found.group()} is not known; known are {_dotted(OLDEST)} to {_dotted(NEWEST)}",
            "stay in shadow mode until its report looks right",
        )
    return ok(name, f"Slurm {found.group()}")


def _dotted(number: tuple[int, int]) -> str:
    return f"{number[0]}.{number[1]:02d}"


def controller(facts: Facts) -> Checkup:
    name = "controller"
    if facts.ping_problem:
        return problem(
            name,
            facts.ping_problem,
            facts.ping_advice
            if "slurm.conf" in facts.ping_advice
            else "start slurmctld; check SLURM_CONF, munge, the network",
        )
    return ok(name, "answers")


def reading(facts: Facts) -> Checkup:
    name, most = "reading", facts.config.guardrails.read_seconds
    if facts.snapshot is None:
        return problem(name, facts.read_problem, "see slurm.backend and slurm.timeout")
    counts = f"{len(facts.snapshot.jobs):,} jobs and {len(facts.snapshot.nodes):,} nodes"
    message = f"{counts} in {facts.read_seconds:.1f} s"
    if facts.read_seconds > most:
        return warning(
            name,
            f"{message}, beyond guardrails.read_seconds of {most:g}: nothing would be sent",
            "lower MinJobAge, or raise guardrails.read_seconds",
        )
    if facts.snapshot.doubts:
        doubts = facts.snapshot.doubts
        return warning(
            name, f"{len(doubts)} rows cannot be read: {doubts[0]}", "such jobs are left alone"
        )
    return ok(name, message)


def clock(facts: Facts) -> Checkup:
    name, most = "clock", facts.config.guardrails.clock_jump
    if abs(facts.clock_gap) > min(5.0, most):
        return warning(
            name,
            f"the controller's clock is {facts.clock_gap:+.0f} s from ours: waits come out wrong",
            "let both follow the same time server",
        )
    return ok(name, "the controller's clock is ours")


def priority_type(facts: Facts) -> Checkup:
    name, kind = "priority", facts.settings.get("PriorityType", "")
    if kind != "priority/multifactor":
        return problem(
            name,
            f"PriorityType is {kind or 'not set'}: a site factor has no effect",
            'set PriorityType=priority/multifactor, or act.knob = "priority"',
        )
    plugin = facts.settings.get("PrioritySiteFactorPlugin", "")
    if plugin not in ("", "(null)", "site_factor/none", LOADED):
        return problem(
            name,
            f"PrioritySiteFactorPlugin is {plugin}: it sets the same factor as Dovetail",
            "remove it, or stay in shadow mode",
        )
    return ok(name, "multifactor, the site factor is free")


def weights(facts: Facts) -> Checkup:
    name, total = "weights", weight_total(facts.settings)
    if total == 0:
        return ok(name, "all zero: jobs that Dovetail leaves alone go first come, first served")
    # One place in the order must outweigh all of Slurm's own factors together.
    top = facts.config.act.horizon * (total + 1)
    if top > MOST_FACTOR:
        return warning(
            name,
            f"a step above the weights' sum of {total:,} for each of {facts.config.act.horizon:,} "
            f"jobs goes beyond Slurm's limit of {MOST_FACTOR:,}",
            f"lower the weights, or act.horizon to {MOST_FACTOR // (total + 1):,}",
        )
    return ok(name, f"sum {total:,}; steps for {facts.config.act.horizon:,} jobs fit above")


def order(facts: Facts) -> Checkup:
    """Whether Slurm makes the priorities that the policy's order starts from, if it does."""
    name, policy = "order", facts.config.policy
    if facts.order_problem:
        return problem(name, facts.order_problem, "until then the daemon refuses to start")
    return ok(name, f"{policy}: gets all that it needs of Slurm's priorities")


def weight_total(settings: Mapping[str, str]) -> int:
    """The most that Slurm's own factors can add up to."""
    total = 0
    for key, value in settings.items():
        if key.startswith("PriorityWeight"):
            # PriorityWeightTRES is a list: cpu=1000,gres/gpu=3000
            total += sum(int(number) for number in re.findall(r"(?:^|=)(\d+)", value))
    return total


def backfill(facts: Facts) -> Checkup:
    name, horizon = "backfill", facts.config.act.horizon
    words = dict(
        word.partition("=")[::2]
        for word in facts.settings.get("SchedulerParameters", "").split(",")
    )
    kind = facts.settings.get("SchedulerType", "sched/backfill")
    if kind != "sched/backfill":
        return warning(name, f"SchedulerType is {kind}", "set SchedulerType=sched/backfill")
    tested = words.get("bf_max_job_test", "")
    limit = int(tested) if tested.isdecimal() else BF_MAX_JOB_TEST
    if limit < horizon:
        return warning(
            name,
            f"backfill looks at {limit:,} jobs, Dovetail orders {horizon:,}: the others only start "
            "when they are at the head",
            f"add bf_max_job_test={horizon} to SchedulerParameters, or set act.horizon = {limit}",
        )
    if "defer" in words:
        return ok(name, f"{limit:,} jobs; defer: new jobs wait for the next pass")
    return ok(name, f"{limit:,} jobs")


def recalculation(facts: Facts) -> Checkup:
    name, text = "PriorityCalcPeriod", facts.settings.get("PriorityCalcPeriod", "00:05:00")
    if seconds_of(text) > 600:
        return warning(
            name, f"{text}: age and fair-share follow slowly", "set PriorityCalcPeriod=5"
        )
    return ok(name, text)


def job_age(facts: Facts) -> Checkup:
    name, period = "MinJobAge", facts.config.period
    found = re.match(r"\d+", facts.settings.get("MinJobAge", "300"))
    age = int(found.group()) if found else 300
    if age == 0 or age > 3600:
        return warning(
            name,
            f"{age or 'ended jobs are never forgotten, 0'}: every reading carries them",
            "set MinJobAge=300",
        )
    if age < 2 * period:
        return warning(
            name,
            f"{age} s is less than two periods of {period:g} s: jobs end unseen",
            f"set MinJobAge={max(300, int(3 * period))}",
        )
    return ok(name, f"{age} s")


def gpus_in_use(facts: Facts) -> Checkup:
    """Slurm 22.05 forgets to free GPUs of jobs that end while slurmctld is down."""
    name = "GPUs in use"
    if facts.snapshot is None:
        return warning(name, "not known", "see reading")
    stuck = stuck_nodes(facts.snapshot)
    if stuck:
        return problem(
            name,
            f"Slurm counts GPUs of no running job as used on {', '.join(stuck[:5])}"
            + (f" and {len(stuck) - 5} more" if len(stuck) > 5 else ""),
            "if it stays so, restart slurmctld once more",
        )
    return ok(name, "all belong to running jobs")


def stuck_nodes(snapshot: Snapshot) -> list[str]:
    """Nodes that have more GPUs in use than their jobs can hold."""
    held: dict[str, int] = defaultdict(int)
    for job in snapshot.running:
        for place, host in enumerate(job.hosts):
            # Where the spread over several nodes is not told, all of it may be on this one.
            held[host] += job.host_gpus[place] if job.host_gpus else job.gpus
    return [node.name for node in snapshot.nodes if node.gpus_used > held[node.name]]


def names(facts: Facts) -> Checkup:
    """Partitions, accounts and QOS of the configuration that Slurm does not have."""
    name = "names"
    if facts.snapshot is None:
        return ok(name, "not known, as the queue cannot be read")
    try:
        refuse_unknown_names(facts.snapshot, facts.config.act)
    except ConfigError as unknown:
        return problem(name, str(unknown), "mend it: nothing is decided until then")
    return ok(name, "all that [act] names are known to Slurm")


def lines(facts: Facts) -> Checkup:
    """What the site has declared about who goes before whom, and whether we may cross it."""
    name, binding = "lines", facts.config.guardrails.binding
    if facts.snapshot is None:
        return ok(name, "not known, as the queue cannot be read")
    declared = [what for what in ("tier", "qos") if _classes(facts.snapshot, what) > 1]
    crossed = [what for what in declared if what not in binding]
    waiting = len(facts.snapshot.pending)
    if crossed:
        said = ", ".join(f"{_classes(facts.snapshot, what)} by {what}" for what in crossed)
        return warning(
            name,
            f"{waiting:,} waiting jobs are of several classes ({said}), which may be crossed",
            f"add {' and '.join(crossed)} to guardrails.binding unless that is meant",
        )
    said = ", ".join(f"{_classes(facts.snapshot, what)} by {what}" for what in declared)
    return ok(name, f"{waiting:,} waiting jobs, {said or 'all of one class'}; none is crossed")


def _classes(snapshot: Snapshot, what: str) -> int:
    return len(set(lines_of([*snapshot.pending_ids], snapshot, (what,)).values()))


REACHING_CHECKS: tuple[Callable[[Facts], Checkup], ...] = (programs, version, controller)
SLURM_CHECKS: tuple[Callable[[Facts], Checkup], ...] = (
    reading,
    clock,
    priority_type,
    weights,
    order,
    backfill,
    recalculation,
    job_age,
    names,
    lines,
    gpus_in_use,
)
