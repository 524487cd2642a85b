"""Tests of what benchmarks compute; what they measure is no matter for tests."""
