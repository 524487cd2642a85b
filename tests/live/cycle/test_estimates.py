"""Run times of waiting jobs, from jobs that ended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.domain.estimates import EARLY, Estimates
from dovetail.domain.jobs import Jobs
from dovetail.live.config import ActConfig
from dovetail.live.cycle import estimates
from dovetail.live.cycle.decider import Decider
from dovetail.live.cycle.estimates import JournalPredictor
from dovetail.live.journal import EndedRun, RecordedRun
from dovetail.live.model.snapshot import LiveJob
from dovetail.policies.learned.checkpoint import save_checkpoint
from dovetail.policies.policy import Policy
from dovetail.prediction import predict
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.estimates import estimates_from
from dovetail.prediction.request import Request
from tests.live.builders import NOW, running, snapshot, waiting


def ended(
    seconds: float, user: str = "ada", ago: float = 1000.0, gpus: int = 1, name: str = ""
) -> EndedRun:
    start = NOW - ago - seconds
    run = RecordedRun(
        job=1, label="1", user=user, account="lab", partition="gpu", qos="", submit=start,
        eligible=start, start=start, limit=3600.0, gpus=gpus, gpu_type="", nodes=1, cpus=1.0,
        memory_gb=1.0, hosts=("p100-1",), host_gpus=(), name=name,
    )  # fmt: skip
    return EndedRun(run, start + seconds, "COMPLETED")


MEDIAN = "predicted:median,order=median,reserve=median"


def told(past: list[EndedRun], *jobs: LiveJob, spec: str = MEDIAN) -> Estimates:
    return JournalPredictor(past, spec)(jobs, NOW)


def test_the_median_of_a_user_s_own_jobs_is_believed() -> None:
    past = [ended(100), ended(200), ended(300), *(ended(9000, "bob") for _ in range(5))]
    assert told(past, waiting(1, limit=3600.0)).seconds.tolist() == pytest.approx([200.0])


def test_jobs_of_the_same_name_tell_more_than_other_jobs_of_the_same_user() -> None:
    past = [
        ended((100, 3000)[n % 2], ago=9000 - n, name=("eval", "train")[n % 2]) for n in range(40)
    ]
    spec = "predicted:history,order=median,reserve=median"
    found = told(past, waiting(1, name="train"), waiting(2, name="eval"), spec=spec).seconds
    assert 80 < found[1] < 130
    assert found[0] > 2500


def test_nothing_is_predicted_beyond_the_limit() -> None:
    assert told([ended(5000)] * 3, waiting(1, limit=600.0)).seconds.tolist() == [600.0]


def test_without_a_past_limits_are_believed() -> None:
    found = told([], waiting(1, limit=600.0))
    assert (found.name, found.seconds.tolist()) == ("limit", [600.0])


def test_without_a_past_limits_are_believed_as_far_as_the_policy_does() -> None:
    found = JournalPredictor([], "predicted", 0.5)([waiting(1, limit=400.0)], NOW)
    assert (found.seconds.tolist(), found.reserve.tolist()) == ([20.0], [400.0])


def habits() -> list[EndedRun]:
    """Three jobs of four fail at once, the fourth runs for an hour."""
    return [ended(3000 if n % 4 == 3 else 20, ago=60_000 - 100 * n) for n in range(400)]


def test_order_and_reservations_go_by_what_the_policy_was_chosen_with() -> None:
    spec = "predicted:history,order=q20,reserve=q90"
    found = told(habits(), waiting(1, limit=3600.0), spec=spec)
    assert found.name == spec
    assert found.seconds[0] < 60 < 2000 < found.reserve[0] <= 3600
    assert found.spread[0] > 1


def test_a_job_that_has_outlived_its_failures_is_expected_to_run_on() -> None:
    spec = "predicted:history,order=median,reserve=median"
    predictor = JournalPredictor(habits(), spec)
    fresh = predictor([waiting(1, limit=3600.0)], NOW)
    late = predictor([running(1, "p100-1", ago=600.0)], NOW)
    assert fresh.reserve[0] < 60
    assert late.reserve[0] > 1500


def test_jobs_that_come_later_are_predicted_swiftly_and_keep_their_prediction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def noted(jobs: Jobs, name: str) -> Distribution:
        asked.append(name)
        return predict(jobs, name)

    monkeypatch.setattr(estimates, "predict", noted)
    predictor = JournalPredictor(habits(), MEDIAN)
    jobs = [waiting(n, limit=3600.0) for n in range(1, 5)]
    first = predictor(jobs[:3], NOW)
    again = predictor(jobs, NOW + 60.0)
    assert asked == ["median", "history"]
    assert again.seconds[:3].tolist() == first.seconds.tolist()


def test_a_decision_goes_by_the_estimates_of_the_policy_s_card(tmp_path: Path) -> None:
    """Ada's jobs are long and Bob's short, whatever their limits say."""
    choice = PolicyCandidate("sjf", "predicted:history,order=median,reserve=q80", "best-fit")
    save_checkpoint(tmp_path / "model", choice.checkpoint({}))
    policy = Policy(str(tmp_path / "model"))
    past = [ended(9000, "ada")] * 20 + [ended(60, "bob")] * 20
    jobs = [waiting(1, user="ada", limit=9100.0), waiting(2, user="bob", limit=90_000.0)]
    by_limit = Decider(policy, ActConfig())
    by_past = Decider(policy, ActConfig(), JournalPredictor(past, policy.told("predicted")))
    assert by_limit.decide(snapshot(jobs)).order == (1, 2)
    assert by_past.decide(snapshot(jobs)).order == (2, 1)


def _forecast(predictor: JournalPredictor) -> Distribution:
    rows = np.array(list(predictor._known.values()))
    return Distribution(rows[:, :-2], rows[:, -2], rows[:, -1])


def test_what_is_left_of_a_running_job_is_what_replays_believe_of_it_then() -> None:
    """Where a replay looks anew, both say the same; in between it is what was said last."""
    spec = "predicted:history,order=median,reserve=q80"
    past = [ended(20.0 * 1.5 ** (n % 12), ago=60_000 - 100 * n) for n in range(400)]
    predictor = JournalPredictor(past, spec)
    fresh = predictor([waiting(1, limit=1e6)], NOW)
    reserve, forecast = float(fresh.reserve[0]), _forecast(predictor)
    told = estimates_from(forecast, Request.parse(spec))
    assert told.reserve[0] == pytest.approx(reserve)
    looked = [share * reserve for share in EARLY] + [float(told.revisions[0, len(EARLY) - 1])]
    for at, elapsed in enumerate(looked):
        later = predictor([running(1, "p100-1", ago=elapsed, limit=1e6)], NOW)
        assert later.reserve[0] == pytest.approx(told.revisions[0, at])
