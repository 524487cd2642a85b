"""How to cut a cluster's GPUs, from demand to the files that NVIDIA's tools and Slurm read."""
