"""A two-stage model by Benders' decomposition: what second stages cost is told to the first by rows.

The master has the variables of no block, the rows over them alone, and one variable a block for what the block costs.
Blocks are separations: the dual values of a block at the master's solution are a row that bounds its cost from below
(optimality), or that excludes first stages for which the block has no feasible point (feasibility).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.core.budget import Budget
from colgen.core.result import Result
from colgen.core.solution import Complete, Solution
from colgen.cuts.separation import Separation
from colgen.decomposition.answers import Values, load, objective_step, recompute_objective
from colgen.decomposition.benders.rounding import Rounding
from colgen.decomposition.benders.stage_rows import StageRows
from colgen.decomposition.benders.two_stage import TwoStage
from colgen.decomposition.compact_model import solve_compact
from colgen.decomposition.reading.arrays import Floats, Reading
from colgen.decomposition.reading.partition import Partition
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.problem import Problem


class Benders(Problem):
    """A two-stage model by rows that its second stages return (Benders, 1962), one a block and round.

    The answer is a mapping from the names of the model's variables to their values, which are loaded into the model.
    Second stages that are the same but for a factor of their costs are one.

    Parameters
    ----------
    reading
        The model.
    partition
        Its second stages: variables of no block are the first.

    Raises
    ------
    InputError
        If a second stage has whole variables, a constraint links two of them, no first stage is left, or a stage's cost
        is not bounded by its own rows and bounds.

    References
    ----------
    J. F. Benders, *Partitioning procedures for solving mixed-variables programming problems*, Numerische Mathematik 4
    (1962); J. R. Birge, F. V. Louveaux, *A multicut algorithm for two-stage stochastic linear programs*, European
    Journal of Operational Research 34 (1988).
    """

    loads = True
    """Whether a run loads what it finds into the model."""

    def __init__(self, reading: Reading, partition: Partition) -> None:
        self.model = TwoStage(reading.scaled(), partition)
        self.reading = reading
        self.objective_step = objective_step(reading.formulation)

    # --- the parts ---------------------------------------------------------------------------------------------------

    def master(self) -> Rows:
        """The first stage and one cost a block, which is at least what no first stage can undercut."""
        return self.model.master()

    def separation(self) -> Sequence[Separation]:
        return (StageRows(self.model),)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(),)

    def method(self) -> Method:
        return Method(heuristics=(Rounding(self.model),), complete=self._solve_compact)

    def _solve_compact(self, nodes: int, budget: Budget) -> Complete | None:
        return solve_compact(self.model.reading, nodes, budget, lambda values, _: self._solution_at(values))

    def _solution_at(self, values: Floats) -> Solution | None:
        """The first stage of a point of the model, and the best of its second stages, as a solution of the master."""
        x = self.model.rounded(values[self.model.first], np.rint)
        return self.model.solution(x)

    def answer(self, solution: Solution) -> Values:
        model = self.model
        found = model.values(model.rounded(model.first_stage(solution), np.rint))
        return Values(self.reading, model.reading.to_user(found.array), found.kept)

    def check(self, answer: Values) -> float:
        """The model's objective, once bounds, whole numbers and every constraint of the model have been looked at."""
        return recompute_objective(self.reading, answer)

    def finish(self, result: Result) -> Result:
        """Load the answer into the model, and dual values of the first stage's rows where it asks for them."""
        if self.loads:
            load(self.reading, result, self.model.kept)
        return result
