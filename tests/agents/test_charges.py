"""Learners are charged for all who wait: serving the newest first does not pay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.charges import charge_blocks, charge_queue
from dovetail.agents.choice import candidates
from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.choice.cells import (
    CellConfig,
    choice_cells,
    number_cells,
    open_history,
    validation_cells,
)
from dovetail.agents.choice.halving import choose
from dovetail.agents.evolution.training import EvolutionMember, start_at
from dovetail.agents.history import Site
from dovetail.agents.learner_replays import open_replays
from dovetail.agents.players import LocalPlayers
from dovetail.agents.replays import Contestant, Replay, ReplayCell, Score
from dovetail.agents.training import Lesson
from dovetail.agents.warm_cells import WAITING, jobs_waiting, warm_cells
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.run import Run
from dovetail.policies.learned.families import FAMILIES
from tests.builders import cluster_of, job, trace_of

SAF, LCFS = (PolicyCandidate(order, "exact", "best-fit") for order in ("saf", "lcfs"))


def overloaded() -> Site:
    """More comes than fits: smallest first lets long jobs wait, newest first all old ones."""
    random = np.random.default_rng(0)
    jobs = [
        job(submit=67.0 * i, run=float(random.choice([500, 1000])), gpus=1) for i in range(3000)
    ]
    return Site(trace_of(*jobs), cluster_of("1x8"))


SITE = overloaded()
HISTORY = open_history(SITE, "exact")


def gain_of_own_jobs(one: Contestant, cells: list[ReplayCell]) -> float:
    """Against SAF; below 0 is better."""
    found = [(cell.play(one).own - cell.play(SAF).own).mean(axis=1) for cell in cells]
    return Score(*np.mean(found, axis=0).tolist()).gain


def charged_plainly(schedule: Schedule, begin: float, end: float) -> tuple[float, float]:
    """Second by second, job by job."""
    wait = slow = 0.0
    for row, submit in enumerate(schedule.trace.jobs.submit.tolist()):
        for second in range(int(begin), int(end)):
            if submit <= second < schedule.start[row]:
                wait += 1.0
                slow += 1.0 / max(float(schedule.run[row]), 10.0)
    return wait, slow


def test_whoever_waits_is_charged_whenever_it_came() -> None:
    # One GPU: the first job runs to 100, the second waits 90 s of which 50 lie in the span.
    trace = trace_of(job(submit=0, run=100), job(submit=10, run=40), job(submit=50, run=5),
                     job(submit=200, run=5))  # fmt: skip
    schedule = Run.of(trace, cluster_of("1x1"), "fcfs", "exact").replay()
    wait, slow = charge_queue(schedule, 50.0, 200.0).tolist()
    assert wait == 50.0 + 90.0
    assert slow == pytest.approx(50.0 / 40.0 + 90.0 / 10.0)


def test_charges_are_what_counting_every_second_gives_and_blocks_add_up() -> None:
    random = np.random.default_rng(3)
    submits = np.sort(random.integers(0, 400, 30)).tolist()
    rows = [job(submit=s, run=int(random.integers(3, 60)), gpus=1) for s in submits]
    schedule = Run.of(trace_of(*rows), cluster_of("1x2"), "lcfs", "exact").replay()
    first, end = 10, float(submits[-1])
    assert schedule.start.max() > end  # some still wait when the part ends
    wait, slow = charged_plainly(schedule, submits[first], end)
    blocks = charge_blocks(schedule, first, 4)
    assert blocks[0].mean() * 20 == pytest.approx(wait)
    assert (blocks[1].mean() - 1.0) * 20 == pytest.approx(slow)


def test_newest_first_looks_well_on_its_own_jobs_and_loses_in_the_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "BY_OTHERS", (*candidates.BY_OTHERS, "lcfs"))
    few_weeks = list(validation_cells(HISTORY, CellConfig("exact")))
    assert gain_of_own_jobs(LCFS, few_weeks) < -0.5
    cells = list(choice_cells(HISTORY, CellConfig("exact")))
    with LocalPlayers(cells) as players:
        found = choose(number_cells([cells]), "exact", players)
    assert found.best.order != "lcfs"
    assert cells[0].play(LCFS).against(cells[0].play(SAF)).gain > 0.3


def test_newest_first_loses_in_what_searches_make_small() -> None:
    cells = warm_cells(HISTORY, SAF, 3, 200, np.random.default_rng(0))
    newest = EvolutionMember("index", start_at(FAMILIES["index"], SAF), "exact")
    newest.vector[3] = -50.0  # waiting counts against a job
    for one in (LCFS, newest):
        assert gain_of_own_jobs(one, cells) < -0.5
        losses = [Replay(cell, cell.play(SAF)).play(one).loss for cell in cells]
        assert min(losses) > 0.05


def test_newest_first_loses_on_the_replays_that_choose_the_best_networks(tmp_path: Path) -> None:
    lesson = Lesson([HISTORY], SAF, tmp_path, lambda told: None, 1, LocalPlayers)
    config = ChoiceConfig(estimates="exact")
    arrays = {"order": np.array("lcfs"), "placement": np.array("best-fit")}
    with open_replays(lesson, HISTORY, config, "selector-allocator", "exact") as replays:
        assert replays.validate(arrays).gain > 0.3


def test_parts_to_learn_on_begin_while_jobs_wait() -> None:
    for cell in warm_cells(HISTORY, SAF, 5, 400, np.random.default_rng(1)):
        assert len(cell.trace) - cell.first == 400
        schedule = cell.replay(LCFS)
        assert jobs_waiting(schedule)[cell.first] >= WAITING
        assert schedule.trace.jobs.ids[-1] in HISTORY.trace.jobs.ids[: HISTORY.learning]


def test_who_waits_at_a_submission_is_counted() -> None:
    trace = trace_of(*(job(submit=10.0 * i, run=100, gpus=1) for i in range(6)))
    schedule = Run.of(trace, cluster_of("1x1"), "fcfs", "exact").replay()
    assert jobs_waiting(schedule).tolist() == [0, 0, 1, 2, 3, 4]


def test_a_history_in_which_nobody_waits_still_has_parts_to_learn_on() -> None:
    calm = open_history(Site(SITE.trace, cluster_of("40x8")), "exact")
    cells = warm_cells(calm, SAF, 2, 400, np.random.default_rng(0))
    assert [len(cell.trace) - cell.first for cell in cells] == [400, 400]
