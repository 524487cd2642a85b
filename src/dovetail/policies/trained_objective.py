"""What a policy was trained for, as the card of its checkpoint says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dovetail.domain.errors import DovetailError
from dovetail.domain.objective import Objective
from dovetail.policies.learned.arrays_file import read_card
from dovetail.policies.learned.checkpoint import CARD_FILE
from dovetail.policies.policy import checkpoint_folder, order_in


def trained_objective(policy: str) -> Objective | None:
    """Of the model behind a policy's name; None: it is a rule, or does not say it."""
    folder = checkpoint_folder(order_in(policy))
    if folder is None:
        return None
    try:
        return objective_of(read_card(folder / CARD_FILE).content)
    except DovetailError:  # a damaged card is said when the policy is loaded
        return None


def objective_of(card: Mapping[str, Any]) -> Objective | None:
    """None: models from before there were objectives do not say it."""
    config = card.get("config")
    text = config.get("objective") if isinstance(config, Mapping) else None
    return Objective.parse(text) if isinstance(text, str) and text else None
