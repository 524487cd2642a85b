"""The gate: disjoint blocks of time that no learner saw have to agree before anything is kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.agents.aim import AHEAD
from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.choice.cells import (
    BLOCK_JOBS,
    CellConfig,
    CellsOfSite,
    hold_back,
    judging_cells,
    open_history,
    validation_cells,
)
from dovetail.agents.evidence import NOTHING, BlockEvidence, Lead, weigh_blocks
from dovetail.agents.gate import LEAST_BLOCKS, GateVerdict, judge
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.agents.replays import CALM, Measured, Score
from dovetail.agents.training import Lesson, train
from dovetail.domain.jobs import Floats
from dovetail.policies.learned.checkpoint import Checkpoint
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of, job, trace_of

MANY = 2 * LEAST_BLOCKS
CHOICE, OTHER = (PolicyCandidate(name, "exact", "best-fit") for name in ("saf", "sjf"))
HISTORY = open_history(
    Site(synthesize(WORKLOADS["helios"], 2000, 1, 1.0, 64), cluster_of("8x8")), "exact"
)


class Told:
    """A cell in which the choice waits 1,000 s in every block, and others as told.

    owed: what others' own jobs wait longer than is charged.
    """

    def __init__(self, gains: Any, calm: int = 0, owed: float = 0.0) -> None:
        self.gains, self.calm, self.owed = np.asarray(gains, float), calm, owed

    def play(self, contestant: Any) -> Measured:
        waits = np.where(np.arange(len(self.gains)) < self.calm, 1.0, 1000.0)
        if contestant != CHOICE:
            waits = waits * np.exp(self.gains)
        means: Floats = np.stack((waits + CALM, 1.0 + waits / 10.0))
        own = means + (0.0 if contestant == CHOICE else self.owed)
        return Measured(np.log(means), np.log(own), np.full(5, np.nan))


def verdict(*cells: Told) -> GateVerdict:
    with LocalPlayers(cells) as players:
        return judge(OTHER, CHOICE, [CellsOfSite(tuple(range(len(cells))))], players)


def test_ahead_on_one_block_and_behind_on_all_others_does_not_pass() -> None:
    gains = np.full(MANY, 0.05)
    gains[3] = -6.0  # the mean over blocks, which was all that was asked, is clearly ahead
    found = verdict(Told(gains))
    assert found.evidence.charged.score.gain < -AHEAD
    assert not found.passed
    assert "may be chance" in str(found)


def test_the_same_blocks_again_with_other_jitters_are_no_more_evidence() -> None:
    gains = np.random.default_rng(4).normal(-0.15, 0.8, MANY)
    once, often = verdict(Told(gains)), verdict(*20 * [Told(gains)])
    assert often.evidence.charged.score.gain < -AHEAD
    assert often.evidence.charged.upper == pytest.approx(once.evidence.charged.upper)
    assert not often.passed


def test_few_blocks_do_not_pass_however_far_ahead() -> None:
    found = verdict(*6 * [Told(np.full(LEAST_BLOCKS - 1, -1.0))])
    assert found.evidence.charged.upper < -AHEAD
    assert not found.passed
    assert str(found) == (
        "the choice is kept: the history is too short to tell whether what was learned is better: "
        "jobs wait in 9 of the blocks of 250 jobs held back to judge it, 10 are needed"
    )


def test_blocks_in_which_nobody_waits_are_no_evidence() -> None:
    found = verdict(Told(np.full(MANY, -1.0), calm=MANY - LEAST_BLOCKS + 1))
    assert found.evidence.blocks == LEAST_BLOCKS - 1
    assert not found.passed


def test_blocks_that_only_the_learned_policy_congests_count() -> None:
    gains = np.full(MANY, -0.5)
    gains[:4] = math.log(10_000.0)
    found = verdict(Told(gains, calm=4))
    assert found.evidence.blocks == MANY
    assert not found.passed


def test_ahead_on_most_blocks_but_behind_over_all_jobs_does_not_pass() -> None:
    # As serving the newest first does: most weeks are better, and a few jobs starve for long.
    gains = np.full(4 * MANY, -0.8)
    gains[::40] = 6.0
    found = verdict(Told(gains))
    assert found.evidence.charged.score.gain < -AHEAD
    assert found.evidence.charged.upper < 0.0
    assert not found.passed
    assert "over all of them it is not" in str(found)


def test_what_jobs_that_come_meanwhile_pay_for_does_not_pass() -> None:
    gains = np.full(MANY, -0.8)
    assert verdict(Told(gains)).passed
    found = verdict(Told(gains, owed=5000.0))
    assert not found.passed
    assert "but not by jobs that came meanwhile" in str(found)


def test_what_is_truly_better_passes_in_spite_of_noise() -> None:
    random = np.random.default_rng(0)
    passed = [verdict(Told(random.normal(-0.5, 0.5, MANY))).passed for _ in range(100)]
    assert np.mean(passed) > 0.9


def test_what_is_as_good_hardly_ever_passes_though_neighbours_go_together() -> None:
    random = np.random.default_rng(0)
    passed = []
    for _ in range(200):
        noise = random.normal(0.0, 0.5, MANY + 1)
        passed.append(verdict(Told(noise[1:] + 0.4 * noise[:-1])).passed)
    assert np.mean(passed) < 0.05


@pytest.mark.parametrize("blocks", [0, LEAST_BLOCKS])
def test_what_could_not_be_measured_does_not_pass(blocks: int) -> None:
    nothing = Lead(NOTHING, math.nan, blocks)
    assert not GateVerdict(BlockEvidence(nothing, nothing, NOTHING)).passed
    assert weigh_blocks([]).blocks == 0


def strong(score: Score) -> BlockEvidence:
    lead = Lead(score, score.gain, MANY)
    return BlockEvidence(lead, lead, score)


def test_both_measures_have_to_be_beyond_chance() -> None:
    sure, maybe = (Lead(Score(-0.3, -0.3), upper, MANY) for upper in (-0.1, 0.1))
    assert GateVerdict(BlockEvidence(sure, sure, sure.score)).passed
    for charged, own in ((sure, maybe), (maybe, sure)):
        found = GateVerdict(BlockEvidence(charged, own, sure.score))
        assert not found.passed
        assert "may be chance" in str(found)


@pytest.mark.parametrize(
    ("score", "tails", "passed", "words"),
    [
        (Score(-0.2, -0.2), (0.0,), True, "the learned policy is kept"),
        (Score(-0.09, -0.09), (0.0,), False, "not clearly ahead"),
        (Score(-0.5, 0.0), (0.0,), True, "the learned policy is kept"),
        (Score(-0.3, 0.05), (0.0,), False, "not clearly ahead"),
        (Score(-0.5, -0.5), (0.0, 0.2), False, "jobs of 2-4 GPUs would pay"),
    ],
)
def test_the_gate_asks_for_a_clear_lead_that_no_size_of_jobs_pays_for(
    score: Score, tails: tuple[float, ...], passed: bool, words: str
) -> None:
    found = GateVerdict(strong(score), tails)
    assert found.passed is passed
    assert words in str(found)
    assert AHEAD == 0.1


def test_what_was_learned_and_breaks_a_promise_does_not_pass() -> None:
    ahead = strong(Score(-0.5, -0.5))
    assert GateVerdict(ahead, (), math.log(1.05), promised=0.1).passed
    broken = GateVerdict(ahead, (), math.log(1.5), promised=0.1)
    assert not broken.passed
    assert "+50% against Slurm's order, promised +10%" in str(broken)
    assert GateVerdict(ahead, (), math.log(1.5)).passed


def test_what_judges_begins_where_all_that_a_learner_is_given_ends() -> None:
    shown = hold_back(HISTORY)
    assert (HISTORY.learning, HISTORY.judging, len(HISTORY.trace)) == (1200, 1400, 1800)
    assert len(shown.trace) == 1400
    last = shown.trace.jobs.ids[-1]
    chosen_by = next(validation_cells(shown, CellConfig("exact")))
    assert chosen_by.trace.jobs.ids[-1] == last
    cell = next(judging_cells(HISTORY, CellConfig("exact")))
    assert cell.trace.jobs.ids[cell.first - 1] == last
    assert (len(cell.trace) - cell.first, cell.blocks) == (400, 400 // BLOCK_JOBS)


BURSTS = 1700


def bursts() -> Site:
    """Long jobs, then short ones: an order that cannot tell them apart makes these wait."""
    jobs = [
        job(submit=20_000.0 * burst, run=run, gpus=8)
        for burst in range(BURSTS)
        for run in 4 * [4000] + 4 * [15]
    ]
    return Site(trace_of(*jobs), cluster_of("1x8"))


def learner_of(candidate: PolicyCandidate, seen: list[Lesson] | None = None) -> Any:
    """A learner that hands over what it is told to."""

    def learner(lesson: Lesson, config: Any) -> Checkpoint:
        if seen is not None:
            seen.append(lesson)
        return candidate.checkpoint({"epoch": 7})

    return learner


def test_a_truly_better_policy_is_written_and_the_learner_never_saw_its_judges(
    tmp_path: Path,
) -> None:
    seen: list[Lesson] = []
    informed = learner_of(PolicyCandidate("sjf", "exact", "best-fit"), seen)
    config = ChoiceConfig(estimates="noisy:9")
    found = train("informed", informed, [bursts()], tmp_path, config)
    assert found.card["gate"]["passed"] is True, found.card["gate"]["sentence"]
    assert found.estimates == "exact"
    assert len(seen[0].histories[0].trace) == 8 * BURSTS * 7 // 10


def test_the_same_policy_after_a_short_history_is_not(tmp_path: Path) -> None:
    whole = bursts()
    short = Site(whole.trace.slice(0, 4000), whole.cluster)
    informed = learner_of(PolicyCandidate("sjf", "exact", "best-fit"))
    found = train("informed", informed, [short], tmp_path, ChoiceConfig(estimates="noisy:9"))
    assert found.kind == "choice"
    assert "the history is too short" in found.card["gate"]["sentence"]
