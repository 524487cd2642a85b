"""Numba plumbing: decorators, record tables, functions passed by address, the cache."""
