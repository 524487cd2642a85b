"""What `render` shows is what the environment is in."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from dovetail.domain.errors import UnknownName
from dovetail.envs import QUEUE_PRIORITY, QueuePriority, QueuePriorityVector
from dovetail.envs.pool import Pool
from dovetail.envs.renderers import BUSY, CELL, FITS, FREE, GAP, WAITS
from tests.builders import job
from tests.envs.scenes import pool_of, small_pool


@pytest.fixture(scope="module")
def pool() -> Pool:
    """From 10 on 4 of 16 GPUs are free; the job of 8 does not fit, two small ones do."""
    return pool_of(
        "2x8", job(0, 10, 4), job(0.5, 4000, 4), job(0.6, 9000, 8), job(1, 3600, 8), job(1, 90, 4),
        job(1, 90_000, 4),
    )  # fmt: skip


def test_text_shows_nodes_and_the_jobs_to_choose_from(pool: Pool) -> None:
    env = QueuePriority(pool=pool, render_mode="ansi")
    env.reset()
    assert env.render().splitlines() == [
        "0:00:10: 4 of 16 GPUs free, 3 jobs to choose from",
        "####.... ########",
        "action  GPUs     estimate   now",
        "     0     8      1:00:00 waits",
        "     1     4      0:01:30  fits",
        "     2     4  1 d 1:00:00  fits",
    ]


def test_pixels_show_the_same(pool: Pool) -> None:
    env = QueuePriority(pool=pool, render_mode="rgb_array")
    env.reset()
    picture = env.render()
    assert (picture.dtype, picture.ndim) == (np.uint8, 3)
    middle, step = GAP + CELL // 2, CELL + GAP
    row = [tuple(picture[middle, middle + step * gpu]) for gpu in range(8)]
    assert row == 4 * [BUSY] + 4 * [FREE]
    right = 9 * step + GAP + 2 + middle
    colours = [tuple(picture[middle + step * place, right]) for place in range(3)]
    assert colours == [WAITS, FITS, FITS]


def test_a_vector_draws_every_environment_and_wrappers_find_the_mode() -> None:
    envs = QueuePriorityVector(2, pool=small_pool(), render_mode="ansi")
    envs.reset(seed=0)
    pictures = envs.render()
    assert pictures is not None
    assert [text.count("GPUs free") for text in pictures] == [1, 1]
    made = gymnasium.make(QUEUE_PRIORITY, pool=small_pool(), render_mode="rgb_array")
    made.reset(seed=0)
    assert isinstance(made.render(), np.ndarray)


def test_without_a_mode_nothing_is_drawn_and_an_unknown_one_is_refused() -> None:
    assert QueuePriority(pool=small_pool()).render() is None
    with pytest.raises(UnknownName, match="did you mean 'ansi'"):
        QueuePriority(pool=small_pool(), render_mode="ansii")
