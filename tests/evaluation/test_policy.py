"""Policies by name."""

from __future__ import annotations

import pickle

import pytest

from dovetail.domain.errors import ConfigError, UnknownName
from dovetail.domain.policy import Backfill, SlurmBackfill
from dovetail.policies.policy import Policy, policy_named


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("saf", Policy("saf", "easy", "best-fit")),
        ("saf+none", Policy("saf", "none", "best-fit")),
        ("saf@fgd", Policy("saf", "easy", "fgd")),
        (" saf + conservative @ worst-fit ", Policy("saf", "conservative", "worst-fit")),
    ],
)
def test_missing_parts_take_the_defaults(text: str, policy: Policy) -> None:
    assert Policy.parse(text) == policy


def test_defaults_can_be_given() -> None:
    assert Policy.parse("saf", "none", "fgd") == Policy("saf", "none", "fgd")
    assert Policy.parse("saf+easy", backfill="none").backfill == "easy"


def test_a_label_reads_back_as_the_same_policy() -> None:
    policy = Policy("wfp3", "conservative", "topology-aware")
    assert policy.label() == "wfp3+conservative@topology-aware"
    assert Policy.parse(policy.label()) == policy


def test_slurms_backfill_takes_parameters_and_the_others_none() -> None:
    policy = Policy.parse("saf+slurm:interval=60,window=2880@fgd")
    assert policy.parts()[2] == SlurmBackfill(interval=60, window=2880)
    assert Policy.parse(policy.label()) == policy
    assert Policy.parse("saf+slurm").parts()[2] == SlurmBackfill()
    with pytest.raises(ConfigError, match="easy has no parameters"):
        Policy.parse("saf+easy:interval=60")


def test_a_label_leaves_out_what_equals_the_defaults_given() -> None:
    assert Policy("saf").label(backfill="easy", placement="best-fit") == "saf"
    assert Policy("saf", "none").label(backfill="easy", placement="fgd") == "saf+none@best-fit"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("saff", "'saf'"),
        ("saf+eazy", "'easy'"),
        ("saf@best-fti", "'best-fit'"),
        ("runs@home/learned", "unknown ordering 'runs@home/learned'"),
    ],
)
def test_unknown_names_are_answered_with_a_guess(text: str, hint: str) -> None:
    with pytest.raises(UnknownName, match=hint):
        Policy.parse(text)


def test_a_policy_travels_between_processes() -> None:
    policy = pickle.loads(pickle.dumps(Policy("saf")))
    order, place, fill = policy.parts()
    assert (order, place.name, fill) == (policy_named("saf")[0], "best-fit", Backfill.EASY)
