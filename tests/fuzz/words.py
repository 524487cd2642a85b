"""Targets that read short texts: specifications, and the options of commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from typer.testing import CliRunner

from dovetail import api
from dovetail.cli.app import app
from dovetail.domain.cluster import Cluster
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.policies.policy import Policy
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.fuzz.mutations import TOKENS, VALUES, spoil_text
from tests.fuzz.target import Target

CLUSTERS = ("64x8:v100,20x4:p100", "4x8", "1x1:a", "2x8:v100")
POLICIES = ("fcfs", "saf+easy@best-fit", "sjf@fgd", "dovetail", "wfp3+none", "qssf+conservative")
ESTIMATES = ("exact", "limit", "noisy:0.5", "predicted")
SYNTHETIC = tuple(f"synth:{name}" for name in WORKLOADS)
MIG_CLUSTERS = ("8xa100-40:1,1,2,2,3,3,12,12", "2xa100-40:1,12 + 2xa30-24:1,4", "1xa100-40")
NUMBERS = ("-1", "0", "1", "2", "7", "1e3", "0.5", "nan", "inf", "-inf", "x", "", "9" * 30, "1e308")


def cluster_spec(random: Random, folder: Path) -> None:
    api.load_cluster(_spoilt(CLUSTERS, random)).digest()


def policy_spec(random: Random, folder: Path) -> None:
    Policy.parse(_spoilt(POLICIES, random)).label()


def estimates_spec(random: Random, folder: Path) -> None:
    trace = synthesize(WORKLOADS["helios"], jobs=5, seed=0)
    make_estimates(trace, _spoilt(ESTIMATES, random), random.choice((0, 1, -1, 2**70)))


def synthetic_spec(random: Random, folder: Path) -> None:
    api.load_trace(
        _spoilt(SYNTHETIC, random),
        jobs=random.choice((None, 0, -1, 1, 2, 50, 10**9, 10**18)),
        seed=random.choice((0, 1, -1, 2**70)),
        load=random.choice((None, 0.9, 0.0, -1.0, 1e308, 1e-308, float("nan"), float("inf"))),
        cluster_gpus=random.choice((None, 64, 0, -1, 1, 10**30)),
    )


def mig_cluster_spec(random: Random, folder: Path) -> None:
    MigCluster.parse(_spoilt(MIG_CLUSTERS, random))


def _spoilt(texts: tuple[str, ...], random: Random) -> str:
    text = random.choice(texts)
    return text if random.random() < 0.1 else spoil_text(text, random)


TRACE, OUTPUT, SPEC = "TRACE", "OUTPUT", "SPEC"
COMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "simulate": {
        "": (TRACE,), "--cluster": CLUSTERS, "--order": POLICIES, "--placement": ("best-fit",),
        "--backfill": ("easy",), "--estimates": ESTIMATES, "--seed": NUMBERS, "--jobs": NUMBERS,
        "--load": NUMBERS, "--json": (OUTPUT,), "--schedule": (OUTPUT,),
    },
    "compare": {
        "": (TRACE,), "--cluster": CLUSTERS, "--policies": ("fcfs,saf+none", "sjf"),
        "--estimates": ESTIMATES, "--sequences": ("1", "2", *NUMBERS[:2]), "--length": NUMBERS,
        "--seed": NUMBERS, "--jobs": NUMBERS, "--load": NUMBERS, "--workers": ("1", "0", "-1", "x"),
        "--json": (OUTPUT,), "--report": (OUTPUT,),
    },
    "trace inspect": {
        "": (TRACE,), "--format": ("swf", "csv"), "--repair": ("drop", "all"),
        "--map": ("submit=a,gpus=b,duration=c",),
    },
    "trace import": {
        "": (TRACE,), "--format": ("swf", "csv"), "--repair": ("drop,sort",), "--out": (OUTPUT,),
    },
    "trace synth": {
        "": ("helios",), "--jobs": NUMBERS, "--seed": NUMBERS, "--load": NUMBERS,
        "--cluster": CLUSTERS, "--out": (OUTPUT,),
    },
    "cluster show": {"": CLUSTERS},
    "mig plan": {"": (TRACE,), "--gpus": NUMBERS[:6], "--gpu": ("a100-40", "h100-80")},
    "evaluate": {"": ("dovetail",), " ": (TRACE,), "--cluster": CLUSTERS, "--seeds": NUMBERS[:4]},
    "live status": {"--config": (OUTPUT,)},
    "live replay": {"": (OUTPUT,)},
}  # fmt: skip

AMOUNTS = ("--sequences", "--seeds")
"""Options that say how much work is wanted: much of it is no fault."""


def command_line(random: Random, folder: Path) -> None:
    """A command with some options, one or two of them spoilt."""
    os.chdir(folder)  # whatever a spoilt name is, its file lands here
    name = random.choice(list(COMMANDS))
    options = COMMANDS[name]
    given = [o for o in options if not o.strip() or o == "--cluster" or random.random() < 0.3]
    spoilt = set(random.sample(given, min(len(given), random.choice((0, 1, 1, 2)))))
    words = name.split()
    for option in given:
        words += [option] if option.strip() else []
        words.append(_value(random.choice(options[option]), option in spoilt, random))
        if option in AMOUNTS and _is_much(words[-1]):
            words[-1] = "3"
    found = CliRunner().invoke(app, words)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code in (0, 1, 2), f"{words}: exit code {found.exit_code}: {found.output}"


def _is_much(text: str) -> bool:
    try:
        return 3 < int(text) <= 1_000_000  # what is beyond is refused at once
    except ValueError:
        return False


def _value(meant: str, spoil: bool, random: Random) -> str:
    good = {TRACE: random.choice(("synth:helios", "gone.swf", "synth:pai")), OUTPUT: "out"}
    value = good.get(meant, meant)
    if not spoil:
        return value
    value = random.choice((random.choice(TOKENS), spoil_text(value, random)))
    value = value.replace("\0", "").lstrip("/")  # no NUL in arguments; no files elsewhere
    return "x" if ".." in value else value[:3000]


def arguments(random: Random, folder: Path) -> None:
    """The library's functions with values that nobody meant; a TypeError names its argument."""
    trace = synthesize(WORKLOADS["helios"], jobs=20, seed=1)
    odd: tuple[object, ...] = (*VALUES, *TOKENS[:20], object(), Cluster.parse("1x8"), print, b"x")
    name = random.choice(list(FUNCTIONS))
    function, meant = FUNCTIONS[name]
    given: dict[str, object] = {"trace": trace, "cluster": "2x8", **meant}
    if name == "load_trace":
        given = dict(meant)
    for argument in random.sample(list(given), random.choice((1, 1, 2))):
        given[argument] = random.choice(odd)
    try:
        function(**given)
    except TypeError as problem:
        known = ("trace is", *(f"{argument} is" for argument in given))
        if not str(problem).startswith(known):
            raise


FUNCTIONS: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    "simulate": (
        api.simulate,
        {"order": "saf", "placement": None, "backfill": "easy", "estimates": "exact", "seed": 0},
    ),
    "compare": (
        api.compare,
        {"policies": ["fcfs"], "estimates": "exact", "seed": 0, "sequences": None, "length": 10},
    ),
    "load_trace": (
        api.load_trace,
        {"source": "synth:pai", "format": None, "repair": (), "columns": None, "jobs": 9, "seed": 0,
         "load": None, "cluster_gpus": None},
    ),
}  # fmt: skip


WORDS: dict[str, Callable[[Random, Path], None]] = {
    "spec:cluster": cluster_spec,
    "spec:policy": policy_spec,
    "spec:estimates": estimates_spec,
    "spec:synthetic": synthetic_spec,
    "spec:mig-cluster": mig_cluster_spec,
    "command": command_line,
    "arguments": arguments,
}
TARGETS = tuple(Target(name, run) for name, run in WORDS.items())
