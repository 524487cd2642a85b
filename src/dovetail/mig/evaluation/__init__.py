"""Comparisons on sliced GPUs: bounds, tables, charts, reports."""
