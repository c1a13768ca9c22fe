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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError
from colgen.learning.oracles import check_shapes
from colgen.solvers.arrays import ArrayError, as_floats, as_indices, as_integer
from colgen.solvers.flows.shortest_paths import shortest_paths
from colgen.solvers.packing.multidimensional import best_sets_within

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
