"""Choosing an ordering, estimates and a placement, and trainings that begin with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.agents.aim import CHOSEN_AHEAD, aim_of
from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.by_speed import placements_for
from dovetail.agents.choice.candidates import (
    BETWEEN,
    PLACEMENT,
    PolicyCandidate,
    orders,
    reference,
    variants,
)
from dovetail.agents.choice.cells import (
    CellConfig,
    choice_cells,
    number_cells,
    open_history,
    validation_cells,
)
from dovetail.agents.choice.for_slowdown import slowdown_orders
from dovetail.agents.choice.halving import choose, choose_limits
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers, Task
from dovetail.agents.replays import Measured, ReplayCell, Score, mean_score, rearranged
from dovetail.agents.training import Lesson, train
from dovetail.domain.errors import ConfigError
from dovetail.domain.job_groups import SIZES
from dovetail.evaluation.run import Run
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.policy import Policy
from dovetail.prediction import predict
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of, job, trace_of

TRACE = synthesize(WORKLOADS["helios"], jobs=2000, seed=1, load=1.0, cluster_gpus=64)
HERE = Site(TRACE, cluster_of("8x8"))
EXACT = ChoiceConfig(estimates="exact")
WORST = PolicyCandidate("ljf", "exact", "best-fit")
LUCKY = "predicted:mixture,order=mean,reserve=q90"


def cells(estimates: str = "exact", **more: Any) -> list[ReplayCell]:
    history = open_history(HERE, estimates)
    return list(validation_cells(history, CellConfig(estimates, **more)))


def test_cells_hold_the_validation_part_after_what_came_before() -> None:
    found = cells(loads=(0.5, 1.0), jitters=2)
    assert len(found) == 4
    for cell in found:
        assert (len(cell.trace), cell.first) == (600, 400)  # 200 measured, 400 before them
        assert cell.trace.jobs.ids[-1] == TRACE.jobs.ids[1399]
        assert np.array_equal(cell.trace.jobs.run, TRACE.jobs.run[800:1400])


def test_a_choice_rests_on_all_that_is_known_once_predictions_have_settled() -> None:
    history = open_history(HERE, "exact")
    found = list(choice_cells(history, CellConfig("exact")))
    assert [(len(one.trace), one.first, one.blocks) for one in found] == [(1800, 360, 5)] * 4
    assert len({one.trace.jobs.submit[-1] for one in found}) == 4  # each arrives otherwise
    spans = [float(np.ptp(one.trace.jobs.submit)) for one in found]
    assert spans[2] < spans[0] < spans[1]  # loads of 1.1, 1 and 0.9


def test_of_a_long_history_its_last_jobs_are_chosen_on() -> None:
    history = open_history(HERE, "exact")
    (found,) = choice_cells(history, CellConfig("exact", longest=50, choice_loads=(1.0,)))
    assert (len(found.trace) - found.first, found.first) == (400, 100)
    assert found.trace.jobs.ids[-1] == TRACE.jobs.ids[1799]


def test_another_load_changes_arrivals_alone() -> None:
    twice = rearranged(TRACE, 2.0, seed=3)
    span = np.ptp(TRACE.jobs.submit)
    assert np.ptp(twice.jobs.submit) == pytest.approx(0.5 * span, rel=0.05)
    assert np.all(np.diff(twice.jobs.submit) >= 0)
    assert np.array_equal(twice.jobs.run, TRACE.jobs.run)
    assert not np.array_equal(twice.jobs.submit, rearranged(TRACE, 2.0, seed=4).jobs.submit)


def test_predictions_of_a_cell_come_from_the_whole_history() -> None:
    history = open_history(HERE, "predicted")
    cell = next(iter(validation_cells(history, CellConfig())))
    whole = predict(TRACE.slice(0, 1800).jobs)
    assert np.array_equal(cell.told(LUCKY).seconds, whole.mean[800:1400])
    assert np.array_equal(cell.told(LUCKY).reserve, whole.quantile(0.9)[800:1400])


def test_a_candidate_is_as_good_as_itself_and_the_worst_order_is_worse() -> None:
    cell, saf = cells()[0], reference("exact")
    measured = cell.play(saf)
    assert measured.against(measured).gain == 0.0
    assert cell.play(WORST).against(measured).gain > 0.3


def test_every_order_meets_every_estimate_and_variants_keep_the_order() -> None:
    menu = list(orders("predicted"))
    assert len(set(menu)) == len(menu) == 29
    assert reference("predicted") in menu
    others = list(variants(replace(menu[1], estimates=LUCKY)))
    assert len(set(others)) == len(others) == 6
    assert {one.estimates.split(",")[1] for one in others} == {"order=mean"}
    assert {one.estimates for one in orders("limit")} == {"limit"}


def test_the_choice_is_saf_unless_a_candidate_is_clearly_ahead_of_it() -> None:
    found = cells()
    numbers = number_cells([found[:3], found[3:]])
    with LocalPlayers(found) as players:
        choice = choose(numbers, "exact", players)
    gains = [score.gain for _, score in choice.table]
    clearly = gains[0] <= -CHOSEN_AHEAD
    assert choice.best == (choice.table[0][0] if clearly else reference("exact"))
    assert gains == sorted(gains)
    assert gains[0] <= 0.0
    assert 0.0 in gains


def test_a_cluster_without_a_queue_leaves_nothing_to_choose(tmp_path: Path) -> None:
    calm = Site(TRACE, cluster_of("400x8"))
    with pytest.raises(ConfigError, match="jobs hardly wait"):
        train("choice", None, [calm], tmp_path, EXACT)


def test_blocks_without_a_queue_say_nothing() -> None:
    assert math.isnan(mean_score([Score(math.nan, math.nan)]).wait)
    found = mean_score([Score(-0.2, -0.4, (0.1, math.nan)), Score(math.nan, math.nan)])
    assert (found.wait, found.bsld, found.tails[0]) == (-0.2, -0.4, 0.1)
    assert found.worst_tail == 0.1


class Told(LocalPlayers):
    """Players that say what an order, or estimates, make of the one cell there is: its waits."""

    def __init__(self, waits: dict[str, list[float]]) -> None:
        super().__init__([])
        self.waits = waits

    def play_each(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Measured]]:
        for number, (_, candidate) in enumerate(tasks):
            told = (
                self.waits.get(candidate.estimates)
                or self.waits.get(f"{candidate.order}@{candidate.placement}")
                or self.waits.get(candidate.order)
            )
            blocks = np.log(np.tile(told or [50_000.0] * 4, (2, 1)))
            yield number, Measured(blocks, blocks, np.full(len(SIZES), np.nan))


def test_who_leads_most_weeks_and_loses_the_worst_one_is_not_chosen() -> None:
    usual, lucky = [1000.0, 1000.0, 1000.0, 9000.0], [600.0, 600.0, 600.0, 19_000.0]
    ahead = [800.0, 800.0, 800.0, 7000.0]
    one = number_cells([[cells()[0]]])
    assert choose(one, "exact", Told({"saf": usual, "sjf": lucky})).best.order == "saf"
    found = choose(one, "exact", Told({"saf": usual, "sjf": lucky, "saf-2": ahead}))
    assert found.best.order == "saf-2"


def test_limits_are_believed_as_they_are_unless_less_belief_is_clearly_ahead() -> None:
    one, saf = number_cells([[cells()[0]]]), reference("predicted")
    level = Told({"limit": [1000.0] * 4, "limit:power=0.5": [950.0] * 4})
    assert choose_limits(one, saf, level) == saf
    ahead = Told({"limit": [1000.0] * 4, "limit:power=0.5": [500.0] * 4})
    assert choose_limits(one, saf, ahead) == replace(saf, limits="limit:power=0.5")
    by_limits = reference("limit")
    told = replace(by_limits, estimates="limit:power=0.5", limits="limit:power=0.5")
    assert choose_limits(one, by_limits, ahead) == told  # the rival of what is learned, too
    idle = Told({"limit": [1.0] * 4, "limit:power=0.5": [1.0] * 4, "limit:power=0.667": [1.0] * 4})
    assert choose_limits(one, saf, idle) == saf
    arrivals = replace(saf, order="fcfs")
    assert choose_limits(one, arrivals, ahead) == arrivals  # it goes by no estimate


def learned(candidate: PolicyCandidate) -> Any:
    """A learner that hands over what it is told to."""

    def learner(lesson: Lesson, config: Any) -> Checkpoint:
        lesson.report(None)
        return candidate.checkpoint({"epoch": 7})

    return learner


def test_a_sabotaged_learner_never_replaces_the_choice(tmp_path: Path) -> None:
    found = train("sabotaged", learned(WORST), [HERE], tmp_path, EXACT)
    assert found.kind == "choice"
    assert str(found.arrays["order"]) != "ljf"
    assert found.card["gate"]["passed"] is False
    assert found.card["gate"]["wait"] > 0.1
    assert "the choice is kept" in found.card["gate"]["sentence"]
    assert found.card["learned"] == {"epoch": 7}


def test_ctrl_c_while_learning_keeps_the_choice_and_the_same_call_goes_on(tmp_path: Path) -> None:
    def interrupted(lesson: Lesson, config: Any) -> Checkpoint:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("slow", interrupted, [HERE], tmp_path, EXACT)
    kept = load_checkpoint(tmp_path)
    assert kept.kind == "choice"
    assert "gate" not in kept.card
    told: list[Any] = []
    found = train("slow", learned(WORST), [HERE], tmp_path, EXACT, told.append)
    assert told == [None]  # nothing was chosen again
    assert found.card["choice"] == kept.card["choice"]
    again = train("slow", interrupted, [HERE], tmp_path, EXACT)  # it is finished: no learner runs
    assert again.card == found.card


def test_another_training_into_the_same_folder_is_refused(tmp_path: Path) -> None:
    train("choice", None, [HERE], tmp_path, EXACT)
    with pytest.raises(ConfigError, match="other settings"):
        train("choice", None, [HERE], tmp_path, replace(EXACT, seed=1))


def test_the_last_tenth_stays_unseen(tmp_path: Path) -> None:
    changed = TRACE.jobs.run.copy()
    changed[1800:] *= 3.0
    other = Site(replace(TRACE, jobs=replace(TRACE.jobs, run=changed)), HERE.cluster)
    one = train("choice", None, [HERE], tmp_path / "one", EXACT)
    two = train("choice", None, [other], tmp_path / "two", EXACT)
    assert one.card["choice"] == two.card["choice"]


def test_a_chosen_policy_goes_by_the_estimates_that_it_was_chosen_with(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_checkpoint(folder, PolicyCandidate("sjf", LUCKY, "lifetime").checkpoint({}))
    policy = Policy(str(folder))
    assert (policy.told("predicted"), policy.told("limit")) == (LUCKY, "limit")
    halved = PolicyCandidate("sjf", LUCKY, "lifetime", "limit:power=0.5")
    save_checkpoint(tmp_path / "halved", halved.checkpoint({}))
    assert Policy(str(tmp_path / "halved")).told("limit") == "limit:power=0.5"
    assert Policy(str(tmp_path / "halved")).told("exact") == "exact"
    assert Policy("saf").told("predicted") == "predicted"
    run = Run.of(TRACE, HERE.cluster, policy, "predicted")
    schedule = run.replay()
    assert schedule.config["estimates"] == LUCKY
    assert schedule.config["placement"] == "lifetime"
    same = Run.of(TRACE, HERE.cluster, "sjf@lifetime", make_estimates(TRACE, LUCKY)).replay()
    assert np.array_equal(schedule.start, same.start)


def test_a_choice_that_names_nothing_known_is_refused(tmp_path: Path) -> None:
    arrays = {"order": np.array("saff"), "placement": np.array("best-fit")}
    save_checkpoint(tmp_path / "model", Checkpoint("choice", arrays, {}))
    with pytest.raises(ConfigError, match="'saff' with 'best-fit', which is not known"):
        Policy(str(tmp_path / "model"))


def test_jobs_that_all_wait_alike_make_one_size_class() -> None:
    trace = trace_of(*(job(submit=60.0 * i, run=3600, gpus=8) for i in range(200)))
    cell = ReplayCell(trace, cluster_of("1x8"), None, first=100)
    tails = cell.play(reference("exact")).tails
    assert np.flatnonzero(~np.isnan(tails)).tolist() == [2]  # 5-8 GPUs


def test_a_choice_that_breaks_a_promise_is_none() -> None:
    found = cells()
    numbers = number_cells([found[:3], found[3:]])
    with LocalPlayers(found) as players:
        free = choose(numbers, "exact", players)
        bound = choose(numbers, "exact", players, promised=0.0)
        slurm = replace(free.best, order="slurm-multifactor")
        best, before = (
            [players.play([(n, one)])[0] for site in numbers for n in site.numbers]
            for one in (bound.best, slurm)
        )
    tails = mean_score([a.against(b) for a, b in zip(best, before, strict=True)])
    assert tails.worst_tail <= 0.0
    between = {replace(slurm, order=order) for order in BETWEEN}
    assert {one for one, _ in bound.table} <= {one for one, _ in free.table} | {slurm} | between
    assert not between & {one for one, _ in free.table}


def test_a_choice_uses_up_half_of_a_promise_at_most() -> None:
    found = cells()
    numbers = number_cells([found[:3], found[3:]])
    with LocalPlayers(found) as players:
        free = choose(numbers, "exact", players)
        slurm = replace(free.best, order="slurm-multifactor")

        def tail(candidate: PolicyCandidate) -> float:
            pairs = [
                (players.play([(n, candidate)])[0], players.play([(n, slurm)])[0])
                for site in numbers
                for n in site.numbers
            ]
            return mean_score([ours.against(theirs) for ours, theirs in pairs]).worst_tail

        tails = {one: tail(one) for one, _ in free.table}
        payer = min((one for one in tails if tails[one] > 0.0), key=tails.__getitem__)
        promised = 1.5 * math.expm1(tails[payer])  # kept, with less than half of it left
        bound = choose(numbers, "exact", players, promised=promised)
        ample = choose(numbers, "exact", players, promised=2.0 * promised)
    assert payer not in {one for one, _ in bound.table}
    assert payer in {one for one, _ in ample.table}


@pytest.mark.parametrize("text", ["user_mean=0.1", "utilisation=0", "size_mean=5%", "nonsense"])
def test_a_training_refuses_promises_that_it_cannot_keep(text: str) -> None:
    with pytest.raises(ConfigError, match="promise"):
        ChoiceConfig(promises=text)


def test_placements_that_know_speeds_are_candidates_only_where_speeds_depend_on_the_kind() -> None:
    plain = cluster_of("1x8:v100,1x8:t4")
    kinds = replace(plain, kind_speed={"vision": {"t4": 0.5}})
    alike = replace(plain, kind_speed={"vision": {"v100": 1.0, "t4": 1.0}})
    vision = Site(trace_of(job(0, kind="vision")), kinds)
    for cluster in (plain, alike, replace(plain, speed={"t4": 0.5})):
        assert placements_for([Site(vision.trace, cluster)]) == PLACEMENT
    assert placements_for([vision]) == ("suited", *PLACEMENT)
    trained = Site(trace_of(job(0, kind="training")), kinds)  # a kind in the table
    assert placements_for([vision, trained]) == ("suited", *PLACEMENT, "gpu-affinity")


def test_where_nothing_is_clearly_ahead_saf_is_chosen_with_the_usual_placement_there() -> None:
    one, both = number_cells([[cells()[0]]]), ("suited", "lifetime")
    for other, kept in ((985.0, "suited"), (500.0, "lifetime")):
        waits = Told({"saf@suited": [1000.0] * 4, "saf@lifetime": [other] * 4})
        best = choose(one, "exact", waits, placements=both).best
        assert (best.order, best.placement) == ("saf", kept)


def test_orders_that_age_are_candidates_only_where_slowdown_is_wanted_most() -> None:
    assert list(slowdown_orders("exact", aim_of("wait=1,slowdown=1"))) == []
    found = list(slowdown_orders("predicted", aim_of("slowdown")))
    assert len(set(found)) == len(found) == 36
    waits = Told({"saf": [1000.0] * 4, "sjf-aged": [500.0] * 4})
    one = number_cells([[cells()[0]]])
    assert choose(one, "exact", waits).best.order == "saf"
    assert choose(one, "exact", waits, aim=aim_of("slowdown")).best.order == "sjf-aged"
