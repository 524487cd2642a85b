"""Training: checkpoints, resuming, workers, and the same as commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.agents.choice.candidates import reference
from dovetail.agents.evolution.training import (
    EvolutionMember,
    EvolutionProgress,
    TrainingConfig,
    learn,
)
from dovetail.agents.history import Site, facts
from dovetail.agents.players import LocalPlayers, Playable
from dovetail.agents.replays import Replay, ReplayCell, Score
from dovetail.agents.training import train as train_in_steps
from dovetail.domain.errors import ConfigError
from dovetail.evaluation.run import Run
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.policies.ordering.learned import untrained
from dovetail.policies.policy import Policy
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of

TRACE = synthesize(WORKLOADS["helios"], jobs=2000, seed=1, load=1.0, cluster_gpus=64)
CLUSTER = cluster_of("8x8")
HERE = Site(TRACE, CLUSTER)
TINY = TrainingConfig(
    epochs=4, population=4, batch=2, replays=3, length=300, validate_every=2, estimates="noisy:1",
)  # fmt: skip


def train(sites: list[Site], folder: Path, config: TrainingConfig = TINY, report: Any = print,
          **more: Any) -> Checkpoint:  # fmt: skip
    return train_in_steps("evolution", learn, sites, folder, config, report, **more)


def weights(folder: Path) -> Any:
    """Of the best that was learned, whatever the gate said."""
    return load_checkpoint(folder / "learning").arrays["weights"]


def test_a_checkpoint_reads_back_as_it_was_written(tmp_path: Path) -> None:
    weights = FAMILIES["index"].start
    save_checkpoint(
        tmp_path, Checkpoint("index", {"weights": weights}, {"trace": "a | b", "epoch": 3})
    )
    found = load_checkpoint(tmp_path)
    assert np.array_equal(found.arrays["weights"], weights)
    assert found.card["epoch"] == 3
    assert "a \\| b" in (tmp_path / "README.md").read_text()


def test_a_card_names_drawn_traces_as_commands_take_them(tmp_path: Path) -> None:
    recorded = Site(replace(TRACE, name="venus"), CLUSTER)
    card = facts("evolution", TINY, [HERE, recorded])
    save_checkpoint(tmp_path, Checkpoint("index", {"weights": FAMILIES["index"].start}, card))
    again = "--trace synth:helios --cluster 8x8 --trace venus --cluster 8x8 --epochs 4"
    assert again in (tmp_path / "README.md").read_text()


def test_a_folder_that_is_no_checkpoint_says_so(tmp_path: Path) -> None:
    (tmp_path / "policy.npz").write_bytes(b"not an archive")
    with pytest.raises(ConfigError, match="not a readable checkpoint"):
        load_checkpoint(tmp_path)


def test_a_checkpoint_is_a_policy(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "net", Checkpoint("network", {"weights": untrained(0)}, {}))
    estimates = make_estimates(TRACE, "noisy:1")
    found = Run(TRACE, CLUSTER, Policy(str(tmp_path / "net")), estimates).replay()
    assert np.array_equal(found.start, Run(TRACE, CLUSTER, Policy("saf"), estimates).replay().start)
    assert found.config["order_weights"] is not None


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole training."""
    folder = tmp_path_factory.mktemp("whole")
    train([HERE], folder, TINY)
    return folder


def test_training_stopped_half_way_goes_on_as_if_it_had_not_been(
    trained: Path, tmp_path: Path
) -> None:
    def stop(progress: object) -> None:
        if isinstance(progress, EvolutionProgress) and progress.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train([HERE], tmp_path / "parts", TINY, stop)
    assert load_checkpoint(tmp_path / "parts").kind == "choice"
    seen: list[int] = []
    train([HERE], tmp_path / "parts", TINY, lambda p: seen.append(p.epoch))
    assert seen == [3, 4]
    assert np.array_equal(weights(trained), weights(tmp_path / "parts"))
    assert load_checkpoint(trained).card == load_checkpoint(tmp_path / "parts").card


def test_a_folder_of_another_training_is_refused(trained: Path) -> None:
    with pytest.raises(ConfigError, match="other settings"):
        train([Site(TRACE, cluster_of("9x8"))], trained, TINY)


def test_training_never_sees_the_last_tenth(trained: Path, tmp_path: Path) -> None:
    changed = TRACE.jobs.run.copy()
    changed[1800:] *= 3.0
    other = replace(TRACE, jobs=replace(TRACE.jobs, run=changed))
    train([Site(other, CLUSTER)], tmp_path, TINY)
    assert np.array_equal(weights(trained), weights(tmp_path))


def test_two_workers_find_what_one_finds() -> None:
    cell = ReplayCell(TRACE, CLUSTER, None, first=1000)
    replays: list[Playable] = [cell, Replay(cell, cell.play(reference("noisy:1")))]
    member = EvolutionMember("index", FAMILIES["index"].start, "noisy:1")
    with LocalPlayers(replays, 1) as one, LocalPlayers(replays, 2) as two:
        tasks = [(1, member), (1, reference("noisy:1"))]
        assert repr(one.play(tasks)) == repr(two.play(tasks))  # NaN equals nothing


def test_a_cluster_without_a_queue_has_nothing_to_teach(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to choose or to learn"):
        train([Site(TRACE, cluster_of("400x8"))], tmp_path, TINY)


def test_progress_is_told_in_words() -> None:
    told = str(EvolutionProgress(3, 9, 0.1, Score(wait=-0.105, bsld=0.01)))
    assert told == "learning, epoch 3/9: wait -10.0%, bsld +1.0% against the choice"


def test_a_checkpoint_brings_its_placement_unless_another_is_named(tmp_path: Path) -> None:
    arrays = {"weights": FAMILIES["index"].start}
    save_checkpoint(tmp_path / "model", Checkpoint("index", arrays, {}))
    own = Policy(str(tmp_path / "model")).parts()[1]
    assert own.name == "lifetime"
    assert own.weights.tolist() == [1.0, 1.0, 0.0]
    assert Policy.parse(f"{tmp_path / 'model'}@fgd").parts()[1].name == "fgd"


def test_several_sites_are_learned_from_together(tmp_path: Path) -> None:
    found = train([HERE, Site(TRACE, cluster_of("9x8"))], tmp_path, TINY)
    assert [site["cluster"] for site in found.card["sites"]] == ["8x8", "9x8"]
