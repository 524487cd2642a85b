"""What every part is held to, for parts of your own: call these from your tests.

>>> from dovetail.policies.ordering import ORDERINGS
>>> check_ordering(ORDERINGS["saf"])

Each raises AssertionError with a sentence that says which promise is broken. Dovetail's own parts
pass the same checks in its own tests.
"""

from dovetail.testing.agents import check_agent
from dovetail.testing.environments import check_environment
from dovetail.testing.formats import check_format
from dovetail.testing.multi_agent import check_multi_agent_environment
from dovetail.testing.orderings import check_ordering
from dovetail.testing.placements import check_placement
from dovetail.testing.predictors import check_predictor
from dovetail.testing.schedules import check_schedule

__all__ = [
    "check_agent",
    "check_environment",
    "check_format",
    "check_multi_agent_environment",
    "check_ordering",
    "check_placement",
    "check_predictor",
    "check_schedule",
]
