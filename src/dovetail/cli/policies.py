"""`dovetail policies`: every part that can be named, with what it does in one line."""

from __future__ import annotations


def policies() -> None:
    """List orderings, placements, backfills, predictors, agents and environments.

    \b
    Example:
      dovetail policies
    """
    from dovetail.agents.catalogue import AGENTS
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.envs.catalogue import ENVIRONMENTS, MULTI_AGENT
    from dovetail.policies.ordering import ORDERINGS, SHIPPED_ABOUT, SHIPPED_NAME
    from dovetail.policies.placement import PLACEMENTS
    from dovetail.policies.policy import BACKFILLS
    from dovetail.prediction import PREDICTORS

    console = results()
    orders = columns("--order", "score, lowest first (w: waited, e: estimate, g: GPUs)")
    for name, order in ORDERINGS.items():
        orders.add_row(cell(name), cell(order.description))
    orders.add_row(SHIPPED_NAME, SHIPPED_ABOUT)
    orders.add_row("DIR", "a checkpoint of `dovetail train`, with the placement that it learned")
    places = columns("--placement", "prefers")
    for name, place in PLACEMENTS.items():
        places.add_row(cell(name), cell(place.description))
    passing = columns("--backfill", "lets pass")
    for name, backfill in BACKFILLS.items():
        passing.add_row(cell(name), cell(backfill.about))
    known = columns("--estimates predicted:", "foretells run times by")
    for name, predictor in PREDICTORS.items():
        known.add_row(cell(name), cell(predictor.about))
    agents = columns("--agent", "learns")
    for name, agent in AGENTS.items():
        agents.add_row(cell(name), cell(agent.about))
    environments = columns("gymnasium.make", "class")
    for name, entry in ENVIRONMENTS.items():
        environments.add_row(cell(name), cell(class_name(entry.one)))
    games = columns("of several agents", "module with env() and parallel_env()")
    for name, game in MULTI_AGENT.items():
        games.add_row(cell(name), cell(game.module))
    for table in (orders, places, passing, known, agents, environments, games):
        console.print(table)
        console.print()


def class_name(environment: type | str) -> str:
    """Where the class stands: `dovetail.envs.queue_priority:QueuePriority`."""
    if isinstance(environment, str):
        return environment
    return f"{environment.__module__}:{environment.__qualname__}"
