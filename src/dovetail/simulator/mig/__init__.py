"""The simulator for sliced GPUs; `simulate_mig` is its door."""

from dovetail.simulator.mig.build import MigRules
from dovetail.simulator.mig.engine import simulate_mig

__all__ = ["MigRules", "simulate_mig"]
