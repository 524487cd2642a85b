"""Dovetail installed into a real Slurm with accounting, examined, and taken out again."""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.live.doctor import CheckLevel, collect, examine
from dovetail.live.install.execution import carry_out
from dovetail.live.install.native import native_text
from dovetail.live.install.places import Places, look_at_site
from dovetail.live.install.plan import ALL_PARTS, OPERATOR, plan_install, plan_uninstall
from tests.live.conftest import StartCluster
from tests.live.slurm import SMALL_LAYOUT, Account, Accounting, Cluster, Options, Qos, User
from tests.live.slurm.version import RECONFIGURES_ALL_SINCE, slurm_version

STAMP = "20260101T120000"


@pytest.fixture
def cluster(start_cluster: StartCluster) -> Cluster:
    root = User(getpass.getuser(), "default", settings=("qos=normal,urgent",))
    people = Accounting(accounts=(Account("default"),), users=(root,), qos=(Qos("urgent"),))
    return start_cluster(Options(nodes=SMALL_LAYOUT, accounting=people))


def places_in(cluster: Cluster, folder: Path) -> Places:
    folder.chmod(0o755)
    (folder / "run").mkdir()
    return Places(
        slurm_conf=cluster.layout.slurm_conf,
        config_dir=folder / "etc",
        program_dir=folder / "bin",
        unit_dir=folder / "units",
        run_dir=folder / "run",
    )


def comment(cluster: Cluster, job: int) -> str:
    said = cluster.run(["squeue", "-h", "-j", str(job), "-O", "admin_comment:100"]).stdout
    return said.strip().replace("(null)", "")


def test_a_cluster_with_dovetail_is_healthy_and_without_it_as_before(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cluster.layout.slurm_conf.read_bytes()
    places = places_in(cluster, tmp_path)
    places.config_dir.mkdir()
    places.submit_settings.write_text(native_text("submit.conf") + "qos urgent\n")
    carry_out(plan_install(look_at_site(places, "dovetail"), ALL_PARTS), STAMP)
    cluster.run(["scontrol", "reconfigure"])
    if slurm_version() < RECONFIGURES_ALL_SINCE:
        # Slurm 22.05 shows new hooks after `reconfigure`, but runs them only after a restart.
        assert levels_in(cluster, places.config, monkeypatch)["hooks"] is CheckLevel.WARNING
        cluster.controller.stop()
        cluster.controller.start()
    cluster.wait_until(cluster.answers)
    cluster.wait_idle()

    pipe = os.open(_made_pipe(places.run_dir / "wake"), os.O_RDWR | os.O_NONBLOCK)
    urgent = cluster.submit(gpus=1, seconds=600, extra=("--qos=urgent",))
    usual = cluster.submit(gpus=1, seconds=600)
    assert comment(cluster, urgent) == "dovetail:kind=training dovetail:sla"
    assert comment(cluster, usual) == "dovetail:kind=training"
    cluster.wait_for("RUNNING", urgent, usual)
    assert os.read(pipe, 100)
    os.close(pipe)

    places.config.write_text(
        f'policy = "fcfs"\nrun_dir = "{places.run_dir}"\n[journal]\npath = "{tmp_path}/journal"\n'
        "[metrics]\nport = 0\n[act]\nhorizon = 500\n"
    )
    levels = levels_in(cluster, places.config, monkeypatch)
    # The tests run Slurm and the doctor as the same user: that one may do too much.
    assert {name for name, level in levels.items() if level is not CheckLevel.OK} == {"rights"}

    cluster.cancel_all()
    places.config.unlink()
    places.submit_settings.unlink()
    carry_out(plan_uninstall(look_at_site(places, "dovetail")), STAMP)
    assert cluster.layout.slurm_conf.read_bytes() == before
    cluster.run(["scontrol", "reconfigure"])
    carry_out(plan_uninstall(look_at_site(places, "dovetail")), STAMP)
    assert not places.wake.exists()
    untouched = cluster.submit(gpus=1, seconds=600)
    assert comment(cluster, untouched) == ""
    cluster.wait_for("RUNNING", untouched)
    assert levels_in(cluster, places.config, monkeypatch)["hooks"] is CheckLevel.WARNING


def test_the_rights_command_is_accepted_and_the_doctor_sees_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    words = ["nobody" if word == "dovetail" else word for word in OPERATOR]
    before = _doctor_as_nobody(cluster)
    assert "warning  rights: nobody may not change jobs of others" in before
    cluster.run(words)
    assert "ok       rights: nobody is Operator" in _doctor_as_nobody(cluster)


def test_a_controller_that_is_down_is_a_problem_in_plain_words(
    start_cluster: StartCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = start_cluster(Options(nodes=SMALL_LAYOUT[:1]))
    cluster.controller.stop()
    levels = levels_in(cluster, tmp_path / "none.toml", monkeypatch)
    assert levels["controller"] is CheckLevel.PROBLEM
    assert levels["version"] is CheckLevel.OK
    assert "weights" not in levels


def levels_in(
    cluster: Cluster, config: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, CheckLevel]:
    for name in ("SLURM_CONF", "PATH", "TZ"):
        monkeypatch.setenv(name, cluster.env[name])
    return {item.name: item.level for item in examine(collect(config))}


def _made_pipe(path: Path) -> Path:
    os.mkfifo(path)
    path.chmod(0o622)
    return path


def _doctor_as_nobody(cluster: Cluster) -> str:
    """What the command says to somebody without special rights; imports are root's."""
    config = cluster.layout.slurm_conf.with_name("dovetail.toml")
    config.write_text('policy = "fcfs"\n')
    code = (
        "import os, pathlib, sys, dovetail.policies.policy, dovetail.live.doctor\n"
        "from dovetail.cli.live.doctor import live_doctor\n"
        "os.setuid(65534)\n"
        "live_doctor(pathlib.Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(config)],
        env=cluster.env | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr
