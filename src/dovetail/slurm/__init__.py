"""Slurm's text as values, for traces and for the live part: pure functions, no processes, no files.

>>> from dovetail.slurm.durations import seconds_of
>>> from dovetail.slurm.host_lists import expand
>>> from dovetail.slurm.tres import resources_of
>>> seconds_of("1-00:30:00"), expand("gpu[08-10]")
(88200.0, ['gpu08', 'gpu09', 'gpu10'])
>>> resources_of("cpu=8,mem=64G,node=1,gres/gpu=2,gres/gpu:a100=2").gpu_types
('a100',)
"""
