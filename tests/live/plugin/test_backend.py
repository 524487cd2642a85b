"""The backend `plugin`: on a real slurmctld with the plug-in, and on one that has not loaded it."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dovetail.live.backends import BACKENDS
from dovetail.live.backends.plugin.backend import PluginBackend
from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.config import SlurmConfig
from dovetail.live.cycle.actuator import Actuator, Clocks
from dovetail.live.journal import Journal
from dovetail.live.ledger import Ledger
from dovetail.live.model.decision import UNDO, Change, Knob
from dovetail.live.model.mode import Mode
from dovetail.live.plugin.table import read_table
from tests.live.plugin.steered import Steered
from tests.live.steering import config_for, steering


def by_plugin(steered: Steered) -> SlurmConfig:
    # The cluster's clock runs ahead of ours, an hour in a minute.
    return SlurmConfig(
        backend="plugin",
        conf=str(steered.cluster.layout.slurm_conf),
        timeout=15.0,
        plugin_table=str(steered.table),
        plugin_seconds=86_400,
    )


@pytest.fixture(autouse=True)
def in_the_clusters_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots bear the cluster's time; by ours its jobs would come tomorrow."""
    if "steered" in request.fixturenames:
        steered: Steered = request.getfixturevalue("steered")
        clock = SimpleNamespace(time=steered.cluster.now)
        monkeypatch.setattr("dovetail.live.backends.slurm.backend.time", clock)


def lengths(steered: Steered, *minutes: int) -> list[int]:
    """Waiting jobs of these time limits, in Slurm's own order."""
    steered.waiting(0)
    jobs = [steered.cluster.submit(gpus=1, seconds=1, minutes=each) for each in minutes]
    steered.cluster.wait_until(lambda: set(jobs) <= steered.cluster.site_factors().keys())
    return jobs


def order(steered: Steered) -> list[int]:
    has = steered.cluster.priorities()
    return sorted(has, key=lambda job: -has[job])


def test_the_daemon_orders_the_queue_without_a_single_update(
    steered: Steered, tmp_path: Path
) -> None:
    long, middle, short = lengths(steered, 900, 400, 100)
    before = steered.updates()
    with steering(steered.cluster, tmp_path, slurm=by_plugin(steered)) as controller:
        controller.cycle()
        assert controller.plan is not None
        wanted = {change.job: int(str(change.after)) for change in controller.plan.changes}
        assert wanted
        controller.cycle()
        assert controller.plan.changes == ()  # what is on its way is not sent again
        steered.shows(wanted)
        steered.cluster.wait_until(lambda: order(steered) == [short, middle, long])
        assert set(controller.ledger.view.factors(controller.backend.read())) == set(wanted)
        controller.leave("the test wants it")
        assert not controller.actuator.owes
    assert not steered.table.exists()
    steered.shows(dict.fromkeys((long, middle, short), 0))
    assert steered.updates() == before


def test_an_operators_factor_is_left_to_him_by_daemon_and_plug_in(
    steered: Steered, tmp_path: Path
) -> None:
    long, short = lengths(steered, 900, 100)
    with steering(steered.cluster, tmp_path, slurm=by_plugin(steered)) as controller:
        controller.cycle()
        steered.cluster.update_job(short, sitefactor=4242)
        controller.cycle()
        assert controller.backend.factors()[short].site == 4242
        time.sleep(2.5)  # two updates
        assert steered.cluster.site_factors()[short] == 4242
    steered.shows({short: 4242, long: 0})


def test_what_a_killed_daemon_left_is_put_back_by_the_next(
    steered: Steered, tmp_path: Path
) -> None:
    jobs = lengths(steered, 900, 100)
    config = config_for(steered.cluster, tmp_path, slurm=by_plugin(steered))
    with steering(steered.cluster, tmp_path, slurm=by_plugin(steered)) as killed:
        killed.cycle()
        assert killed.plan is not None
        steered.shows({change.job: int(str(change.after)) for change in killed.plan.changes})
        killed.mode = Mode.SHADOW  # it is dead, and takes nothing back
    with Journal.open(config.journal) as journal:
        backend = BACKENDS["plugin"](config.slurm)
        actuator = Actuator(backend, Ledger(journal), Clocks())
        assert actuator.owes
        actuator.put_back(backend.read())
        assert not actuator.owes
    assert not steered.table.exists()
    steered.shows(dict.fromkeys(jobs, 0))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory() -> MemoryCluster:
    return MemoryCluster.of_nodes(1, gpus=4)


