"""The three modes: look, tell, act."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    SHADOW = "shadow"  # compute and record only
    ADVISE = "advise"  # also show what would be done
    ACTIVE = "active"  # do it
