"""Priorities and fair-share factors are those that a Slurm 22.05 said, number by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policies.slurm_priorities import differences

RECORDED = Path(__file__).parent / "priorities"


@pytest.mark.parametrize("site", ["large", "small", "by_time"])
def test_priorities_are_what_sprio_and_sshare_said(site: str) -> None:
    """Large jobs favoured, small ones, or size over time (PriorityFavorSmall, PriorityFlags)."""
    assert differences(RECORDED / site) == []
