"""Parts of your own: `register` for this process, entry points for packages that are installed.

>>> from dovetail.extensions import register
>>> def widest_first(job):
...     "-g: the widest job first"
...     return -job.gpus
>>> register(widest_first).name
'widest_first'
>>> import dovetail
>>> trace = dovetail.load_trace("synth:helios", jobs=50, load=0.9, cluster_gpus=16)
>>> dovetail.compare(trace, "2x8", ["fcfs", "widest_first"]).rows[1].label
'widest_first+easy'
"""

from __future__ import annotations

from typing import Any

from dovetail.agents.catalogue import AGENTS, Agent
from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Ordering, Placement
from dovetail.domain.registry import Registry
from dovetail.policies.learned.models import MODELS
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import PREDICTORS, Predictor
from dovetail.traces.formats import FORMATS
from dovetail.traces.table import Format

EXTENSIBLE: tuple[Registry[Any], ...] = (
    ORDERINGS,
    PLACEMENTS,
    PREDICTORS,
    FORMATS,
    AGENTS,
    MODELS,
)
"""What takes parts from outside, besides environments, which Gymnasium's own `register` takes."""


def register(part: Any, name: str | None = None) -> Any:
    """Add a part to its registry, under its own name if no other is given.

    An `Ordering`, `Placement`, `Predictor`, `Format` or `Agent`; a plain function is an ordering.
    """
    match part:
        case Placement():
            return PLACEMENTS.register(name or part.name, part)
        case Predictor():
            return PREDICTORS.register(name or part.name, part)
        case Format():
            return FORMATS.register(name or part.name, part)
        case Agent():
            return AGENTS.register(name or part.name, part)
        case Ordering():
            return ORDERINGS.register(name or part.name, part)
        case _ if callable(part):
            return ORDERINGS.register(name or str(getattr(part, "__name__", "")), part)
    raise ConfigError(
        f"{part!r} is no part that can be registered; expected an Ordering, Placement, Predictor, "
        "Format, Agent, or a function of a job"
    )
