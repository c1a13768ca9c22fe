r"""Paths of k vertices as integer linear programs, in Pyomo and as arrays.

I_ij = 1 if the path uses the arc from i to j; s is the source, t the sink, V the vertices between them.

    max  Σ w_ij I_ij
    subject to  Σ_j I_sj = 1,   Σ_i I_it = 1                        source and sink                  (2), (3)
                Σ I_ij = k + 1                                      length                           (4)
                Σ_i I_iv = Σ_j I_vj            for each v in V      balance                          (5)
                Σ_{i in Z} Σ_j I_ij ≤ 1        for each class Z     redundancy                       (6)
                I_ij ∈ {0, 1}.

A solution is a path plus any number of cycles. The formulation ``"flow"`` excludes cycles by a second set of variables,
which count the arcs down from k + 1 to 1 along the path:

                0 ≤ f_ij ≤ (k + 1) I_ij                                                              (7)
                Σ_i f_iv - Σ_j f_vj = Σ_i I_iv  for each v in V                                      (8) to (11)
                Σ_j f_sj = k + 1,   Σ_i f_it = 1                                                     (12), (13)

``"lazy"`` omits f; it is complete only with separated rows (:mod:`colgen.problems.title_path.lazy`).

The equation numbers are those of the source, with two differences. The source has the balance (5) for source and sink
too, which contradicts (2) and (3). It also states that (5) prevents a vertex from being entered twice, but this needs
(6), with every vertex in a class, possibly its own. The auxiliary a, b, d of (8) to (10) are substituted.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from colgen import InputError, Rows, Sense
from colgen.problems.title_path.instance import Floats, Ints, PathInstance

if TYPE_CHECKING:
    import pyomo.environ as pyo

Arc: TypeAlias = tuple[Hashable, Hashable]
"""Tail and head: vertex numbers, ``"s"`` and ``"t"``."""

SOURCE, SINK = "s", "t"

FORMULATIONS = ("flow", "lazy")


def full(instance: PathInstance, formulation: str = "flow") -> pyo.ConcreteModel:
    """Return the program as a Pyomo model.

    Parameters
    ----------
    formulation
        ``"flow"``, or ``"lazy"`` without the exclusion of cycles.

    Raises
    ------
    InputError
        If no arc leaves the source, or none enters the sink.
    """
    tails, heads, _ = arcs(instance)
    n = instance.num_vertices
    if not (tails == n).any() or not (heads == n + 1).any():  # Pyomo rejects rows without variables
        raise InputError("there is no path: expected arcs that leave the source and arcs that enter the sink")
    return program(instance, formulation).pyomo()


def arcs(instance: PathInstance) -> tuple[Ints, Ints, Floats]:
    """Return tails, heads and weights of the arcs that a path can use; the source is number n, the sink n + 1."""
    n, graph = instance.num_vertices, instance.graph
    firsts, lasts = np.flatnonzero(graph.first > -np.inf), np.flatnonzero(graph.last > -np.inf)
    tails, heads = np.nonzero(graph.weights > -np.inf)
    return (
        np.concatenate((np.full(len(firsts), n), tails, lasts)),
        np.concatenate((firsts, heads, np.full(len(lasts), n + 1))),
        np.concatenate((graph.first[firsts], graph.weights[tails, heads], graph.last[lasts])),
    )


def arc_names(instance: PathInstance, tails: Ints, heads: Ints) -> list[Arc]:
    """Return the arcs as pairs, in order."""
    n = instance.num_vertices
    named: list[Hashable] = [*range(n), SOURCE, SINK]
    return [(named[u], named[v]) for u, v in zip(tails.tolist(), heads.tolist(), strict=True)]


def program(instance: PathInstance, formulation: str = "flow") -> Rows:
    """Return the program as arrays, which is much faster than Pyomo; ``formulation`` as in :func:`full`."""
    if formulation not in FORMULATIONS:
        raise ValueError(f"formulation must be 'flow' or 'lazy', not {formulation!r}")
    n, k = instance.num_vertices, instance.length
    tails, heads, weights = arcs(instance)
    names = arc_names(instance, tails, heads)
    inner, outer = np.flatnonzero(heads < n), np.flatnonzero(tails < n)  # arcs that enter, or leave, a vertex of V
    first, last = np.flatnonzero(tails == n), np.flatnonzero(heads == n + 1)
    touched = np.unique(np.concatenate((heads[inner], tails[outer])))
    place = np.full(n, -1)
    place[touched] = np.arange(len(touched))
    present, row_of_class = np.unique(instance.class_numbers[tails[outer]], return_inverse=True)
    rows = Rows(Sense.MAXIMIZE, objective="weight")
    taken = rows.add_variables("I", names, cost=weights, upper=1.0, integer=True)
    rows.add_entries(rows.add_rows("source", lower=1.0, upper=1.0), taken[first], 1.0)
    rows.add_entries(rows.add_rows("sink", lower=1.0, upper=1.0), taken[last], 1.0)
    rows.add_entries(rows.add_rows("length", lower=k + 1.0, upper=k + 1.0), taken, 1.0)
    balance = rows.add_rows("balance", touched.tolist(), lower=0.0, upper=0.0)
    rows.add_entries(balance[place[heads[inner]]], taken[inner], 1.0)
    rows.add_entries(balance[place[tails[outer]]], taken[outer], -1.0)
    rows.add_entries(rows.add_rows("once", present.tolist(), upper=1.0)[row_of_class], taken[outer], 1.0)
    if formulation == "lazy":
        return rows
    flow = rows.add_variables("f", names)
    capacity = rows.add_rows("capacity", names, upper=0.0)
    rows.add_entries(capacity, flow, 1.0)
    rows.add_entries(capacity, taken, -(k + 1.0))
    demand = rows.add_rows("demand", touched.tolist(), lower=0.0, upper=0.0)
    rows.add_entries(demand[place[heads[inner]]], flow[inner], 1.0)
    rows.add_entries(demand[place[tails[outer]]], flow[outer], -1.0)
    rows.add_entries(demand[place[heads[inner]]], taken[inner], -1.0)
    rows.add_entries(rows.add_rows("supply", lower=k + 1.0, upper=k + 1.0), flow[first], 1.0)
    rows.add_entries(rows.add_rows("rest", lower=1.0, upper=1.0), flow[last], 1.0)
    return rows


def centred_program(instance: PathInstance, formulation: str = "flow") -> Rows:
    """Return the program with the common weight of all paths as offset, so that tolerances are not relative to it."""
    tails, heads, weights = arcs(instance)
    n, (first, last, inner) = instance.num_vertices, instance.scaled.parts
    common = np.where(tails == n, first, np.where(heads == n + 1, last, inner))
    rows = program(instance, formulation)
    rows.change_variables("I", cost=weights - common)
    rows.offset = instance.scaled.offset
    return rows
