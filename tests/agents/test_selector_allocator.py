"""A selector and an allocator that learn together, and what they are without torch."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dovetail.agents.choice.candidates import PolicyCandidate  # noqa: E402
from dovetail.agents.choice.cells import open_history  # noqa: E402
from dovetail.agents.history import Site  # noqa: E402
from dovetail.agents.players import LocalPlayers  # noqa: E402
from dovetail.agents.ppo.config import PpoConfig  # noqa: E402
from dovetail.agents.ppo.ragged import pack, tensors  # noqa: E402
from dovetail.agents.selector_allocator.config import SelectorAllocatorSettings  # noqa: E402
from dovetail.agents.selector_allocator.halves import best_halves  # noqa: E402
from dovetail.agents.selector_allocator.imitation import imitate  # noqa: E402
from dovetail.agents.selector_allocator.networks import PairActor, PairCritic  # noqa: E402
from dovetail.agents.selector_allocator.starts import begin_as  # noqa: E402
from dovetail.agents.selector_allocator.training import (  # noqa: E402
    PairProgress,
    _PairRun,
    base_of,
    learn,
    pair_replays,
)
from dovetail.agents.training import Lesson  # noqa: E402
from dovetail.domain.errors import ConfigError, UnknownName  # noqa: E402
from dovetail.domain.node_classes import NodeClassFacts  # noqa: E402
from dovetail.domain.policy import Backfill  # noqa: E402
from dovetail.envs.renderers import table_of  # noqa: E402
from dovetail.envs.selector_allocator.kernel import ALLOCATES  # noqa: E402
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector  # noqa: E402
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint  # noqa: E402
from dovetail.policies.learned.families import Learned  # noqa: E402
from dovetail.policies.learned.models import MODELS  # noqa: E402
from dovetail.policies.ordering import ORDERINGS  # noqa: E402
from dovetail.policies.placement import PLACEMENTS  # noqa: E402
from dovetail.policies.policy import Policy  # noqa: E402
from dovetail.simulator import simulate  # noqa: E402
from dovetail.testing.schedules import check_replays  # noqa: E402
from tests.builders import cluster_of, estimates_of, job, trace_of  # noqa: E402
from tests.envs.selector_allocator.scenes import small_pair_pool  # noqa: E402

TINY: dict[str, Any] = {
    "epochs": 8, "episodes_per_epoch": 12, "length": 64, "windows": 8,
    "environments": 6, "validate_every": 1, "estimates": "exact", "imitated": 6, "wait": 1.0,
    "search_epochs": 0, "replays": 2, "batch": 1, "population": 4, "replay_length": 200,
    "bsld": 0.0, "ppo": PpoConfig(actor_rate=3e-3, minibatch=256),
}  # fmt: skip


def random_actor(seed: int) -> PairActor:
    torch.manual_seed(seed)
    actor = PairActor()
    with torch.no_grad():
        for part in actor.parameters():
            part.copy_(torch.randn(part.shape) * 0.3)
    return actor


def taught(site: Site, folder: Path, order: str, place: str, **settings: Any) -> Checkpoint:
    """What is learned from a base pair, and how far each epoch came."""
    config = SelectorAllocatorSettings(**{**TINY, **settings})
    choice = PolicyCandidate(order, "exact", place)
    told: list[PairProgress] = []
    lesson = Lesson([open_history(site, "exact")], choice, folder, told.append, 1, LocalPlayers)
    found = learn(lesson, config)
    assert [progress.epoch for progress in told] == list(range(1, len(told) + 1))
    return found


def test_a_selector_that_begins_as_fcfs_learns_that_short_jobs_go_first(tmp_path: Path) -> None:
    """Bursts of eight jobs for the whole cluster: four of an hour, then four of 15 s."""
    random = np.random.default_rng(0)
    rows = (
        job(submit=20_000.0 * burst + i, run=round(random.uniform(*bounds)), gpus=8)
        for burst in range(60)
        for i, bounds in enumerate(4 * [(3000, 5000)] + 4 * [(10, 20)])
    )
    site = Site(trace_of(*rows), cluster_of("1x8"))
    found = taught(site, tmp_path, "fcfs", "best-fit", allocator="best-fit")
    assert found.card["validation_gap"] > 0.2  # SJF waits 40 % less


def test_an_allocator_that_begins_as_worst_fit_learns_to_keep_a_node_whole(tmp_path: Path) -> None:
    """A job of one GPU, then one of eight: on the small node the first is in nobody's way."""
    rows = (
        job(submit=10_000.0 * burst + i, run=3000.0, gpus=gpus)
        for burst in range(120)
        for i, gpus in enumerate((1, 8, 1))
    )
    site = Site(trace_of(*rows), cluster_of("1x8:a,1x2:b"))
    found = taught(site, tmp_path, "fcfs", "worst-fit", selector="fcfs")
    assert found.card["validation_gap"] > 0.5
    assert "order" in found.arrays


