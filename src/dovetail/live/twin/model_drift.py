"""Whether the jobs of late are still like those that the daemon's model was trained on."""

from __future__ import annotations

from dovetail.domain.errors import DovetailError
from dovetail.domain.jobs import Jobs
from dovetail.policies.learned.arrays_file import read_card
from dovetail.policies.learned.checkpoint import CARD_FILE
from dovetail.policies.policy import checkpoint_folder, order_in
from dovetail.telemetry.drift import Drift, DriftReference, workload_columns


def model_drift(policy: str, jobs: Jobs) -> Drift | None:
    """Of the model behind a policy's name; None: it is a rule, or does not say what it saw."""
    folder = checkpoint_folder(order_in(policy))
    if folder is None:
        return None
    try:
        card = read_card(folder / CARD_FILE)
        if "trained_on" not in card.content:
            return None
        return DriftReference.from_dict(card.value("trained_on")).compare(workload_columns(jobs))
    except DovetailError:  # a damaged card is said when the policy is loaded
        return None
