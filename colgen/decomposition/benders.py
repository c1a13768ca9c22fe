"""A two-stage model by Benders' decomposition: what second stages cost is told to the first by rows.

The master has the variables of no block, the rows over them alone, and one variable a block for what the block costs.
Blocks are separations: the dual values of a block at the master's solution are a row that bounds its cost from below
(optimality), or that excludes first stages for which the block has no feasible point (feasibility).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy import sparse

from colgen.core.columns import Key, Row
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.result import Result
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.cuts.separation import Separation, SeparationContext
from colgen.decomposition.answers import Values, checked, load_values, objective_step
from colgen.decomposition.partition import MASTER, Partition
from colgen.decomposition.reading import Floats, Ints, Reading
from colgen.decomposition.second_stage import SecondStage
from colgen.model.formulation import Formulation, named_blocks
from colgen.problem import Problem
from colgen.tree.branching import BranchingRule, OnTemplateVariable
from colgen.tree.heuristics import Heuristic, HeuristicContext
from solvers.linear.lp import LinearProgram, LPStatus


class Benders(Problem):
    """A two-stage model by rows that its second stages return (Benders, 1962), one a block and round.

    The answer is a mapping from the names of the model's variables to their values, which are loaded into the model.

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

    def __init__(self, reading: Reading, partition: Partition) -> None:
        self.reading = reading
        f = reading.formulation
        self.objective_step = objective_step(f)
        self._sign = -1.0 if f.sense is Sense.MAXIMIZE else 1.0
        self._first = np.flatnonzero(partition.of_column == MASTER)
        if not len(self._first):
            raise InputError("expected a first stage: every variable of the model is in a block")
        whole = np.flatnonzero(f.integer & (partition.of_column != MASTER))
        if len(whole):
            name = reading.names[whole[0]]
            raise InputError(
                f"expected second stages without whole variables: {name!r} is one of block "
                f"{partition.names[partition.of_column[whole[0]]]}, which then has no dual values to make rows of"
            )
        self._of_row = _stage_of_rows(reading, partition)
        self._own = [np.flatnonzero(partition.of_column == k) for k in range(len(partition.names))]
        self.stages = [self._stage(k) for k in range(len(self._own))]
        names = {key[0] for key in (*f.column_keys, *f.row_keys)}
        self.cost_name = next(name for name in _names("stage_cost") if name not in names)
        self._least = self._least_costs(partition.names)

    # --- the parts ---------------------------------------------------------------------------------------------------

    def formulation(self) -> Formulation:
        """The first stage and one cost a block, which is at least what no first stage can undercut."""
        f, first, stages = self.reading.formulation, self._first, len(self.stages)
        rows = np.flatnonzero(self._of_row == MASTER)
        matrix = sparse.csc_array(self.reading.rows[rows, :][:, first])
        matrix.resize(len(rows), len(first) + stages)
        open_end = np.full(stages, np.inf)
        minimize = self._sign > 0.0
        column_keys = (*(f.column_keys[k] for k in first.tolist()), *((self.cost_name, k) for k in range(stages)))
        row_keys = tuple(f.row_keys[k] for k in rows.tolist())
        no = np.zeros(stages, dtype=np.bool_)
        return dataclasses.replace(
            f,
            matrix=matrix,
            costs=np.concatenate([f.costs[first], np.ones(stages)]),
            lower=np.concatenate([f.lower[first], self._least if minimize else -open_end]),
            upper=np.concatenate([f.upper[first], open_end if minimize else -self._least]),
            integer=np.concatenate([f.integer[first], no]),
            artificial=np.concatenate([f.artificial[first], no]),
            row_lower=f.row_lower[rows],
            row_upper=f.row_upper[rows],
            column_keys=column_keys,
            row_keys=row_keys,
            row_blocks=named_blocks(row_keys),
            column_blocks=named_blocks(column_keys),
        )

    def separation(self) -> Sequence[Separation]:
        return (SecondStages(self),)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(),)

    def heuristics(self) -> Sequence[Heuristic]:
        return (Rounding(self),)

    def first_stage(self, solution: Solution) -> Floats:
        """The first stage's variables at a solution of the master."""
        keys, found = self.reading.formulation.column_keys, solution.variables
        return np.array([found.get(keys[k], 0.0) for k in self._first.tolist()])

    def row(self, number: int, key: Key, x: Floats, cost: float, context: SeparationContext) -> Row | None:
        """What a second stage says of a first one at which it is thought to cost ``cost``; None if it agrees."""
        bound = self.stages[number].bound(x, context.seconds_left())
        if bound is None:
            context.budget.require()
            return None
        constant, slopes, feasible = bound
        here = constant - float(slopes @ x)
        claimed = self._sign * cost if feasible else 0.0
        terms = float(np.abs(slopes) @ np.abs(x)) if not feasible else 0.0
        if here - claimed <= TOLERANCES.reduced_cost * size(context.scale if feasible else 0.0, here, claimed, terms):
            return None
        keys = self.reading.formulation.column_keys
        used = np.flatnonzero(slopes)
        entries = {keys[self._first[k]]: float(slopes[k]) for k in used.tolist()}
        if feasible:
            entries[self.cost_name, number] = self._sign
        elif not entries:  # no first stage helps: a row that nothing satisfies
            least = float(self._least[number])
            return Row(key, upper=least - max(1.0, abs(least)), coefficients={(self.cost_name, number): self._sign})
        return Row(key, lower=constant, coefficients=entries)

    def rounded(self, x: Floats, to: Callable[[Floats], Floats]) -> Floats:
        """A first stage with its whole variables whole, within bounds."""
        f, first = self.reading.formulation, self._first
        found: Floats = np.clip(np.where(f.integer[first], to(x), x), f.lower[first], f.upper[first])
        return found

    def answer(self, solution: Solution) -> Values:
        values = np.zeros(len(self.reading.names))
        x = self.first_stage(solution)
        x = self.rounded(x, np.rint)
        values[self._first] = x
        for own, stage in zip(self._own, self.stages, strict=True):
            best = stage.best(x)
            if best is not None:
                values[own] = best
        return Values(self.reading, values)

    def solution(self, x: Floats) -> Solution | None:
        """A first stage, its whole variables given whole, as a solution of the master; None if it cannot be."""
        f, first = self.reading.formulation, self._first
        given = {f.column_keys[k]: float(value) for k, value in zip(first.tolist(), x.tolist(), strict=True)}
        answer = self.answer(Solution(0.0, variables=given))
        try:
            objective = self.check(answer)
        except InfeasibleAnswerError:
            return None
        keys = [f.column_keys[k] for k in first.tolist()]
        values: dict[Key, float] = dict(zip(keys, answer.array[first].tolist(), strict=True))
        costs = [float(f.costs[own] @ answer.array[own]) for own in self._own]
        values |= {(self.cost_name, k): cost for k, cost in enumerate(costs)}
        whole = frozenset(f.column_keys[k] for k in first[f.integer[first]].tolist())
        return Solution(objective, variables={key: value for key, value in values.items() if value}, integer=whole)

    def check(self, answer: Values) -> float:
        """The model's objective, once bounds, whole numbers and every constraint of the model have been looked at."""
        return checked(self.reading, answer)

    def finished(self, result: Result) -> Result:
        """Load the answer into the model."""
        load_values(self.reading, result.answer)
        return result

    # --- how they are made -------------------------------------------------------------------------------------------

    def _stage(self, number: int) -> SecondStage:
        f, own, rows = self.reading.formulation, self._own[number], np.flatnonzero(self._of_row == number)
        mine = sparse.csc_array(self.reading.rows[rows, :])
        return SecondStage(
            self._sign * f.costs[own],
            f.lower[own],
            f.upper[own],
            sparse.csc_array(mine[:, own]),
            sparse.csc_array(mine[:, self._first]),
            f.row_lower[rows],
            f.row_upper[rows],
        )

    def _least_costs(self, names: Sequence[Hashable]) -> Floats:
        """What each second stage costs at least, over all first stages, whole or not."""
        f, least = self.reading.formulation, np.zeros(len(self.stages))
        for number in range(-1, len(self.stages)):  # first of all the first stage by itself
            own = self._own[number] if number >= 0 else self._first[:0]
            rows = np.flatnonzero((self._of_row == MASTER) | (self._of_row == number))
            columns = np.concatenate([self._first, own])
            costs = self._sign * f.costs[columns]
            if number >= 0:
                costs[: len(self._first)] = 0.0
            matrix = sparse.csc_array(self.reading.rows[rows, :][:, columns])
            sides = (f.lower[columns], f.upper[columns], f.row_lower[rows], f.row_upper[rows])
            solved = LinearProgram(False, matrix, costs, *sides).solve()
            if solved.status is LPStatus.UNBOUNDED:
                stage = "the first stage" if number < 0 else f"block {names[number]}"
                raise InputError(
                    f"expected stages whose cost is bounded: that of {stage} falls without end; give it bounds"
                )
            if solved.status is LPStatus.OPTIMAL and number >= 0:
                least[number] = solved.objective - TOLERANCES.optimality * max(1.0, abs(solved.objective))
        return least


