"""Learned policies as files: what a training leaves behind, and how it runs without torch."""
