"""Jobs and nodes from `squeue --json` and `sinfo --json`: all fields, seven times slower."""

from __future__ import annotations

from dovetail.live.backends.slurm.job_rows import Told
from dovetail.live.backends.slurm.json_shapes import answer_of, jobs_of, nodes_of
from dovetail.live.backends.slurm.process import Commands
from dovetail.live.model.snapshot import LiveJob, LiveNode


class JsonReader:
    """Slurm's programs, asked for JSON."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def jobs(self, told: Told = dict) -> tuple[list[LiveJob], list[str]]:
        return jobs_of(
            answer_of(self._commands.ask("squeue", "--json", "-a", "-t", "all"), "squeue")
        )

    def nodes(self) -> tuple[LiveNode, ...]:
        return nodes_of(answer_of(self._commands.ask("sinfo", "--json", "-a", "-N"), "sinfo"))
