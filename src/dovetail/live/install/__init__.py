"""Puts Dovetail's files beside Slurm's, and takes them away again."""