class Rounding(Heuristic):
    """A first stage rounded, to the nearest and upwards, with the best of what its second stages then can do."""

    every = 1

    def __init__(self, problem: Benders) -> None:
        self._problem = problem

    def search(self, context: HeuristicContext) -> Solution | None:
        problem, best = self._problem, None
        x = problem.first_stage(context.relaxation)
        for rounded in (problem.rounded(x, np.rint), problem.rounded(x, np.ceil)):
            found = None if context.run.expired else problem.solution(rounded)
            if found is not None and (best is None or context.run.sense.is_better(found.objective, best.objective)):
                best = found
        return best


class SecondStages(Separation):
    """Rows of all second stages that cost more than the master thinks, or cannot be."""

    def __init__(self, problem: Benders) -> None:
        self._problem = problem
        self._numbers = itertools.count()

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        problem, x = self._problem, self._problem.first_stage(solution)
        found = []
        for number in range(len(problem.stages)):
            cost = solution.variables.get((problem.cost_name, number), 0.0)
            row = problem.row(number, (problem.cost_name, next(self._numbers)), x, cost, context)
            if row is not None:
                found.append(row)
        return found


def _stage_of_rows(reading: Reading, partition: Partition) -> Ints:
    """The one block of each row's variables, whatever it has of the first stage."""
    matrix, stage = reading.rows, np.full(reading.rows.shape[0], MASTER)
    for row in range(len(stage)):
        mine = partition.of_column[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]]
        blocks = np.unique(mine[mine != MASTER])
        if len(blocks) > 1:
            first, second = (partition.names[k] for k in blocks[:2].tolist())
            raise InputError(
                f"expected second stages that the first alone links: constraint {reading.constraints[row].name!r} is "
                f"over blocks {first} and {second}"
            )
        if len(blocks):
            stage[row] = blocks[0]
    return stage


def _names(name: str) -> itertools.chain[str]:
    return itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
