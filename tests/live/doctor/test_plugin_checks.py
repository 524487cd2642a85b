"""The doctor on the plug-in: every way in which a table would not count is told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.live.config import LiveConfig, SlurmConfig
from dovetail.live.doctor import CheckLevel, Facts
from dovetail.live.doctor.plugin_checks import LOADED, plugin
from dovetail.live.doctor.slurm_checks import priority_type

TABLE = "/run/dovetail/factors"
SETTINGS = {
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "PrioritySiteFactorParameters": f"table={TABLE},owner=dovetail",
    "PrioritySiteFactorPlugin": LOADED,
    "PriorityType": "priority/multifactor",
}
FACTS = Facts(
    config=LiveConfig(slurm=SlurmConfig(backend="plugin", plugin_table=TABLE)),
    user="dovetail",
    version="slurm 22.05.8",
    settings=SETTINGS,
)


def test_a_plugin_that_fits_is_fine() -> None:
    assert plugin(FACTS).level is CheckLevel.OK
    assert priority_type(FACTS).level is CheckLevel.OK


def test_without_plugin_there_is_nothing_to_say() -> None:
    plain = Facts(version="slurm 22.05.8", settings={"PriorityType": "priority/multifactor"})
    assert plugin(plain).level is CheckLevel.OK


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        (replace(FACTS, settings={**SETTINGS, "PrioritySiteFactorPlugin": "(null)"}), "not loaded"),
        (replace(FACTS, settings={**SETTINGS, "PrioritySiteFactorParameters": "table=/x"}), "/x"),
        (replace(FACTS, user="nobody"), "nobody"),
        (replace(FACTS, table_problem="/run/dovetail: nobody may not"), "may not"),
        (replace(FACTS, settings={**SETTINGS, "AccountingStorageType": "(null)"}), "slurmdbd"),
    ],
)
def test_whatever_keeps_a_table_from_counting_is_a_problem(facts: Facts, word: str) -> None:
    found = plugin(facts)
    assert found.level is CheckLevel.PROBLEM
    assert word in found.message
    assert found.fix


def test_newer_versions_need_no_database() -> None:
    facts = replace(FACTS, settings={**SETTINGS, "AccountingStorageType": "(null)"})
    assert plugin(replace(facts, version="slurm 24.11.5")).level is CheckLevel.OK


def test_a_plugin_that_nobody_uses_and_a_missing_file_are_warnings(tmp_path: Path) -> None:
    unused = replace(FACTS, config=LiveConfig())
    assert plugin(unused).level is CheckLevel.WARNING
    lost = replace(FACTS, settings={**SETTINGS, "PluginDir": str(tmp_path)})
    assert plugin(lost).level is CheckLevel.WARNING
    (tmp_path / "site_factor_dovetail.so").touch()
    assert plugin(lost).level is CheckLevel.OK
