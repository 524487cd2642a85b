"""Proximal policy optimisation on decisions of unequal size."""
