"""Limits that no scheduler can beat."""
