"""Two agents on a partition of thirty mixed nodes, on the unseen tenth: `make bench-marl`.

For each history and kind of knowledge: the nine baselines, SAF, F1, Slurm's order, `dovetail` and
the choice; the pair, the selector with best-fit, and the allocator under SAF and under FCFS, each
trained with several seeds. What is finished lies in benchmarks/models/marl and is not repeated.

python -m benchmarks.run marl                                  # all; many hours
python -m benchmarks.marl --traces pai --seeds 2 --half_seeds 1 --jobs 8000   # a part of it
python -m benchmarks.marl --objective slowdown --arms pair             # to marl_slowdown.json
python -m benchmarks.marl --train nothing      # measure the trainings that are finished, no more
python -m benchmarks.marl --traces ""          # the result file from the histories measured so far
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.forecasts import stored_forecast
from benchmarks.forks import in_forks
from benchmarks.marl_measures import (
    METRICS,
    QUEUE,
    Told,
    Windows,
    on_unseen,
    ratio_over_seeds,
)
from benchmarks.marl_sites import MIXED, PARTITION, SITES, open_site
from benchmarks.marl_speeds import BY_SPEED
from dovetail.agents.aim import USUAL_TEXT
from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.choice.cells import SiteHistory, open_history
from dovetail.agents.history import Site, facts
from dovetail.agents.selector_allocator.config import SelectorAllocatorSettings
from dovetail.agents.training import HANDED, LEARNING, train
from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.run import Run
from dovetail.evaluation.unseen import Draws, first_unseen, kinds_known
from dovetail.evaluation.warm_windows import BASE
from dovetail.policies.learned.checkpoint import CARD_FILE, load_checkpoint, save_checkpoint
from dovetail.policies.policy import Policy
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.knowledge import Knowledge, is_predicted
from dovetail.prediction.request import Request

PREDICTOR = Request.parse("predicted").predictor
MODELS = Path(__file__).parent / "models" / "marl"
SECONDS, MISSING = "seconds.json", "missing"
NINE = tuple(
    f"{order}@{place}"
    for place in ("best-fit", "topology-aware", "first-available")
    for order in ("fcfs", "lcfs", "sjf")
)
BESTS = ("bsld", "queue_bsld", "whole_bsld")
"""Measures that each have a best of nine: own jobs of the tenth, all who wait in it, all jobs."""

FIRST_COME = ("fcfs@first-available", "fcfs@best-fit")
OTHERS = ("saf@best-fit", "f1@best-fit", "slurm-multifactor@best-fit", "dovetail")
ARMS: dict[str, dict[str, Any]] = {
    "pair": {},
    "selector": {"allocator": "best-fit"},
    "allocator-saf": {"selector": "saf"},
    "allocator-fcfs": {"selector": "fcfs"},
}


@dataclass(frozen=True, slots=True)
class Size:
    """How much of it is done; the result says so."""

    jobs: int = 30_000  # of a history, its last ones
    load: float = 0.95
    seeds: int = 5  # of the pair
    half_seeds: int = 5  # of arms in which one half learns
    search_epochs: int = 12
    population: int = 12  # of the search
    batch: int = 4  # replays that each of them plays
    epochs: int = 30
    episodes: int = 60  # of an epoch
    windows: int = 10
    knowledge: str = "predicted,limit,exact"
    workers: int = 1  # processes that measure
    objective: str = USUAL_TEXT  # of choice and pairs; of others results lie apart
    train: str = MISSING  # what is not finished; anything else: measure what is

    @property
    def folder(self) -> Path:
        return MODELS.with_name(self.result)

    @property
    def result(self) -> str:
        """What models and results of this objective are called."""
        return "marl" if self.objective == USUAL_TEXT else f"marl_{self.objective}"


PLAIN = Size()


def run(
    traces: tuple[str, ...] = SITES,
    arms: tuple[str, ...] = tuple(ARMS),
    size: Size = PLAIN,
) -> dict[str, Any]:
    latency = _latency()  # before torch is loaded
    for name in traces:
        measure_site(name, arms, size)
    found = {name: size.folder / name / "result.json" for name in SITES}
    return {
        "partition": PARTITION,
        "latency": latency,
        "traces": {
            name: json.loads(path.read_text(encoding="utf-8"))
            for name, path in found.items()
            if path.exists()
        },
    }


def _latency() -> Any:
    from benchmarks.marl_latency import measure_latency

    kept = MODELS / "latency.json"
    if not kept.exists():
        MODELS.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measure_latency()), encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8"))


def measure_site(name: str, arms: tuple[str, ...], size: Size) -> None:
    """Train what is missing, then measure everything on the last tenth."""
    site = open_site(name, size.jobs, size.load)
    result: dict[str, Any] = {"size": asdict(size), "jobs": len(site.trace), "knowledge": {}}
    for kind in kinds_of(name, site):
        if kind not in size.knowledge.split(","):
            continue
        knowledge = knowledge_of(site, kind)
        history = open_history(site, kind, forecast_of(knowledge, kind))
        start = _Start(site, history, choice_of(name, kind, history, size))
        planned = [
            (arm, seed)
            for arm in arms
            for seed in range(size.half_seeds if ARMS[arm] else size.seeds)
            if size.train == MISSING
            or size.folder.joinpath(name, kind, f"{arm}-{seed}", SECONDS).exists()
        ]
        trained = {
            f"{arm}-{seed}": _trained(name, kind, arm, seed, start, size) for arm, seed in planned
        }
        draws = Draws(site.trace, kind, 0, 1, knowledge)
        result["knowledge"][kind] = _measured(site, draws, start.choice, trained, size)
        (size.folder / name).mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, indent=1, sort_keys=True)
        (size.folder / name / "result.json").write_text(text, encoding="utf-8")


class _Start(NamedTuple):
    """What all trainings of a history share."""

    site: Site
    history: SiteHistory
    choice: dict[str, Any]


def kinds_of(name: str, site: Site) -> list[str]:
    """What is told of run times: where speeds are made up, all, so that no error hides a gain."""
    return ["exact"] if name == MIXED else kinds_known(site.trace)


def knowledge_of(site: Site, kind: str) -> Knowledge:
    """With predictions that were made once, where the kind of knowledge is predictions."""
    if not is_predicted(kind):
        return Knowledge(site.trace)
    return Knowledge(site.trace, {PREDICTOR: stored_forecast(site.trace, PREDICTOR)})


def forecast_of(knowledge: Knowledge, kind: str) -> Distribution | None:
    return knowledge.forecast(PREDICTOR) if is_predicted(kind) else None


def choice_of(name: str, kind: str, history: SiteHistory, size: Size = PLAIN) -> dict[str, Any]:
    """The best heuristic pair and estimates by the known part: one for all arms and seeds."""
    config = ChoiceConfig(estimates=kind, objective=size.objective)
    folder = size.folder / name / kind / "choice"
    clock = folder / SECONDS
    if not clock.exists():
        with _timed(clock, f"{name}, {kind}, choice"):
            train("choice", None, [history.site], folder, config, _say, histories=[history])
    found: dict[str, Any] = load_checkpoint(folder).card["choice"]
    return found | {"seconds": json.loads(clock.read_text(encoding="utf-8"))}


@contextmanager
def _timed(clock: Path, what: str) -> Iterator[None]:
    """Write what it took, in clock and processor time."""
    began, used = time.perf_counter(), time.process_time()
    yield
    spent = {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
    }
    clock.write_text(json.dumps(spent), encoding="utf-8")
    _say(f"{what}: {spent}")


def _trained(name: str, kind: str, arm: str, seed: int, start: _Start, size: Size) -> Path:
    from dovetail.agents.selector_allocator.training import learn

    path = size.folder / name / kind / f"{arm}-{seed}"
    clock = path / SECONDS
    if clock.exists():
        return path
    config = SelectorAllocatorSettings(
        epochs=size.epochs, episodes_per_epoch=size.episodes, estimates=kind, seed=seed,
        environments=min(30, size.episodes), imitated=size.episodes,
        search_epochs=size.search_epochs, population=size.population, batch=size.batch,
        objective=size.objective,
        **ARMS[arm],
    )  # fmt: skip
    if not (path / CARD_FILE).exists():  # as if the choice had just been made
        chosen = PolicyCandidate(*(start.choice[n] for n in ("order", "estimates", "placement")))
        about = json.loads(json.dumps(facts("selector-allocator", config, [start.site])))
        save_checkpoint(path, chosen.checkpoint({**about, "choice": start.choice}))
    what = f"{name}, {kind}, {arm} {seed}"
    with _timed(clock, what):
        train(
            "selector-allocator", learn, [start.site], path, config,
            lambda progress: _say(f"{what}: {progress}"), histories=[start.history],
        )  # fmt: skip
    return path


def _measured(
    site: Site, draws: Draws, chosen: dict[str, Any], trained: dict[str, Path], size: Size
) -> dict[str, Any]:
    first = first_unseen(site.trace)
    told = contestants(draws, chosen, trained)
    windows = Windows(_base(site, draws), first, size.windows)
    rows: dict[str, Any] = {}
    blocks: dict[str, Floats] = {}  # [metrics, blocks]
    warm: dict[str, Floats] = {}  # [metrics, windows]
    play = partial(_play, site, windows, first)
    for name, (row, own, sums) in zip(
        told, in_forks(play, told.values(), size.workers), strict=True
    ):
        rows[name], blocks[name] = row, own
        warm[name] = sums[:-1] / sums[-1]
        means = zip(METRICS, warm[name].mean(axis=1).tolist(), strict=True)
        rows[name] |= {f"windows_{metric}": mean for metric, mean in means}
        _say(f"{draws.spec}: {name}: {rows[name]}")
    best = {by: min(NINE, key=lambda name: rows[name][by]) for by in BESTS}
    return {
        "choice": chosen,
        "best_of_nine": best,
        "rows": rows,
        "against": {
            "unseen": _against(blocks, best.values(), (*METRICS, *QUEUE)),
            "windows": _against(warm, best.values(), METRICS),
        },
        "training": {name: _training(path) for name, path in trained.items()},
    }


def _play(
    site: Site, windows: Windows, first: int, one: Told
) -> tuple[dict[str, float], Floats, Floats]:
    return *on_unseen(site, one, first), windows.play(one)


def contestants(draws: Draws, chosen: dict[str, Any], trained: dict[str, Path]) -> dict[str, Told]:
    """Heuristics and what was learned, as learned; `written` is what the gate let through."""
    by_speed = BY_SPEED if draws.spec == "exact" else ()
    policies = {name: Policy.parse(name) for name in (*NINE, *OTHERS, *by_speed)}
    policies |= {name: Policy(str(path / LEARNING / HANDED)) for name, path in trained.items()}
    policies |= {
        f"written-{name.rpartition('-')[2]}": Policy(str(path))
        for name, path in trained.items()
        if name.startswith("pair-")
    }
    found = {name: Told(policy, draws.of(policy)[0]) for name, policy in policies.items()}
    choice = Policy.parse(f"{chosen['order']}@{chosen['placement']}")
    found["choice"] = Told(choice, draws.knowledge.estimates(chosen["estimates"], 0))
    return found


def _base(site: Site, draws: Draws) -> Schedule:
    """Whose replay gives the states in which windows begin."""
    return Run(site.trace, site.cluster, BASE, draws.of(BASE)[0]).replay()


def _against(
    found: dict[str, Floats], best: Iterable[str], metrics: tuple[str, ...]
) -> dict[str, Any]:
    """Each arm, all of its seeds, and the choice, against heuristics and the other arms.

    Below 1 is better.
    """
    arms = sorted({name.rpartition("-")[0] for name in found if name[-1].isdigit()})
    of_arm = {
        arm: np.stack([part for name, part in found.items() if name.rpartition("-")[0] == arm])
        for arm in arms
    }  # [seeds, metrics, blocks]
    of_arm["choice"] = found["choice"][None]
    names = (*best, *FIRST_COME, *OTHERS, *BY_SPEED)
    rivals = {name: found[name] for name in names if name in found}
    return {
        arm: {
            rival: {
                metric: ratio_over_seeds(ours[:, i], theirs[..., i, :])
                for i, metric in enumerate(metrics)
            }
            for rival, theirs in (rivals | of_arm).items()
            if rival != arm
        }
        for arm, ours in of_arm.items()
    }


def _training(path: Path) -> dict[str, Any]:
    card = load_checkpoint(path).card
    return {
        **json.loads((path / SECONDS).read_text(encoding="utf-8")),
        "gate": card.get("gate"),
        "halves": card["learned"].get("halves"),
        "kept": card["learned"].get("kept"),
        "best_epoch": card["learned"].get("epoch"),  # 0: what the search found, before PPO
        "validation_gap": card["learned"].get("validation_gap"),
    }


def _say(text: object) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--traces", default=",".join(SITES))
    options.add_argument("--arms", default=",".join(ARMS))
    for name, value in asdict(PLAIN).items():
        options.add_argument(f"--{name}", type=type(value), default=value)
    given = vars(options.parse_args())
    traces, arms = (tuple(filter(None, given.pop(name).split(","))) for name in ("traces", "arms"))
    size = Size(**given)
    result = run(traces, arms, size)
    path = Path(__file__).parent / "results" / f"{size.result}.json"
    path.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
