"""Building for exactly one Slurm, rehearsing on a throw-away slurmctld, and installing."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli.app import app
from dovetail.live.install.execution import carry_out
from dovetail.live.install.places import Places, PluginFile, look_at_site
from dovetail.live.install.plan import (
    InstallPart,
    InstallRefused,
    diff,
    plan_install,
    plan_uninstall,
)
from dovetail.live.plugin.build import (
    NAME,
    PluginRefused,
    build_plugin,
    plugin_folders,
    slurm_version,
)
from dovetail.live.plugin.rehearsal import rehearse
from tests.live.slurm import Options, why_not

PLUGIN = frozenset({InstallPart.PLUGIN})
CRASHING = """
#include <stdint.h>
const char plugin_name[] = "crashes", plugin_type[] = "site_factor/dovetail";
const uint32_t plugin_version = {number};
int init(void) {{ return 0; }}
int fini(void) {{ return 0; }}
void site_factor_p_reconfig(void) {{}}
void site_factor_p_update(void) {{}}
void site_factor_p_set(void *job) {{ (void) job; *(volatile int *) 16 = 1; }}
"""


def test_headers_of_another_micro_version_are_refused(tmp_path: Path) -> None:
    (tmp_path / "META").write_text("  Name: slurm\n  Version:\t22.05.9\n")
    with pytest.raises(PluginRefused, match=r"is Slurm 22\.05\.9, slurmctld is 22\.05\.8"):
        build_plugin(tmp_path, "22.05.8", tmp_path)
    assert not (tmp_path / NAME).exists()


def test_a_folder_that_is_no_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginRefused, match="no source of Slurm"):
        build_plugin(tmp_path, "22.05.8", tmp_path)


def possible() -> None:
    reason = why_not(Options(auth="none"))
    if reason is not None:
        pytest.skip(reason)


def test_a_sound_plug_in_passes_the_rehearsal(built_plugin: Path) -> None:
    possible()
    assert "ended in good order" in rehearse(built_plugin, plugin_folders())


def test_a_plug_in_that_crashes_does_so_in_the_rehearsal(
    built_plugin: Path, tmp_path: Path
) -> None:
    possible()
    major, minor, micro = map(int, slurm_version().split("."))
    source, bad = tmp_path / "bad.c", tmp_path / NAME
    source.write_text(CRASHING.format(number=(major << 16) + (minor << 8) + micro))
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", bad], check=True)
    with pytest.raises(PluginRefused, match="the rehearsal failed, and the plug-in is not install"):
        rehearse(bad, plugin_folders())


def test_a_plug_in_of_another_micro_version_is_refused_by_the_rehearsal(
    built_plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """22.05 says so and runs on without it, 24.11 ends: neither is a plug-in that works."""
    possible()
    monkeypatch.setattr("dovetail.live.plugin.rehearsal.PATIENCE", 6.0)
    major, minor, micro = map(int, slurm_version().split("."))
    source, other = tmp_path / "other.c", tmp_path / NAME
    harmless = CRASHING.replace("*(volatile int *) 16 = 1;", "")
    source.write_text(harmless.format(number=(major << 16) + (minor << 8) + micro + 1))
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", other], check=True)
    with pytest.raises(PluginRefused, match=r"(?s)the rehearsal failed.*[Ii]ncompatible"):
        rehearse(other, plugin_folders())


def test_the_command_shows_first_and_writes_nothing(slurm_source: Path, tmp_path: Path) -> None:
    possible()
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=a\n")
    words = ["live", "install", "--plugin", "--slurm-source", str(slurm_source)]
    words += ["--slurm-conf", str(conf), "--parts", "service"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "a throw-away slurmctld loaded it" in done.output
    assert "+PrioritySiteFactorPlugin=site_factor/dovetail" in done.output
    assert "binary file" in done.output
    assert conf.read_text() == "ClusterName=a\n"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "slurm.conf").write_text("ClusterName=a\n")
    return Places(slurm_conf=tmp_path / "slurm.conf")


def test_the_plug_in_is_a_file_like_others_and_goes_when_nobody_loads_it(places: Places) -> None:
    folder = places.slurm_conf.parent / "plugins"
    folder.mkdir()
    content = b"\x7fELF\0\xff\xfe\r\n"
    plugin = PluginFile(folder / NAME, content.decode("utf-8", "surrogateescape"))
    site = replace(look_at_site(places, "dovetail", (folder,)), plugin=plugin)
    plan = plan_install(site, PLUGIN)
    assert [change.path.name for change in plan] == [NAME, "slurm.conf"]
    assert "ELF" not in diff(plan)
    carry_out(plan, "1")
    assert (folder / NAME).read_bytes() == content
    assert "owner=dovetail" in places.slurm_conf.read_text()
    again = replace(look_at_site(places, "dovetail", (folder,)), plugin=plugin)
    assert plan_install(again, PLUGIN) == ()
    carry_out(plan_uninstall(again), "2")
    assert (folder / NAME).exists()  # slurmctld has it until it is started again
    carry_out(plan_uninstall(look_at_site(places, "dovetail", (folder,))), "3")
    assert not (folder / NAME).exists()
    assert places.slurm_conf.read_text() == "ClusterName=a\n"


def test_a_site_factor_plug_in_of_the_sites_own_is_in_the_way(places: Places) -> None:
    places.slurm_conf.write_text("PrioritySiteFactorPlugin=site_factor/ours\n")
    site = look_at_site(places, "dovetail", ())
    site = replace(site, plugin=PluginFile(places.slurm_conf.parent / NAME, ""))
    with pytest.raises(InstallRefused, match="loads only one"):
        plan_install(site, PLUGIN)


def test_the_source_is_small_enough_to_read_in_an_hour() -> None:
    from dovetail.live.plugin import build

    source = Path(build.__file__).parent / "source"
    lines = sum(len(path.read_text().splitlines()) for path in source.iterdir())
    assert lines < 550
