"""A real Slurm, through its own programs or slurmrestd."""
