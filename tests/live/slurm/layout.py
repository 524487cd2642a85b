"""Where everything of one cluster lies."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from tests.live.slurm.options import Options

CLUSTER_NAME = "dovetail"


@dataclass(frozen=True)
class Layout:
    """Where everything of one cluster lies, and on which ports it listens."""

    base: Path
    ports: range

    @property
    def slurm_conf(self) -> Path:
        return self.base / "etc" / "slurm.conf"

    @property
    def munge_socket(self) -> Path:
        return self.base / "run" / "munge.socket"

    @property
    def rest_socket(self) -> Path:
        return self.base / "rest" / "slurmrestd.socket"

    @property
    def rest_token(self) -> Path:
        return self.base / "etc" / "rest.token"

    @property
    def database_socket(self) -> Path:
        return self.base / "run" / "mariadb.socket"

    @property
    def job_script(self) -> Path:
        return self.base / "etc" / "sleep.sh"

    @property
    def completed_jobs(self) -> Path:
        return self.base / "log" / "jobcomp.log"

    @property
    def job_output(self) -> Path:
        return self.base / "out"

    def log(self, daemon: str) -> Path:
        """What the daemon itself logs, with times."""
        return self.base / "log" / f"{daemon}.log"

    def printed(self, daemon: str) -> Path:
        """What it printed, which is all there is when it fails early."""
        return self.base / "log" / f"{daemon}.out"

    @property
    def controller_port(self) -> int:
        return self.ports[0]

    @property
    def accounting_port(self) -> int:
        return self.ports[1]

    @property
    def rest_port(self) -> int:
        return self.ports[2]

    @property
    def first_node_port(self) -> int:
        return self.ports[3]

    @staticmethod
    def ports_needed(options: Options) -> int:
        return 3 + sum(group.count for group in options.nodes)


def user_name() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name
