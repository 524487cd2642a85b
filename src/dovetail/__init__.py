"""Dovetail learns to schedule GPU clusters."""

from dovetail import compile_cache

__version__ = "0.1.0"

compile_cache.use(__version__)
