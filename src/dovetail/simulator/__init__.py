"""The simulator: a trace on a cluster under a policy, event by event."""

from dovetail.simulator.engine import Simulation, simulate

__all__ = ["Simulation", "simulate"]
