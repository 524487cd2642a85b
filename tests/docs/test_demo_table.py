"""The README's table is what `make demo` prints, for the policy that changes when another ships."""

from __future__ import annotations

import dovetail
from tests.docs.pages import DOCS


def test_the_row_of_the_shipped_policy_is_that_of_the_demo() -> None:
    cluster = dovetail.load_cluster("80x8:v100")
    trace = dovetail.load_trace(
        "synth:helios", jobs=20_000, seed=0, load=0.9, cluster_gpus=cluster.total_gpus
    )
    found = dovetail.summary(dovetail.simulate(trace, cluster, order="dovetail", estimates="limit"))
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    (row,) = (line for line in readme.splitlines() if line.startswith("| dovetail+easy"))
    shown = [cell.strip() for cell in row.strip("|").split("|")]
    assert shown[1] == f"{found['wait_mean'] / 60.0:.1f} min"
    assert shown[4] == f"{found['bsld_mean']:.2f}"
