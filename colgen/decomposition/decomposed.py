"""A compact model as a problem for branch and price, with answers in the model's own variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.branching.selection import PseudoCostBranching
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec, Column
from colgen.core.errors import InputError
from colgen.core.result import Result
from colgen.core.sense import Sense
from colgen.core.solution import Complete, Solution
from colgen.core.warm_start import WarmStart
from colgen.decomposition.answers import Values, load, objective_step, recompute_objective
from colgen.decomposition.blocks.oracles import oracles
from colgen.decomposition.blocks.unimodular import remarks
from colgen.decomposition.branching import OnBlockVariables
from colgen.decomposition.certificates import BlockCertifier
from colgen.decomposition.compact_solver import AtTheEnd, solve_compact
from colgen.decomposition.first_stage import FirstStage, OnFirstStage
from colgen.decomposition.neighbourhoods import LargeNeighbourhoods
from colgen.decomposition.reading.compact_model import CompactModel
from colgen.decomposition.scenarios import ScenarioBounding
from colgen.decomposition.splitting import Splitting
from colgen.heuristics import Diving, RestrictedMIP
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem
from colgen.tree.queues import BestBound


class Decomposed(Problem):
    """A compact model by Dantzig-Wolfe decomposition: columns are points of its blocks.

    The answer maps the names of the model's variables to values.  A run loads these into the model.  If the model has a
    suffix ``dual``, it also loads the dual values of the linking constraints at the root.

    Attributes
    ----------
    splitting
        The master and the blocks; columns may have other units than the user's model.
    compact
        The model as the user states it.
    stage
        The first stage of a two-stage program, or None.
    """

    loads = True
    """Whether a run loads its answer into the model."""

    def __init__(self, splitting: Splitting, compact: CompactModel, *, recognize: bool = True) -> None:
        self.splitting = splitting
        self._recognize = recognize
        self.compact = compact
        self.objective_step = objective_step(self.compact.formulation)
        self._rule = OnBlockVariables(splitting)
        self.stage = FirstStage.of(splitting)

    def master(self) -> Rows:
        return self.splitting.master()

    def pricing(self) -> Sequence[Pricing]:
        return tuple(oracles(self.splitting, recognize=self._recognize, join=self.stage is None))

    def branching(self) -> Sequence[BranchingRule]:
        if self.stage is None:
            return (OnTemplateVariable(), self._rule)
        return (OnFirstStage(self.splitting, self.stage, self._rule), self._rule)

    @property
    def _is_integer(self) -> bool:
        """Whether all variables of blocks are integer."""
        return all(sub.integer.all() for sub in self.splitting.subproblems)

    def method(self) -> Method:
        """Return diving, the restricted master's integer program, and neighbourhoods in the compact model.

        Diving comes first: for identical blocks it finds solutions that no combination of the current points gives.
        The integer program gets one second.  With five seconds it took half of the run time of assignment instances,
        and found the same solutions as diving.  If blocks have continuous variables, the current points seldom fit
        together, and dives, which fix entire points, find solutions late.  The neighbourhood of the relaxation is then
        searched first, and the others run only if this finds no solution.  The trees of such problems are large;
        pseudo-costs make them smaller by 1/6.
        """
        others = (Diving(2), RestrictedMIP(1.0))
        if self.stage is not None:
            return Method(
                bounding=ScenarioBounding(self.splitting, self.stage),
                queue=BestBound,
                heuristics=(LargeNeighbourhoods(self.splitting, ()),),
            )
        if self._is_integer:
            return Method(heuristics=(*others, LargeNeighbourhoods(self.splitting)), complete=self._solve_compact)
        return Method(
            choice=PseudoCostBranching(),
            heuristics=(LargeNeighbourhoods(self.splitting, others), AtTheEnd(1.0)),
            complete=self._solve_compact,
        )

    def _solve_compact(self, nodes: int, budget: Budget) -> Complete | None:
        return solve_compact(self.splitting.compact, nodes, budget, self.splitting.solution)

    def warm_start(self, budget: Budget) -> WarmStart:
        """Return the zero point of each block that contains it."""
        columns: list[Column] = [
            self.splitting.column(sub, np.zeros(len(sub.costs))) for sub in self.splitting.subproblems if sub.holds_zero
        ]
        return WarmStart(columns=columns)

    def certifier(self) -> Certifier:
        return BlockCertifier(self.splitting, self.compact)

    def path(self, graph: Any, vertices: Sequence[Any]) -> Column:
        """Return the column of a path of a path block; see :class:`NetworkModel`."""
        raise InputError(f"path: the model has no path blocks, got {graph!r}")

    def answer(self, solution: Solution) -> Values:
        splitting = self.splitting
        return Values(self.compact, splitting.compact.to_user(splitting.values(solution)), splitting.linking)

    def check(self, answer: Values) -> float:
        """Return the objective, after checking bounds, integrality and all constraints of the model."""
        return recompute_objective(self.compact, answer)

    @property
    def identity(self) -> Any:
        """The model's arrays, the block of each column and row, and the number of blocks in each subproblem."""
        f, partition = self.compact.formulation, self.splitting.partition
        arrays = (f.costs, f.lower, f.upper, f.integer, f.row_lower, f.row_upper, f.offset, f.sense is Sense.MAXIMIZE)
        matrix = (f.matrix.indptr, f.matrix.indices, f.matrix.data)
        subs = [sub.count for sub in self.splitting.subproblems]
        return arrays, matrix, partition.of_column, partition.of_row, subs

    def codec(self) -> Codec:
        """Store points as the number of their subproblem, their values, and whether they are rays."""
        return Codec(self._read, lambda point: (point.number, point.values, point.is_ray))

    def _read(self, data: Any) -> Column | None:
        """Return the column of a point or ray, or None if the block does not contain it."""
        number, values, is_ray = data
        subs, splitting = self.splitting.subproblems, self.splitting
        if not 0 <= number < len(subs) or np.shape(values) != subs[number].costs.shape:
            return None
        sub, point = subs[number], np.asarray(values, dtype=float)
        if not sub.holds(point, is_ray):
            return None
        if is_ray:
            return splitting.ray(sub, point).over(splitting.row_keys, splitting.row_position)[0]
        return splitting.column(sub, point)

    def finish(self, result: Result) -> Result:
        """Load the answer, and dual values if the model has the suffix ``dual``."""
        if self.loads:
            load(self.compact, result, self.splitting.linking)
        return dataclasses.replace(result, notes=(*result.notes, *self.remarks))

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Reasons why the decomposition cannot pay off, one sentence each; they are added to the notes of a result."""
        return remarks(self.splitting.subproblems)
