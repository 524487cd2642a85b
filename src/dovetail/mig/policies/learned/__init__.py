"""Trained policies for sliced GPUs, from checkpoints that need no torch; one is shipped."""
