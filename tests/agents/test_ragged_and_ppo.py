"""Decisions without padding, and a learner that improves on an obvious game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

torch = pytest.importorskip("torch")

from dovetail.agents.ppo.config import PpoConfig  # noqa: E402
from dovetail.agents.ppo.learner import Ppo  # noqa: E402
from dovetail.agents.ppo.networks import KernelActor, QueueCritic  # noqa: E402 - torch is optional
from dovetail.agents.ppo.ragged import best, join, log_softmax, pack, tensors  # noqa: E402
from dovetail.agents.ppo.rollout import advantages  # noqa: E402
from dovetail.domain.errors import ConfigError  # noqa: E402

ROWS, WIDTH = 6, 3
Seen = dict[str, np.ndarray[Any, Any]]


def shown(count: int, random: np.random.Generator) -> Seen:
    """Decisions with one to all of the rows, some of which may decline."""
    jobs = random.random((count, ROWS, WIDTH)).astype(np.float32)
    mask = np.zeros((count, ROWS + 1), np.int8)
    mask[:, :ROWS] = np.arange(ROWS) < random.integers(1, ROWS + 1, count)[:, None]
    mask[:, ROWS] = random.random(count) < 0.5
    jobs *= mask[:, :ROWS, None]
    return {"jobs": jobs, "critic": jobs[:, :, :2].copy(), "mask": mask}


class PickTheLargest(VectorEnv[Seen, Any, Any]):
    """One decision an episode: the reward is the first number of the row that was picked."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, count: int) -> None:
        self.num_envs = count

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        self.random = np.random.default_rng(seed)
        self.seen = shown(self.num_envs, self.random)
        return self.seen, {}

    def step(self, actions: Any) -> tuple[Seen, Any, Any, Any, dict[str, Any]]:
        first = self.seen["jobs"][:, :, 0]
        reward = np.zeros(self.num_envs)  # declining earns nothing
        picked = np.flatnonzero(actions < ROWS)
        reward[picked] = first[picked, actions[picked]]
        self.seen = shown(self.num_envs, self.random)
        over = np.ones(self.num_envs, np.bool_)
        return self.seen, reward, over, ~over, {}


class ResetsLater(PickTheLargest):
    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012


def test_the_softmax_within_decisions_is_the_dense_masked_one() -> None:
    random = np.random.default_rng(0)
    seen = shown(50, random)
    ragged = pack(seen)
    dense = torch.from_numpy(np.asarray(random.normal(0, 30, seen["mask"].shape), np.float32))
    valid = torch.from_numpy(seen["mask"].astype(bool))
    given = tensors(ragged)
    flat = dense[valid].requires_grad_()
    found = log_softmax(flat, given.decision, given.decisions)
    masked = dense.masked_fill(~valid, -torch.inf).requires_grad_()
    expected = torch.log_softmax(masked, dim=1)[valid]
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-4)
    weights = torch.from_numpy(random.random(len(found)).astype(np.float32))
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    assert torch.allclose(flat.grad, masked.grad[valid], rtol=1e-4, atol=1e-4)


def test_packed_decisions_keep_rows_actions_and_order() -> None:
    seen = shown(20, np.random.default_rng(1))
    ragged = pack(seen)
    chosen = np.array([7, 3, 19])
    some = ragged.take(chosen)
    for at, decision in enumerate(chosen):
        part = slice(some.offset[at], some.offset[at + 1])
        assert np.array_equal(some.action[part], np.flatnonzero(seen["mask"][decision]))
        rows = some.rows[part][~some.rowless[part]]
        assert np.array_equal(rows, seen["jobs"][decision][: len(rows)])
    again = join([ragged.take(np.arange(5)), ragged.take(np.arange(5, 20))])
    assert all(np.array_equal(getattr(again, n), getattr(ragged, n)) for n in ragged._fields)


def test_the_best_of_equals_is_the_first() -> None:
    values = np.array([1, 3, 3, 5, 5, 5, 2], np.float32)
    assert best(values, np.array([0, 3, 6, 7])).tolist() == [1, 0, 0]


def test_the_order_of_the_rows_does_not_matter_to_the_actor() -> None:
    seen = shown(10, np.random.default_rng(2))
    seen["mask"][:] = 1
    actor = KernelActor(WIDTH)
    logits = actor(tensors(pack(seen))).reshape(10, ROWS + 1)
    seen["jobs"] = seen["jobs"][:, ::-1].copy()
    turned = actor(tensors(pack(seen))).reshape(10, ROWS + 1)
    assert torch.allclose(turned[:, :ROWS], logits[:, :ROWS].flip(1), rtol=1e-4, atol=1e-5)
    assert torch.equal(turned[:, ROWS], logits[:, ROWS])


def test_advantages_add_up_to_what_came_after() -> None:
    reward = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    done = np.array([[False, False], [True, False], [False, False]])
    value, after = np.full((3, 2), 0.25), np.array([0.5, 0.75])
    found = advantages(reward, done, value, after, discount=1.0, decay=1.0)
    assert found[:, 0].tolist() == [0.75, 0.75, 0.25]  # 1 came, then an episode that goes on
    assert found[:, 1].tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_learner_improves_on_an_obvious_game(seed: int) -> None:
    torch.manual_seed(seed)
    actor, critic = KernelActor(WIDTH), QueueCritic(ROWS, 2)
    learner = Ppo(actor, critic, PpoConfig(minibatch=256, actor_rate=1e-2, divergence=0.1))
    game = PickTheLargest(128)
    updates = [learner.learn(game, 1024, np.random.default_rng(i)) for i in range(20)]
    assert updates[0].gap < 0.6
    assert updates[-1].entropy < updates[0].entropy / 2
    offered = pack(game.reset(seed=9)[0])
    with torch.inference_mode():
        place = best(actor(tensors(offered)).numpy(), offered.offset)
    _, reward, *_ = game.step(offered.action[offered.offset[:-1] + place])
    reached = reward.mean()
    possible = game.reset(seed=9)[0]["jobs"][:, :, 0].max(axis=1).mean()
    assert reached > 0.95 * possible


def test_steps_that_only_reset_are_not_learned_from() -> None:
    learner = Ppo(KernelActor(WIDTH), QueueCritic(ROWS, 2), PpoConfig())
    with pytest.raises(ConfigError, match="expected AutoresetMode"):
        learner.learn(ResetsLater(4), 4, np.random.default_rng(0))


def test_a_small_divergence_stops_the_passes() -> None:
    torch.manual_seed(0)
    config = PpoConfig(passes=50, minibatch=64, actor_rate=1e-2, divergence=1e-3)
    learner = Ppo(KernelActor(WIDTH), QueueCritic(ROWS, 2), config)
    update = learner.learn(PickTheLargest(128), 256, np.random.default_rng(0))
    assert update.passes < 50
    assert update.divergence > 1e-3


@pytest.mark.parametrize("wrong", [{"passes": 0}, {"clip": 0.0}, {"decay": 1.5}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        PpoConfig(**wrong)
