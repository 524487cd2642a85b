"""Training: checkpoints, resuming, workers, and the same as commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dovetail.agents.evolution.players import LocalPlayers
from dovetail.agents.evolution.replays import Score, make_replays

from dovetail.agents.evolution.training import EvolutionProgress, TrainingConfig, train
from dovetail.agents.history import Site, facts
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
    epochs=4, population=4, batch=2, replays=3, validation_replays=2, length=300,
    validate_every=2,
)  # fmt: skip


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


def test_training_stopped_half_way_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = train([HERE], tmp_path / "whole", TINY)

    def stop(progress: EvolutionProgress) -> None:
        if progress.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train([HERE], tmp_path / "parts", TINY, stop)
    seen: list[int] = []
    parts = train([HERE], tmp_path / "parts", TINY, lambda p: seen.append(p.epoch))
    assert seen == [3, 4]
    assert np.array_equal(whole.arrays["weights"], parts.arrays["weights"])
    assert whole.card == parts.card


def test_a_folder_of_another_training_is_refused(tmp_path: Path) -> None:
    train([HERE], tmp_path, TINY)
    with pytest.raises(ConfigError, match="other settings"):
        train([Site(TRACE, cluster_of("9x8"))], tmp_path, TINY)


def test_training_never_sees_the_last_tenth(tmp_path: Path) -> None:
    changed = TRACE.jobs.run.copy()
    changed[1800:] *= 3.0
    other = replace(TRACE, jobs=replace(TRACE.jobs, run=changed))
    one = train([HERE], tmp_path / "one", TINY)
    two = train([Site(other, CLUSTER)], tmp_path / "two", TINY)
    assert np.array_equal(one.arrays["weights"], two.arrays["weights"])


def test_two_workers_find_what_one_finds() -> None:
    replays = make_replays(TRACE, CLUSTER, count=2, length=300, seed=0)
    family = FAMILIES["index"]
    candidates = np.stack([family.start, family.start + family.scale])
    with LocalPlayers(replays, family, 1) as one, LocalPlayers(replays, family, 2) as two:
        assert one.play(candidates, [0, 1]) == two.play(candidates, [0, 1])


def test_a_cluster_without_a_queue_has_nothing_to_teach(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to learn"):
        train([Site(TRACE, cluster_of("400x8"))], tmp_path, TINY)


def test_progress_is_told_in_words() -> None:
    told = str(EvolutionProgress(3, 9, 0.1, Score(wait=-0.105, bsld=0.01)))
    assert told == "epoch 3/9: wait -10.0%, bsld +1.0% against SAF"


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
