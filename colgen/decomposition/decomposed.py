"""A compact model as a problem for branch and price, its answer in the model's own variables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyomo.environ as pyo

from colgen.core.budget import Budget
from colgen.core.columns import Column
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.result import Result
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.decomposition.branching import OnBlockVariables
from colgen.decomposition.finding import FoundBlocks, found_in
from colgen.decomposition.partition import By, Partition, partition, says_blocks
from colgen.decomposition.paying import remarks
from colgen.decomposition.reading import Floats, Reading, read
from colgen.decomposition.recognized import oracles
from colgen.decomposition.splitting import Splitting
from colgen.decomposition.subproblem import subproblems
from colgen.model.formulation import Formulation
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem
from colgen.tree.branching import BranchingRule, OnTemplateVariable
from colgen.tree.heuristics import Diving, Heuristic, RestrictedMIP
from solvers.arrays import EXACT


class Values(Mapping[str, float]):
    """Values of a model's variables by their names; those that are zero are among them.

    Attributes
    ----------
    array
        In the order of declaration, fixed variables left out.
    """

    def __init__(self, reading: Reading, array: Floats) -> None:
        self._reading, self.array = reading, array
        array.setflags(write=False)

    def __getitem__(self, name: str) -> float:
        names = self._reading.place_of_name
        return float(self.array[names[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._reading.names)

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        used = {name: value for name, value in self.items() if value}
        return f"Values({used})"


class Decomposed(Problem):
    """A compact model by Dantzig and Wolfe's decomposition: points of its blocks are columns.

    The answer is a mapping from the names of the model's variables to their values.  After a run these are loaded into
    the model, and if it has a suffix ``dual``, the dual values of its linking constraints at the root.

    Attributes
    ----------
    splitting
        The model taken apart.
    """

    def __init__(self, splitting: Splitting, *, recognize: bool = True) -> None:
        self.splitting = splitting
        self._recognize = recognize
        self.reading = splitting.reading
        self.objective_step = _step(self.reading.formulation)
        self._rule = OnBlockVariables(splitting)

    def formulation(self) -> Formulation:
        return self.splitting.master()

    def pricing(self) -> Sequence[Pricing]:
        return tuple(oracles(self.splitting, recognize=self._recognize))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(), self._rule)

    def heuristics(self) -> Sequence[Heuristic]:
        """Dives first: of blocks that are the same they find answers that no combination of the points at hand is."""
        return (Diving(2), RestrictedMIP(5.0))

    def warm_start(self, budget: Budget) -> WarmStart:
        """Nothing at all, of each block that has such a point."""
        columns: list[Column] = [
            self.splitting.column(sub, np.zeros(len(sub.costs))) for sub in self.splitting.subproblems if sub.holds_zero
        ]
        return WarmStart(columns=columns)

    def answer(self, solution: Solution) -> Values:
        return Values(self.reading, self.splitting.values(solution))

    def check(self, answer: Values) -> float:
        """The model's objective, once bounds, whole numbers and every constraint of the model have been looked at."""
        f, x = self.reading.formulation, np.asarray(answer.array)
        low, high = np.where(np.isfinite(f.lower), f.lower, 0.0), np.where(np.isfinite(f.upper), f.upper, 0.0)
        slack = TOLERANCES.feasibility * np.maximum(np.maximum(np.abs(low), np.abs(high)), np.abs(x))
        bad = np.flatnonzero((x < f.lower - slack) | (x > f.upper + slack))
        if len(bad):
            k = int(bad[0])
            raise InfeasibleAnswerError(
                f"variable {self.reading.names[k]!r} is {x[k]:.10g}, expected {f.lower[k]:g} to {f.upper[k]:g}"
            )
        bad = np.flatnonzero(f.integer & (x != np.round(x)))
        if len(bad):
            raise InfeasibleAnswerError(
                f"variable {self.reading.names[bad[0]]!r} is {x[bad[0]]:.10g}, which is not whole"
            )
        rows = self.reading.rows
        activity, terms = rows @ x, np.zeros(rows.shape[0])
        if rows.nnz:  # a row's size: its largest entry, side and term
            entries = abs(rows)
            terms = entries.max(axis=1).toarray().ravel()
            terms = np.maximum(terms, entries.multiply(np.abs(x)[None, :]).max(axis=1).toarray().ravel())
        for sides in (f.row_lower, f.row_upper):
            terms = np.maximum(terms, np.where(np.isfinite(sides), np.abs(sides), 0.0))
        slack = TOLERANCES.feasibility * terms
        bad = np.flatnonzero((activity < f.row_lower - slack) | (activity > f.row_upper + slack))
        if len(bad):
            r = int(bad[0])
            raise InfeasibleAnswerError(
                f"constraint {self.reading.constraints[r].name!r} has the body {activity[r]:.10g}, expected "
                f"{f.row_lower[r]:.10g} to {f.row_upper[r]:.10g}"
            )
        return math.fsum((f.costs * x).tolist()) + f.offset

    def finished(self, result: Result) -> Result:
        """Load the answer into the model, and dual values where it asks for them."""
        load(self.splitting, result)
        return dataclasses.replace(result, notes=(*result.notes, *self.remarks))

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Why the decomposition cannot pay, a sentence each; the result of a run has them among its notes."""
        return remarks(self.splitting.subproblems)


def decompose(
    model: pyo.ConcreteModel, by: By | FoundBlocks = None, *, aggregate: bool = True, recognize: bool = True
) -> Decomposed:
    """A compact Pyomo model as a problem for branch and price.

    Each block of the model becomes a pricing problem; constraints that link blocks, and variables of no block, stay in
    the master.  ``solve(decompose(model, by="machine"))`` leaves the answer in the model.

    Parameters
    ----------
    model
        Linear, with whole or continuous variables and one objective.
    by
        What makes a block.  A name of an index set, or the set itself: every variable that carries it is in the block
        of its index, and every constraint over variables of one block alone.  A function from constraints to the names
        of blocks, None for those that link.  None: what the suffix ``colgen_block`` says, or else each ``pyo.Block`` of
        the model, or else what :func:`find_blocks` finds; its result may be given as well.
    aggregate
        Whether blocks that are the same are priced as one, and counted; otherwise each has its own points.
    recognize
        Whether blocks that are knapsacks are priced by a kernel; otherwise HiGHS prices all of them.

    Raises
    ------
    InputError
        If the model is not linear, ``by`` leaves no block, a variable is in two, or a block is unbounded.

    References
    ----------
    G. B. Dantzig, P. Wolfe, *Decomposition principle for linear programs*, Operations Research 8 (1960); F. Vanderbeck,
    *On Dantzig-Wolfe decomposition in integer programming and ways to perform branching in a branch-and-price
    algorithm*, Operations Research 48 (2000).
    """
    reading = read(model)
    for name, value in (("aggregate", aggregate), ("recognize", recognize)):
        if not isinstance(value, bool):
            raise InputError(f"{name}: expected True or False, not {value!r}")
    found = blocks_of(reading, by)
    blocks = subproblems(reading, found, aggregate=aggregate)
    return Decomposed(Splitting(reading, found, blocks), recognize=recognize)


def blocks_of(reading: Reading, by: By | FoundBlocks) -> Partition:
    """The blocks that are said, or found where nothing is said.

    Raises
    ------
    InputError
        If nothing is, or what is said names nothing.
    """
    if isinstance(by, FoundBlocks):
        if by.reading.model is not reading.model or by.reading.formulation.row_keys != reading.formulation.row_keys:
            raise InputError("by: expected blocks that were found in this model, as it is now")
        return by.partition
    if by is not None or says_blocks(reading):
        return partition(reading, by)
    found = found_in(reading)
    if found is None:
        raise InputError("expected blocks to decompose into: the model says none, and none were found in it")
    return found.partition


def load(splitting: Splitting, result: Result) -> None:
    """Put an answer into the model's variables, and the root's dual values into its suffix ``dual``."""
    reading = splitting.reading
    if isinstance(result.answer, Values):
        whole = reading.formulation.integer.tolist()
        for variable, value, integer in zip(reading.variables, result.answer.array.tolist(), whole, strict=True):
            variable.set_value(round(value) if integer else value, skip_validation=True)
    suffix = reading.model.component("dual")
    if suffix is None or suffix.ctype is not pyo.Suffix or not suffix.import_enabled() or result.certificate is None:
        return
    suffix.clear()
    for row in splitting.linking.tolist():
        suffix[reading.constraints[row]] = result.certificate.duals.get(reading.formulation.row_keys[row], 0.0)


def _step(f: Formulation) -> float | None:
    """What every answer's objective is a multiple of, if all that costs is whole; None if it is not."""
    costs = np.append(f.costs[f.costs != 0.0], f.offset)
    whole = f.integer[f.costs != 0.0].all() and (costs == np.rint(costs)).all()
    if not whole or not len(costs) or np.abs(costs).sum() >= EXACT:
        return None
    return float(math.gcd(*map(int, costs.tolist()))) or None
