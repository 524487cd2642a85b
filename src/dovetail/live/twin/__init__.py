"""The digital twin: what Slurm's order and ours would have done with the jobs that came."""
