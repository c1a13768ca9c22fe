"""Arcs of which a learner keeps some for a first search of a path oracle."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError
from colgen.core.text import describe
from colgen.pricing.labelling import PathOracle
from colgen.pricing.oracles import Pricing
from colgen.pricing.selected import ask_which, check_selector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

ARC_FEATURES = ("cost", "reduced_cost", "cost_rank_out", "cost_rank_in", "reduced_rank_out", "reduced_rank_in")
"""Names of the features of an arc, in the order of the columns of :attr:`OfferedArcs.values`."""


@dataclass(frozen=True)
class OfferedArcs:
    """The arcs of a network at one call of its oracle.

    Attributes
    ----------
    tails, heads
        The vertices of each arc, shape (arcs,).
    values
        Shape (arcs, features), all finite; the names are in :data:`ARC_FEATURES`: the cost, the cost minus dual values,
        and ranks by both, as the share of the arcs with the same tail (``out``) or head (``in``) that come before.
    oracle
        Name of the oracle.

    References
    ----------
    M. Morabit, G. Desaulniers, A. Lodi, *Machine-learning-based arc selection for constrained shortest path problems in
    column generation*, INFORMS Journal on Optimization 5 (2023).
    """

    tails: Ints
    heads: Ints
    values: Floats
    oracle: str


class ArcSelector(Protocol):
    """Selects the arcs that are searched first; a learner implements it.  It changes seconds, never a bound."""

    def keep(self, offered: OfferedArcs) -> ArrayLike:
        """Return one truth value per arc: whether paths of the first search may use it."""


def keep_arcs(oracles: Pricing | Iterable[Pricing], selector: ArcSelector) -> list[Pricing]:
    """Return copies of path oracles that first search the paths over the arcs that a learner keeps.

    The first search is exact over these arcs.  If it finds no new column that improves the master, the usual searches
    follow, so the rounds end with the same bound.  Arcs that a node forbids stay forbidden.

    Parameters
    ----------
    selector
        The learner: an object with a method ``keep``; see :class:`ArcSelector`.

    Raises
    ------
    InputError
        If ``selector`` has no method ``keep``, or an oracle is no path oracle, such as :class:`colgen.Labelling`.  In a
        round if the learner does not return one truth value per arc.

    Examples
    --------
    >>> class Cheap:
    ...     def keep(self, offered):  # a third of the arcs that leave each vertex
    ...         return offered.values[:, ARC_FEATURES.index("reduced_rank_out")] < 1 / 3
    >>> from colgen.problems.vehicle_routing import VehicleRouting, random
    >>> from colgen.reporting.methods import replace_parts
    >>> narrower = replace_parts(pricing=lambda oracles: keep_arcs(oracles, Cheap()))
    >>> routing = VehicleRouting(random(1, customers=8))
    >>> solve(narrower(routing)).objective == solve(routing).objective
    True
    """
    check_selector(selector)
    copies: list[Pricing] = []
    for oracle in [oracles] if isinstance(oracles, Pricing) else oracles:
        if not isinstance(oracle, PathOracle):
            raise InputError(f"keep_arcs: expected path oracles, such as Labelling, not {describe(oracle)}")
        other = copy.copy(oracle)
        other.select_arcs = partial(_select, selector)
        copies.append(other)
    return copies


def _select(selector: ArcSelector, oracle: PathOracle, reduced: Floats) -> Mask:
    """Return the mask of the arcs that the selector keeps."""
    network = oracle.solver.network
    tails, heads = network.tails, network.heads
    ranks = [_ranks(ends, values) for values in (oracle.costs, reduced) for ends in (tails, heads)]
    values = np.nan_to_num(np.column_stack([oracle.costs, reduced, *ranks]), nan=0.0)
    return ask_which(selector, OfferedArcs(tails, heads, values, oracle.name), len(tails), "arc")


def _ranks(groups: Ints, values: Floats) -> Floats:
    """Return the share of the entries of its group that come before each entry; ties keep their order."""
    order = np.lexsort((values, groups))
    sizes = np.bincount(groups)
    places = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    ranks = np.empty(len(groups))
    ranks[order] = places / np.repeat(sizes, sizes)
    return ranks
