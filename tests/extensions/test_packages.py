"""Parts of an installed package appear everywhere; a broken package is named and stops nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Said
from tests.extensions.package import install_broken, install_good

TRACE = "# mine\nid,submit,duration,gpus\n" + "".join(
    f"{n},{n * 10},{100 + n},{1 + n % 4}\n" for n in range(40)
)
Run = Callable[..., Said]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site-packages")
    install_good(folder)
    install_broken(folder)
    return folder


def python(packages: Path, *arguments: object) -> Said:
    found = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "COLUMNS": "120", "PYTHONPATH": str(packages)},
        check=False,
    )
    assert "Traceback" not in found.stderr, found.stderr
    return Said(found.returncode, found.stdout, found.stderr)


def dovetail(packages: Path, *arguments: object) -> Said:
    return python(packages, "-m", "dovetail.cli", *arguments)


def test_the_list_of_policies_has_them_and_names_the_broken_package(packages: Path) -> None:
    said = dovetail(packages, "policies")
    assert said.code == 0
    for name in ("widest", "emptiest", "guess", "saf", "best-fit"):
        assert any(line.startswith(f"{name} ") for line in said.out.splitlines()), name
    assert "-g: the widest job first" in said.out
    warnings = [line for line in said.err.splitlines() if line.startswith("warning: ")]
    for name, why in (
        ("absent", "No module named 'no_such_module'"),
        ("raises", "RuntimeError: no licence server"),
        ("wrong", "it is int, expected Ordering"),
        ("saf", "the name 'saf' is taken"),
        ("absent-place", "No module named"),
        ("absent-agent", "No module named"),
    ):
        (line,) = [line for line in warnings if f" {name!r} of the package" in line]
        assert "spoilt-parts 1.2" in line
        assert why in line


def test_comparisons_take_them_from_a_trace_in_their_format(packages: Path, tmp_path: Path) -> None:
    trace = tmp_path / "history.txt"
    trace.write_text(TRACE)
    for workers in (1, 2):
        said = dovetail(
            packages, "compare", trace, "--cluster", "2x4", "--policies", "saf,widest@emptiest",
            "--estimates", "predicted:second", "--workers", workers,
            "--json", tmp_path / f"{workers}.json",
        )  # fmt: skip
        assert said.code == 0, said.err
        assert "widest" in said.out
    one, two = (timeless(json.loads((tmp_path / f"{n}.json").read_text())) for n in (1, 2))
    assert one == two


def timeless(figures: Any) -> Any:
    """All figures but how long the simulator took."""
    if isinstance(figures, list):
        return [timeless(part) for part in figures]
    if not isinstance(figures, dict):
        return figures
    return {key: timeless(value) for key, value in figures.items() if key != "sim_seconds"}


def test_a_broken_part_that_is_asked_for_is_an_error_in_one_line(packages: Path) -> None:
    said = dovetail(
        packages, "simulate", "synth:helios", "--cluster", "2x8", "--jobs", "20",
        "--order", "raises",
    )  # fmt: skip
    assert said.code == 2
    errors = [line for line in said.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "'raises' of the package spoilt-parts 1.2 cannot be used: RuntimeError" in errors[0]


def test_a_part_that_fails_at_work_is_an_error_that_names_the_package(
    packages: Path, tmp_path: Path
) -> None:
    (tmp_path / "trace").write_text("# crash\n")
    said = dovetail(packages, "trace", "inspect", tmp_path / "trace")
    assert said.code == 1
    (error,) = [line for line in said.err.splitlines() if line.startswith("error: ")]
    assert error == (
        "error: the package spoilt-parts 1.2 failed (crashing.py line 5): KeyError: 'submit'"
    )


def test_an_agent_trains_with_settings_of_its_own(packages: Path, tmp_path: Path) -> None:
    said = dovetail(
        packages, "train", "--agent", "guess", "--trace", "synth:helios", "--jobs", "200",
        "--cluster", "2x8", "--set", "scale=0.5", "--epochs", "3", "--out", tmp_path / "model",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "(epoch 3)" in said.out
    said = dovetail(
        packages, "train", "--agent", "guess", "--trace", "synth:helios", "--jobs", "200",
        "--cluster", "2x8", "--set", "scales=0.5", "--out", tmp_path / "other",
    )  # fmt: skip
    assert said.code == 2
    assert "write NAME=VALUE with one of epochs, estimates, scale, seed" in said.err


CHECKS = """
from pathlib import Path
import mine
import gymnasium
from dovetail import testing
from dovetail.agents.catalogue import AGENTS
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import PREDICTORS
from dovetail.traces.formats import FORMATS
testing.check_ordering(ORDERINGS["widest"])
testing.check_placement(PLACEMENTS["emptiest"])
testing.check_predictor(PREDICTORS["second"])
testing.check_format(FORMATS["mine"], Path("history.txt"))
testing.check_agent(AGENTS["guess"], Path("model"), epochs=1)
testing.check_environment("mine/Coin-v0")
try:
    gymnasium.make("broken/Absent-v0")
except Exception as problem:
    print(type(problem).__name__, problem)
"""


def test_they_pass_the_checks_that_ours_pass(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "history.txt").write_text(TRACE)
    (tmp_path / "checks.py").write_text(f"import os\nos.chdir({str(tmp_path)!r})\n{CHECKS}")
    said = python(packages, tmp_path / "checks.py")
    assert said.code == 0, said.err
    assert "ExtensionError environment 'broken/Absent-v0' of the package spoilt-parts" in said.out


def test_what_needs_no_foreign_part_does_not_import_the_packages(packages: Path) -> None:
    code = (
        "import sys\n"
        "from dovetail.policies.policy import as_policy\n"
        "as_policy('saf+easy@fgd').parts()\n"
        "assert not {'mine', 'spoilt', 'rightful'} & sys.modules.keys()\n"
    )
    assert python(packages, "-c", code).code == 0
