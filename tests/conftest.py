"""How the tests are run: the longest first, and with --quick those that fit into every save.

pytest --quick      neither Slurm nor training, few of the generated cases
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.fuzz.fresh_cases import SETTINGS

# A loaded machine is no fault of the code: how long a case may take is not judged here. A change
# is judged by the cases that others saw; fresh ones are for `make fuzz`.
settings.register_profile("dovetail", deadline=None, derandomize=True, database=None)
settings.load_profile("dovetail")

# Each worker imports a million objects that stay; Python would look through them again and again.
gc.set_threshold(100_000)

QUICK_EXAMPLES = 10

SLURM = ("cluster", "start_cluster", "live", "full", "accounted")
"""Fixtures that start a Slurm."""

LONG = (
    "tests/live/whole",
    "tests/cli/test_interrupts.py",
    "tests/simulator/test_kth.py",
    "tests/live/service/test_daemon.py",
    "tests/live/systemd",
    "tests/agents",
    "tests/mig/agents",
    "tests/docs/test_site.py",
    "tests/cli/mig/test_train_and_evaluate.py",
    "tests/cli/test_train_and_evaluate.py",
    "tests/live/install/test_installed_cluster.py",
    "tests/mig/policies/test_unsure_prices.py",
    "tests/mig/evaluation",
    "tests/traces/test_parquet_trial.py",
    "tests/test_compile_cache.py",
    "tests/cli/test_output_targets.py",
    "tests/fuzz",
    "tests/evaluation/test_bounds.py",
    "tests/benchmarks",
)
"""What takes longest, roughly in this order. They begin first, so that no worker is left alone
with one at the end."""


NOT_QUICK = (
    *LONG,
    "tests/cli",
    "tests/conformance",
    "tests/docs/test_examples.py",
    "tests/envs/selector_allocator/test_pettingzoo.py",
    "tests/envs/test_illegal_actions.py",
    "tests/envs/test_maskable_ppo.py",
    "tests/envs/test_stepping.py",
    "tests/extensions",
    "tests/live/backends/test_backend.py",
    "tests/live/install/test_submit_script.py",
    "tests/live/journal/test_crash.py",
    "tests/live/journal/test_retention.py",
    "tests/live/plugin",
    "tests/live/service",
    "tests/mig/policies/test_damaged_models.py",
    "tests/mig/simulator/test_against_oracle.py",
    "tests/models",
    "tests/policies/test_function_ordering.py",
    "tests/simulator/test_against_oracle.py",
    "tests/simulator/test_invariants.py",
    "tests/simulator/test_planned_placement.py",
    "tests/style/test_examples.py",
    "tests/telemetry/test_sources.py",
    "tests/traces/test_large_and_real_traces.py",
)
"""What a quick run leaves out: besides the longest, what trains, starts processes,
compiles much or is large."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="no Slurm, no training, few cases")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A quick run does not even import what it leaves out: torch and Ray alone take seconds."""
    name = collection_path.relative_to(config.rootpath).as_posix()
    return True if config.getoption("--quick") and name.startswith(NOT_QUICK) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    gc.freeze()
    items[:] = _woven(items)
    if not config.getoption("--quick"):
        return
    left_out = [item for item in items if _needs_slurm(item)]
    items[:] = [item for item in items if item not in set(left_out)]
    config.hook.pytest_deselected(items=left_out)
    for test in {item.obj for item in items if isinstance(item, pytest.Function)}:
        if is_hypothesis_test(test) and hasattr(test, SETTINGS):
            given: settings = getattr(test, SETTINGS)
            few = min(given.max_examples, QUICK_EXAMPLES)
            setattr(test, SETTINGS, settings(given, max_examples=few))


def _woven(items: list[pytest.Item]) -> list[pytest.Item]:
    """Files of the live part, which mostly wait for Slurm, evenly among those that compute."""
    files: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=_rank):
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    places: dict[str, float] = {}
    for waits in (True, False):
        alike = [name for name in files if name.startswith("tests/live/") is waits]
        places.update({name: at / len(alike) for at, name in enumerate(alike)})
    return [item for name in sorted(files, key=lambda name: places[name]) for item in files[name]]


def _rank(item: pytest.Item) -> int:
    places = (place for place, start in enumerate(LONG) if item.nodeid.startswith(start))
    return next(places, len(LONG))


def _needs_slurm(item: pytest.Item) -> bool:
    return any(name in getattr(item, "fixturenames", ()) for name in SLURM)