def test_imitation_makes_the_choices_of_the_base_pair() -> None:
    envs = SelectorAllocatorVector(4, pool=small_pair_pool())
    torch.manual_seed(0)
    agreed = imitate(PairActor(), envs, 24, 12, np.random.default_rng(0))
    assert agreed > 0.8


def test_a_training_goes_on_where_it_stopped(tmp_path: Path) -> None:
    rows = (job(submit=60.0 * i, run=100.0 * (1 + i % 7), gpus=1 + i % 8) for i in range(300))
    site = Site(trace_of(*rows), cluster_of("1x8:a,1x4:b"))
    short: dict[str, Any] = {
        "epochs": 2, "episodes_per_epoch": 4, "length": 24, "search_epochs": 2,
    }  # fmt: skip
    first = taught(site, tmp_path / "a", "saf", "best-fit", **short)
    again = taught_again(site, tmp_path / "a", **short)
    assert dict(again.card) == dict(first.card)
    with pytest.raises(ConfigError, match="other settings"):
        taught_again(site, tmp_path / "a", **short, wait=0.5)


def taught_again(site: Site, folder: Path, **settings: Any) -> Checkpoint:
    config = SelectorAllocatorSettings(**{**TINY, **settings})
    choice = PolicyCandidate("saf", "exact", "best-fit")
    lesson = Lesson([open_history(site, "exact")], choice, folder, lambda p: None, 1, LocalPlayers)
    return learn(lesson, config)


def test_the_linear_search_finds_that_gpus_count_too(tmp_path: Path) -> None:
    """It begins as SJF: four jobs for the whole node go before eight that fit side by side."""
    rows = (
        job(submit=12_000.0 * burst + i, run=run, gpus=gpus)
        for burst in range(60)
        for i, (gpus, run) in enumerate([*4 * [(8, 1500.0)], *8 * [(1, 2000.0)]])
    )
    site = Site(trace_of(*rows), cluster_of("1x8"))
    found = taught(
        site, tmp_path, "sjf", "best-fit", allocator="best-fit", search_epochs=8, epochs=1,
        population=8, replays=2, batch=1, replay_length=240,
    )  # fmt: skip
    assert found.card["halves"]["pair"]["loss"] < -0.2


@pytest.mark.parametrize("order", ["saf", "saf-1.5", "saf-2", "sjf"])
def test_networks_that_begin_as_a_linear_rule_give_its_schedule(order: str) -> None:
    """Gangs on mixed nodes included: before they saw the ways, allocators sent them elsewhere."""
    random = np.random.default_rng(1)
    kinds = [(60 + 53 * i, (1, 1, 2, 4, 8, 12, 16)[i % 7]) for i in range(70)]
    rows = [
        job(submit=30.0 * i, run=float(run), gpus=int(gpus))
        for i, (run, gpus) in enumerate(random.choice(kinds, 400))
    ]
    trace, cluster = trace_of(*rows), cluster_of("3x8:a,4x4:b,6x2:c")
    actor = PairActor()
    assert not begin_as(actor, order, "best-fit", cluster.total_gpus)
    learned = MODELS["selector-allocator"](actor.arrays(), "pair")
    usual = Learned(ORDERINGS[order], PLACEMENTS["best-fit"])
    ours, theirs = (
        simulate(trace, cluster, *one, Backfill.EASY, estimates_of(*rows))
        for one in (learned, usual)
    )
    np.testing.assert_array_equal(ours.start, theirs.start)
    np.testing.assert_array_equal(ours.chunk_node, theirs.chunk_node)
    assert theirs.wait.mean() > 1000


def test_of_two_halves_the_one_that_helps_is_handed_to_the_gate(tmp_path: Path) -> None:
    """An allocator that scatters beside a selector that is as good as the choice."""
    lesson, actor = scattering(tmp_path)
    with pair_replays(lesson, lesson.histories[0], SelectorAllocatorSettings(**TINY)) as replays:
        found = best_halves(
            Checkpoint("selector-allocator", actor.arrays(), {}), lesson.choice, replays
        )
    assert found.card["kept"] == "selector"
    assert found.card["halves"]["selector"]["loss"] == pytest.approx(0.0)  # it is SAF
    assert found.card["halves"]["allocator"]["loss"] > 0.1
    assert str(found.arrays["placement"]) == "best-fit"


