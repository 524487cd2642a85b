"""The library as users call it."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail
from dovetail import api
from dovetail.domain import units
from dovetail.domain.errors import ConfigError, UnknownName
from dovetail.evaluation import statistics
from dovetail.evaluation.bounds import bound as bounds
from dovetail.policies import policy
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from tests.builders import job, trace_of

SWF = "; Version: 2.2\n" + "".join(
    f"{n} {n * 10} 0 100 {n} -1 -1 {n} 200 -1 1 1 1 1 1 1 -1 -1\n" for n in (1, 2, 3)
)


@pytest.mark.parametrize("module", [api, bounds, policy, statistics, units])
def test_the_examples_of_the_documentation_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_importing_the_package_loads_neither_numba_nor_polars() -> None:
    code = (
        "import sys, dovetail\n"
        "assert not {'numba', 'polars', 'numpy', 'matplotlib'} & sys.modules.keys()\n"
        "assert callable(dovetail.compare) and 'numba' in sys.modules\n"
        "try: dovetail.simulat\n"
        "except AttributeError as problem: print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'dovetail' has no attribute 'simulat'\n"


def test_files_names_and_objects_give_the_same_schedule(tmp_path: Path) -> None:
    trace_file, cluster_file = tmp_path / "log.swf", tmp_path / "site.toml"
    trace_file.write_text(SWF)
    cluster_file.write_text("[[nodes]]\ncount = 2\ngpus = 2\n")
    named = dovetail.simulate(str(trace_file), cluster_file, order="saf", placement="fgd")
    given = dovetail.simulate(
        dovetail.load_trace(trace_file),
        dovetail.load_cluster("2x2"),
        order=ORDERINGS["saf"],
        placement=PLACEMENTS["fgd"],
    )
    assert named.start.tolist() == given.start.tolist()
    assert named.config["estimates"] == "limit"
    assert {"seed", "version"} <= named.config.keys()


def test_a_trace_can_be_cut_to_its_first_jobs(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(SWF)
    assert len(dovetail.load_trace(tmp_path / "log.swf", jobs=2)) == 2


def test_options_for_the_other_kind_of_source_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="for trace files"):
        dovetail.load_trace("synth:philly", format="swf")
    with pytest.raises(ConfigError, match="for workloads"):
        dovetail.load_trace(tmp_path / "log.swf", load=0.9)
    with pytest.raises(UnknownName, match="'helios'"):
        dovetail.load_trace("synth:helois")


def test_without_limits_run_times_are_predicted() -> None:
    trace = trace_of(*(job(n, 10) for n in range(5)))
    told = "predicted:mixture,order=log-mean,reserve=q80"
    assert dovetail.simulate(trace, "1x1").config["estimates"] == told
    result = dovetail.compare(trace, "1x1", ["fcfs", "qssf"])
    assert result.config["estimates"] == told
