"""Traces and clusters through the command line: import, inspect, draw, show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.domain.cluster_toml import load_cluster
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.traces.formats import FORMATS
from dovetail.traces.reader import read_trace
from tests.cli.conftest import Command
from tests.traces.samples import SAMPLES

SCONTROL = """\
NodeName=gpu01 Arch=x86_64 CPUAlloc=0 CPUTot=64 Gres=gpu:a100:8 RealMemory=512000 Partitions=gpu
NodeName=gpu02 Arch=x86_64 CPUAlloc=0 CPUTot=64 Gres=gpu:a100:8 RealMemory=512000 Partitions=gpu
NodeName=cpu01 Arch=x86_64 CPUAlloc=0 CPUTot=64 Gres=(null) RealMemory=512000 Partitions=cpu
"""


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_sample_imports_to_the_same_trace(
    dovetail: Command, name: str, tmp_path: Path
) -> None:
    source, out = SAMPLES[name](tmp_path), tmp_path / "out.parquet"
    said = dovetail("trace", "import", source, "--format", name, "--out", out)
    assert said.code == 0, said.err
    assert read_trace(out).digest() == read_trace(source).digest()
    assert f"digest {read_trace(out).digest()}" in said.out


def test_import_tells_what_it_left_out_and_repaired(dovetail: Command, tmp_path: Path) -> None:
    source = tmp_path / "bad.swf"
    source.write_text("1 0 0 60 4 -1 -1 4 120 -1 1 3 1 -1 2 1 -1 -1\n" * 2)
    refused = dovetail("trace", "import", source, "--out", tmp_path / "t.parquet")
    assert refused.code == 2
    assert "bad.swf line 2" in refused.err
    said = dovetail(
        "trace", "import", source, "--out", tmp_path / "t.parquet", "--repair", "dedupe"
    )
    assert said.code == 0
    assert "note: 1 row with an id used before: removed by dedupe" in said.err


def test_inspect_shows_sizes_and_run_times(dovetail: Command, small: Path) -> None:
    said = dovetail("trace", "inspect", small)
    assert said.code == 0
    assert "120 over" in said.out
    assert "run time" in said.out
    assert "note: drawn from the workload helios" in said.err


def test_inspect_as_json(dovetail: Command, small: Path) -> None:
    found = json.loads(dovetail("trace", "inspect", small, "--json").out)
    assert found["jobs"] == 120
    assert found["digest"] == read_trace(small).digest()


def test_a_drawn_trace_depends_on_the_seed_alone(dovetail: Command, tmp_path: Path) -> None:
    def draw(seed: int, name: str) -> str:
        out = tmp_path / name
        said = dovetail(
            *("trace", "synth", "pai", "--jobs", 200, "--seed", seed, "--load", 0.8),
            *("--cluster", "8x8", "--out", out),
        )
        assert said.code == 0, said.err
        return read_trace(out).digest()

    assert draw(1, "a") == draw(1, "b") != draw(2, "c")


def test_formats_and_policies_are_all_listed(dovetail: Command) -> None:
    formats, policies = dovetail("trace", "formats").out, dovetail("policies").out
    assert all(name in formats for name in FORMATS)
    assert all(name in policies for name in (*ORDERINGS, *PLACEMENTS))


def test_a_cluster_from_scontrol_can_be_shown(dovetail: Command, tmp_path: Path) -> None:
    nodes, out = tmp_path / "nodes.txt", tmp_path / "cluster.toml"
    nodes.write_text(SCONTROL)
    said = dovetail("cluster", "import", nodes, "--out", out)
    assert said.code == 0, said.err
    assert "nodes with 16 GPUs" in said.out
    assert load_cluster(out).total_gpus == 16
    shown = dovetail("cluster", "show", out).out
    assert "nodes, 16 GPUs" in shown
    assert "a100" in shown


def test_names_from_files_are_neither_markup_nor_control_codes(
    dovetail: Command, tmp_path: Path
) -> None:
    path = tmp_path / "evil.toml"
    path.write_text(
        'name = "[red]\\u001b[31mred"\n[[nodes]]\ngpus = 1\n'
        '[partitions."[bold]b[/bold]"]\nshare = 1.0\n'
    )
    shown = dovetail("cluster", "show", path).out
    assert "[red]\\x1b[31mred: 1 nodes" in shown
    assert "[bold]b[/bold]" in shown
