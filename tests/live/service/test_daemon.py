"""The daemon in its own process on a real cluster: modes, signals, kill switch, crash."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.backends.recorded import RecordedBackend
from dovetail.live.model.mode import Mode
from dovetail.live.service.daemon import Daemon
from dovetail.live.service.switchboard import Switchboard
from tests.live.cycle.test_controller import fill, queue
from tests.live.memory import full_cluster, memory_config
from tests.live.slurm import Cluster
from tests.live.steering import config_for, running, until, write_config


def touched(cluster: Cluster) -> bool:
    return any(cluster.site_factors().values())


def test_shadow_becomes_active_on_command_and_sigterm_gives_everything_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path) as daemon:
        daemon.wait_for("would bring it about")
        assert not touched(cluster)
        daemon.command("mode", "active")
        daemon.wait_for("changes sent")
        assert touched(cluster)
        status = json.loads(daemon.command("status", "--json").stdout)
        assert (status["mode"], status["running"]) == ("active", True)
        assert len(status["advice"]) == 3
        assert daemon.stop() == 0
        assert "put back" in daemon.said
    assert not touched(cluster)


def test_the_kill_switch_stops_all_action_within_a_cycle(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path, mode=Mode.ACTIVE) as daemon:
        daemon.wait_for("changes sent")
        (tmp_path / "run" / "stop").touch()
        daemon.wait_for("the kill switch is on")
        until(lambda: not touched(cluster), "factors are back")
        refused = daemon.command("mode", "active", check=False)
        assert refused.returncode == 2
        assert "kill switch" in refused.stderr
        (tmp_path / "run" / "stop").unlink()
        said = daemon.said.count("shadow:")
        daemon.wait_for("shadow:", said + 2)  # it stays in shadow until somebody asks
        assert not touched(cluster)


def test_kill_9_leaves_what_restore_undoes(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path, mode=Mode.ACTIVE) as daemon:
        daemon.wait_for("changes sent")
        daemon.kill()
        assert touched(cluster)
        assert "put back" in daemon.command("restore").stdout
        assert not touched(cluster)
        assert daemon.command("restore").stdout.startswith("0 jobs put back")


def test_a_daemon_that_crashed_puts_back_before_it_goes_on(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path, mode=Mode.ACTIVE) as daemon:
        daemon.wait_for("changes sent")
        daemon.kill()
        daemon.again()
        daemon.wait_for("found jobs that were touched")
        daemon.wait_for("changes sent", 2)
        daemon.stop()
    assert not touched(cluster)


def test_sighup_takes_up_a_changed_configuration_and_refuses_a_broken_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path) as daemon:
        daemon.wait_for("sjf ordered")
        daemon.config.write_text("nonsense = 1\n")
        daemon.signal(signal.SIGHUP)
        daemon.wait_for("configuration not taken")
        write_config(config_for(cluster, tmp_path, policy="ljf"), daemon.config)
        daemon.signal(signal.SIGHUP)
        daemon.wait_for("ljf ordered")


@pytest.mark.parametrize("how", ["kill switch", "mode"])
def test_an_operator_is_heard_within_two_seconds_whatever_the_period(
    cluster: Cluster, tmp_path: Path, how: str
) -> None:
    fill(cluster)
    queue(cluster, [50, 20, 40])
    with running(cluster, tmp_path, mode=Mode.ACTIVE, period=600.0, min_period=300.0) as daemon:
        daemon.wait_for("changes sent")
        began = time.monotonic()
        if how == "kill switch":
            (tmp_path / "run" / "stop").touch()
        else:
            Switchboard(tmp_path / "run").ask_for(Mode.SHADOW, "ada")
        daemon.wait_for("left active mode", timeout=10.0)
        assert time.monotonic() - began < 2.0
        assert not touched(cluster)
        said = daemon.said.count("shadow: ")
        time.sleep(2.5)
        assert daemon.said.count("shadow: ") <= said + 1  # and then it sleeps again


@pytest.mark.parametrize(
    ("policy", "said"),
    [("sjff", "did you mean"), ("sjf+none", "Slurm itself backfills"), ("sjf@nowhere", "nowhere")],
)
def test_a_policy_that_does_not_exist_is_refused_at_the_start(
    tmp_path: Path, policy: str, said: str
) -> None:
    config = memory_config(tmp_path, policy=policy)
    with pytest.raises(ConfigError, match=said):
        Daemon(config, backend=RecordedBackend(full_cluster([5])[0])).run(1)


def test_two_daemons_on_one_journal_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    with running(cluster, tmp_path) as daemon:
        daemon.wait_for("shadow")
        second = daemon.command("--cycles", "1", check=False)
        assert second.returncode == 2
        assert "error" in second.stderr
