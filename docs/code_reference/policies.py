"""Policies, agents, workloads and measures, from their registries."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain

from docs.code_reference.markdown import code, plain, table
from dovetail.agents.catalogue import AGENTS
from dovetail.domain.measures import MEASURES
from dovetail.domain.policy import SlurmBackfill, Varies
from dovetail.envs import ENVIRONMENTS, MULTI_AGENT
from dovetail.mig.policies import PLACERS
from dovetail.policies.ordering import ORDERINGS, SHIPPED_NAME
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import BACKFILLS
from dovetail.traces.synthetic import WORKLOADS

_CHANGES = {
    Varies.NEVER: "no",
    Varies.BETWEEN_ACCOUNTS: "between accounts",
    Varies.ALWAYS: "yes",
}


def orderings() -> str:
    rows = [
        (code(name), plain(part.description), _CHANGES[part.varies])
        for name, part in ORDERINGS.items()
    ]
    shipped = "chosen over five histories, with the estimates that suit it"
    learned = "a checkpoint of `dovetail train`, with the placement that it learned"
    rows += [(code(SHIPPED_NAME), shipped, "yes"), ("a folder", learned, "yes")]
    return table(("`--order`", "score, lowest first", "changes while a job waits"), rows)


def placements() -> str:
    rows = (
        (code(name), plain(part.description), "yes" if part.optimiser else "")
        for name, part in PLACEMENTS.items()
    )
    return table(("`--placement`", "prefers", "makes plans"), rows)


def backfills() -> str:
    rows = ((code(name), plain(part.about)) for name, part in BACKFILLS.items())
    return table(("`--backfill`", "lets pass"), rows)


def slurm_backfill() -> str:
    rows = (
        (code(part.name), f"{part.default:g}", code(f"bf_{part.name}"))
        for part in fields(SlurmBackfill)
    )
    return table(("parameter of `slurm`", "default", "in SchedulerParameters"), rows)


def workloads() -> str:
    rows = ((code(f"synth:{name}"), f"{part.cluster_gpus:,}") for name, part in WORKLOADS.items())
    return table(("workload", "GPUs of the cluster that it describes"), rows)


def agents() -> str:
    """Every agent with its settings and their defaults."""
    parts = chain.from_iterable(
        ((code(name), code(part.name), code(repr(part.default))) for part in fields(agent.config))
        for name, agent in AGENTS.items()
    )
    return table(("`--agent`", "setting", "default"), parts)


def environments() -> str:
    """By Gymnasium id; those of several agents by the module that makes them."""
    rows = [(code(name), code(f'gymnasium.make("{name}")')) for name in ENVIRONMENTS]
    for name, entry in MULTI_AGENT.items():
        package, _, module = entry.module.rpartition(".")
        made = f"{code(f'from {package} import {module}')}, {code(f'{module}.env()')}"
        rows.append((code(name), f"{made} or {code(f'{module}.parallel_env()')}"))
    return table(("environment", "made by"), rows)


def placers() -> str:
    return table(("`--placers`",), ((code(name),) for name in PLACERS))


def measures() -> str:
    rows = (
        (code(part.name), part.unit, part.better.value, plain(part.about))
        for part in MEASURES.values()
    )
    return table(("measure", "unit", "better", "what it is"), rows)
