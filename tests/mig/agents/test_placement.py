"""Learned placements on slices: training, checkpoints, and clusters of any size."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError, UnknownName
from dovetail.domain.jobs import Floats
from dovetail.mig.agents.placement_config import MIG_DAY, PlacementTraining
from dovetail.mig.agents.placement_training import (
    PlacementProgress,
    evaluate_placement,
    train_placement,
)
from dovetail.mig.agents.scores import PlayedDays
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS, PriceWeights, priced
from dovetail.mig.policies.learned.placement import (
    PLACER_MODELS,
    SHIPPED_NAME,
    WAITING_RULES,
    load_placement,
    placer_named,
)
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.seeds import EvaluationDays
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint

SMALL = "2xa100-40:2,12"
TINY = PlacementTraining(
    waiting_rule="wait", clusters=(SMALL,), epochs=6, population=6, batch=2, days=4,
    validation_days=3, hours=4.0, validate_every=2, estimates="exact",
)  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_short_training_beats_where_it_began_and_earliest_finish(
    tmp_path: Path, seed: int
) -> None:
    seen: list[PlacementProgress] = []
    train_placement(replace(TINY, seed=seed), tmp_path, seen.append)
    days = PlayedDays.of(SMALL, EvaluationDays(0, 6), hours=4.0)
    rule = WAITING_RULES["wait"]
    start, reference = rule.placer(rule.start, "start"), PLACERS["eft"]
    trained = placer_named(str(tmp_path))
    scores = {p.name: days.play(p)[:, 0].mean() for p in (start, reference, trained)}
    assert scores[trained.name] < 0.75 * min(scores["start"], scores["eft"])
    assert [progress.epoch for progress in seen] == [1, 2, 3, 4, 5, 6]


def test_the_same_seed_learns_the_same_prices(tmp_path: Path) -> None:
    config = replace(TINY, epochs=2)
    one, other = (train_placement(config, tmp_path / name) for name in ("one", "other"))
    assert np.array_equal(one.arrays["weights"], other.arrays["weights"])
    different = train_placement(replace(config, seed=1), tmp_path / "different")
    assert not np.array_equal(one.arrays["weights"], different.arrays["weights"])


def test_a_training_that_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    def stop_at_three(progress: PlacementProgress) -> None:
        if progress.epoch == 3:
            raise KeyboardInterrupt

    whole = train_placement(TINY, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train_placement(TINY, tmp_path / "parts", stop_at_three)
    parts = train_placement(TINY, tmp_path / "parts")
    assert np.array_equal(whole.arrays["weights"], parts.arrays["weights"])
    assert whole.card["epoch"] == parts.card["epoch"]


def test_a_folder_with_another_training_is_refused(tmp_path: Path) -> None:
    train_placement(replace(TINY, epochs=1), tmp_path)
    with pytest.raises(ConfigError, match="other settings"):
        train_placement(TINY, tmp_path)


@pytest.mark.parametrize("rule", list(WAITING_RULES))
def test_a_checkpoint_places_as_what_was_saved(rule: str, tmp_path: Path) -> None:
    vector = WAITING_RULES[rule].start + 0.1
    placer = WAITING_RULES[rule].placer(vector, str(tmp_path))
    arrays = {"weights": placer.numbers()}
    save_checkpoint(tmp_path, Checkpoint(f"mig-{rule}", arrays, {"a": 1}), PLACER_MODELS)
    day = mig_day(seed=1, hours=3.0)
    found = placer_named(str(tmp_path))
    assert found.passes == placer.passes
    ours, again = (simulate_mig(day, MIG_DAY_CLUSTER, p) for p in (placer, found))
    assert np.array_equal(ours.start, again.start)
    assert np.array_equal(ours.gpu, again.gpu)


def test_weights_that_are_not_prices_are_refused(tmp_path: Path) -> None:
    for weights in (np.zeros(3), np.full(12, np.nan), np.zeros(12, np.int64)):
        save_checkpoint(tmp_path, Checkpoint("mig-wait", {"weights": weights}, {}), PLACER_MODELS)
        with pytest.raises(ConfigError, match="train it again"):
            placer_named(str(tmp_path))


def test_an_unknown_placement_answers_with_those_that_exist() -> None:
    with pytest.raises(UnknownName, match="edf-most-packed"):
        placer_named("most-packd")


@pytest.mark.parametrize(
    "cluster",
    [
        MIG_DAY,
        "4xa100-40-rounded:1,2,3,12",
        "16xa100-40-rounded:1,1,1,1,2,2,2,2,3,3,3,3,12,12,12,12",
        "8xa100-40-rounded:1,1,2,3,3,5,5,10",
        "8xa100-40-rounded:2",
        "4xa100-40:1,2,3,12 + 4xa30-24:1,2,3,5",
    ],
)
def test_the_shipped_prices_beat_earliest_finish_on_any_cluster(cluster: str) -> None:
    rows = evaluate_placement(["eft", SHIPPED_NAME], EvaluationDays(0, 2), cluster=cluster)
    late = {name: np.mean([r["late_share"] for r in rows if r["placer"] == name])
            for name in ("eft", SHIPPED_NAME)}  # fmt: skip
    energy = {name: np.mean([r["energy"] for r in rows if r["placer"] == name])
              for name in ("eft", SHIPPED_NAME)}  # fmt: skip
    assert late[SHIPPED_NAME] < 0.85 * late["eft"]
    assert energy[SHIPPED_NAME] <= energy["eft"]


def test_days_played_for_a_score_are_the_days_of_the_simulator() -> None:
    rows = evaluate_placement(["edf-most-packed", "prices"], EvaluationDays(3, 1), cluster=SMALL)
    cluster = MigCluster.parse(SMALL)
    day = mig_day(seed=3, rate=20.0 * cluster.compute / MIG_DAY_CLUSTER.compute)
    for row in rows:
        expected = summary(simulate_mig(day, cluster, PLACERS[row["placer"]]))
        assert row["late_share"] == pytest.approx(expected["late_share"])
        assert row["tardiness"] == pytest.approx(expected["tardiness_mean"])
        assert row["energy"] == pytest.approx(expected["energy_watt_minutes"])


def test_a_placement_that_may_not_wait_leaves_no_slice_idle_while_a_job_waits() -> None:
    day, cluster = mig_day(seed=2, hours=4.0), MigCluster.parse(SMALL)
    schedule = simulate_mig(day, cluster, priced(PriceWeights(wait=math.inf), "place"))
    starts, ends, submits = schedule.start, schedule.end, schedule.trace.jobs.submit
    for i in np.flatnonzero(schedule.wait > 0)[:200]:
        before = starts[i] - 1e-6
        running = np.count_nonzero((starts <= before) & (ends > before))
        assert submits[i] <= before
        assert running == len(cluster.slices)


def test_a_placement_that_passes_jobs_over_lets_later_deadlines_start_first() -> None:
    day = mig_day(seed=2, hours=6.0)
    strict, passing = (
        simulate_mig(day, MIG_DAY_CLUSTER, priced(PriceWeights(rent7=0.0), "x", passes))
        for passes in (0, 16)
    )
    assert overtakings(strict.start, day.deadline, day.trace.jobs.submit) == 0
    assert overtakings(passing.start, day.deadline, day.trace.jobs.submit) > 0


def overtakings(start: Floats, deadline: Floats, submit: Floats) -> int:
    """Jobs that started while one with an earlier deadline waited."""
    count = 0
    for i in range(len(start)):
        waiting = (submit <= start[i]) & (start > start[i])
        count += bool(np.any(deadline[waiting] < deadline[i]))
    return count


def test_the_card_of_a_training_tells_its_prices_and_how_it_did(tmp_path: Path) -> None:
    train_placement(replace(TINY, epochs=1), tmp_path)
    card = load_placement(tmp_path).card
    assert set(card["prices"]) <= set(PriceWeights.__dataclass_fields__)
    assert 0 <= card["validation"]["late_share"] <= 1
    assert "--placer FOLDER" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"waiting_rule": "wiat"}, "did you mean 'wait'"),
        ({"epochs": 0}, "epochs is 0"),
        ({"population": 2}, "population is 2"),
        ({"clusters": ("8xh100",)}, "unknown GPU model"),
    ],
)
def test_a_training_that_makes_no_sense_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises((ConfigError, UnknownName), match=message):
        PlacementTraining(**wrong)  # type: ignore[arg-type]
