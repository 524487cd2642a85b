"""Every training in three steps: choose, learn from the choice as the start, gate.

    train("choice", None, [Site(trace, cluster)], Path("model"), config, report=print)

Here nothing is learned after the choice; with a learner for None, such as `rltune.training.learn`,
the other two steps follow.

The last tenth of each trace is never looked at. All of the rest chooses; six ninths of it are
learned from, by the next ninth a learner chooses its best, and the last two ninths, which no
learner is given, judge that. The folder holds the choice as soon as it is made, and what was
learned in its stead if it passes the gate, whenever the training ends. What a learner needs to go
on lies in `learning`, what it handed to the gate in `learning/handed`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dovetail.agents.aim import aim_of
from dovetail.agents.choice.by_speed import placements_for
from dovetail.agents.choice.candidates import SLURM, PolicyCandidate
from dovetail.agents.choice.cells import (
    CellConfig,
    CellsOfSite,
    SiteHistory,
    choice_cells,
    hold_back,
    judging_cells,
    number_cells,
    open_history,
)
from dovetail.agents.choice.halving import choose, choose_limits
from dovetail.agents.engines import Engine
from dovetail.agents.gate import GateVerdict, judge
from dovetail.agents.history import Site, facts, refuse_other
from dovetail.agents.players import LocalPlayers
from dovetail.agents.promised import promised_tail
from dovetail.agents.replays import ReplayCell
from dovetail.domain.errors import ConfigError
from dovetail.domain.objective import Objective
from dovetail.policies.learned.arrays_file import read_card
from dovetail.policies.learned.checkpoint import (
    CARD_FILE,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from dovetail.prediction.estimates import has_limits

LEARNING, HANDED = "learning", "handed"
OTHER_SEED = 1_000_003
"""Added to the seed of the cells that judge."""

Report = Callable[[Any], None]
CellsOf = Callable[[SiteHistory, CellConfig], Iterator[ReplayCell]]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a learner is given."""

    histories: Sequence[SiteHistory]  # without the part that judges
    choice: PolicyCandidate  # the start, and the rival
    folder: Path  # its own, in which it goes on after an interruption
    report: Report
    workers: int
    engine: Engine


class LearnerConfig(Protocol):
    """What the configuration of every learner has."""

    @property
    def estimates(self) -> str: ...
    @property
    def longest(self) -> int: ...
    @property
    def objective(self) -> str: ...
    @property
    def promises(self) -> str: ...
    @property
    def seed(self) -> int: ...


class _Asked(NamedTuple):
    """What is wanted, and what must not get worse."""

    aim: Objective
    promised: float  # of size classes


Learner = Callable[[Lesson, Any], Checkpoint]
"""The best that it found by its own measure."""


def train(
    name: str,
    learner: Learner | None,
    sites: Sequence[Site],
    folder: Path,
    config: LearnerConfig,
    report: Report = lambda progress: None,
    workers: int = 1,
    engine: Engine = LocalPlayers,
    histories: Sequence[SiteHistory] | None = None,
    choice: Mapping[str, Any] | None = None,
) -> Checkpoint:
    """Train, or go on where an earlier call with the same configuration stopped.

    Without a learner the choice is all there is. `histories` are those of the sites, if they have
    been opened before; `choice` is what the card of another training says of its choice, to learn
    from the same. KeyboardInterrupt is passed on; the best that passed so far is in the folder.
    """
    about = facts(name, config, sites)
    begun = _begun(folder, about)
    if begun is not None and "gate" in begun:
        return load_checkpoint(folder)
    cells = CellConfig(estimates=config.estimates, longest=config.longest, seed=config.seed)
    asked = _Asked(aim_of(config.objective), promised_tail(config.promises))
    if histories is None:
        histories = [open_history(site, config.estimates) for site in sites]
    if begun is None and choice is None:
        choice = _choose(histories, cells, report, workers, engine, asked)
    if begun is None:
        begun = {**json.loads(json.dumps(about)), "choice": choice}
        save_checkpoint(folder, _candidate(begun).checkpoint(begun))
    chosen = _candidate(begun)
    if learner is None:
        return load_checkpoint(folder)
    shown = [hold_back(history) for history in histories]
    lesson = Lesson(shown, chosen, folder / LEARNING, report, workers, engine)
    learned = learner(lesson, config)
    save_checkpoint(lesson.folder / HANDED, learned)
    verdict = _judge(histories, cells, learned, chosen, workers, engine, asked)
    own = {key: value for key, value in learned.card.items() if key not in about}
    card = {**begun, "learned": own, "gate": verdict.facts()}
    kept = chosen.checkpoint(card)
    if verdict.passed:
        kept = Checkpoint(learned.kind, learned.arrays, card, learned.estimates)
    save_checkpoint(folder, kept)
    return load_checkpoint(folder)


def _begun(folder: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """The card of an earlier call with the same facts; with others: an error."""
    if not (folder / CARD_FILE).exists():
        return None
    card = dict(read_card(folder / CARD_FILE).content)
    refuse_other(folder, {key: card.get(key) for key in about}, about)
    chosen = card.get("choice")
    if not isinstance(chosen, dict) or not {"order", "estimates", "placement"} <= chosen.keys():
        raise ConfigError(f"{folder}: its card has no choice; choose another --out")
    return card


def _cells(
    histories: Sequence[SiteHistory], config: CellConfig, cells: CellsOf
) -> tuple[list[Any], tuple[CellsOfSite, ...]]:
    of_sites = [list(cells(history, config)) for history in histories]
    return [cell for of_site in of_sites for cell in of_site], number_cells(of_sites)


def _candidate(card: Mapping[str, Any]) -> PolicyCandidate:
    chosen = card["choice"]
    return PolicyCandidate(
        chosen["order"], chosen["estimates"], chosen["placement"], chosen.get("limits", "")
    )


def _choose(
    histories: Sequence[SiteHistory],
    config: CellConfig,
    report: Report,
    workers: int,
    engine: Engine,
    asked: _Asked,
) -> dict[str, Any]:
    cells, numbers = _cells(histories, config, choice_cells)
    limited = [
        of_site
        for of_site, history in zip(numbers, histories, strict=True)
        if has_limits(history.trace)
    ]
    with engine(cells, workers) as players:
        placements = placements_for(history.site for history in histories)
        found = choose(
            numbers, config.estimates, players, report, asked.promised, asked.aim, placements
        )
        if limited:
            best = choose_limits(limited, found.best, players, report, asked.aim)
            found = replace(found, best=best)
        return found.facts()


def _judge(
    histories: Sequence[SiteHistory],
    config: CellConfig,
    learned: Checkpoint,
    choice: PolicyCandidate,
    workers: int,
    engine: Engine,
    asked: _Asked,
) -> GateVerdict:
    other = replace(config, seed=config.seed + OTHER_SEED)
    cells, numbers = _cells(histories, other, judging_cells)
    with engine(cells, workers) as players:
        slurm = replace(choice, order=SLURM)
        return judge(learned, choice, numbers, players, slurm, asked.promised, asked.aim)