@pytest.fixture
def backend(memory: MemoryCluster, clock: Clock, tmp_path: Path) -> PluginBackend:
    """On a Slurm that has not loaded the plug-in: nothing comes of the table."""
    config = SlurmConfig(plugin_table=str(tmp_path / "factors"), plugin_default=55)
    return PluginBackend(RecordedBackend(memory), config, wall=clock, steady=clock)


def change(job: int, after: int, reason: str = "goes first") -> Change:
    return Change(job, str(job), Knob.SITE_FACTOR, 0, after, reason)


def test_a_factor_counts_as_set_until_slurm_had_time_to_take_it(
    backend: PluginBackend, memory: MemoryCluster, clock: Clock
) -> None:
    job = memory.submit(priority=100)
    backend.read()
    assert [result.error for result in backend.apply([change(job, 40)])] == [""]
    clock.now += 600  # PriorityCalcPeriod is five minutes where Slurm does not say
    factor = backend.factors()[job]
    assert (factor.site, factor.priority, factor.own) == (40, 140, 100)
    clock.now += 100
    assert backend.factors()[job].site == 0  # the truth: the daemon will see that nothing came


def test_the_table_is_renewed_by_every_reading_and_ends_with_its_last_row(
    backend: PluginBackend, memory: MemoryCluster, clock: Clock, tmp_path: Path
) -> None:
    first, second = memory.submit(), memory.submit()
    backend.read()
    backend.apply([change(first, 40), change(second, 70)])
    clock.now += 60
    backend.read()
    table = read_table(tmp_path / "factors")
    assert table is not None
    assert (table.written, table.default) == (1060, 55)
    assert {row.job: row.factor for row in table.rows} == {first: 40, second: 70}
    backend.apply([change(first, 0, UNDO)])
    table = read_table(tmp_path / "factors")
    assert table is not None
    assert [row.job for row in table.rows] == [second]
    backend.apply([change(second, 0, UNDO)])
    assert not (tmp_path / "factors").exists()


def test_a_factor_that_stands_in_no_table_is_undone_by_a_message(
    backend: PluginBackend, memory: MemoryCluster
) -> None:
    job = memory.submit()
    memory.set_site(job, 40)
    assert backend.apply([change(job, 0, UNDO)])[0].done
    assert memory.factors()[job].site == 0


def test_where_the_plug_in_does_not_work_undoing_goes_by_messages(
    backend: PluginBackend, memory: MemoryCluster, clock: Clock, tmp_path: Path
) -> None:
    first, second = memory.submit(), memory.submit()
    backend.read()
    backend.apply([change(first, 40), change(second, 50)])
    memory.set_site(first, 40)  # it worked once: slurmctld was updated since, and not the plug-in
    clock.now += 1000
    backend.read()
    undo = [change(first, 0, UNDO), change(second, 0, UNDO)]
    assert all(result.done for result in backend.apply(undo))
    assert memory.factors()[first].site == 0
    assert not (tmp_path / "factors").exists()


def test_a_new_job_with_the_default_is_known_as_ours(
    backend: PluginBackend, memory: MemoryCluster
) -> None:
    new, own = memory.submit(), memory.submit()
    memory.set_site(new, 55)
    memory.set_site(own, 56)
    jobs = backend.read().by_id
    assert "dovetail:first=55" in jobs[new].comment
    assert jobs[own].comment == ""


def test_a_table_that_cannot_be_written_is_an_error_of_every_change(
    memory: MemoryCluster, tmp_path: Path
) -> None:
    config = SlurmConfig(plugin_table=str(tmp_path / "none" / "factors"))
    backend = PluginBackend(RecordedBackend(memory), config)
    job = memory.submit()
    (result,) = backend.apply([change(job, 40)])
    assert "cannot be written" in result.error


def test_values_that_are_no_factors_are_refused_one_by_one(
    backend: PluginBackend, memory: MemoryCluster
) -> None:
    job, other = memory.submit(), memory.submit()
    results = backend.apply([change(job, 2**31), change(other, 40)])
    assert [bool(result.error) for result in results] == [True, False]
