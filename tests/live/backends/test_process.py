"""Programs that hang, die, talk too much or fail: each is reported, none outlives its call."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dovetail.live.backends import commands_backend
from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.backends.slurm import process as process_module
from dovetail.live.backends.slurm.process import Commands, environment
from dovetail.live.backends.slurm.scontrol import NO_ANSWER, apply_changes, refusal
from dovetail.live.config import SlurmConfig
from dovetail.live.model.decision import Change, Knob, Value


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def commands(folder: Path, timeout: float = 20.0) -> Commands:
    return Commands(SlurmConfig(bin=str(folder), timeout=timeout))


def change(label: str, after: Value = 5, knob: Knob = Knob.SITE_FACTOR) -> Change:
    return Change(1, label, knob, 0, after, "test")


def test_a_program_that_hangs_is_ended_with_all_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program(tmp_path, "squeue", f"sleep 300 & echo $! $$ > {pids}; wait")
    with pytest.raises(Unreachable, match=r"no answer within 0\.5 s"):
        commands(tmp_path, 0.5).ask("squeue")
    for pid in pids.read_text().split():
        until = time.monotonic() + 10
        while _alive(int(pid)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not _alive(int(pid))


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_program_that_closes_its_output_and_stays_is_ended_too(tmp_path: Path) -> None:
    program(tmp_path, "squeue", "exec >&- 2>&-; sleep 300")
    assert commands(tmp_path, 0.5).run("squeue").code is None


def test_an_error_text_with_exit_code_zero_is_an_error(tmp_path: Path) -> None:
    program(tmp_path, "squeue", "echo 'squeue: error: slurm_load_jobs: no' >&2")
    with pytest.raises(Unreachable, match="slurm_load_jobs"):
        commands(tmp_path).ask("squeue")


def test_an_exit_code_is_an_error_even_with_output(tmp_path: Path) -> None:
    program(tmp_path, "squeue", "echo 7; exit 1")
    with pytest.raises(Unreachable, match="exit code 1"):
        commands(tmp_path).ask("squeue")


def test_a_program_killed_by_a_signal_is_asked_once_more(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program(tmp_path, "squeue", f"[ -e {mark} ] && echo fine && exit; touch {mark}; kill -PIPE $$")
    assert commands(tmp_path).ask("squeue") == "fine\n"
    program(tmp_path, "squeue", "kill -PIPE $$")
    with pytest.raises(Unreachable, match="exit code -13"):
        commands(tmp_path).ask("squeue")


def test_a_missing_program_says_which_setting_to_change(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match=r"slurm\.bin"):
        commands(tmp_path).ask("squeue")


def test_endless_output_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "MAX_OUTPUT", 2**20)
    program(tmp_path, "squeue", "exec yes")
    with pytest.raises(Unreadable, match="more than 1 MB"):
        commands(tmp_path).ask("squeue")


def test_long_input_and_output_flow_at_the_same_time(tmp_path: Path) -> None:
    program(tmp_path, "scontrol", "exec cat")
    text = "x" * 3_000_000
    assert commands(tmp_path).run("scontrol", stdin=text).output == text.encode()


def test_words_reach_the_program_as_they_are(tmp_path: Path) -> None:
    program(tmp_path, "squeue", 'printf "%s|" "$@"')
    assert commands(tmp_path).ask("squeue", "$(id)", "a b", ";") == "$(id)|a b|;|"


def test_programs_see_only_what_slurm_needs() -> None:
    ours = {"PATH": "/bin", "SQUEUE_FORMAT": "%i", "SECRET": "x", "SLURM_CONF": "/a"}
    seen = environment(ours, "/etc/slurm.conf")
    assert seen["SLURM_CONF"] == "/etc/slurm.conf"
    assert seen["PATH"] == "/bin"
    assert seen["LC_ALL"] == "C"
    assert not {"SQUEUE_FORMAT", "SECRET"} & seen.keys()
    assert environment(ours, "")["SLURM_CONF"] == "/a"


def test_after_a_failure_the_controller_is_pinged_before_anything_else(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    program(tmp_path, "squeue", f"echo squeue >> {asked}; exit 1")
    program(tmp_path, "scontrol", f"echo $1 >> {asked}; echo Slurmctld is DOWN; exit 1")
    backend = commands_backend(SlurmConfig(bin=str(tmp_path)))
    for _ in range(3):
        with pytest.raises(Unreachable):
            backend.read()
    assert asked.read_text().split() == ["squeue", "ping", "ping"]


def test_an_empty_queue_is_believed_only_of_a_controller_that_is_up(tmp_path: Path) -> None:
    # The header is in the words of the question: that is how squeue would print it.
    header = 'eval "f=\\${$#}"; echo "$f" | tr -d "\\n" | sed "s/[^,:]*:\\([^,]*\\),*/X\\1/g"; echo'
    program(tmp_path, "squeue", header)
    program(tmp_path, "scontrol", "echo 'Slurmctld(primary) at vm is DOWN'; exit 1")
    with pytest.raises(Unreachable, match="is DOWN"):
        commands_backend(SlurmConfig(bin=str(tmp_path))).read()


@pytest.mark.parametrize("garbage", ["", "Segmentation fault", "slurm 22.05.8", "<html></html>"])
def test_garbage_with_exit_code_zero_is_never_an_empty_queue(tmp_path: Path, garbage: str) -> None:
    program(tmp_path, "squeue", f"echo '{garbage}'")
    program(tmp_path, "sprio", f"echo '{garbage}'")
    program(tmp_path, "scontrol", "echo 'Slurmctld(primary) at vm is UP'")
    backend = commands_backend(SlurmConfig(bin=str(tmp_path)))
    with pytest.raises(Unreadable, match="no header"):
        backend.read()
    with pytest.raises(Unreadable, match="no header"):
        backend.factors()


def test_a_slurm_that_orders_by_arrival_has_no_factors(tmp_path: Path) -> None:
    said = "You are not running a supported priority plugin\n(priority/basic)."
    program(tmp_path, "sprio", f"echo '{said}' >&2; exit 1")
    assert commands_backend(SlurmConfig(bin=str(tmp_path))).factors() == {}
    program(tmp_path, "sprio", "echo 'sprio: error: no contact' >&2; exit 1")
    with pytest.raises(Unreachable):
        commands_backend(SlurmConfig(bin=str(tmp_path))).factors()


def test_changes_that_a_hanging_scontrol_did_not_confirm_are_unknown(tmp_path: Path) -> None:
    script = 'read a; read b; echo "invalid keyword: $b" >&2; read a; sleep 300'
    program(tmp_path, "scontrol", script)
    results = apply_changes(commands(tmp_path, 1.0), [change("1"), change("2"), change("3")])
    assert [result.error for result in results] == ["", NO_ANSWER, NO_ANSWER]


def test_complaints_belong_to_the_command_before_the_mark(tmp_path: Path) -> None:
    script = """
