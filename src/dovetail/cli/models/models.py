"""`dovetail models list`: every model, which one is champion, and what was done last."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail.cli.models.options import DEFAULT_STORE, StoreOption, open_store


def models_list(
    store: StoreOption = DEFAULT_STORE,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with the whole log.")] = False,
) -> None:
    """Show all models, which one is champion, and what was done last.

    \b
    Example:
      dovetail models list --store models
    """
    from dovetail.cli.files import json_text
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results

    opened = open_store(store)
    if as_json:
        found = {
            name: {
                "versions": [
                    {"version": each.version, "champion": each.champion}
                    for each in opened.versions(name)
                ],
                "log": opened.log(name),
            }
            for name in opened.names()
        }
        typer.echo(json_text(found), nl=False)
        return
    if not opened.names():
        typer.echo(f"no models in {store}; `dovetail models challenge` trains one")
        return
    table = columns("model", "version", "", "last done")
    for name in opened.names():
        said = {event["version"]: event for event in opened.log(name)}
        for each in opened.versions(name):
            event = said.get(each.version, {})
            last = f"{event.get('did', '')} {event.get('reason', '')}".strip()
            mark = "champion" if each.champion else ""
            table.add_row(cell(name), cell(each.version), mark, cell(last))
    results().print(table)
