"""From a compact model and its blocks to a problem."""

from __future__ import annotations

import contextlib
from typing import Literal, overload

import pyomo.environ as pyo
from pyomo.common.gc_manager import PauseGC

from colgen.core.errors import InputError
from colgen.decomposition.benders.template import Benders
from colgen.decomposition.benders.two_stage import has_linear_stages
from colgen.decomposition.decomposed import Decomposed
from colgen.decomposition.detection import FoundBlocks, find_in
from colgen.decomposition.networked import NetworkModel, network_model
from colgen.decomposition.reading.compact_model import CompactModel, Partition, as_compact
from colgen.decomposition.reading.copies import copy_linking
from colgen.decomposition.reading.identical_blocks import subproblems
from colgen.decomposition.reading.partition import By, defines_blocks, partition
from colgen.decomposition.splitting import Splitting
from colgen.networks.statement import Paths

Method = Literal["dantzig-wolfe", "benders"]


@overload
def decompose(
    model: CompactModel, by: list[Paths], *, method: None = None, aggregate: bool = True, recognize: bool = True
) -> NetworkModel: ...


@overload
def decompose(
    model: pyo.ConcreteModel | CompactModel,
    by: By | FoundBlocks = None,
    *,
    method: Literal["dantzig-wolfe"],
    aggregate: bool = True,
    recognize: bool = True,
) -> Decomposed: ...


@overload
def decompose(
    model: pyo.ConcreteModel | CompactModel,
    by: By | FoundBlocks = None,
    *,
    method: Literal["benders"],
    aggregate: bool = True,
    recognize: bool = True,
) -> Benders: ...


@overload
def decompose(
    model: pyo.ConcreteModel | CompactModel,
    by: By | FoundBlocks = None,
    *,
    method: Method | None = None,
    aggregate: bool = True,
    recognize: bool = True,
) -> Decomposed | Benders: ...


def decompose(
    model: pyo.ConcreteModel | CompactModel,
    by: By | FoundBlocks = None,
    *,
    method: str | None = None,
    aggregate: bool = True,
    recognize: bool = True,
) -> Decomposed | Benders:
    """Return a compact model as a problem for branch and price.

    Each block of the model becomes a pricing problem.  Constraints that link blocks, and variables of no block, stay in
    the master.  ``solve(decompose(model, by="machine"))`` loads the answer into a Pyomo model.

    Parameters
    ----------
    model
        A linear model with integer or continuous variables and one objective: a Pyomo model, or a
        :class:`CompactModel`, such as :func:`colgen.read` returns.
    by
        The definition of the blocks.  An index set or its name: each member is a block, with the variables that have
        the member in their index, and the constraints over these only.  A function: it returns the name of a
        constraint's block, or None for a linking constraint; it receives names of constraints if the model is not from
        Pyomo.  A result of :func:`find_blocks`.  None: the blocks of the model's file, the suffix ``colgen_block``, or
        else the model's ``pyo.Block`` components, or else :func:`find_blocks`.  A list of :class:`colgen.Paths`: path
        blocks over columns of a :class:`CompactModel`; those that a Pyomo model contains are found.
    method
        ``"dantzig-wolfe"``, or ``"benders"``, which makes the blocks second stages instead: the variables of no block
        stay in the master, and the blocks return rows over them.  None: Benders if all variables of blocks are
        continuous, only variables link the blocks, and the cost of each is bounded; otherwise Dantzig-Wolfe.
    aggregate
        Whether identical blocks share one pricing problem, whose multiplicity is their number; otherwise each block has
        its own.
    recognize
        Whether knapsacks, lot sizing, shortest paths, stable sets and totally unimodular blocks are recognized and
        priced by their own algorithms; otherwise HiGHS prices all blocks.

    Raises
    ------
    InputError
        If the model is not linear, ``by`` defines no block, or a variable of a Pyomo model is in two blocks.

    References
    ----------
    G. B. Dantzig, P. Wolfe, *Decomposition principle for linear programs*, Operations Research 8 (1960); F. Vanderbeck,
    *On Dantzig-Wolfe decomposition in integer programming and ways to perform branching in a branch-and-price
    algorithm*, Operations Research 48 (2000).

    Examples
    --------
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(["a", "b"], [1, 2, 3], domain=pyo.Binary)  # two machines, three tasks
    >>> m.once = pyo.Constraint([1, 2, 3], rule=lambda m, t: m.x["a", t] + m.x["b", t] == 1)
    >>> m.cost = pyo.Objective(expr=sum(t * m.x["a", t] + 2 * m.x["b", t] for t in [1, 2, 3]))
    >>> solve(decompose(m)).objective
    5.0
    """
    for name, value in (("aggregate", aggregate), ("recognize", recognize)):
        if not isinstance(value, bool):
            raise InputError(f"{name}: expected True or False, not {value!r}")
    if method not in (None, "dantzig-wolfe", "benders"):
        raise InputError(f"method: expected 'dantzig-wolfe' or 'benders', not {method!r}")
    with PauseGC():  # as in Pyomo: there is no garbage here, and one collection over a large model takes as long
        compact = as_compact(model)
        given = tuple(by) if isinstance(by, (list, tuple)) and all(isinstance(each, Paths) for each in by) else ()
        if compact.paths or given:
            if method == "benders":
                raise InputError("method: expected 'dantzig-wolfe', as the model has path blocks, not 'benders'")
            by = None if given else by
            others = blocks_of(compact, by) if by is not None or defines_blocks(compact) else None
            return network_model(compact, (*compact.paths, *given), others, aggregate=aggregate, recognize=recognize)
        found = blocks_of(compact, by)
        if method == "benders":
            return Benders(compact, found)
        if method is None and has_linear_stages(compact, found):
            with contextlib.suppress(InputError):  # the cost of a stage is unbounded
                return Benders(compact, found)
        split, found = copy_linking(compact.presolved, found.without_removed(compact.presolved.formulation))
        scaled = split.scaled()
        blocks = subproblems(scaled, found, aggregate=aggregate)
        return Decomposed(Splitting(scaled, found, blocks), compact, recognize=recognize)


def blocks_of(compact: CompactModel, by: By | FoundBlocks) -> Partition:
    """Return the blocks defined by ``by`` or the model, or else the detected ones; raise InputError without blocks."""
    if isinstance(by, FoundBlocks):
        if by.compact.origin != compact.origin or by.compact.formulation.row_keys != compact.formulation.row_keys:
            raise InputError("by: the blocks belong to another model, or it has changed; call find_blocks again")
        return by.partition
    if by is None and compact.blocks is not None:
        return compact.blocks
    if by is not None or defines_blocks(compact):
        return partition(compact, by)
    found = find_in(compact)
    if found is None:
        raise InputError(
            "the model defines no blocks and none were found in it: pass by=, or dec= to colgen.read; "
            "colgen.decomposition.undecomposed.Undecomposed(model) hands it to HiGHS"
        )
    return found.partition
