"""`dovetail models promote`: a challenger becomes champion if it wins on days held back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.models.options import (
    DEFAULT_STORE,
    ClusterOption,
    NameArgument,
    StoreOption,
    TraceOption,
    open_store,
    who,
)

if TYPE_CHECKING:
    from dovetail.models import Contest, ModelStore


def models_promote(
    name: NameArgument,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="See `dovetail models list`.")],
    trace: TraceOption,
    cluster: ClusterOption,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Make a version champion, if it wins a replay of recent days that nobody trained on.

    The last tenth of the history decides: the mean wait must be shorter with 95 % confidence, and
    the 99th percentile at most a tenth longer. A first champion needs no contest.

    \b
    Example:
      dovetail models promote index 20260101-120000-0a1b2c3d --trace recent.parquet --cluster c.toml
    """
    opened = open_store(store)
    opened.promote(name, version, held(opened, name, version, trace, cluster), who())


def held(store: ModelStore, name: str, version: str, trace: str, cluster: str) -> Contest | None:
    """A contest between this version and the champion; None: there is no champion yet."""
    from dovetail.models import contest
    from dovetail.traces.cluster_loader import load_cluster
    from dovetail.traces.loader import load_trace

    if not any(each.champion for each in store.versions(name)):
        return None
    return contest(
        load_trace(trace), load_cluster(cluster), store.champion(name), store.folder(name, version)
    )
