"""Brute force: every part is scored, and the complete linear program is solved the way the restricted one is."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from colgen import Formulation, FormulationCache, LinearMaster, MasterStatus
from problems.dependency.sentence import Heads
from problems.grandparent_parsing.instance import Floats, PartScores, as_heads
from problems.grandparent_parsing.model import complete
from solvers.arborescence import arborescence

_SHAPES = FormulationCache()

_WHOLE = 1e-6


@dataclass(frozen=True)
class Relaxed:
    """The optimum of a complete linear program.

    Attributes
    ----------
    objective
        -inf if there is no tree.
    arcs
        Values of the arcs' variables by head and modifier.
    parts
        Variables of grandparent parts.
    seconds
        Of scoring all parts, and of the solver; compiling the model, which is done once a length, does not count.
    """

    objective: float
    arcs: Floats
    parts: int
    seconds: float

    @property
    def is_whole(self) -> bool:
        """Whether the optimum is a tree, and so the best of all."""
        return bool((np.abs(self.arcs - np.round(self.arcs)) <= _WHOLE).all())

    def heads(self) -> Heads:
        """The best arborescence of the arcs' values."""
        found = arborescence(np.where(self.arcs > _WHOLE, self.arcs, -math.inf))
        if found is None:
            found = arborescence(self.arcs)
        assert found is not None
        return as_heads(found[0])


def solve_complete(
    scores: PartScores, formulation: str = "all", *, connectivity: str = "flow", single_root: bool = False
) -> Relaxed:
    """Score all grandparent parts and solve the relaxation of a complete model."""
    tokens = len(scores)
    shape = (tokens, formulation, connectivity, single_root)
    compiled = _SHAPES.get(
        shape, lambda: complete(tokens, formulation, connectivity=connectivity, single_root=single_root)
    )
    started = time.perf_counter()
    filled, parts = _with_scores(compiled, scores)
    solved = LinearMaster(filled).solve()
    seconds = time.perf_counter() - started
    arcs = np.zeros((tokens + 1, tokens + 1))
    if solved.status is not MasterStatus.OPTIMAL:
        return Relaxed(-math.inf, arcs, parts, seconds)
    block = compiled.column_blocks["z"]
    heads, modifiers = np.array(block.indices).T
    arcs[heads, modifiers] = solved.values[block.positions]
    return Relaxed(solved.objective, arcs, parts, seconds)


def _with_scores(compiled: Formulation, scores: PartScores) -> tuple[Formulation, int]:
    heads, modifiers = np.array(compiled.column_blocks["z"].indices).T
    arcs = scores.arcs[heads, modifiers]
    missing = np.isneginf(arcs)
    costs = {"z": np.where(missing, 0.0, arcs)}
    parts = 0
    if "u" in compiled.column_blocks:
        triples = np.array(compiled.column_blocks["u"].indices, dtype=np.int64)
        costs["u"] = scores.grandparents(triples)
        parts = len(triples)
    return compiled.with_data(costs=costs, upper={"z": np.where(missing, 0.0, 1.0)}), parts
