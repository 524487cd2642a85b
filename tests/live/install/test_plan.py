"""An installation shows all it does, refuses to run over the site's own, and can be taken back."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError
from dovetail.live.install.execution import carry_out
from dovetail.live.install.places import Places, SlurmSite, look_at_site
from dovetail.live.install.plan import (
    ALL_PARTS,
    FileChange,
    InstallPart,
    InstallRefused,
    diff,
    include_line,
    left_behind,
    next_steps,
    plan_install,
    plan_uninstall,
)
from dovetail.live.install.slurm_checks import read_by_slurm
from dovetail.live.install.slurm_conf import with_block, without_block
from dovetail.slurm.conf import settings_of_conf
from tests.live.slurm import Cluster

CONF = "ClusterName=test\nSchedulerType=sched/backfill # as ever\n"
STAMP = "20260101T120000"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(prefix=tmp_path)
    conf = places.on_disk(places.slurm_conf)
    conf.parent.mkdir(parents=True)
    conf.write_text(CONF)
    return places


def look(places: Places) -> SlurmSite:
    return look_at_site(places, "/opt/dovetail/bin/dovetail")


def install(places: Places, parts: frozenset[InstallPart] = ALL_PARTS) -> None:
    carry_out(plan_install(look(places), parts), STAMP)


def uninstall(places: Places) -> None:
    """Both steps, before and after `scontrol reconfigure`."""
    carry_out(plan_uninstall(look(places)), STAMP)
    carry_out(plan_uninstall(look(places)), STAMP)


def content(places: Places) -> dict[str, bytes]:
    """All files below the prefix but copies of what was there before."""
    return {
        str(path.relative_to(places.prefix)): path.read_bytes()
        for path in places.prefix.rglob("*")
        if path.is_file() and "before-dovetail" not in path.name
    }


def set_conf(places: Places, text: str) -> None:
    places.on_disk(places.slurm_conf).write_text(text)


conf_texts = st.text(st.sampled_from('ab=#\n\r\t é\\"'), max_size=200)


@given(conf_texts, st.lists(st.sampled_from(["A=1", "PrologSlurmctld=/x", "B=2 # c"]), max_size=3))
def test_taking_the_block_out_gives_the_same_text_byte_for_byte(
    text: str, lines: list[str]
) -> None:
    changed = with_block(text, lines)
    assert without_block(changed) == text
    assert with_block(changed, lines) == changed
    assert settings_of_conf(changed) == settings_of_conf(text) | settings_of_conf("\n".join(lines))


def test_an_installation_writes_these_files_and_no_others(places: Places) -> None:
    install(places)
    assert sorted(content(places)) == [
        "etc/dovetail/alerts.yml",
        "etc/dovetail/dovetail.toml",
        "etc/dovetail/submit.conf",
        "etc/slurm/dovetail_submit.lua",
        "etc/slurm/job_submit.lua",
        "etc/slurm/slurm.conf",
        "etc/systemd/system/dovetail-live.service",
        "usr/local/libexec/dovetail/wake",
    ]
    assert os.access(places.on_disk(places.wake), os.X_OK)
    for text in content(places).values():
        assert str(places.prefix).encode() not in text
        assert b"@run_dir@" not in text
    said = settings_of_conf(places.on_disk(places.slurm_conf).read_text())
    assert said["prologslurmctld"] == said["epilogslurmctld"] == "/usr/local/libexec/dovetail/wake"
    assert said["jobsubmitplugins"] == "lua"


def test_a_second_installation_has_nothing_to_do(places: Places) -> None:
    install(places)
    assert plan_install(look(places), ALL_PARTS) == ()


def test_an_uninstallation_leaves_everything_as_it_was(places: Places) -> None:
    before = content(places)
    install(places)
    assert content(places) != before
    uninstall(places)
    assert content(places) == before
    assert plan_uninstall(look(places)) == ()


def test_a_hook_is_there_for_as_long_as_slurm_may_run_it(places: Places) -> None:
    plan = plan_install(look(places), ALL_PARTS)
    assert plan[-1].path == places.slurm_conf
    carry_out(plan, STAMP)
    carry_out(plan_uninstall(look(places)), STAMP)
    assert "PrologSlurmctld" not in places.on_disk(places.slurm_conf).read_text()
    assert places.on_disk(places.wake).exists()
    carry_out(plan_uninstall(look(places)), STAMP)
    assert not places.on_disk(places.wake).exists()


def test_the_file_that_is_changed_is_kept_as_a_copy(places: Places) -> None:
    steps = carry_out(plan_install(look(places), ALL_PARTS), STAMP)
    (copy,) = [step.copy for step in steps if step.copy]
    assert copy.name == f"slurm.conf.before-dovetail-{STAMP}"
    assert copy.read_text() == CONF


def test_the_diff_shows_every_line_that_is_added(places: Places) -> None:
    plan = plan_install(look(places), ALL_PARTS)
    shown = diff(plan)
    for change in plan:
        assert f"+++ {change.path}\n" in shown
        added = set((change.after or "").splitlines()) - set((change.before or "").splitlines())
        assert all(f"+{line}\n" in shown for line in added)
    assert "\n-" not in shown.replace("\n--- ", "\n")


def test_planning_changes_nothing(places: Places) -> None:
    before = content(places)
    plan_install(look(places), ALL_PARTS)
    plan_uninstall(look(places))
    assert content(places) == before


def test_settings_of_the_operator_survive_an_update_and_an_uninstallation(places: Places) -> None:
    install(places)
    for path in (places.config, places.submit_settings):
        places.on_disk(path).write_text("# mine\n")
    install(places)
    uninstall(places)
    assert sorted(content(places)) == [
        "etc/dovetail/dovetail.toml",
        "etc/dovetail/submit.conf",
        "etc/slurm/slurm.conf",
    ]
    assert len(left_behind(look(places))) == 2


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("PrologSlurmctld=/site/prolog", "add the line /usr/local/libexec/dovetail/wake"),
        ("epilogslurmctld = /site/epilog # ours", "/site/epilog"),
        ("JobSubmitPlugins=throttle", "make it throttle,lua"),
    ],
)
def test_what_the_site_has_already_set_is_not_overridden(
    places: Places, line: str, advice: str
) -> None:
    set_conf(places, f"{CONF}{line}\n")
    with pytest.raises(InstallRefused, match="nothing was changed") as refusal:
        plan_install(look(places), ALL_PARTS)
    assert advice in str(refusal.value)


def test_included_files_count_as_well(places: Places) -> None:
    set_conf(places, f"{CONF}include parts/*.conf\n")
    part = places.on_disk(places.slurm_conf).parent / "parts" / "hooks.conf"
    part.parent.mkdir()
    part.write_text("PrologSlurmctld=/site/prolog\n")
    with pytest.raises(InstallRefused, match="/site/prolog"):
        plan_install(look(places), ALL_PARTS)


def test_other_parts_can_be_installed_beside_a_sites_own_hooks(places: Places) -> None:
    set_conf(places, f"{CONF}PrologSlurmctld=/site/prolog\n")
    install(places, frozenset({InstallPart.SERVICE, InstallPart.SUBMIT}))
    said = settings_of_conf(places.on_disk(places.slurm_conf).read_text())
    assert said["prologslurmctld"] == "/site/prolog"
    assert said["jobsubmitplugins"] == "lua"


def test_a_sites_own_submit_script_is_kept_and_loads_ours_when_its_owner_says_so(
    places: Places,
) -> None:
    set_conf(places, f"{CONF}JobSubmitPlugins=throttle,lua\n")
    script = places.on_disk(places.job_submit)
    script.write_text("-- the site's\n")
    with pytest.raises(InstallRefused) as refusal:
        plan_install(look(places), ALL_PARTS)
    line = include_line(look(places))
    assert line in str(refusal.value)

    script.write_text(f"-- the site's\n{line}\n")
    install(places)
    assert script.read_text() == f"-- the site's\n{line}\n"
    said = settings_of_conf(places.on_disk(places.slurm_conf).read_text())
    assert said["jobsubmitplugins"] == "throttle,lua"
    uninstall(places)
    assert script.read_text() == f"-- the site's\n{line}\n"
    assert any("job_submit.lua" in note for note in left_behind(look(places)))


def test_the_service_alone_needs_no_slurm_conf(tmp_path: Path) -> None:
    places = Places(prefix=tmp_path)
    install(places, frozenset({InstallPart.SERVICE}))
    assert len(content(places)) == 3
    with pytest.raises(InstallRefused, match="--slurm-conf"):
        plan_install(look(places), ALL_PARTS)


def test_a_file_that_changed_since_it_was_shown_stops_everything(places: Places) -> None:
    plan = plan_install(look(places), ALL_PARTS)
    set_conf(places, f"{CONF}# changed meanwhile\n")
    before = content(places)
    with pytest.raises(InstallRefused, match="changed since it was shown"):
        carry_out(plan, STAMP)
    assert content(places) == before


def test_without_slurm_s_lua_plug_in_the_submit_script_is_refused(
    places: Places, tmp_path: Path
) -> None:
    folder = tmp_path / "plugins"
    folder.mkdir()
    site = replace(look(places), plugin_folders=(folder,))
    with pytest.raises(InstallRefused, match="slurmctld would not start") as refusal:
        plan_install(site, ALL_PARTS)
    assert str(folder) in str(refusal.value)
    assert plan_install(site, frozenset({InstallPart.HOOKS}))
    (folder / "job_submit_lua.so").touch()
    assert plan_install(site, ALL_PARTS)


def test_where_a_step_fails_every_file_is_as_it_was(places: Places) -> None:
    before = content(places)

    def refuse(change: FileChange) -> str:
        if change.path == places.slurm_conf:
            raise ConfigError("Slurm cannot read it")
        return "fine"

    with pytest.raises(ConfigError, match=r"Slurm cannot read it. Every file is as it was"):
        carry_out(plan_install(look(places), ALL_PARTS), STAMP, refuse)
    assert content(places) == before


def test_every_step_says_how_it_was_checked(places: Places) -> None:
    steps = carry_out(plan_install(look(places), ALL_PARTS), STAMP)
    assert {step.said for step in steps} == {"written, read back the same"}


def test_slurm_itself_reads_the_new_configuration_or_it_is_undone(
    cluster: Cluster, tmp_path: Path
) -> None:
    conf = tmp_path / "slurm.conf"
    text = cluster.layout.slurm_conf.read_text()
    change = FileChange(conf, conf, None, text + "JobSubmitPluginz=lua\n")
    with pytest.raises(ConfigError, match="unrecognized key: JobSubmitPluginz"):
        carry_out([change], STAMP, read_by_slurm(conf))
    assert not conf.exists()
    (step,) = carry_out([replace(change, after=text)], STAMP, read_by_slurm(conf))
    assert step.said == "written, read back the same; scontrol reads it without complaint"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_link_that_slurm_s_user_made_leads_root_nowhere(places: Places) -> None:
    conf = places.on_disk(places.slurm_conf)
    victim = places.prefix / "passwd"
    victim.write_text("root:x:0:0")
    conf.unlink()
    conf.symlink_to(victim)
    os.lchown(conf, 65_534, 65_534)
    os.chown(conf.parent, 65_534, 65_534)
    with pytest.raises(ConfigError):
        carry_out(plan_install(look(places), ALL_PARTS), STAMP)
    assert victim.read_text() == "root:x:0:0"


def test_a_slurm_conf_that_is_a_link_stays_one_and_keeps_its_mode(places: Places) -> None:
    conf = places.on_disk(places.slurm_conf)
    real = conf.with_name("real.conf")
    conf.rename(real)
    real.chmod(0o640)
    conf.symlink_to("real.conf")
    install(places)
    assert conf.is_symlink()
    assert "dovetail" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def test_bytes_that_are_no_text_survive(places: Places) -> None:
    conf = places.on_disk(places.slurm_conf)
    conf.write_bytes(b"# caf\xe9\nClusterName=x")
    install(places)
    uninstall(places)
    assert conf.read_bytes() == b"# caf\xe9\nClusterName=x"


def test_rights_are_given_to_a_user_of_its_own(places: Places) -> None:
    steps = next_steps(look(places), ALL_PARTS)
    assert (
        "sacctmgr", "-i", "add", "user", "dovetail", "account=root", "adminlevel=operator"
    ) in steps  # fmt: skip
    assert ("systemctl", "restart", "slurmctld") in steps
    service = next_steps(look(places), frozenset({InstallPart.SERVICE}))
    assert ("systemctl", "restart", "slurmctld") not in service


def test_slurms_own_user_is_let_into_the_run_folder(places: Places) -> None:
    join = ("usermod", "--append", "--groups", "dovetail", "slurm")
    assert join not in next_steps(look(places), ALL_PARTS)
    set_conf(places, f"{CONF}SlurmUser=slurm\n")
    assert join in next_steps(look(places), ALL_PARTS)
