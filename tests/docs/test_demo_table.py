"""The README's table is what `make demo` prints, for the policy that changes when another ships."""

from __future__ import annotations

from typing import Any

import dovetail
from dovetail.policies.ordering import SHIPPED_NAME as SHIPPED
from dovetail.policies.policy import Policy
from tests.docs.pages import DOCS

README = (DOCS.parent / "README.md").read_text(encoding="utf-8")


def demo(estimates: str) -> dict[str, Any]:
    cluster = dovetail.load_cluster("80x8:v100")
    trace = dovetail.load_trace(
        "synth:helios", jobs=20_000, seed=0, load=0.9, cluster_gpus=cluster.total_gpus
    )
    return dovetail.summary(dovetail.simulate(trace, cluster, order=SHIPPED, estimates=estimates))


def test_the_row_of_the_shipped_policy_is_that_of_the_demo() -> None:
    found = demo("limit")
    (row,) = (line for line in README.splitlines() if line.startswith(f"| {SHIPPED}+easy"))
    shown = [cell.strip() for cell in row.strip("|").split("|")]
    assert shown[1] == f"{found['wait_mean'] / 60.0:.1f} min"
    assert shown[4] == f"{found['bsld_mean']:.2f}"
    assert shown[9] == f"{found['backfilled']:,}"
    assert f"({SHIPPED}+easy: {Policy(SHIPPED).told('limit')})" in README


def test_what_the_shipped_policy_waits_by_predictions_is_what_the_readme_says() -> None:
    minutes = demo("predicted")["wait_mean"] / 60.0
    assert f"which is saf then, wait {minutes:.1f} min here" in README
