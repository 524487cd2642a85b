"""One matrix for all GPUs: who may be drawn, what is seen, and that nothing else has changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.compiled.functions import kernel
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.mean_field import BINS, MeanField, seen_by, steering
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.controllers import TOLD, matrix_field, score_field
from dovetail.mig.simulator import MigRules, simulate_mig
from dovetail.mig.simulator.day_runner import STATIC, DayRunner
from dovetail.mig.simulator.events import begin
from dovetail.mig.simulator.mean_field import most_likely_ways, show, show_more
from dovetail.mig.simulator.tables import MigWorlds, WorkloadTables
from dovetail.mig.workload.day import TIGHT, mig_day

WAYS = 14
PLACER = PLACERS["categorical-edf"]
DAYS = [mig_day(seed=seed, slack=TIGHT, hours=2.0) for seed in range(3)]
LOGITS = st.lists(st.integers(-8, 8), min_size=WAYS, max_size=WAYS)


@settings(deadline=None)  # the first case compiles
@given(LOGITS, st.integers(1, WAYS), st.integers(1, 5))
def test_a_row_is_a_distribution_over_the_most_likely_ways(
    logits: list[int], ways: int, kept: int
) -> None:
    likely, upto = np.zeros(kept, np.int64), np.zeros(kept)
    most_likely_ways(np.array(logits, np.float64), ways, likely, upto)
    order = sorted(range(ways), key=lambda way: (-logits[way], way))[:kept]
    assert likely[: len(order)].tolist() == order
    shares = np.exp([float(logits[way]) for way in order])
    assert np.diff(upto[: len(order)], prepend=0.0) == pytest.approx(shares / shares.sum())
    assert np.all(upto[len(order) - 1 :] == 1.0)


def random_field(seed: int, every: int = 5) -> MeanField:
    weights = np.random.default_rng(seed).normal(0.0, 2.0, (WAYS, 1 + len(TOLD)))
    return score_field(weights, "random", stay=1.0, every=every)


def test_a_controller_that_is_never_asked_leaves_the_static_schedule() -> None:
    cluster = MigCluster.parse("4xa100-40:1,2,8,12")
    stay = MeanField("stay", STATIC.matrix, every=5, most_likely=1)
    without = simulate_mig(DAYS[0], cluster, PLACER)
    for field in (STATIC, stay):
        found = simulate_mig(DAYS[0], cluster, PLACER, field)
        assert np.array_equal(found.end, without.end)
        assert found.repartitions == 0


def test_days_played_together_score_as_schedules_do() -> None:
    cluster = MigCluster.parse("4xa100-40:1,2,8,12")
    with DayRunner(cluster, DAYS, MigRules(), threads=2) as runner:
        scores = runner.play(PLACER, random_field(1), seed=4)
    for i, day in enumerate(DAYS):
        schedule = simulate_mig(day, cluster, PLACER, random_field(1), seed=4 * len(DAYS) + i)
        found = summary(schedule)
        assert schedule.repartitions >= 5
        names = ("late_share", "tardiness_mean", "energy_watt_minutes")
        assert scores[i] == pytest.approx([found[name] for name in names], rel=1e-9)


def test_the_seed_decides_what_is_drawn() -> None:
    cluster = MigCluster.parse("4xa100-40:2")
    with DayRunner(cluster, DAYS, MigRules()) as runner:
        first, again, other = (runner.play(PLACER, random_field(2), seed=s) for s in (1, 1, 2))
        some = runner.play(PLACER, random_field(2), chosen=[2, 0], seed=1)
    assert np.array_equal(first, again)
    assert np.array_equal(some, first[[2, 0]])
    assert not np.array_equal(first, other)


def test_other_configurations_to_begin_with_are_as_another_cluster() -> None:
    with DayRunner(MigCluster.parse("4xa100-40:19"), DAYS, MigRules()) as runner:
        found = runner.play(PLACER, None, configurations=(1, 2, 8, 12))
    with DayRunner(MigCluster.parse("4xa100-40:1,2,8,12"), DAYS, MigRules()) as runner:
        assert np.array_equal(found, runner.play(PLACER, None))


@kernel
def _look(worlds: object, ways: int, out: Floats) -> None:
    w = worlds[0]  # type: ignore[index]
    begin(w)
    show(w, ways, out)
    show_more(w, out[ways + 2 * BINS + 3 :])


@pytest.mark.parametrize("times", [1, 2, 8])
def test_what_is_seen_does_not_depend_on_the_number_of_gpus(times: int) -> None:
    cuts = ",".join(["1,2,8,12"] * times)
    cluster = MigCluster.parse(f"{4 * times}xa100-40:{cuts}")
    seen = np.zeros(seen_by(WAYS))
    worlds = MigWorlds(cluster, WorkloadTables(DAYS[:1]), 1, MigRules())
    _look(worlds.world, WAYS, seen)
    assert seen[[0, 1, 7, 10]].tolist() == [0.25] * 4
    assert seen[:WAYS].sum() == 1.0
    assert len(seen) == seen_by(WAYS)


@pytest.mark.parametrize("gpus", [4, 8, 32])
def test_the_same_weights_steer_any_number_of_gpus(gpus: int) -> None:
    day = mig_day(seed=1, rate=2.5 * gpus, hours=1.0)
    schedule = simulate_mig(day, MigCluster.parse(f"{gpus}xa100-40:8"), PLACER, random_field(3))
    assert schedule.ran.all()
    assert schedule.repartitions > 0


@steering
def _to_whole(p: Floats, seen: Floats, out: Floats) -> None:
    out[:] = 0.0
    out[:, 0] = p[0]


def test_a_matrix_that_leads_to_whole_gpus_ends_with_whole_gpus() -> None:
    field = MeanField("whole", _to_whole, np.array([30.0]))
    schedule = simulate_mig(DAYS[0], MigCluster.parse("4xa100-40:19"), PLACER, field)
    assert schedule.repartitions == 4
    assert schedule.size[np.argmax(schedule.start)] == 7


def test_a_network_writes_the_matrix_that_its_layers_give() -> None:
    random = np.random.default_rng(5)
    inputs = WAYS + 2 * BINS + 3
    layers = [
        (random.normal(size=(inputs, 6)), random.normal(size=6)),
        (random.normal(size=(6, WAYS**2)), random.normal(size=WAYS**2)),
    ]
    field = matrix_field(layers, "network")
    seen, out = random.random(seen_by(WAYS)), np.zeros((WAYS, WAYS))
    field.matrix(field.weights, seen, out)
    hidden = np.tanh(seen[:inputs] @ layers[0][0] + layers[0][1])
    assert out.ravel() == pytest.approx(hidden @ layers[1][0] + layers[1][1])


def test_weights_that_make_no_matrix_are_refused() -> None:
    with pytest.raises(ConfigError, match="for each way"):
        score_field(np.zeros((WAYS, 3)), "short", 0.0)
    with pytest.raises(ConfigError, match="not finite"):
        score_field(np.full((WAYS, 1 + len(TOLD)), np.nan), "broken", 0.0)
    with pytest.raises(ConfigError, match="do not lead to a matrix"):
        matrix_field([(np.zeros((4, 3)), np.zeros(3))], "odd")
    with pytest.raises(ConfigError, match="layer 2"):
        matrix_field([(np.zeros((4, 3)), np.zeros(3)), (np.zeros((4, 4)), np.zeros(4))], "torn")
    with pytest.raises(ConfigError, match="expected 1 or more"):
        random_field(0, every=0)
