"""`dovetail policies`: every ordering, placement and backfill, with what it does in one line."""

from __future__ import annotations


def policies() -> None:
    """List orderings, placements, backfills and agents, with formulas.

    \b
    Example:
      dovetail policies
    """
    from dovetail.agents.catalogue import AGENTS
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.policies.ordering import ORDERINGS, SHIPPED_NAME
    from dovetail.policies.placement import PLACEMENTS
    from dovetail.policies.policy import BACKFILLS

    console = results()
    orders = columns("--order", "score, lowest first (w: waited, e: estimate, g: GPUs)")
    for name, order in ORDERINGS.items():
        orders.add_row(cell(name), cell(order.description))
    orders.add_row(SHIPPED_NAME, "chosen over five histories, with the estimates that suit it")
    orders.add_row("DIR", "a checkpoint of `dovetail train`, with the placement that it learned")
    places = columns("--placement", "prefers")
    for name, place in PLACEMENTS.items():
        places.add_row(cell(name), cell(place.description))
    passing = columns("--backfill", "lets pass")
    for name, backfill in BACKFILLS.items():
        passing.add_row(cell(name), cell(backfill.about))
    agents = columns("--agent", "learns")
    for name, agent in AGENTS.items():
        agents.add_row(cell(name), cell(agent.about))
    for table in (orders, places, passing, agents):
        console.print(table)
        console.print()
