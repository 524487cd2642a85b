"""Trace files of any published format to checked traces, and cluster files to clusters."""
