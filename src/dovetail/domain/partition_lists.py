"""The partitions of a job that asks for several, as `sbatch --partition=short,long` does.

>>> split_partitions("short,long"), split_partitions("short")
(('short', 'long'), ('short',))
"""

from __future__ import annotations

SEVERAL = ","
"""Between the names of partitions; no partition of Slurm has it in its name."""


def split_partitions(names: str) -> tuple[str, ...]:
    """Each name once, in the order given."""
    return tuple(dict.fromkeys(name for name in names.split(SEVERAL) if name))


def join_partitions(names: tuple[str, ...]) -> str:
    """As one name of a trace."""
    return SEVERAL.join(names)
