"""PPO from end to end: decisions per second of playing and learning, with both parts apart.

python -m benchmarks.training
"""

from __future__ import annotations

import json
import statistics
from typing import Any

import numpy as np
import torch

from dovetail.agents.ppo.config import PpoConfig
from dovetail.agents.ppo.learner import Ppo
from dovetail.agents.ppo.networks import KernelActor, QueueCritic
from dovetail.agents.rltune.starts import saf
from dovetail.domain.cluster import Cluster
from dovetail.envs import Pool, QueuePriorityConfig, QueuePriorityVector, SyntheticWindows
from dovetail.envs.visible_jobs import SHOWN
from dovetail.policies.selections import SAMPLED

COUNT, EPISODES, ROUNDS = 50, 25, 4


def run() -> dict[str, Any]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    windows = SyntheticWindows()
    config = QueuePriorityConfig(windows)
    batch = QueuePriorityVector(COUNT, pool=Pool(config), copy=False)
    actor, look = KernelActor(SAMPLED.width), config.observation
    actor.follow(saf(SAMPLED, Cluster.parse(windows.cluster).total_gpus, temperature=2.0))
    learner = Ppo(actor, QueueCritic(SHOWN, look.critic_width), PpoConfig())
    updates = [learner.learn(batch, EPISODES, np.random.default_rng(i)) for i in range(ROUNDS + 1)][
        1:
    ]  # the first one warms up
    rates = [update.decisions / update.seconds for update in updates]
    playing = [update.decisions / update.seconds_playing for update in updates]
    return {
        "decisions_per_second": round(statistics.median(rates)),
        "best_decisions_per_second": round(max(rates)),
        "decisions_per_second_playing": round(statistics.median(playing)),
        "passes": updates[-1].passes,
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
