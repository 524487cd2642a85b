"""Slurm's trackable resources: `cpu=8,mem=64G,node=1,gres/gpu=2,gres/gpu:a100=2` as columns."""

from __future__ import annotations

import polars as pl

_TYPED = r"gres/gpu:[^=,]+=[\d.]+[KMGTP]?"
_MIG = r"(\d+g\.\d+gb)(?:\+\w+)?$"
_MIG_SUFFIX = r"[-_:.]?\d+g\.\d+gb(?:\+\w+)?"
_UNITS = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4, "P": 1024.0**5}


def tres_columns(tres: pl.Series) -> dict[str, pl.Series]:
    """GPUs (0 where none), their types, MIG profile, CPUs and memory in GB of each job."""
    # Jobs ask for the same few things: a million of them rarely have a thousand texts, and
    # reading each text once took a million jobs from 20 s to 7 s.
    texts = pl.DataFrame({"tres": tres}).unique(maintain_order=True).with_row_index("row")
    texts = texts.join(_by_type(texts), on="row", how="left", maintain_order="left")
    types = pl.col("types").list.join("|").str.replace_all(_MIG_SUFFIX, "").str.strip_chars("|")
    read = texts.select(
        "tres",
        gpus=pl.coalesce(_amount("gres/gpu", 1.0), pl.col("count"), pl.lit(0.0)),
        gpu_type=pl.when(types != "").then(types),
        mig=pl.col("types").list.first().str.extract(_MIG),
        cpus=_amount("cpu", 1.0),
        # Slurm counts memory in MB where it writes no unit.
        memory=_amount("mem", 1024.0**2) / 1024.0**3,
    )
    rows = pl.DataFrame({"tres": tres})
    joined = rows.join(read, on="tres", how="left", nulls_equal=True, maintain_order="left")
    return joined.drop("tres").to_dict()


def _by_type(texts: pl.DataFrame) -> pl.DataFrame:
    """GPUs and types of the rows that name types: `gres/gpu:a100=2,gres/gpu:v100=1`."""
    typed = texts.select("row", part=pl.col("tres").str.extract_all(_TYPED))
    parts = (
        typed.explode("part")
        .drop_nulls("part")
        .select(
            "row",
            name=pl.col("part").str.extract(r"^gres/gpu:([^=]+)=").str.to_lowercase(),
            count=_scaled(pl.col("part").str.extract(r"=(.+)$"), 1.0),
        )
    )
    return parts.group_by("row", maintain_order=True).agg(
        pl.col("count").sum(), types=pl.col("name").unique(maintain_order=True)
    )


def _amount(key: str, bare: float) -> pl.Expr:
    return _scaled(pl.col("tres").str.extract(rf"(?:^|,){key}=([\d.]+[KMGTP]?)"), bare)


def _scaled(text: pl.Expr, bare: float) -> pl.Expr:
    """A number with or without a unit letter; `bare` is the unit where none is written."""
    unit = text.str.extract(r"([KMGTP])$").replace_strict(_UNITS, default=bare)
    return text.str.extract(r"^([\d.]+)").cast(pl.Float64, strict=False) * unit
