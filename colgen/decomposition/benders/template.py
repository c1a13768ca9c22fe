"""Two-stage models by Benders decomposition: second stages return rows that bound their cost.

The master has the variables of no block, the rows over these only, and one cost variable per group of blocks.  Blocks
are separations.  The dual values of a block at the master's solution give a row that bounds its cost from below
(optimality), or that excludes first stages for which the block is infeasible (feasibility).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.core.result import Result
from colgen.core.solution import Solution
from colgen.cuts.separation import Separation
from colgen.decomposition.answers import Values, load, objective_step, recompute_objective
from colgen.decomposition.benders.rounding import Rounding
from colgen.decomposition.benders.stage_rows import StageRows
from colgen.decomposition.benders.two_stage import TwoStage, with_first_stage
from colgen.decomposition.reading.compact_model import CompactModel, Partition
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.problem import Problem


class Benders(Problem):
    """A two-stage model by Benders decomposition (Benders, 1962).

    A round adds at most one row per group of blocks: many blocks share cost variables, a few have one each.

    The answer maps the names of the model's variables to values, which are loaded into the model.  Second stages that
    are equal up to a factor of their costs are merged.

    Parameters
    ----------
    compact
        The model.
    partition
        The second stages; variables of no block are the first stage.

    Raises
    ------
    InputError
        If a second stage has integer variables or unbounded cost, a constraint links two of them, or there is no first
        stage.

    References
    ----------
    J. F. Benders, *Partitioning procedures for solving mixed-variables programming problems*, Numerische Mathematik 4
    (1962); J. R. Birge, F. V. Louveaux, *A multicut algorithm for two-stage stochastic linear programs*, European
    Journal of Operational Research 34 (1988).
    """

    loads = True
    """Whether a run loads its answer into the model."""

    def __init__(self, compact: CompactModel, partition: Partition) -> None:
        self.model = TwoStage(compact.scaled(), with_first_stage(compact, partition))
        self.compact = compact
        self.objective_step = objective_step(compact.formulation)

    # --- the parts ---------------------------------------------------------------------------------------------------

    def master(self) -> Rows:
        """Return the first stage, and a variable per block for its cost above the least cost."""
        return self.model.master()

    def separation(self) -> Sequence[Separation]:
        return (StageRows(self.model),)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(),)

    def method(self) -> Method:
        return Method(heuristics=(Rounding(self.model),))

    def answer(self, solution: Solution) -> Values:
        model = self.model
        found = model.values(model.round_first_stage(model.first_stage(solution), np.rint))
        return Values(self.compact, model.compact.to_user(found.array), found.kept)

    def check(self, answer: Values) -> float:
        """Return the objective, after checking bounds, integrality and all constraints of the model."""
        return recompute_objective(self.compact, answer)

    def finish(self, result: Result) -> Result:
        """Load the answer, and dual values of the first stage's rows if the model has the suffix ``dual``."""
        if self.loads:
            load(self.compact, result, self.model.kept)
        return result
