"""RLTune: training against a base policy, and its checkpoints without torch."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dovetail.agents.history import Site  # noqa: E402
from dovetail.agents.ppo.config import PpoConfig  # noqa: E402
from dovetail.agents.ppo.networks import KernelActor  # noqa: E402 - torch is optional
from dovetail.agents.ppo.ragged import pack, tensors  # noqa: E402
from dovetail.agents.rltune.config import RltuneConfig  # noqa: E402
from dovetail.agents.rltune.training import RltuneProgress, learn  # noqa: E402
from dovetail.agents.training import train as train_in_steps  # noqa: E402
from dovetail.domain.errors import ConfigError, UnknownName  # noqa: E402
from dovetail.domain.trace import Trace  # noqa: E402
from dovetail.policies.features import EVERY_FEATURE, describe_forecasts, describe_jobs  # noqa: E402
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint  # noqa: E402
from dovetail.policies.selections import SELECTIONS, select  # noqa: E402
from dovetail.testing.scores import scores  # noqa: E402
from dovetail.traces.synthetic import WORKLOADS, synthesize  # noqa: E402
from tests.builders import cluster_of, job, trace_of  # noqa: E402
from tests.policies.test_learned_ordering import tables  # noqa: E402

TRACE = synthesize(WORKLOADS["helios"], jobs=2000, seed=1, load=1.1, cluster_gpus=64)
CLUSTER = cluster_of("8x8")
TINY = RltuneConfig(
    epochs=3, episodes_per_epoch=8, length=64, windows=6, environments=4,
    validate_every=1, start="random", estimates="noisy:1",
    ppo=PpoConfig(actor_rate=3e-3, minibatch=256),
)  # fmt: skip

STUCK = PpoConfig(actor_rate=1e-12)


def long_jobs_first(bursts: int) -> Trace:
    """Eight jobs at a time for the whole cluster: four of an hour, then four of a quarter minute.

    A burst is through before the next one comes.
    """
    random = np.random.default_rng(0)
    return trace_of(
        *(
            job(submit=20_000.0 * burst, run=round(random.uniform(*bounds)), gpus=8)
            for burst in range(bursts)
            for bounds in 4 * [(3000, 5000)] + 4 * [(10, 20)]
        )
    )


HERE = Site(TRACE, CLUSTER)


def train(
    folder: Path, config: RltuneConfig = TINY, report: Any = print, site: Site = HERE, **more: Any
) -> Checkpoint:
    """What was learned, whatever the gate said."""

    def tell(progress: object) -> None:
        if isinstance(progress, RltuneProgress):
            report(progress)

    train_in_steps("rltune", learn, [site], folder, config, tell, **more)
    return load_checkpoint(folder / "learning")


def same(one: Checkpoint, other: Checkpoint) -> bool:
    return one.card == other.card and all(
        np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays
    )


@pytest.mark.parametrize("name", list(SELECTIONS))
def test_the_exported_ordering_scores_as_the_network_that_was_trained(name: str) -> None:
    jobs, accounts, demands, cluster = tables(np.random.default_rng(1), 100)
    selection = SELECTIONS[name]
    torch.manual_seed(4)
    actor = KernelActor(selection.width)
    torch.nn.init.normal_(actor.skip.weight)
    torch.nn.init.normal_(actor.decline)
    ordering = Checkpoint("rltune", actor.arrays(selection), {}).policy("net").ordering

    seen = np.empty((len(EVERY_FEATURE), 100))
    describe_jobs(jobs, accounts, demands, cluster, np.arange(100), seen)
    describe_forecasts(jobs, cluster, np.arange(100), seen)
    given = np.zeros((1, 100, selection.width), np.float32)
    select(selection.table(), seen, float(cluster["fragmentation"][0]), 100, given[0])
    mask = np.ones((1, 101), np.int8)
    with torch.no_grad():
        logits = actor(tensors(pack({"jobs": given, "critic": given, "mask": mask}))).numpy()
    found = scores(ordering, jobs, accounts, cluster, demands)
    # The network is trained in single precision: its last bits are the processor's.
    assert np.allclose(found, -logits[:100], rtol=1e-4, atol=1e-4)
    assert logits[100] == actor.decline.item()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_short_training_learns_what_is_plain_to_see(tmp_path: Path, seed: int) -> None:
    # Shortest first has 1/200 of the base's slowdown, any order at all about half of it: sampled
    # actions go from 0.50 to 0.81 or more, whatever the seed and the processor.
    config = RltuneConfig(
        epochs=6, episodes_per_epoch=128, length=16, windows=6,
        environments=64, validate_every=1, start="random", estimates="exact", seed=seed,
        ppo=PpoConfig(actor_rate=3e-2, passes=6, minibatch=256, divergence=0.5),
    )  # fmt: skip
    seen: list[RltuneProgress] = []
    site = Site(long_jobs_first(bursts=60), cluster_of("1x8"))
    found = train(tmp_path, config, seen.append, site)
    assert found.card["validation_gap"] > -0.05  # the choice is shortest first
    assert seen[-1].gap > seen[0].gap + 0.15
    assert seen[-1].validation == found.card["validation_gap"]
    assert "than the choice" in str(seen[-1])
    assert list((tmp_path / "learning" / "logs").glob("events*"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole training."""
    folder = tmp_path_factory.mktemp("whole")
    train(folder)
    return folder


