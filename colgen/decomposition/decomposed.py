"""A compact model as a problem for branch and price, its answer in the model's own variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

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
from colgen.decomposition.benders.template import Benders
from colgen.decomposition.blocks.oracles import oracles
from colgen.decomposition.blocks.unimodular import remarks
from colgen.decomposition.branching import OnBlockVariables
from colgen.decomposition.certificates import BlockCertifier
from colgen.decomposition.compact_model import AtTheEnd, Neighbourhood, solve_compact
from colgen.decomposition.detection import FoundBlocks, find_in
from colgen.decomposition.reading.arrays import Reading, read
from colgen.decomposition.reading.partition import By, Partition, partition, says_blocks
from colgen.decomposition.reading.subproblems import subproblems
from colgen.decomposition.splitting import Splitting
from colgen.heuristics import Diving, RestrictedMIP
from colgen.method import Method
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem


class Decomposed(Problem):
    """A compact model by Dantzig and Wolfe's decomposition: points of its blocks are columns.

    The answer is a mapping from the names of the model's variables to their values.  After a run these are loaded into
    the model, and if it has a suffix ``dual``, the dual values of its linking constraints at the root.

    Attributes
    ----------
    splitting
        The model taken apart; its columns may be counted in other units than the user's.
    reading
        The model as the user states it.
    """

    loads = True
    """Whether a run loads what it finds into the model."""

    def __init__(self, splitting: Splitting, reading: Reading, *, recognize: bool = True) -> None:
        self.splitting = splitting
        self._recognize = recognize
        self.reading = reading
        self.objective_step = objective_step(self.reading.formulation)
        self._rule = OnBlockVariables(splitting)

    def master(self) -> Rows:
        return self.splitting.master()

    def pricing(self) -> Sequence[Pricing]:
        return tuple(oracles(self.splitting, recognize=self._recognize))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(), self._rule)

    @property
    def _is_whole(self) -> bool:
        """Whether all variables of blocks are whole."""
        return all(sub.integer.all() for sub in self.splitting.subproblems)

    def method(self) -> Method:
        """Return dives and the restricted master's program as heuristics, and HiGHS for a compact model that is small.

        Dives come first: where blocks are identical they find answers that no combination of the points at hand is.
        The integer program of the points at hand gets a second: with five it took half of the time of assignments, and
        found what dives had found.  Where blocks have continuous variables, the neighbourhood of the relaxation in the
        compact model is searched first, and these two run only if it holds no answer; trees are large there, and by
        pseudo-costs a sixth smaller.
        """
        others = (Diving(2), RestrictedMIP(1.0))
        if self._is_whole:
            return Method(heuristics=others, complete=self._solve_compact)
        return Method(
            choice=PseudoCostBranching(),
            heuristics=(Neighbourhood(self.splitting, others), AtTheEnd(1.0)),
            complete=self._solve_compact,
        )

    def _solve_compact(self, nodes: int, budget: Budget) -> Complete | None:
        return solve_compact(self.splitting.reading, nodes, budget, self.splitting.solution)

    def warm_start(self, budget: Budget) -> WarmStart:
        """Nothing at all, of each block that has such a point."""
        columns: list[Column] = [
            self.splitting.column(sub, np.zeros(len(sub.costs))) for sub in self.splitting.subproblems if sub.holds_zero
        ]
        return WarmStart(columns=columns)

    def certifier(self) -> Certifier:
        return BlockCertifier(self.splitting)

    def answer(self, solution: Solution) -> Values:
        splitting = self.splitting
        return Values(self.reading, splitting.reading.to_user(splitting.values(solution)), splitting.linking)

    def check(self, answer: Values) -> float:
        """The model's objective, once bounds, whole numbers and every constraint of the model have been looked at."""
        return recompute_objective(self.reading, answer)

    @property
    def identity(self) -> Any:
        """The model's arrays, and the block of each column and row."""
        f, partition = self.reading.formulation, self.splitting.partition
        arrays = (f.costs, f.lower, f.upper, f.integer, f.row_lower, f.row_upper, f.offset, f.sense is Sense.MAXIMIZE)
        matrix = (f.matrix.indptr, f.matrix.indices, f.matrix.data)
        subs = [sub.count for sub in self.splitting.subproblems]
        return arrays, matrix, partition.of_column, partition.of_row, subs

    def codec(self) -> Codec:
        """Points are written as the number of their subproblem, their values, and whether they are rays."""
        return Codec(self._read, lambda point: (point.number, point.values, point.is_ray))

    def _read(self, data: Any) -> Column | None:
        """Return the column of a point or a ray; None if the block has no such point."""
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
        """Load the answer into the model, and dual values where it asks for them."""
        if self.loads:
            load(self.reading, result, self.splitting.linking)
        return dataclasses.replace(result, notes=(*result.notes, *self.remarks))

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Why the decomposition cannot pay, a sentence each; the result of a run has them among its notes."""
        return remarks(self.splitting.subproblems)


@overload
def decompose(
    model: pyo.ConcreteModel,
    by: By | FoundBlocks = None,
    *,
    method: Literal["dantzig-wolfe"] = "dantzig-wolfe",
    aggregate: bool = True,
    recognize: bool = True,
) -> Decomposed: ...


@overload
def decompose(
    model: pyo.ConcreteModel,
    by: By | FoundBlocks = None,
    *,
    method: Literal["benders"],
    aggregate: bool = True,
    recognize: bool = True,
) -> Benders: ...


def decompose(
    model: pyo.ConcreteModel,
    by: By | FoundBlocks = None,
    *,
    method: str = "dantzig-wolfe",
    aggregate: bool = True,
    recognize: bool = True,
) -> Decomposed | Benders:
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
    method
        ``"benders"`` keeps the variables of no block in the master instead, and makes rows of what blocks, the second
        stages, say of them.
    aggregate
        Whether blocks that are the same are priced as one, and counted; otherwise each has its own points.
    recognize
        Whether blocks that are knapsacks, lot sizing, shortest paths, stable sets, or linear programs because their
        matrices are totally unimodular, are priced as what they are; otherwise HiGHS prices all of them.

    Raises
    ------
    InputError
        If the model is not linear, ``by`` leaves no block, or a variable is in two.

    References
    ----------
    G. B. Dantzig, P. Wolfe, *Decomposition principle for linear programs*, Operations Research 8 (1960); F. Vanderbeck,
    *On Dantzig-Wolfe decomposition in integer programming and ways to perform branching in a branch-and-price
    algorithm*, Operations Research 48 (2000).
    """
    for name, value in (("aggregate", aggregate), ("recognize", recognize)):
        if not isinstance(value, bool):
            raise InputError(f"{name}: expected True or False, not {value!r}")
    if method not in ("dantzig-wolfe", "benders"):
        raise InputError(f"method: expected 'dantzig-wolfe' or 'benders', not {method!r}")
    with PauseGC():  # as Pyomo does itself: nothing here is garbage, and one look at all of a large model lasts as long
        reading = read(model)
        found = blocks_of(reading, by)
        if method == "benders":
            return Benders(reading, found)
        scaled = reading.scaled()
        blocks = subproblems(scaled, found, aggregate=aggregate)
        return Decomposed(Splitting(scaled, found, blocks), reading, recognize=recognize)


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
    found = find_in(reading)
    if found is None:
        raise InputError("expected blocks to decompose into: the model says none, and none were found in it")
    return found.partition
