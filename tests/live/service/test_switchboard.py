"""The folder through which operators and hooks reach the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.model.mode import Mode
from dovetail.live.service.switchboard import Switchboard


@pytest.fixture
def board(tmp_path: Path) -> Switchboard:
    board = Switchboard(tmp_path / "run")
    board.open()
    return board


def test_a_call_wakes_the_daemon_and_counts_once(board: Switchboard) -> None:
    other = Switchboard(board.folder)
    assert other.wake()
    assert other.wake()
    assert board.wait(5.0)
    assert not board.wait(0.0)
    board.close()


def test_nobody_listening_is_no_error(tmp_path: Path) -> None:
    assert not Switchboard(tmp_path).wake()


def test_a_flood_of_calls_never_blocks_the_caller(board: Switchboard) -> None:
    for _ in range(100_000):
        board.wake()
    assert board.wait(1.0)
    board.close()


def test_a_mode_that_was_asked_for_is_found(board: Switchboard) -> None:
    assert board.asked_mode() is None
    board.ask_for(Mode.ACTIVE, "ada")
    assert board.asked_mode() is Mode.ACTIVE
    (board.folder / "mode").write_bytes(b"\xff\xfe nonsense")
    assert board.asked_mode() is None
    board.close()


def test_the_kill_switch_is_a_file_and_a_lost_folder_counts_as_on(board: Switchboard) -> None:
    assert not board.stopped
    (board.folder / "stop").touch()
    assert board.stopped
    board.close()
    assert Switchboard(board.folder / "gone").stopped


def test_a_lost_folder_says_what_it_is_and_names_no_switch_that_is_not_there(
    board: Switchboard,
) -> None:
    assert board.lost == ""
    board.close()
    gone = Switchboard(board.folder / "gone")
    assert gone.lost == (
        f"{gone.folder}: there is no such run folder; start the daemon, which makes it, or give "
        "the daemon's --config"
    )
    (board.folder / "plain").touch()
    inside = Switchboard(board.folder / "plain" / "run")
    assert "cannot be looked into (Not a directory)" in inside.lost
    assert inside.stopped


def test_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(ConfigError, match="chmod 750"):
        Switchboard(tmp_path).open()


def test_status_survives_what_cannot_be_read(board: Switchboard) -> None:
    assert board.status() is None
    board.tell({"sentence": "all well", "nan": float("nan")})
    assert (board.status() or {})["sentence"] == "all well"
    (board.folder / "status.json").write_text("[")
    assert board.status() is None
    board.close()
