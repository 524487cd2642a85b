"""Site factors by the plug-in's table instead of by messages; all else by Slurm's own programs."""
