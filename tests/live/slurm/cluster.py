"""A real Slurm cluster on this machine, for as long as a `with` block lasts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from tests.live.slurm.availability import why_not
from tests.live.slurm.clients import Clients
from tests.live.slurm.config_files import write_files
from tests.live.slurm.daemons import Daemon, Kept, SlurmProblem
from tests.live.slurm.database import account_commands, create_database, database_argv
from tests.live.slurm.fake_time import start_fake_time
from tests.live.slurm.layout import Layout
from tests.live.slurm.options import Options
from tests.live.slurm.ports import claimed_ports, is_listening
from tests.live.slurm.rest import Rest, rest_argv, rest_environment
from tests.live.slurm.version import search_path


class Cluster(Clients):
    """Start it with `with Cluster(options) as cluster:`; `env` points clients at it.

    `controller`, `slurmd[name]`, and where asked for `slurmdbd` and `slurmrestd`, are daemons
    that can be stopped, killed, frozen and started again.
    """

    controller: Daemon
    slurmd: Mapping[str, Daemon]
    slurmdbd: Daemon
    slurmrestd: Daemon
    rest: Rest

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._exit = ExitStack()

    def __enter__(self) -> Cluster:
        reason = why_not(self.options)
        if reason is not None:
            raise SlurmProblem(reason)
        with ExitStack() as stack:
            self._start(stack)
            self._exit = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End all processes and remove the folder; a second call does nothing."""
        self._exit.close()

    def pids(self) -> list[int]:
        """All processes of the cluster, jobs too."""
        return self._kept.processes()

    def wait_idle(self, timeout: float = 60) -> None:
        """Wait until every node that has a slurmd is idle."""

        def all_idle() -> bool:
            states = self.node_states()
            return all(states.get(name) == "idle" for name in self.options.running_nodes)

        self.wait_until(all_idle, timeout)

    def _start(self, stack: ExitStack) -> None:
        ports = stack.enter_context(claimed_ports(Layout.ports_needed(self.options)))
        # A short path: a socket's may have no more than 107 characters.
        base = Path(tempfile.mkdtemp(prefix="dovetail-slurm-"))
        base.chmod(0o755)
        self.layout = Layout(base, ports)
        self._kept = Kept()
        stack.callback(self._kept.end)
        self._kept.ask("remove", paths=[str(base)])
        write_files(self.options, self.layout)
        self.env = self._environment()
        if self.options.speed > 1:
            self.env |= start_fake_time(self._kept, self.layout, self.options.speed)
        if self.options.auth == "munge":
            self._start_munge()
        if self.options.accounting is not None:
            self._start_accounting()
        self._start_slurm()
        if self.options.rest != "none":
            self._start_rest()

    def _environment(self) -> dict[str, str]:
        ours = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SLURM", "SBATCH", "SQUEUE", "SINFO", "SACCT", "FAKETIME"))
        }
        return ours | {
            "PATH": search_path(),
            "SLURM_CONF": str(self.layout.slurm_conf),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        }

    def _start_munge(self) -> None:
        base = self.layout.base
        argv = [
            "munged",
            "--foreground",
            f"--socket={self.layout.munge_socket}",
            f"--key-file={base}/etc/munge.key",
            f"--pid-file={base}/run/munged.pid",
            f"--seed-file={base}/run/munged.seed",
            f"--log-file={self.layout.log('munged')}",
        ]
        self._daemon(argv, "munged", self.layout.munge_socket.exists).start()

    def _start_accounting(self) -> None:
        create_database(self.layout, self.env)
        argv = database_argv(self.layout)
        self._daemon(argv, "mariadb", self.layout.database_socket.exists).start()
        port = self.layout.accounting_port
        # The only way to tell slurmdbd where the database's socket is.
        self.slurmdbd = self._daemon(
            ["slurmdbd", "-D"],
            "slurmdbd",
            lambda: is_listening(port),
            MYSQL_UNIX_PORT=str(self.layout.database_socket),
        )
        self.slurmdbd.start()
        assert self.options.accounting is not None
        for words in account_commands(self.options.accounting):
            self.run(["sacctmgr", "-i", *words])

    def _start_slurm(self) -> None:
        port = self.layout.controller_port
        self.controller = self._daemon(["slurmctld", "-D"], "slurmctld", lambda: is_listening(port))
        self.slurmd = {
            name: self._daemon(["slurmd", "-D", "-N", name], f"slurmd.{name}", lambda: True)
            for name in self.options.running_nodes
        }
        self.controller.start()
        for daemon in self.slurmd.values():
            daemon.launch()
        self.wait_idle(timeout=30 + 0.2 * len(self.slurmd))

    def _start_rest(self) -> None:
        options, layout = self.options, self.layout

        def answers() -> bool:
            return layout.rest_socket.exists() or is_listening(layout.rest_port)

        self.slurmrestd = self._daemon(
            rest_argv(options, layout), "slurmrestd", answers, **rest_environment(options)
        )
        self.slurmrestd.start()
        if options.rest != "local":
            layout.rest_token.touch(mode=0o600)
            layout.rest_token.write_text(self.token())
        self.rest = Rest(options, layout)

    def token(self, seconds: int = 86_400) -> str:
        """A fresh one for slurmrestd, of the user who runs the tests."""
        printed = self.run(["scontrol", "token", f"lifespan={seconds}"]).stdout
        return printed.strip().removeprefix("SLURM_JWT=")

    def _daemon(
        self, argv: list[str], name: str, ready: Callable[[], bool], **extra: str
    ) -> Daemon:
        return Daemon(self._kept, argv, self.env | extra, self.layout.printed(name), ready)
