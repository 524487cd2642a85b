"""Comparisons for people: tables, charts, one HTML page."""
