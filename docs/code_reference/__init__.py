"""The reference: parts of pages that are made from the code whenever the site is built.

    <!-- from the code: orderings -->

on a line of its own in a page becomes what `PARTS["orderings"]()` gives, as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from docs.code_reference import commands, decisions, files, live, policies
from dovetail.domain.registry import Registry

PARTS: Registry[Callable[[], str]] = Registry(
    "part of the reference",
    {
        "orderings": policies.orderings,
        "placements": policies.placements,
        "backfills": policies.backfills,
        "slurm backfill": policies.slurm_backfill,
        "workloads": policies.workloads,
        "agents": policies.agents,
        "environments": policies.environments,
        "placers": policies.placers,
        "measures": policies.measures,
        "trace formats": files.trace_formats,
        "cluster formats": files.cluster_formats,
        "fields": files.fields,
        "repairs": files.repairs,
        "configuration": live.configuration,
        "guardrails": live.guardrails,
        "backends": live.backends,
        "prometheus": live.prometheus,
        "journal": live.journal,
        "commands": commands.commands,
        "decisions": decisions.decisions,
    },
)

MARK = re.compile(r"^<!-- from the code: ([a-z ]+) -->$", re.MULTILINE)


def fill(page: str) -> str:
    """The page with every mark replaced; an unknown name is an error with "did you mean"."""
    return MARK.sub(lambda mark: PARTS[mark[1]](), page)
