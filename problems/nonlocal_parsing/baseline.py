"""Baselines for branch and bound: the integer programs in HiGHS."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from colgen.model.rows import compile_model
from colgen.problems.dependency.sentence import Heads
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.model import full
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.lp import LPStatus


@dataclass(frozen=True)
class HighsResult:
    """Result of HiGHS; ``seconds`` of processor time exclude building and compiling the model."""

    heads: Heads | None
    objective: float
    bound: float
    proved: bool
    seconds: float
    variables: int


def in_highs(instance: NonlocalInstance, formulation: str = "chart", time_limit: float = math.inf) -> HighsResult:
    """Solve a complete model in HiGHS with presolve, one thread and a gap of zero."""
    form = compile_model(full(instance, formulation))
    started = time.process_time()
    solution = solve_complete(form, time_limit)
    seconds = time.process_time() - started
    heads = None
    if solution.values is not None:
        chosen = np.zeros(instance.num_words, dtype=np.int64)
        block = form.column_blocks["z"]
        for index, position in zip(block.indices, block.positions.tolist(), strict=True):
            if solution.values[position] > 0.5:
                assert isinstance(index, tuple)  # head and modifier
                chosen[index[1] - 1] = index[0]
        heads = tuple(chosen.tolist())
    return HighsResult(
        heads,
        solution.objective,
        solution.bound,
        solution.status is LPStatus.OPTIMAL,
        seconds,
        len(form.costs),
    )
