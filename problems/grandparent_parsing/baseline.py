"""Brute force: every part is scored, and the complete linear program is solved, as fast as that is known to go.

It is compiled once a length, as the restricted one is; the dual simplex method solves it (5 to 30 times faster than the
primal one, 2 faster than with HiGHS's presolve); and of the cuts only violated ones are there, which is faster than a
flow and tighter.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from colgen import LinearMaster, Rows
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import MasterStatus
from colgen.model.rows import compile_model
from colgen.problems.dependency.sentence import Heads
from colgen.problems.grandparent_parsing.instance import Floats, PartScores, as_heads, refuse_pairs, refuse_projective
from colgen.problems.grandparent_parsing.model import complete
from colgen.problems.grandparent_parsing.separation import TreeCuts
from colgen.solvers.trees.arborescence import arborescence

_WHOLE = TOLERANCES.integrality


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
        Of the processor, for scoring all parts, the solver and separation; compiling the model, which is done once a
        length, does not count.
    cuts
        Violated cuts that were added.
    """

    objective: float
    arcs: Floats
    parts: int
    seconds: float
    cuts: int = 0

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


@lru_cache(12)  # that of 40 tokens takes 40 MB
def compiled_complete(
    tokens: int, formulation: str = "all", *, connectivity: str = "cuts", single_root: bool = False
) -> Rows:
    """The complete model of so many tokens without its cuts, compiled once."""
    return compile_model(
        complete(tokens, formulation, connectivity=connectivity, single_root=single_root, separated=True)
    )


def solve_complete(
    scores: PartScores, formulation: str = "all", *, connectivity: str = "cuts", single_root: bool = False
) -> Relaxed:
    """Score all grandparent parts and solve the relaxation of a complete model; cuts are separated."""
    refuse_pairs(scores, "solve_complete")
    refuse_projective(scores, "solve_complete")
    tokens = len(scores)
    compiled = compiled_complete(tokens, formulation, connectivity=connectivity, single_root=single_root)
    block = compiled.column_blocks["z"]
    heads, modifiers = np.array(block.indices).T
    cuts = TreeCuts(tokens)
    started = time.process_time()
    filled, parts = _with_scores(compiled, scores)
    program = LinearMaster(filled, dual_first=True)
    arcs = np.zeros((tokens + 1, tokens + 1))
    added = 0
    while True:
        solved = program.solve()
        if solved.status is not MasterStatus.OPTIMAL or solved.phase == 1:  # artificial variables of cuts remain
            return Relaxed(-math.inf, 0.0 * arcs, parts, time.process_time() - started, added)
        arcs[heads, modifiers] = np.maximum(solved.values[block.positions], 0.0)
        rows = cuts.violated(arcs) if connectivity == "cuts" else []
        if not rows:
            return Relaxed(solved.objective, arcs, parts, time.process_time() - started, added)
        added += len(rows)
        program.add((), rows)


def _with_scores(compiled: Rows, scores: PartScores) -> tuple[Rows, int]:
    heads, modifiers = np.array(compiled.column_blocks["z"].indices).T
    arcs = scores.arcs[heads, modifiers]
    missing = np.isneginf(arcs)
    filled, parts = compiled.copy(), 0
    filled.change_variables("z", cost=np.where(missing, 0.0, arcs), upper=np.where(missing, 0.0, 1.0))
    if "u" in compiled.column_blocks:
        triples = np.array(compiled.column_blocks["u"].indices, dtype=np.int64)
        filled.change_variables("u", cost=scores.grandparents(triples))
        parts = len(triples)
    return filled, parts
