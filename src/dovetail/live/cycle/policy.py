"""The policy that the daemon's configuration names, and the model behind it.

>>> load_policy("sjf").order, model_trained("sjf")
('sjf', 0.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dovetail.domain.errors import ConfigError, DovetailError
from dovetail.files import check_file
from dovetail.live.backends.base import BackendError
from dovetail.live.config import ActConfig
from dovetail.live.model.site import as_configured
from dovetail.policies.policy import SHIPPED, Policy, checkpoint_folder, order_in


def load_policy(name: str) -> Policy:
    """The policy of this name; a model that others could have written is refused unread."""
    folder = site_model(name)
    if folder is not None:
        for file in sorted(folder.iterdir()):
            check_file(file)
    return Policy.parse(name)


def check_policy(name: str) -> None:
    """Refuse what no mending of a model's file will make a policy.

    >>> check_policy("sjf+none")
    Traceback (most recent call last):
    dovetail.domain.errors.ConfigError: policy is 'sjf+none': Slurm itself backfills, as its own \
configuration says; write ORDER[@PLACEMENT]
    """
    if "+" in name and checkpoint_folder(name) is None:
        raise ConfigError(
            f"policy is {name!r}: Slurm itself backfills, as its own configuration says; "
            "write ORDER[@PLACEMENT]"
        )
    if site_model(name) is None:
        try:
            Policy.parse(name).parts()
        except DovetailError as problem:
            raise ConfigError(f"policy is {name!r}: {problem}") from None


Settings = Callable[[], Mapping[str, str]]
"""What `scontrol show config` says, asked when it is needed."""


def goes_by_slurm(policy: Policy) -> bool:
    """Whether its order starts from the priorities that Slurm tells of each job."""
    return policy.parts()[0].beside is not None


def beside_slurm(policy: Policy, act: ActConfig, settings: Settings) -> Policy:
    """The policy as it is beside the Slurm of these settings; ConfigError where it cannot be.

    >>> weights = {"PriorityWeightAge": "1000", "PriorityMaxAge": "1-00:00:00"}
    >>> fitted = beside_slurm(Policy("slurm-shorter-10"), ActConfig(), lambda: weights)
    >>> round(86_400 * fitted.parts()[0].parameters["second"])  # ten days of waiting
    10000
    """
    if not goes_by_slurm(policy):
        return policy
    if act.knob == "priority":
        raise ConfigError(
            f"{policy.order} starts from Slurm's own priorities, and a priority that is set by "
            'act.knob = "priority" hides them: set act.knob = "sitefactor", or name a policy that '
            "needs none, such as saf"
        )
    whole = policy.carried()
    ordering, _, _ = whole.parts()
    return replace(whole, ordering=ordering.beside_slurm(as_configured(settings())))


def check_beside_slurm(name: str, act: ActConfig, settings: Settings) -> None:
    """Refuse a policy that the Slurm which is there cannot give what it needs.

    What else is wrong, with a model's file or an answer of Slurm, may be mended while we run.
    """
    try:
        policy = load_policy(name)
    except Exception:  # every cycle says it
        return
    with suppress(BackendError):
        beside_slurm(policy, act, settings)


def model_trained(policy: str) -> float:
    """When the policy's model was made, seconds since 1970; 0: it has none of the site's own."""
    folder = site_model(policy)
    return 0.0 if folder is None else (folder / "policy.npz").stat().st_mtime


def site_model(policy: str) -> Path | None:
    """The folder of a model of the site's own; None: a rule, or the model that we ship."""
    folder = checkpoint_folder(order_in(policy))
    return None if folder == SHIPPED else folder
