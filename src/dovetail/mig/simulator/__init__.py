"""The simulator for sliced GPUs; `simulate_mig` runs it."""

from dovetail.mig.simulator.engine import simulate_mig
from dovetail.mig.simulator.tables import MigRules

__all__ = ["MigRules", "simulate_mig"]
