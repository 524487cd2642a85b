"""`dovetail mig plan`: cut GPUs to fit a demand, as files for mig-parted and Slurm."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.files import write_whole
from dovetail.domain.errors import ConfigError

if TYPE_CHECKING:
    from dovetail.mig.gpus.model import GpuModel
    from dovetail.mig.plan.instances import Instances
    from dovetail.mig.plan.plan import MigPlan, NodePlan


MOST_SEARCHED = 256
"""GPUs that --search takes."""


def mig_plan(
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="a100-40, a100-80, h100-80, h100-94, h100-96, h200-141, gh200-144, b200-180, "
            "gb200-186, rtx-pro-6000-96 or a30-24.",
            show_default=False,
        ),
    ],
    gpus: Annotated[
        int,
        typer.Option("--gpus", metavar="N", min=1, help="GPUs of each node.", show_default=False),
    ],
    nodes: Annotated[
        str,
        typer.Option(
            "--nodes", metavar="LIST", help="As Slurm writes them: mig-[1-2].", show_default=False
        ),
    ],
    configurations: Annotated[
        str | None,
        typer.Option(
            "--configurations",
            metavar="LIST",
            help="One per GPU of a node, or of all nodes: a number, or profiles as "
            "4g.20gb+3g.20gb, with commas between GPUs.",
            show_default=False,
        ),
    ] = None,
    demand: Annotated[
        str | None,
        typer.Option(
            "--demand",
            metavar="TABLE",
            help="Instances needed at once, by size or profile: 1g=40,2g=10,7g=3.",
            show_default=False,
        ),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="A job history: what it kept busy on average is the demand.",
            show_default=False,
        ),
    ] = None,
    search: Annotated[
        Path | None,
        typer.Option(
            "--search",
            metavar="FILE",
            help="Jobs with deadlines (see `dovetail mig simulate --save`): the cut with the least "
            "energy and tardiness under categorical-edf, by simulation.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What configurations are called.")
    ] = "dovetail",
    instances: Annotated[
        list[str] | None,
        typer.Option(
            "--instances",
            metavar="NODES=FILE",
            help="For a Slurm without NVML: what nodes show once they are cut, from "
            "(nvidia-smi mig -lgi; cat /proc/driver/nvidia-caps/mig-minors). May be repeated.",
            show_default=False,
        ),
    ] = None,
    devices: Annotated[
        str, typer.Option("--devices", metavar="DIR", help="Where device files are.")
    ] = "/dev",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Folder to write the files to.", show_default=False
        ),
    ] = None,
) -> None:
    """Cut each GPU to fit a demand, or as told, and write it for mig-parted and Slurm.

    Nothing is applied: drain a node, run mig-parted on it, then update Slurm.

    \b
    Example:
      dovetail mig plan --model a100-40 --gpus 8 --nodes mig-[1-2] --demand "1g=40,2g=10,7g=3"
    """
    from dovetail.mig.gpus.table import GPU_MODELS
    from dovetail.mig.plan.parted import mig_parted_yaml
    from dovetail.mig.plan.plan import MigPlan
    from dovetail.mig.plan.slurm import gres_conf_detected, gres_conf_listed, slurm_conf_lines
    from dovetail.slurm.host_lists import expand

    known, names = GPU_MODELS[model], expand(nodes)
    cuts, remark = _cuts(known, names, gpus, configurations, demand, trace, search)
    plan = MigPlan(known, cuts, name)
    shown = _instances(instances or [], known)
    files = {
        "mig-parted.yaml": mig_parted_yaml(plan),
        "mig-nodes.conf": slurm_conf_lines(plan),
        "mig-gres.conf": gres_conf_listed(plan, shown, devices)
        if shown
        else gres_conf_detected(plan),
    }
    _show(plan, remark, files)
    if out is not None:
        _write(out, files)


def _cuts(
    model: GpuModel,
    nodes: list[str],
    gpus: int,
    configurations: str | None,
    demand: str | None,
    trace: str | None,
    search: Path | None,
) -> tuple[tuple[NodePlan, ...], str | None]:
    """What every GPU is cut into, and what that means for the demand, in words."""
    from dovetail.mig.plan.plan import deal, parse_cuts, refuse_too_many

    refuse_too_many(nodes, gpus)
    if sum(source is not None for source in (configurations, demand, trace, search)) != 1:
        raise ConfigError("give one of --configurations, --demand, --trace and --search")
    if configurations is not None:
        return deal(nodes, gpus, parse_cuts(configurations, model)), None
    if search is not None:
        return _searched(model, nodes, gpus, search)
    return _chosen(model, nodes, gpus, demand, trace)


def _searched(
    model: GpuModel, nodes: list[str], gpus: int, jobs: Path
) -> tuple[tuple[NodePlan, ...], str]:
    from dovetail.cli.mig.options import KERNEL
    from dovetail.cli.screen import progress_bar, warn_of_compiling
    from dovetail.mig.evaluation.static_search import best_configurations, whole_gpus
    from dovetail.mig.plan.plan import cut_of, spread
    from dovetail.mig.policies import PLACERS
    from dovetail.mig.workload.file import read_mig_workload

    if gpus * len(nodes) > MOST_SEARCHED:
        raise ConfigError(
            f"--search simulates every cut: {gpus * len(nodes):,} GPUs are too many, at most "
            f"{MOST_SEARCHED}; use --demand or --trace"
        )
    cluster, day = whole_gpus(model.name, gpus * len(nodes)), read_mig_workload(jobs)
    warn_of_compiling(KERNEL)
    with progress_bar("searching") as advance:
        found = best_configurations(
            [day],
            cluster,
            PLACERS["categorical-edf"],
            progress=lambda tried: advance(0.0, f"searching: {tried} cuts tried"),
        )
    cuts = [cut_of(number, model) for number in found.cluster.configurations]
    return spread(nodes, gpus, cuts), (
        f"{len(day):,} jobs: the best of {found.tried:,} simulated cuts; ET {found.cost:.3f}"
    )


def _chosen(
    model: GpuModel, nodes: list[str], gpus: int, table: str | None, trace: str | None
) -> tuple[tuple[NodePlan, ...], str]:
    from dovetail.api import load_trace
    from dovetail.domain.units import share
    from dovetail.mig.plan.choice import choose_configurations, headroom
    from dovetail.mig.plan.demand import demand_of, parse_demand
    from dovetail.mig.plan.plan import cut_of, spread

    if trace is not None:
        needed = demand_of(load_trace(trace).jobs, model)
    else:
        needed = parse_demand(table or "", model)
    numbers = choose_configurations(needed, gpus * len(nodes), model)
    factor = headroom(needed, numbers, model)
    asked = ", ".join(f"{amount:.1f} × {name}" for name, amount in sorted(needed.items()))
    fits = (
        f"all of it fits at once, and it may grow ×{factor:.2f}"
        if factor >= 1
        else f"{share(factor)} of it fits at once; the rest waits"
    )
    return spread(nodes, gpus, [cut_of(n, model) for n in numbers]), f"demand {asked}: {fits}"


def _instances(options: list[str], model: GpuModel) -> dict[str, Instances]:
    from dovetail.mig.plan.instances import read_instances
    from dovetail.slurm.host_lists import expand
    from dovetail.traces.source import read_text

    found: dict[str, Instances] = {}
    for option in options:
        nodes, equals, file = option.partition("=")
        if not (equals and file):
            raise ConfigError(f"--instances {option!r}: write NODES=FILE, as mig-1=mig-1.txt")
        there = read_instances(read_text(Path(file)), model)
        found |= dict.fromkeys(expand(nodes), there)
    return found


def _show(plan: MigPlan, remark: str | None, files: dict[str, str]) -> None:
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns, results
    from dovetail.slurm.host_lists import host_list

    console = results()
    table = columns("configuration", "nodes", "slices of each node")
    for group in plan.groups:
        slices = ", ".join(f"{count} × {name}" for name, count in plan.counts(group.gpus).items())
        table.add_row(cell(group.name), cell(host_list(group.nodes)), slices)
    console.print(table)
    if remark is not None:
        console.print(f"\n{cell(remark)}", soft_wrap=True)
    for name, text in files.items():
        typer.echo(f"\n# {name}\n{text}", nl=False)


def _write(folder: Path, files: dict[str, str]) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise ConfigError(f"--out {folder}: {problem.strerror or problem}") from problem
    for name, text in files.items():
        write_whole(folder / name, partial(Path.write_text, data=text, encoding="utf-8"))
    typer.echo(f"\n{len(files)} files in {folder}")
