"""HiGHS, and nothing else of it anywhere: solve a model with so much work."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.policies.optimiser.linear_program import Model

SCALE = 1e-3
"""Points are thousands; tolerances of the solver are meant for numbers near one."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The rows of the best solution (None: none found), its proven gap, what ended the search."""

    rows: Ints | None
    gap: float | None
    proven: bool  # to be within the gap asked for
    timed_out: bool


def load_highs() -> Any:
    """The solver's module (a second, the first time), or an error that says how to install it."""
    try:
        return import_module("highspy")
    except ImportError as error:
        raise ConfigError(
            "the placement optimiser needs HiGHS, which is not installed: "
            "pip install 'dovetail-scheduler[milp]', or use the greedy optimiser"
        ) from error


def solve(model: Model, nodes: int, seconds: float, gap: float) -> Solved:
    """The best chunks found in so many nodes of the search, starting from the model's own start.

    `seconds` is a safety net: where it ends the search, the answer depends on the machine.
    """
    highspy = load_highs()
    highs = highspy.Highs()
    # Presolve finds little in a model that is reduced already: without it the medians (16 jobs, 64
    # to 1,000 nodes, 36 problems) fell from 23-47 to 11-20 ms, the longest from 66 to 37 ms.
    for name, setting in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),
        ("random_seed", 0),
        ("mip_rel_gap", gap),
        ("mip_max_nodes", nodes),
        ("time_limit", max(0.0, seconds)),
    ):
        highs.setOptionValue(name, setting)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(model.cost), len(model.high)
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_, program.offset_ = model.cost * SCALE, model.constant * SCALE
    program.col_lower_, program.col_upper_ = np.zeros(len(model.cost)), model.most
    program.row_lower_, program.row_upper_ = model.low, model.high
    program.integrality_ = [highspy.HighsVarType.kInteger] * len(model.cost)
    matrix = program.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.num_col_, matrix.num_row_ = program.num_col_, program.num_row_
    matrix.start_ = model.start.astype(np.int32)
    matrix.index_ = model.column.astype(np.int32)
    matrix.value_ = model.coefficient
    highs.passModel(program)
    start = highspy.HighsSolution()
    start.col_value = model.warm.tolist()
    highs.setSolution(start)
    highs.run()
    info, status = highs.getInfo(), highs.getModelStatus()
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    timed_out = status == highspy.HighsModelStatus.kTimeLimit
    if not found:
        return Solved(None, None, False, timed_out)
    amount = np.rint(np.array(highs.getSolution().col_value[: len(model.chunks)])).astype(np.int64)
    rows = model.chunks.copy()
    rows[:, 5] = amount
    proven = status == highspy.HighsModelStatus.kOptimal
    return Solved(rows[amount > 0], float(info.mip_gap), proven, timed_out)
