"""The daemon's model knows what it was trained on; jobs that are no longer so are noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from dovetail.live.twin.model_drift import model_drift
from dovetail.telemetry.drift import DriftReference, DriftVerdict, workload_columns
from dovetail.traces.loader import load_trace
from tests.policies.test_assigner import index_model


def test_a_shift_of_the_jobs_is_noticed_and_a_rule_has_nothing_to_drift_from(
    tmp_path: Path,
) -> None:
    jobs = load_trace("synth:helios", jobs=3000, seed=1).jobs
    model = index_model(tmp_path / "model")
    assert model_drift(str(model), jobs) is None  # its card does not say
    card = {"trained_on": DriftReference.of(workload_columns(jobs)).to_dict()}
    (model / "card.json").write_text(json.dumps(card))
    same, longer = (
        model_drift(str(model), each) for each in (jobs, replace(jobs, run=50.0 * jobs.run))
    )
    assert same is not None
    assert longer is not None
    assert same.verdict is DriftVerdict.SAME
    assert longer.verdict is DriftVerdict.DRIFTED
    assert longer.distance > same.distance
    assert model_drift("saf", jobs) is None
    (model / "card.json").write_text('{"trained_on": 3}')
    assert model_drift(str(model), jobs) is None
