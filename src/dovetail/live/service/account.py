"""Acts as the daemon's account, whoever typed the command.

What root writes where another account can write, that account can turn against root: through a
link, or by a file that the daemon then cannot open. So no command touches the daemon's folders as
root unless the daemon itself runs as root.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import dovetail
from dovetail.compiled import cache
from dovetail.live.config import LiveConfig

CACHE = Path("/var/cache/dovetail")
"""Where the service keeps compiled code, see its unit."""


class Account(NamedTuple):
    """A user with all groups."""

    user: int
    group: int
    groups: tuple[int, ...]
    home: str


def act_as_daemon(config: LiveConfig) -> None:
    """Take on the daemon's account for the rest of this process.

    To be called before anything compiled is imported: the account has a cache of its own.
    """
    account = _owner_for_root(Path(config.run_dir), Path(config.journal.path).parent)
    if account is None:
        return
    os.setgroups(account.groups)
    os.setresgid(account.group, account.group, account.group)
    os.setresuid(account.user, account.user, account.user)
    _use_cache_of(account)


@contextmanager
def acting_as_owner_of(folder: Path) -> Iterator[None]:
    """Read a folder as its owner would; afterwards we are who we were."""
    account = _owner_for_root(folder)
    if account is None:
        yield
        return
    groups, group = os.getgroups(), os.getegid()
    os.setgroups(account.groups)
    os.setegid(account.group)
    os.seteuid(account.user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


def _owner_for_root(*folders: Path) -> Account | None:
    """Whom root should act as: the first owner who is not root; None: stay who we are."""
    if os.geteuid() != 0:
        return None
    for folder in folders:
        try:
            status = folder.stat()
        except OSError:
            continue
        if status.st_uid != 0:
            return _account_of(status)
    return None


def _account_of(status: os.stat_result) -> Account:
    try:
        entry = pwd.getpwuid(status.st_uid)
    except KeyError:  # an account without a name, as in a container
        return Account(status.st_uid, status.st_gid, (status.st_gid,), "/")
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return Account(entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)


def _use_cache_of(account: Account) -> None:
    os.environ["HOME"] = account.home
    os.environ.pop(cache.VARIABLE, None)
    os.environ.pop("XDG_CACHE_HOME", None)
    if CACHE.is_dir() and CACHE.stat().st_uid == account.user:
        os.environ["XDG_CACHE_HOME"] = str(CACHE)
    cache.use(dovetail.__version__)
