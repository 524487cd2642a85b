"""The plug-in built for this machine's Slurm, and a cluster that has loaded it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.live.plugin.build import (
    PluginRefused,
    build_plugin,
    find_source,
    plugin_folders,
    slurm_version,
)
from tests.live.plugin.steered import Steered, plugin_options
from tests.live.slurm import Cluster, why_not


@pytest.fixture(scope="session")
def slurm_source() -> Path:
    """The source of the installed Slurm: $DOVETAIL_SLURM_SOURCE, or where sources usually lie."""
    named = os.environ.get("DOVETAIL_SLURM_SOURCE")
    try:
        return Path(named) if named else find_source(slurm_version())
    except PluginRefused as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def built_plugin(slurm_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc; on Debian: apt install gcc libc6-dev")
    return build_plugin(slurm_source, slurm_version(), tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def _steered(built_plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Steered]:
    folder = tmp_path_factory.mktemp("table")
    options = plugin_options(built_plugin.parent, folder / "factors", plugin_folders())
    reason = why_not(options)
    if reason is not None:
        pytest.skip(reason)
    with Cluster(options) as cluster:
        yield Steered(cluster, folder / "factors")


@pytest.fixture
def steered(_steered: Steered) -> Iterator[Steered]:
    """A cluster with slurmdbd that has the plug-in; a minute there is a second here."""
    yield _steered
    _steered.remove()
    _steered.cluster.cancel_all()
