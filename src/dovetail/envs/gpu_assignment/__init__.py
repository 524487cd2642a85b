"""Assigning jobs to GPUs of different types: `dovetail/GpuAssignment-v0`."""

from dovetail.envs.gpu_assignment.batch import AssignmentPool, GpuAssignmentBatch
from dovetail.envs.gpu_assignment.config import SPEEDS, GpuAssignmentConfig
from dovetail.envs.gpu_assignment.environment import GpuAssignment, GpuAssignmentVector

__all__ = [
    "SPEEDS",
    "AssignmentPool",
    "GpuAssignment",
    "GpuAssignmentBatch",
    "GpuAssignmentConfig",
    "GpuAssignmentVector",
]