def test_training_stopped_half_way_goes_on_as_if_it_had_not_been(
    trained: Path, tmp_path: Path
) -> None:
    def stop(progress: RltuneProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "parts", report=stop)
    seen: list[int] = []
    parts = train(tmp_path / "parts", report=lambda p: seen.append(p.epoch))
    assert seen == [2, 3]
    assert same(load_checkpoint(trained / "learning"), parts)
    states = [
        torch.load(folder / "learning" / "training.pt", weights_only=True)
        for folder in (trained, tmp_path / "parts")
    ]
    for name, weights in states[0]["actor"].items():
        assert torch.equal(weights, states[1]["actor"][name])
    with pytest.raises(ConfigError, match="other settings"):
        train(tmp_path / "parts", replace(TINY, metric="wait"))


def test_ctrl_c_in_the_first_epoch_keeps_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dovetail.agents.ppo.learner.play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, replace(TINY, start="saf"))
    assert load_checkpoint(tmp_path).kind == "choice"
    found = load_checkpoint(tmp_path / "learning")
    assert found.card["epoch"] == 0
    assert not found.arrays["logit"].any()


def test_patience_ends_a_training_that_no_longer_improves(tmp_path: Path) -> None:
    seen: list[RltuneProgress] = []
    train(tmp_path, replace(TINY, ppo=STUCK, patience=2, epochs=9), report=seen.append)
    assert seen[-1].epoch <= 3


def test_threads_find_what_one_finds_and_the_last_tenth_stays_unseen(
    trained: Path, tmp_path: Path
) -> None:
    one = load_checkpoint(trained / "learning")
    changed = TRACE.jobs.run.copy()
    changed[1800:] *= 3.0
    other = replace(TRACE, jobs=replace(TRACE.jobs, run=changed))
    two = train(tmp_path, TINY, site=Site(other, CLUSTER), workers=2)
    assert all(np.array_equal(one.arrays[name], two.arrays[name]) for name in one.arrays)


def test_a_checkpoint_is_used_without_torch(tmp_path: Path) -> None:
    selection = SELECTIONS["sampled"]
    arrays = KernelActor(selection.width).arrays(selection)
    save_checkpoint(tmp_path / "net", Checkpoint("rltune", arrays, {}))
    program = (
        "import sys; from dovetail.policies.policy import policy_named\n"
        f"assert policy_named({str(tmp_path / 'net')!r})[0].uses_state\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert "priority" in (tmp_path / "net" / "README.md").read_text()


def test_a_model_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "policy.npz", kind=np.array("oracle"))
    (tmp_path / "card.json").write_text("{}")
    with pytest.raises(ConfigError, match="unknown kind 'oracle'"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"temperature": 0.0}, {"seed": -1}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        RltuneConfig(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"base": "fcf"}, {"metric": "bsl"}, {"features": "al"}, {"start": "sfa"}]
)
def test_misspelt_parts_are_answered_with_the_nearest(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        RltuneConfig(**wrong)
