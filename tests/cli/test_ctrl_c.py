"""Ctrl-C that comes while an object is being deleted is not lost."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from dovetail.cli.ctrl_c import interrupt, listen


class Leaving:
    """Somebody presses Ctrl-C in the middle of its end."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_it_comes_again_after_a_deletion() -> None:
    signal.signal(signal.SIGINT, interrupt)
    Leaving()
    with pytest.raises(KeyboardInterrupt):
        time.sleep(60.0)  # it does not wait for the end of this


def test_elsewhere_it_comes_at_once() -> None:
    signal.signal(signal.SIGINT, interrupt)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_who_ignores_it_goes_on_ignoring_it() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listen()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
