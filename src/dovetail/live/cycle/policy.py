"""The policy that the daemon's configuration names, and the model behind it.

>>> load_policy("sjf").order, model_trained("sjf")
('sjf', 0.0)
"""

from __future__ import annotations

from pathlib import Path

from dovetail.domain.errors import ConfigError, DovetailError
from dovetail.files import check_file
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


def model_trained(policy: str) -> float:
    """When the policy's model was made, seconds since 1970; 0: it has none of the site's own."""
    folder = site_model(policy)
    return 0.0 if folder is None else (folder / "policy.npz").stat().st_mtime


def site_model(policy: str) -> Path | None:
    """The folder of a model of the site's own; None: a rule, or the model that we ship."""
    folder = checkpoint_folder(order_in(policy))
    return None if folder == SHIPPED else folder
