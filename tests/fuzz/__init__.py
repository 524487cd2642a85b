"""Mutated input for everything that reads some: no traceback, no hang, no abort."""