def scattering(folder: Path) -> tuple[Lesson, PairActor]:
    """A history on which it matters to keep a node whole, and an allocator that does not."""
    rows = (
        job(submit=10_000.0 * burst + i, run=3000.0, gpus=gpus)
        for burst in range(60)
        for i, gpus in enumerate((1, 8, 8))
    )
    site = Site(trace_of(*rows), cluster_of("1x8:a,1x2:b"))
    choice = PolicyCandidate("saf", "exact", "best-fit")
    lesson = Lesson([open_history(site, "exact")], choice, folder, lambda p: None, 1, LocalPlayers)
    actor = PairActor()
    assert not begin_as(actor, "saf", "best-fit", 10)
    actor.allocator.follow(-30.0, 0.0)
    return lesson, actor


def test_what_learning_made_worse_on_validation_is_left_for_the_start(tmp_path: Path) -> None:
    lesson, actor = scattering(tmp_path)
    config = SelectorAllocatorSettings(**{**TINY, "selector": "fcfs"})
    arrays = {name: part for name, part in actor.arrays().items() if name.startswith("allocator")}
    worse = Checkpoint("selector-allocator", {**arrays, "order": np.array("fcfs")}, {})
    base = base_of(lesson.choice, config)
    with pair_replays(lesson, lesson.histories[0], config) as replays:
        found = best_halves(worse, base, replays)
    assert found.card["kept"] == "start"
    assert found.card["halves"]["pair"]["loss"] > found.card["halves"]["start"]["loss"] + 0.1
    assert {name: str(part) for name, part in found.arrays.items()} == {
        "order": "fcfs", "placement": "best-fit",
    }  # fmt: skip


