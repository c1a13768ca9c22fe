"""Oracles of linear objectives: structures are solutions of a program, scores the coefficients of its objective.

Scores are maximised, as in :mod:`colgen.learning.oracles`: where costs are minimised, scores are their negatives.  The
losses :func:`~colgen.learning.losses.spo_plus` and :func:`~colgen.learning.losses.fenchel_young` then train a predictor
of scores for the decisions that it leads to.

An oracle may also have a method ``best_of_each(scores)``, which returns the best structures of many scores in one call,
as counts of shape (instances, parts).  The layers of :mod:`colgen.torch` use it for batches.  A method
``normals(counts)`` returns the normals of the constraints of the linear relaxation that bind at a structure, shape
(constraints, parts), with signs for which the structure maximises them.  The loss
:func:`~colgen.learning.losses.cone_aligned` needs it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from colgen.core.columns import Key
from colgen.core.errors import FormulationError, InputError
from colgen.core.result import Result, Termination
from colgen.learning.oracles import check_shapes
from colgen.model.rows import Rows, compile_model
from colgen.problem import Problem, codec_of
from colgen.solvers.arrays import ArrayError, as_floats, as_indices, as_integer
from colgen.solvers.flows.shortest_paths import shortest_paths
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.recosted import RecostedMIP
from colgen.solvers.packing.multidimensional import best_sets_within
from colgen.solving import solve

if TYPE_CHECKING:
    import pyomo.environ as pyo

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class GraphPaths:
    """Paths between two nodes of a directed graph: scores of arcs, shape (arcs,), usually costs or lengths negated.

    Parameters
    ----------
    tails, heads
        Indices of the nodes at the ends of each arc.
    source, sink
        First and last node.

    Raises
    ------
    InputError
        If an index is invalid; by ``best``, if a circuit has a positive score.
    """

    def __init__(self, tails: ArrayLike, heads: ArrayLike, *, source: int = 0, sink: int) -> None:
        try:
            self.sink, self.source = (as_integer(v, n, low=0) for v, n in ((sink, "sink"), (source, "source")))
            most = np.iinfo(np.int64).max
            self.tails = as_indices(tails, "tails", upper=most, shape=("arcs",))
            self.heads = as_indices(heads, "heads", upper=most, shape=self.tails.shape)
        except ArrayError as error:
            raise InputError(str(error)) from None
        self.nodes = 1 + max(self.source, self.sink, *(int(ends.max(initial=0)) for ends in (self.tails, self.heads)))

    def best(self, scores: Floats) -> Mask | None:
        """Return a path of largest score, None if there is none."""
        lengths, found = self._paths(scores[np.newaxis])
        return found[0] if lengths[0] < np.inf else None

    def best_of_each(self, scores: Floats) -> Floats:
        """Return a path of largest score for each row of scores, shape (instances, arcs)."""
        lengths, found = self._paths(scores)
        if len(lengths) and lengths.max() == np.inf:
            raise InputError(f"instance {int(lengths.argmax())} of the batch: every path is forbidden")
        return found.astype(np.float64)

    def check(self, *arrays: Floats) -> None:
        check_shapes(self, arrays, {"scores": self.tails.shape})

    def normals(self, counts: Floats) -> Floats:
        """Return normals of the constraints that bind at a path: balances of the nodes, and 0 of the other arcs."""
        arcs = np.arange(len(self.tails))
        balances = np.zeros((self.nodes, len(arcs)))
        np.add.at(balances, (self.heads, arcs), 1.0)
        np.add.at(balances, (self.tails, arcs), -1.0)
        return np.vstack([balances, -balances, -np.eye(len(arcs))[counts == 0.0]])

    def _paths(self, scores: Floats) -> tuple[Floats, Mask]:
        try:
            return shortest_paths(self.tails, self.heads, -scores, nodes=self.nodes, source=self.source, sink=self.sink)
        except ArrayError:
            raise InputError(
                "scores: expected no circuit of positive score; for longest paths without circuits write an oracle"
            ) from None


class Knapsacks:
    """Sets of items within one capacity or several: scores of items, shape (items,).

    Parameters
    ----------
    sizes
        Nonnegative sizes, shape (capacities, items).
    capacities
        Nonnegative capacities; rounding may exceed one by a relative 1e-9.
    """

    def __init__(self, sizes: ArrayLike, capacities: ArrayLike) -> None:
        try:
            self.sizes = as_floats(sizes, "sizes", shape=("capacities", "items"), low=0.0)
            self.capacities = as_floats(capacities, "capacities", shape=self.sizes.shape[:1], low=0.0)
        except ArrayError as error:
            raise InputError(str(error)) from None

    def best(self, scores: Floats) -> Mask:
        """Return a set of largest score; the empty set if no score is positive."""
        _, chosen = best_sets_within(scores[np.newaxis], self.sizes, self.capacities)
        own: Mask = chosen[0]
        return own

    def best_of_each(self, scores: Floats) -> Floats:
        """Return a set of largest score for each row of scores, shape (instances, items)."""
        return best_sets_within(scores, self.sizes, self.capacities)[1].astype(np.float64)

    def check(self, *arrays: Floats) -> None:
        check_shapes(self, arrays, {"scores": self.sizes.shape[1:]})

    def normals(self, counts: Floats) -> Floats:
        """Return normals of the constraints that bind at a set: full capacities, and 0 or 1 of each item."""
        full = self.sizes @ counts >= self.capacities * (1.0 - 1e-9)
        return np.vstack([self.sizes[full], np.diag(np.where(counts > 0.0, 1.0, -1.0))])


class IntegerPrograms:
    """Solutions of a linear mixed-integer model: scores of its variables, shape (variables,), instead of its objective.

    A program is built in HiGHS once, and solved with each call's scores.

    Parameters
    ----------
    model
        A Pyomo model or arrays (:class:`colgen.Rows`, such as ``CompactModel.from_linopy(model).formulation``).

    Attributes
    ----------
    variables
        ``(block, index)`` of each variable, in the order of the scores; fixed variables of Pyomo are left out.

    Raises
    ------
    InputError
        If the model is not linear or has no variables; by ``best``, if the scores can grow without limit.
    """

    def __init__(self, model: pyo.ConcreteModel | Rows) -> None:
        try:
            self.rows = model if isinstance(model, Rows) else compile_model(model)
        except FormulationError as error:
            raise InputError(f"model: expected a linear Pyomo model or Rows: {error}") from None
        self.variables: tuple[Key, ...] = self.rows.column_keys
        if not self.variables:
            raise InputError("model: expected one variable or more that are not fixed")
        rows = self.rows
        self._lock = threading.Lock()  # threads of a batch share the program
        self._program = RecostedMIP(
            rows.matrix, rows.lower, rows.upper, rows.row_lower, rows.row_upper, np.asarray(rows.integer)
        )

    def best(self, scores: Floats) -> Floats | None:
        """Return a solution of largest score, None if there is none; a score of -inf keeps a variable at 0."""
        rows, free = self.rows, ~np.isneginf(scores)
        lower = np.where(free, rows.lower, np.maximum(rows.lower, 0.0))
        upper = np.where(free, rows.upper, np.minimum(rows.upper, 0.0))
        with self._lock:
            self._program.set_bounds(lower, upper)
            found = self._program.solve(np.where(free, -scores, 0.0))
        if found.status is LPStatus.UNBOUNDED:
            raise InputError("scores: the program's objective grows without limit; give its variables bounds")
        if found.status is LPStatus.INFEASIBLE:
            return None
        solution: Floats = found.points[0]
        return solution

    def check(self, *arrays: Floats) -> None:
        check_shapes(self, arrays, {"scores": (len(self.variables),)})

    def normals(self, counts: Floats) -> Floats:
        """Return normals of the rows and bounds that bind at a solution within a relative 1e-6."""
        rows, unit = self.rows, np.eye(len(counts))
        matrix = sparse.csr_array(rows.matrix).toarray()
        binding = []
        for normals, values, lower, upper in (
            (matrix, matrix @ counts, rows.row_lower, rows.row_upper),
            (unit, counts, rows.lower, rows.upper),
        ):
            margin = 1e-6 * np.maximum(np.abs(normals) @ np.abs(counts), 1.0)
            binding += [normals[values >= upper - margin], -normals[values <= lower + margin]]
        return np.vstack(binding)


class ProblemAnswers:
    """Answers of a problem for column generation whose costs are the negatives of scores.

    Each call starts from the columns and dual values of the one before, if the problem has a codec
    (:meth:`colgen.Problem.codec`): if only costs change, all columns stay valid.

    Parameters
    ----------
    make
        Returns the problem for arrays of scores, a :class:`colgen.Problem`.
    read
        Returns the structure of an answer, in one of the forms of :mod:`colgen.learning.oracles`.

    Attributes
    ----------
    result
        The result of the last run; None before.
    """

    def __init__(self, make: Callable[..., Problem[Any]], read: Callable[[Any], Any]) -> None:
        self._make, self._read = make, read
        self.result: Result[Any] | None = None

    def best(self, *scores: Floats) -> Any:
        """Return the structure of an optimal answer, None if there is no answer.

        Raises
        ------
        InputError
            If the run ends without a proof.
        """
        problem = self._make(*scores)
        warm = self.result is not None and self.result.pool is not None and codec_of(problem) is not None
        found = solve(problem, start=self.result.pool if warm and self.result is not None else None)
        if found.termination is Termination.INFEASIBLE:
            return None
        if found.termination is not Termination.OPTIMAL:
            raise InputError(f"{type(problem).__name__}: the search stopped without a proof: {found.termination.value}")
        self.result = found
        return self._read(found.answer)
