"""Tests against a real Slurm, started and thrown away on this machine."""
