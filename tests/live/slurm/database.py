"""Accounting: a MariaDB in the cluster's folder, and the rows that jobs need before they run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from tests.live.slurm.daemons import SlurmProblem
from tests.live.slurm.layout import CLUSTER_NAME, Layout, user_name
from tests.live.slurm.options import Accounting

# A throw-away database need not survive a power cut.
FAST = (
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-log-file-size=16M",
    "--innodb-buffer-pool-size=64M",
    "--skip-innodb-doublewrite",
    "--innodb-stats-persistent=OFF",
    "--aria-log-file-size=8M",
    "--skip-log-bin",
    "--performance-schema=OFF",
)


def create_database(layout: Layout, env: dict[str, str]) -> None:
    """Make MariaDB's system tables."""
    argv = [
        "mariadb-install-db",
        "--no-defaults",
        f"--user={user_name()}",
        f"--datadir={layout.base}/db",
        # In a shared one, each removes the tables of others when it starts.
        f"--tmpdir={layout.base}/db-tmp",
        "--auth-root-authentication-method=socket",
        "--skip-test-db",
        *FAST,
    ]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, cwd=layout.base)
    if done.returncode != 0:
        raise SlurmProblem(f"mariadb-install-db failed:\n{done.stdout}{done.stderr}")


def database_argv(layout: Layout) -> list[str]:
    return [
        "mariadbd",
        "--no-defaults",
        f"--user={user_name()}",
        f"--datadir={layout.base}/db",
        # In a shared one, each removes the tables of others when it starts.
        f"--tmpdir={layout.base}/db-tmp",
        f"--socket={layout.database_socket}",
        f"--pid-file={layout.base}/run/mariadb.pid",
        "--skip-networking",
        *FAST,
    ]


def account_commands(accounting: Accounting) -> Iterator[list[str]]:
    """sacctmgr's words, in the order in which they must be said."""
    yield ["add", "cluster", CLUSTER_NAME]
    for qos in accounting.qos:
        yield ["add", "qos", qos.name, f"priority={qos.priority}", *qos.settings]
    for account in accounting.accounts:
        yield ["add", "account", account.name, f"fairshare={account.shares}", *account.settings]
    users = {user.name for user in accounting.users}
    for user in accounting.users:
        yield [
            "add",
            "user",
            user.name,
            f"account={user.account}",
            f"fairshare={user.shares}",
            f"adminlevel={user.admin}",
            *user.settings,
        ]
    if os.geteuid() != 0 and user_name() not in users:
        yield ["add", "user", user_name(), f"account={accounting.accounts[0].name}"]
