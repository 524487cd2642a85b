"""The plug-in in a real slurmctld: what it sets, what it leaves alone, and damaged tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.plugin.steered import Steered


def test_waiting_jobs_get_the_factors_of_the_table_at_the_next_update(steered: Steered) -> None:
    first, second, third = steered.waiting(3)
    before = steered.updates()
    steered.write({first: 100, second: -200})
    steered.shows({first: 100, second: -200, third: 0})
    steered.write({first: 0, third: 300})
    steered.shows({first: 0, second: 0, third: 300})
    assert steered.updates() == before


def test_a_new_job_gets_the_default_and_keeps_it_until_it_has_a_row(steered: Steered) -> None:
    (old,) = steered.waiting(1)
    steered.write({}, default=55)
    time.sleep(1.5)
    (new,) = steered.waiting(1)
    steered.shows({old: 0, new: 55})
    time.sleep(2.5)  # two updates
    assert steered.cluster.site_factors() == {old: 0, new: 55}
    steered.write({new: 77}, default=55)
    steered.shows({old: 0, new: 77})


def test_what_an_operator_has_set_stays(steered: Steered) -> None:
    factor, priority, ours = steered.waiting(3)
    steered.write(dict.fromkeys((factor, priority, ours), 100))
    steered.shows({factor: 100, ours: 100})
    steered.cluster.update_job(factor, sitefactor=4242)
    steered.cluster.update_job(priority, priority=999)
    steered.write(dict.fromkeys((factor, priority, ours), 200))
    steered.shows({factor: 4242, ours: 200})
    steered.cluster.hold(factor)
    steered.cluster.release(factor)
    steered.shows({factor: 4242})
    steered.remove()
    steered.shows({factor: 4242, ours: 0})
    assert steered.cluster.priorities()[priority] == 999


def test_a_value_that_the_ledger_knows_as_ours_may_be_changed(steered: Steered) -> None:
    (job,) = steered.waiting(1)
    steered.cluster.update_job(job, sitefactor=500)
    steered.write({job: 100}, held={job: 500})
    steered.shows({job: 100})


def truncate(table: Path) -> None:
    with table.open("r+b") as file:
        file.truncate(table.stat().st_size - 3)


def flip_a_bit(table: Path) -> None:
    content = bytearray(table.read_bytes())
    content[50] ^= 1
    table.write_bytes(content)


def hide_behind_a_link(table: Path) -> None:
    other = table.with_name("other")
    table.replace(other)
    table.symlink_to(other)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "truncated": truncate,
    "corrupt": flip_a_bit,
    "empty": lambda table: table.write_bytes(b""),
    "writable by others": lambda table: table.chmod(0o664),
    "foreign": lambda table: os.chown(table, 1, 1),
    "a link": hide_behind_a_link,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_table_that_cannot_be_trusted_means_factor_0_for_everybody(
    steered: Steered, damage: str
) -> None:
    if damage == "foreign" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    jobs = steered.waiting(2)
    steered.write(dict.fromkeys(jobs, 100))
    steered.shows(dict.fromkeys(jobs, 100))
    DAMAGES[damage](steered.table)
    steered.shows(dict.fromkeys(jobs, 0))


def test_a_table_that_nobody_renews_ends_by_itself(steered: Steered) -> None:
    jobs = steered.waiting(2)
    steered.write(dict.fromkeys(jobs, 100), seconds=300)
    steered.shows(dict.fromkeys(jobs, 100))
    steered.shows(dict.fromkeys(jobs, 0))
    assert steered.table.exists()


def test_after_a_restart_the_table_tells_what_is_ours(steered: Steered) -> None:
    ours, operators = steered.waiting(2)
    steered.write({ours: 100, operators: 100})
    steered.shows({ours: 100, operators: 100})
    steered.cluster.update_job(operators, sitefactor=7)
    steered.cluster.controller.stop()
    steered.cluster.controller.start()
    # It listens before it loads its plug-ins, and must have seen the table that gave the factors.
    steered.cluster.wait_until(steered.cluster.answers)
    steered.write({ours: 200, operators: 200})
    steered.shows({ours: 200, operators: 7}, timeout=30)