def test_an_allocator_under_an_order_that_no_network_can_be_begins_as_best_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order is not asked, so that nothing has to be imitated; what was made it another one."""
    lesson, _ = scattering(tmp_path)
    config = SelectorAllocatorSettings(**{**TINY, "selector": "fcfs"})
    with pair_replays(lesson, lesson.histories[0], config) as replays:
        run = _PairRun(lesson, lesson.histories[0], config, {"any": 1}, replays)
        fresh = PairActor()
        begin_as(fresh, "saf", "best-fit", 10)
        begun: list[Any] = []

        def remember() -> bool:
            begun.append(run.actor.allocator.skip.weight.clone())
            return False

        monkeypatch.setattr(run, "keep_if_best", remember)
        run.go_on(lambda progress: None)
        run.close()
    assert torch.equal(begun[0], fresh.allocator.skip.weight)


def test_imitation_leaves_the_half_that_needs_none() -> None:
    envs = SelectorAllocatorVector(4, pool=small_pair_pool())
    actor = PairActor()
    assert begin_as(actor, "fcfs", "best-fit", 10) == {"selector"}
    actor.allocator.requires_grad_(False)
    before = [part.clone() for part in actor.allocator.parameters()]
    imitate(actor, envs, 6, 2, np.random.default_rng(0))
    assert all(
        torch.equal(part, was)
        for part, was in zip(actor.allocator.parameters(), before, strict=True)
    )


def test_an_order_that_was_not_chosen_goes_by_usual_estimates() -> None:
    choice = PolicyCandidate("saf", "predicted:mixture,order=mean,reserve=q90", "lifetime")
    usual = "predicted:mixture,order=log-mean,reserve=q80"
    fcfs = SelectorAllocatorSettings(selector="fcfs")
    assert base_of(choice, fcfs) == PolicyCandidate("fcfs", usual, "lifetime")
    selector = SelectorAllocatorSettings(allocator="best-fit")
    assert base_of(choice, selector) == PolicyCandidate("saf", choice.estimates, "best-fit")
    assert base_of(choice, SelectorAllocatorSettings()) == choice


def test_a_frozen_half_imitates_and_then_stays_as_it_is(tmp_path: Path) -> None:
    rows = (job(submit=60.0 * i, run=100.0 * (1 + i % 7), gpus=1 + i % 8) for i in range(300))
    site = Site(trace_of(*rows), cluster_of("1x8:a,1x4:b"))
    short: dict[str, Any] = {"episodes_per_epoch": 4, "length": 24, "allocator": "frozen"}
    config = SelectorAllocatorSettings(**{**TINY, **short, "epochs": 2})
    lesson = Lesson(
        [open_history(site, "exact")], PolicyCandidate("saf", "exact", "best-fit"), tmp_path,
        lambda p: None, 1, LocalPlayers,
    )  # fmt: skip
    with pair_replays(lesson, lesson.histories[0], config) as replays:
        run = _PairRun(lesson, lesson.histories[0], config, {"any": 1}, replays)
    run._let_learn([run.actor.selector])
    before = {n: p.clone() for n, p in run.actor.named_parameters()}
    run.learn()
    for name, part in run.actor.named_parameters():
        if name.startswith("allocator"):
            assert torch.equal(part, before[name]), name
    assert any(
        not torch.equal(part, before[name])
        for name, part in run.actor.named_parameters()
        if name.startswith("selector")
    )
    run.close()


def test_the_exported_allocator_ranks_classes_as_the_network_does() -> None:
    actor = random_actor(3)
    placement = MODELS["selector-allocator"](actor.arrays(), "pair").placement
    assert placement.rank is not None
    words = (ctypes.c_int64,) * 3
    rank = ctypes.CFUNCTYPE(None, *words)(placement.rank.address)
    envs = SelectorAllocatorVector(1, pool=small_pair_pool())
    seen, _ = envs.reset(seed=1)
    looked = 0
    for _ in range(400):
        if envs.batch.turn[0] == ALLOCATES:
            world, pair = envs.batch.stage.worlds[0], envs.batch.pair
            count = int(pair.class_count[0])
            facts = table_of(world, "node_classes", NodeClassFacts, "class_count").copy()
            weights = placement.weights.copy()
            rank(weights.ctypes.data, facts.ctypes.data, count)
            with torch.inference_mode():
                logits = actor(tensors(pack(seen))).numpy()
            np.testing.assert_allclose(
                -facts["preference"][pair.classes[0, :count]], logits, atol=1e-4
            )
            looked += 1
        seen, *_ = envs.step(np.zeros(1, np.int64))
    assert looked > 20


def test_values_and_logits_do_not_depend_on_the_order_of_rows() -> None:
    envs = SelectorAllocatorVector(1, pool=small_pair_pool())
    seen, _ = envs.reset(seed=4)
    for _ in range(30):
        seen, *_ = envs.step(np.zeros(1, np.int64))
    count = int(envs.batch.pair.filled[0])
    order = np.random.default_rng(0).permutation(count)
    other = {name: part.copy() for name, part in seen.items()}
    other["jobs"][0, :count] = seen["jobs"][0, order]
    actor, critic = random_actor(5), PairCritic()
    with torch.inference_mode():
        one, two = (tensors(pack(part)) for part in (seen, other))
        torch.testing.assert_close(actor(one)[:count][torch.from_numpy(order)], actor(two)[:count])
        torch.testing.assert_close(critic(one), critic(two))


def test_a_pair_is_a_policy_like_any_other_and_needs_no_torch(tmp_path: Path) -> None:
    from dovetail.policies.learned.checkpoint import save_checkpoint

    arrays = random_actor(1).arrays()
    save_checkpoint(tmp_path, Checkpoint("selector-allocator", arrays, {"agent": "none"}))
    check_replays(*load_checkpoint(tmp_path).policy("pair"))
    assert Policy.parse(str(tmp_path)).placement == "own"
    code = (
        "import sys; from dovetail import simulate; "
        f"simulate('synth:helios', '2x8:a,2x4:b', {str(tmp_path)!r}, estimates='noisy:1'); "
        "assert 'torch' not in sys.modules"
    )
    # A trace of 300 jobs would do, but `simulate` draws as many as the workload has by itself.
    code = code.replace("'synth:helios'", "load_trace('synth:helios', jobs=300)")
    code = "from dovetail.traces.loader import load_trace; " + code
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_halves_may_be_heuristics_by_name_and_spoilt_ones_are_refused() -> None:
    arrays = random_actor(2).arrays()
    pair = MODELS["selector-allocator"]
    only = {n: a for n, a in arrays.items() if n.startswith("selector")}
    assert pair({**only, "placement": np.array("fgd")}, "x").placement.name == "fgd"
    with pytest.raises(ConfigError, match="x: places by 'nowhere'"):
        pair({**only, "placement": np.array("nowhere")}, "x")
    with pytest.raises(ConfigError, match="x: orders by 'chance'"):
        pair({**arrays, "order": np.array("chance")}, "x")
    with pytest.raises(ConfigError, match="x: was trained on other facts"):
        pair({**arrays, "allocator_node_features": np.array(["free"])}, "x")
    spoilt = arrays["allocator_wide"].copy()
    spoilt[0, 0] = np.nan
    with pytest.raises(ConfigError, match="not all finite"):
        pair({**arrays, "allocator_wide": spoilt}, "x")
    with pytest.raises(ConfigError, match="expected numbers of"):
        pair({**arrays, "allocator_wide": spoilt[:3]}, "x")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"selector": "saf", "allocator": "fgd"}, "neither"),
        ({"wait": 0.0, "bsld": 0.0}, "nothing to learn"),
    ],
)
def test_settings_without_sense_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        SelectorAllocatorSettings(**wrong)
    with pytest.raises(UnknownName):
        SelectorAllocatorSettings(selector="saff")
