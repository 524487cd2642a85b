"""The table of GPU models that can be cut, shared by simulator, cluster files and plans.

Profiles, sizes and starts are those of NVIDIA's MIG user guide (the edition for driver R610,
chapters "Supported GPUs" and "Supported MIG Profiles") and of `nvidia-smi mig -lgipp`; the memory
sizes of the GH200 with 144 GB are those of mig-parted's default configuration. Profiles with media
engines or graphics (`+me`, `-me`, `+gfx`) take the same room as those without and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dovetail.domain.registry import Registry
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.profiles import MigConfiguration, MigProfile, MigSlice

_Room = tuple[int, int, tuple[int, ...]]
"""Compute slices, memory slices, starts."""

_SEVEN: tuple[_Room, ...] = (  # alike on every model with seven
    (1, 1, (0, 1, 2, 3, 4, 5, 6)),
    (1, 2, (0, 2, 4, 6)),
    (2, 2, (0, 2, 4)),
    (3, 4, (0, 4)),
    (4, 4, (0,)),
    (7, 8, (0,)),
)
_FOUR: tuple[_Room, ...] = ((1, 1, (0, 1, 2, 3)), (2, 2, (0, 2)), (4, 4, (0,)))

_PUBLISHED = (  # compute slices / memory slices
    "7/8",
    "4/4 3/4",
    "4/4 2/2 1/2",
    "4/4 1/1 1/1 1/1",
    "3/4 3/4",
    "3/4 2/2 1/2",
    "3/4 1/2 1/1 1/1",
    "2/2 2/2 3/4",
    "2/2 1/1 1/1 3/4",
    "1/1 1/1 2/2 3/4",
    "1/1 1/1 1/1 1/1 3/4",
    "2/2 2/2 2/2 1/2",
    "2/2 1/1 1/1 2/2 1/2",
    "1/1 1/1 2/2 2/2 1/2",
    "2/2 1/2 1/1 1/1 1/1 1/1",
    "1/1 1/1 2/2 1/2 1/1 1/1",
    "1/1 1/1 1/2 1/1 2/2 1/1",
    "1/1 1/1 1/2 1/1 1/1 2/2",
    "1/1 1/1 1/1 1/1 1/1 1/1 1/1",
)
"""The nineteen configurations of the MIG scheduling literature. How they relate to the rules (each
claim is a test):

- Without the 1g of two memory slices, which came later, the rules give exactly 19 maximal
  layouts: six ways to fill the first four memory slices times three for the others, and 7g.
- The published list is these, with two exceptions. Its number 18 (1 1 1 1 1 2) would have a 2g
  begin at slice 5, which the hardware does not allow; 2 2 1 1 1 is missing instead. And it
  turns one 1g into a 1g of double memory wherever the eighth memory slice would stay unused,
  but for numbers 4 and 19: no rule yields that choice, so the list is kept as it is.
- As ordered lists 7, 15, 16, 17 and 18 are no layouts, then; as sets of instances all 19
  are legal and maximal, and a driver is asked for sets.
- Without order they are 14 sets, not the 12 that are sometimes counted. Twelve remain of the
  rules' own layouts if one asks that a cut use up the compute or the memory slices: that
  drops 3 2 1 and 3 1 1 1.
- With the double-memory 1g the rules allow 78 maximal layouts.
"""

MEASURED = (40.0, 119.0, 160.0, 205.3, 243.9, 247.7, 248.5, 248.5)
"""Watts of an A100 under its cap of 250 W with 0 to 7 slices busy, as measured."""

ROUNDED = (40.0, 120.0, 160.0, 200.0, 240.0, 250.0, 250.0, 250.0)
"""The same, as the published MIG day rounds it."""


def scaled(slices: int, limit: float) -> tuple[float, ...]:
    """The A100's curve up to so many slices, stretched to another GPU's power limit.

    A stand-in: no measurement by slices is at hand for any model but the A100.
    """
    curve = MEASURED[: slices + 1]
    return tuple(round(limit / curve[-1] * watts, 1) for watts in curve)


def _profiles(rooms: Sequence[_Room], memory_gb: Sequence[int]) -> tuple[MigProfile, ...]:
    return tuple(
        MigProfile(MigSlice(compute, gb), slots, starts)
        for (compute, slots, starts), gb in zip(rooms, memory_gb, strict=True)
    )


def _of_seven(name: str, watts: tuple[float, ...], *memory_gb: int) -> GpuModel:
    """A model with seven compute slices: number n means the same cut on each of them."""
    profiles = _profiles(_SEVEN, memory_gb)
    by_size = {f"{p.compute}/{p.memory_slices}": p.slice for p in profiles}
    configurations = tuple(
        MigConfiguration(number, tuple(by_size[part] for part in text.split()))
        for number, text in enumerate(_PUBLISHED, start=1)
    )
    return GpuModel(name, 7, 8, profiles, watts, configurations)


def _of_four(name: str, watts: tuple[float, ...], *memory_gb: int) -> GpuModel:
    """A model with four compute slices; its configurations are all maximal layouts."""
    bare = GpuModel(name, 4, 4, _profiles(_FOUR, memory_gb), watts)
    configurations = tuple(
        MigConfiguration(number, tuple(bare.profile(part.profile).slice for part in layout))
        for number, layout in enumerate(bare.maximal_layouts(), start=1)
    )
    return replace(bare, configurations=configurations)


A100_40 = _of_seven("a100-40", MEASURED, 5, 10, 10, 20, 20, 40)
A100_40_ROUNDED = replace(A100_40, name="a100-40-rounded", watts=ROUNDED)
A30_24 = _of_four("a30-24", scaled(4, 165.0), 6, 12, 24)
"""A slice has 14 multiprocessors, as on the A100: hence the same speed."""

GPU_MODELS: Registry[GpuModel] = Registry(
    "GPU model",
    {
        model.name: model
        for model in (
            A100_40,
            A100_40_ROUNDED,
            _of_seven("a100-80", scaled(7, 300.0), 10, 20, 20, 40, 40, 80),
            _of_seven("h100-80", scaled(7, 700.0), 10, 20, 20, 40, 40, 80),
            _of_seven("h100-94", scaled(7, 400.0), 12, 24, 24, 47, 47, 94),
            _of_seven("h100-96", scaled(7, 700.0), 12, 24, 24, 48, 48, 96),
            _of_seven("h200-141", scaled(7, 700.0), 18, 35, 35, 71, 71, 141),
            _of_seven("gh200-144", scaled(7, 700.0), 18, 36, 36, 72, 72, 144),
            _of_seven("b200-180", scaled(7, 1000.0), 23, 45, 45, 90, 90, 180),
            _of_seven("gb200-186", scaled(7, 1200.0), 23, 47, 47, 93, 93, 186),
            _of_four("rtx-pro-6000-96", scaled(4, 600.0), 24, 48, 96),
            A30_24,
        )
    },
)
"""Every model that can be simulated and planned for. How much faster a job is on a slice of a newer
model than on the A100's depends on the job: speeds are 1, and a workload's times are taken as
measured on the model at hand. Power limits are those of NVIDIA's data sheets (H100 and H200: SXM;
H100-94: NVL; GH200: the share of an H200)."""
