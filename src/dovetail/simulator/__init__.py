"""The simulator: a trace on a cluster under a policy, event by event."""

from dovetail.simulator.engine import Simulation, simulate, simulate_window
from dovetail.simulator.warm import Window, warm_window

__all__ = ["Simulation", "Window", "simulate", "simulate_window", "warm_window"]
