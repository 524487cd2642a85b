"""Dovetail learns to schedule GPU clusters."""

from typing import TYPE_CHECKING

from dovetail.compiled import cache

if TYPE_CHECKING:
    from dovetail.api import compare, load_cluster, load_trace, simulate, summary
    from dovetail.extensions import register

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "compare",
    "load_cluster",
    "load_trace",
    "register",
    "simulate",
    "summary",
]

cache.use(__version__)


def __getattr__(name: str) -> object:
    # On first use: Numba and Polars take a second to import, `dovetail --help` should not.
    if name == "register":
        from dovetail.extensions import register

        return register
    if name in __all__:
        from dovetail import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
