"""Which Debian releases are tried, and what goes into their root folders."""

from __future__ import annotations

from dataclasses import dataclass

PACKAGES = (
    "slurmctld",
    "slurmd",
    "slurm-client",
    "munge",
    "slurmdbd",
    "slurmrestd",
    "slurm-wlm-mysql-plugin",
    "slurm-wlm-jwt-plugin",
    "libfaketime",
)
"""The database is this machine's: slurmdbd 26.05.5 refuses the MariaDB of its own release."""

PROGRAM_PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "slurmdbd", "slurmrestd")


@dataclass(frozen=True)
class Release:
    """A Debian release; `apt` are lines for its apt configuration."""

    name: str
    apt: tuple[str, ...] = ()


RELEASES = {
    "trixie": Release("trixie"),  # Slurm 24.11
    # Slurm 26.05 when this was written. A mirror may be some days behind, and it is not signed
    # for long.
    "sid": Release("sid", ('Acquire::Check-Valid-Until "false";',)),
}
