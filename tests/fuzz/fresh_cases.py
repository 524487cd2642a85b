"""A pytest plugin: tests on generated cases take fresh ones, and more, from `--hypothesis-seed`.

    pytest -p tests.fuzz.fresh_cases --hypothesis-seed=17 tests/simulator

In `make test` they are derandomised, so that a change is judged by the cases that others saw.
"""

from __future__ import annotations

import pytest
from hypothesis import is_hypothesis_test, settings

SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis keeps what `@settings` was given; it offers no other way to change it."""


MORE = 20
"""Times as many cases as in `make test`, where the same ones come back in every run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = {item.obj for item in items if isinstance(item, pytest.Function)}
    for test in tests:
        if is_hypothesis_test(test) and hasattr(test, SETTINGS):
            given: settings = getattr(test, SETTINGS)
            setattr(
                test,
                SETTINGS,
                settings(given, derandomize=False, max_examples=MORE * given.max_examples),
            )
