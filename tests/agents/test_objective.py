"""What is wanted decides what is chosen, what is searched for and what passes the gate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.agents.aim import AHEAD, AHEAD_IN_USE, MEASURES, USUAL, aim_of, clear_lead, gain_by
from dovetail.agents.catalogue import AGENTS, ChoiceConfig
from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.choice.cells import (
    CellConfig,
    CellsOfSite,
    choice_cells,
    number_cells,
    open_history,
)
from dovetail.agents.choice.halving import choose
from dovetail.agents.gate import LEAST_BLOCKS, judge
from dovetail.agents.history import Site
from dovetail.agents.learner_replays import open_replays
from dovetail.agents.outcomes import RanJobs, part_summary, span_outcomes
from dovetail.agents.players import LocalPlayers, Task
from dovetail.agents.replays import Measured, Score, measure
from dovetail.agents.training import Lesson, train
from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.errors import ConfigError
from dovetail.domain.job_groups import SIZES
from dovetail.domain.objective import Objective
from dovetail.evaluation.run import Run
from dovetail.policies.learned.checkpoint import load_checkpoint
from dovetail.policies.trained_objective import trained_objective
from tests.builders import cluster_of, job, trace_of

SAF, SJF = (PolicyCandidate(order, "exact", "best-fit") for order in ("saf", "sjf"))
LOGS = st.floats(-3.0, 3.0)


@given(LOGS, LOGS, LOGS)
def test_what_is_usual_weighs_as_it_did_before_there_were_objectives(
    wait: float, bsld: float, tail: float
) -> None:
    before = 0.5 * (0.5 * (wait + bsld) + max(wait, bsld))
    assert gain_by(USUAL, (wait, bsld, tail, 0.0, 0.0)) == before
    assert clear_lead(USUAL) == AHEAD
    assert ChoiceConfig().objective == str(USUAL)


@given(st.lists(LOGS, min_size=5, max_size=5), st.floats(0.01, 9.0))
def test_a_gain_lies_between_mean_and_worst_and_hardly_hears_a_tiny_weight(
    values: list[float], weight: float
) -> None:
    aim = Objective(1.0, weight, 2.0, 0.5, weight)
    weights = (1.0, weight, 2.0, 0.5, weight)
    mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    assert mean - 1e-9 <= gain_by(aim, values) <= max(values) + 1e-9
    assert gain_by(Objective(1.0, 0.0, 1e-9), values) == pytest.approx(values[0], abs=1e-6)


def with_rare_large_jobs() -> Site:
    """Small jobs all the time, and every twelfth takes the whole machine."""
    random = np.random.default_rng(0)
    jobs = [
        job(submit=84.0 * i, run=float(random.integers(900, 1500)), gpus=8)
        if i % 12 == 0
        else job(submit=84.0 * i, run=float(random.integers(100, 700)), gpus=1)
        for i in range(3000)
    ]
    return Site(trace_of(*jobs), cluster_of("2x8"))


SITE = with_rare_large_jobs()
HISTORY = open_history(SITE, "exact")


def chosen(aim: Objective) -> tuple[PolicyCandidate, dict[str, Score]]:
    cells = list(choice_cells(HISTORY, CellConfig("exact")))
    with LocalPlayers(cells) as players:
        found = choose(number_cells([cells]), "exact", players, aim=aim)
    return found.best, {one.order: score for one, score in found.table}


def test_a_better_tail_with_a_worse_mean_is_chosen_by_a_tail_objective_alone() -> None:
    usual, _ = chosen(USUAL)
    best, scores = chosen(Objective(wait=0.0, tail=1.0))
    assert (usual.order, best.order) == ("fcfs", "saf")  # scores are against SAF
    assert scores["fcfs"].tail > AHEAD
    assert scores["fcfs"].wait < 0.0


class Told(LocalPlayers):
    """Players that say what orders make of the one cell there is: five ratios to all others."""

    def __init__(self, ratios: Mapping[str, Sequence[float]]) -> None:
        super().__init__([])
        self.ratios = ratios

    def play_each(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Measured]]:
        for number, (_, candidate) in enumerate(tasks):
            values = np.log([5000.0] * 5) + np.array(self.ratios.get(candidate.order, [0.0] * 5))
            blocks = np.tile(values[:, None], 4)
            yield number, Measured(blocks, blocks, np.full(len(SIZES), np.nan), values[2:])


@pytest.mark.parametrize("name", MEASURES)
def test_each_measure_changes_a_choice(name: str) -> None:
    better = [1.0] * 5  # whoever is better in this is worse in all else
    better[MEASURES.index(name)] = -0.2
    one = [CellsOfSite((0,))]
    players = Told({"wfp3": better})
    aim = aim_of(name)
    assert choose(one, "exact", players, aim=aim).best.order == "wfp3"
    assert choose(one, "exact", players).best.order == "saf"
    other = aim_of("slowdown" if name == "wait" else "wait")
    assert choose(one, "exact", players, aim=other).best.order == "saf"


def test_four_per_cent_of_utilisation_are_a_clear_lead_and_of_waits_are_none() -> None:
    assert clear_lead(aim_of("makespan")) == clear_lead(aim_of("utilisation")) == AHEAD_IN_USE
    assert AHEAD_IN_USE < clear_lead(aim_of("wait=1,utilisation=1")) < AHEAD


@pytest.mark.parametrize("name", MEASURES)
def test_an_order_is_chosen_for_four_per_cent_and_not_for_two(name: str) -> None:
    one = [CellsOfSite((0,))]
    for lead, order in ((0.02, "saf"), (0.04, "wfp3")):
        players = Told({"wfp3": [-lead] * 5})
        assert choose(one, "exact", players, aim=aim_of(name)).best.order == order


class Judged:
    """A cell of many blocks in which SJF has a shorter tail than SAF and waits longer."""

    def play(self, contestant: Any) -> Measured:
        blocks = np.log(np.full((5, 2 * LEAST_BLOCKS), 1000.0))
        if contestant == SJF:
            blocks = blocks + np.array([[0.1], [0.1], [-0.5], [0.0], [0.0]])
        return Measured(blocks, blocks, np.full(len(SIZES), np.nan), blocks[2:, 0])


def test_the_gate_asks_for_what_is_wanted() -> None:
    with LocalPlayers([Judged()]) as players:
        cells = [CellsOfSite((0,))]
        assert not judge(SJF, SAF, cells, players).passed
        found = judge(SJF, SAF, cells, players, aim=aim_of("tail"))
        assert not judge(SJF, SAF, cells, players, aim=aim_of("utilisation")).passed
    assert found.passed
    assert str(found) == "the learned policy is kept: tail -39.3% against the choice"
    assert found.facts()["tail"] == found.facts()["own_tail"] == math.expm1(-0.5)


def test_searches_make_small_what_is_wanted(tmp_path: Path) -> None:
    lesson = Lesson([HISTORY], SAF, tmp_path, lambda told: None, 1, LocalPlayers)
    arrays = {"order": np.array("fcfs"), "placement": np.array("best-fit")}
    gaps = []
    for objective in ("wait", "tail"):
        config = ChoiceConfig(estimates="exact", objective=objective)
        with open_replays(lesson, HISTORY, config, "selector-allocator", "exact") as replays:
            gaps.append(replays.gap(arrays))
            score = replays.validate(arrays)
        assert score.gain == (score.wait if objective == "wait" else score.tail)
    assert gaps[0] < gaps[1]


def test_a_card_says_what_was_wanted_and_how_to_train_it_again(tmp_path: Path) -> None:
    config = ChoiceConfig(estimates="exact", objective="wait=1,tail=2", promises="size_p95=50%")
    found = train("choice", None, [SITE], tmp_path, config)
    assert found.card["config"]["objective"] == "wait=1,tail=2"
    assert {"wait", "bsld", "tail"} < set(found.card["choice"]["table"][0])
    readme = (tmp_path / "README.md").read_text()
    assert "| config objective | wait=1,tail=2 |" in readme
    assert "--objective wait=1,tail=2 --promises size_p95=50%" in readme
    assert trained_objective(str(tmp_path)) == Objective(1.0, 0.0, 2.0)
    assert trained_objective("saf") is None
    assert load_checkpoint(tmp_path).card == found.card


@pytest.mark.parametrize("agent", ["rltune", "selector-allocator"])
def test_ppo_says_what_it_cannot_learn(agent: str) -> None:
    for name in ("tail", "makespan", "utilisation"):
        with pytest.raises(
            ConfigError, match=f"objective {name}: the agent {agent} learns by wait"
        ):
            AGENTS[agent].configure({"objective": f"wait=1,{name}=0.5"})
    AGENTS[agent].configure({"objective": "wait=1,slowdown=3"})


def test_the_reward_of_two_agents_follows_the_objective() -> None:
    pair = AGENTS["selector-allocator"]
    found = pair.configure({"objective": "wait=1,slowdown=3"}).weights
    assert (found.wait, found.turnaround, found.bsld, found.utilisation) == (0.25, 0.0, 0.75, 0.0)
    with pytest.raises(ConfigError, match="give one of them"):
        pair.configure({"objective": "wait", "turnaround": 0.5})


@pytest.mark.parametrize("text", ["speed=1", "wait=-1", "wait=0", "wait=many"])
def test_an_objective_that_is_none_is_refused(text: str) -> None:
    for agent in ("choice", "evolution", "rltune", "selector-allocator"):
        with pytest.raises(ConfigError, match="objective"):
            AGENTS[agent].configure({"objective": text})


def test_outcomes_count_whoever_waits_in_full_and_use_within_the_span() -> None:
    # Two GPUs: the second job waits 90 s of which 50 lie in the span, the third runs beyond it.
    trace = trace_of(job(submit=0, run=100, gpus=2), job(submit=10, run=40, gpus=2),
                     job(submit=120, run=300, gpus=1))  # fmt: skip
    schedule = Run.of(trace, cluster_of("1x2"), "fcfs", "exact").replay()
    assert schedule.start.tolist() == [0.0, 100.0, 140.0]
    tail, makespan, used = span_outcomes(RanJobs.of(schedule), 50.0, 200.0).tolist()
    assert tail == pytest.approx(float(np.percentile([90.0, 20.0], 95)))
    assert makespan == 440.0 - 50.0
    assert used == pytest.approx((2 * 50 + 2 * 40 + 1 * 60) / (2 * 150))
    assert span_outcomes(RanJobs.of(schedule), 500.0, 600.0).tolist() == [0.0, 0.0, 0.0]
    found = part_summary(schedule, 1)
    assert found["wait_mean"] == 55.0
    assert found["makespan"] == 430.0
    assert measure(schedule, 0, 2).blocks.shape == (5, 2)


def test_utilisation_on_a_cluster_without_gpus_is_that_of_its_cpus() -> None:
    trace = trace_of(*(job(submit=60.0 * i, run=50, gpus=0, cpus=2.0) for i in range(4)))
    cluster = Cluster((Node("n0", 0, cpus=4.0),), name="cpus")
    schedule = Run.of(trace, cluster, "fcfs", "exact").replay()
    assert span_outcomes(RanJobs.of(schedule), 0.0, 180.0)[2] == pytest.approx(2 * 150 / (4 * 180))


def test_the_shipped_policy_says_what_it_was_chosen_for_and_a_heuristic_nothing() -> None:
    assert trained_objective("dovetail") == USUAL
    assert trained_objective("saf") is None