while read line; do
  case "$line" in
    @*) echo "invalid keyword: $line" >&2 ;;
    *=2*) echo "Job has already finished" >&2; echo "slurm_update error" >&2 ;;
  esac
done
exit 1"""
    program(tmp_path, "scontrol", script)
    results = apply_changes(commands(tmp_path), [change("1"), change("2"), change("3")])
    assert [result.error for result in results] == [
        "",
        "Job has already finished slurm_update error",
        "",
    ]


def test_many_changes_are_shared_among_processes_and_each_gets_its_own_answer(
    tmp_path: Path,
) -> None:
    script = f"""
echo x >> {tmp_path}/started
while read line; do
  case "$line" in
    @*) echo "invalid keyword: $line" >&2 ;;
    *=7\\ *) echo "Job has already finished" >&2 ;;
  esac
done
exit 1"""
    program(tmp_path, "scontrol", script)
    results = apply_changes(commands(tmp_path), [change(str(job)) for job in range(1, 201)])
    assert [result.change.label for result in results if not result.done] == ["7"]
    assert [result.change.label for result in results] == [str(job) for job in range(1, 201)]
    assert len((tmp_path / "started").read_text().split()) > 1


def test_a_scontrol_that_dies_is_sent_the_rest_once_more(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = f"""
read a; read b; echo "invalid keyword: $b" >&2; echo $a >> {tmp_path}/done
[ -e {mark} ] || {{ touch {mark}; kill -PIPE $$; }}"""
    program(tmp_path, "scontrol", script)
    results = apply_changes(commands(tmp_path), [change("1"), change("2")])
    assert [result.error for result in results] == ["", ""]
    assert [line.split()[1] for line in (tmp_path / "done").read_text().splitlines()] == [
        "jobid=1",
        "jobid=2",
    ]


@pytest.mark.parametrize(
    "label", ["1\nshutdown", "1 priority=5", "", "all", "1_[1;2]", "1,2", "-1"]
)
def test_labels_that_are_no_job_ids_are_not_sent(label: str) -> None:
    assert "is no job id" in refusal(change(label))


@pytest.mark.parametrize("label", ["1", "17_4", "17_[5-90]", "17_[1,3-5]", "17+1"])
def test_labels_of_all_kinds_are_sent(label: str) -> None:
    assert refusal(change(label)) == ""


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        (Knob.SITE_FACTOR, "abc"),
        (Knob.SITE_FACTOR, 2147483646),
        (Knob.SITE_FACTOR, "1\n"),
        (Knob.SITE_FACTOR, None),
        (Knob.PRIORITY, 0),
        (Knob.PRIORITY, 4294967294),
        (Knob.NODE, "a1,a2"),
        (Knob.NODE, "a1 priority=1"),
        (Knob.NODE, "a1\nshutdown"),
        (Knob.NODE, 1),
        (Knob.FEATURES, "m40|k80"),
        (Knob.FEATURES, "m40 priority=1"),
        (Knob.FEATURES, "m40\nshutdown"),
        (Knob.FEATURES, None),
    ],
)
def test_values_that_slurm_would_misread_are_not_sent(knob: Knob, value: Value) -> None:
    assert refusal(change("1", value, knob)).startswith("not sent")


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        (Knob.SITE_FACTOR, -2147483645),
        (Knob.PRIORITY, 4294967293),
        (Knob.PRIORITY, None),
        (Knob.NODE, "gpu-1.example"),
        (Knob.NODE, ""),
        (Knob.FEATURES, "gpu:m40-24g"),
        (Knob.FEATURES, ""),
    ],
)
def test_values_of_all_knobs_are_sent(knob: Knob, value: Value) -> None:
    assert refusal(change("1", value, knob)) == ""


def test_nothing_to_change_starts_nothing(tmp_path: Path) -> None:
    program(tmp_path, "scontrol", f"touch {tmp_path}/ran")
    assert apply_changes(commands(tmp_path), []) == []
    assert not (tmp_path / "ran").exists()
    assert os.listdir(tmp_path) == ["scontrol"]


def many(count: int = 60) -> list[Change]:
    return [Change(job, str(job), Knob.SITE_FACTOR, 0, 37, "") for job in range(1, count + 1)]


def test_many_changes_that_all_succeed_take_one_round_without_marks(tmp_path: Path) -> None:
    program(tmp_path, "scontrol", f"cat >> {tmp_path}/sent")
    results = apply_changes(Commands(SlurmConfig(bin=str(tmp_path))), many())
    assert all(result.done for result in results)
    assert len((tmp_path / "sent").read_text().splitlines()) == 60


def test_of_many_changes_the_one_that_fails_is_told(tmp_path: Path) -> None:
    script = (
        'while read line; do case $line in @*) echo "invalid keyword: $line" >&2;; '
        "*jobid=7\\ *) echo 'Invalid job id specified' >&2; bad=1;; esac; done; exit ${bad:-0}"
    )
    program(tmp_path, "scontrol", script)
    results = apply_changes(Commands(SlurmConfig(bin=str(tmp_path))), many())
    assert [r.change.job for r in results if not r.done] == [7]
