r"""Coreference clustering as Pyomo models: the master, the pricing problem, and complete formulations.

Mentions are numbered from 0; s_kl is the score of a pair, counted once. None of these programs is integral: neither
matrix is totally unimodular, although De Belder and Moens (2012) state this for both.

* In the matrix of :func:`pricing`, take mentions 0, 1, 2, the rows p_kl - b_k - b_l ≥ -1 of the three pairs and the
  columns b_0, b_1, b_2: the determinant has absolute value 2. The relaxation is half-integral (Padberg, 1989), but not
  integral. For scores s_01 = s_02 = 1, s_12 = -1 and dual values 1, 0, 0, its optimum is 1/2, and that of the integer
  program 0. For two mentions, the matrix is totally unimodular.
* In the set partitioning matrix, the columns of the clusters {0, 1}, {1, 2}, {0, 2} have a determinant of absolute
  value 2. If cluster scores are sums over pairs, the relaxation over all clusters is tight for up to four mentions, but
  not for five. In a pentagon with score 1 on sides and -1 on diagonals, half of each side gives 5/2, and the best
  clustering gives 2.

So branch and bound is part of the method. The tests prove all of these statements.

References
----------
J. De Belder, M.-F. Moens, *Coreference clustering using column generation*, COLING (2012). M. Padberg, *The boolean
quadric polytope: some characteristics, facets and relatives*, Mathematical Programming 45 (1989).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import LazyModule
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance, Floats

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

_MAX_MENTIONS = 16
"""Largest number of mentions for set partitioning: 65,535 clusters."""


@lru_cache(64)
def master(mentions: int) -> Rows:
    """Return the rows of set partitioning without clusters; ``uncovered`` are the artificial variables.

    The rows are cached per number of mentions; modify a copy only.
    """
    rows = Rows(Sense.MAXIMIZE, objective="score")
    uncovered = rows.add_variables("uncovered", range(mentions), artificial=True)
    rows.add_entries(rows.add_rows("cover", range(mentions), lower=1.0, upper=1.0), uncovered, 1.0)
    return rows


def pricing(instance: CoreferenceInstance, duals: ArrayLike) -> pyo.ConcreteModel:
    """Return the pricing problem as an integer linear program, equation 7 of De Belder and Moens (2012).

    max Σ_{k<l} s_kl p_kl - Σ_i π_i b_i, where b_i = 1 if mention i is in the cluster and p_kl = 1 if both k and l are.
    The empty set with reduced cost 0 is feasible. The matrix is not totally unimodular, see the module.
    """
    value = dict(enumerate(as_duals(duals, instance.num_mentions).tolist()))
    scores = instance.scores
    m = pyo.ConcreteModel()
    m.mention = pyo.RangeSet(0, instance.num_mentions - 1)
    m.pair = pyo.Set(initialize=_pairs(instance.num_mentions), dimen=2)
    m.b = pyo.Var(m.mention, domain=pyo.Binary)
    m.p = pyo.Var(m.pair, domain=pyo.Binary)
    finite = [(i, j) for i, j in m.pair if scores[i, j] > -np.inf]
    for i, j in set(m.pair) - set(finite):
        m.p[i, j].setub(0)  # forbidden
    m.first = pyo.Constraint(m.pair, rule=lambda m, i, j: -m.p[i, j] + m.b[i] >= 0)
    m.second = pyo.Constraint(m.pair, rule=lambda m, i, j: -m.p[i, j] + m.b[j] >= 0)
    m.both = pyo.Constraint(m.pair, rule=lambda m, i, j: m.p[i, j] - m.b[i] - m.b[j] >= -1)
    m.reduced_cost = pyo.Objective(
        expr=pyo.quicksum(float(scores[i, j]) * m.p[i, j] for i, j in finite)
        - pyo.quicksum(value[i] * m.b[i] for i in m.mention),
        sense=pyo.maximize,
    )
    return m


def full(instance: CoreferenceInstance, formulation: str = "all_link") -> pyo.ConcreteModel:
    """Return a complete Pyomo model of the problem.

    Parameters
    ----------
    formulation
        ``"all_link"`` (Chang et al., 2011; Grötschel and Wakabayashi, 1989): one variable per pair and transitivity of
        all triples, O(n³) rows. ``"set_partitioning"``: one variable for each of the 2ⁿ - 1 clusters, for at most 16
        mentions. ``"lazy"``: the all-link model without its rows, to be completed by
        :class:`~colgen.problems.coreference.separation.Transitivity`.
    """
    if formulation == "all_link":
        return all_link(instance)
    if formulation == "set_partitioning":
        return set_partitioning(instance)
    if formulation == "lazy":
        return pair_variables(instance).pyomo()
    raise ValueError(f"formulation must be 'all_link', 'set_partitioning' or 'lazy', not {formulation!r}")


def pair_costs(instance: CoreferenceInstance, *, joined: bool) -> tuple[Floats, NDArray[np.bool_], float]:
    """Return the costs of pairs i < j, which of them are fixed together, and the score of these.

    If ``joined``, pairs inside units are together; otherwise no pair is.
    """
    pairs = np.triu_indices(instance.num_mentions, 1)
    if not joined:
        return instance.clipped[pairs], np.zeros(len(pairs[0]), dtype=np.bool_), 0.0
    unit = np.empty(instance.num_mentions, dtype=np.int64)
    for number, mentions in enumerate(instance.units):
        unit[list(mentions)] = number
    together = unit[pairs[0]] == unit[pairs[1]]
    costs = np.where(together, 0.0, instance.lowered.clipped[pairs])
    return costs, together, instance.objective(instance.units)


def pair_variables(instance: CoreferenceInstance, *, joined: bool = False) -> Rows:
    """Return the variables ``x[i, j]``, i < j: whether two mentions share a cluster; no rows.

    If ``joined``, pairs inside the instance's units are fixed together.
    """
    costs, together, offset = pair_costs(instance, joined=joined)
    rows = Rows(Sense.MAXIMIZE, objective="score", offset=offset)
    rows.add_variables("x", _pairs(instance.num_mentions), cost=costs, lower=together, upper=1.0, integer=True)
    return rows


def all_link(instance: CoreferenceInstance) -> pyo.ConcreteModel:
    """Return the model with ``x[i, j]``, and a row x_ij ≥ x_ik + x_kj - 1 for each pair i < j and other mention k."""
    m, n = pair_variables(instance).pyomo(), instance.num_mentions
    thirds = [(i, j, k) for i, j in _pairs(n) for k in range(n) if k not in (i, j)]
    m.third = pyo.Set(initialize=thirds, dimen=3)
    m.transitivity = pyo.Constraint(
        m.third,
        rule=lambda m, i, j, k: m.x[min(i, k), max(i, k)] + m.x[min(j, k), max(j, k)] - m.x[i, j] <= 1,
    )
    return m


def set_partitioning(instance: CoreferenceInstance) -> pyo.ConcreteModel:
    """Return the master with all columns: ``x[c]`` for each cluster c, a number whose bits are its mentions."""
    n = instance.num_mentions
    if n > _MAX_MENTIONS:
        raise InputError(
            f"set partitioning supports at most {_MAX_MENTIONS} mentions, got {n}; use column generation or "
            "another formulation"
        )
    m = pyo.ConcreteModel()
    m.mention = pyo.RangeSet(0, n - 1)
    m.cluster = pyo.RangeSet(1, 2**n - 1)
    m.x = pyo.Var(m.cluster, domain=pyo.Binary)
    m.cover = pyo.Constraint(m.mention, rule=lambda m, i: pyo.quicksum(m.x[c] for c in m.cluster if c >> i & 1) == 1)
    worth = CoreferenceInstance(instance.clipped)
    m.score = pyo.Objective(
        expr=pyo.quicksum(worth.objective([members(c)]) * m.x[c] for c in m.cluster), sense=pyo.maximize
    )
    return m


def members(cluster: int) -> Cluster:
    """Return the mentions of a cluster given by its number."""
    return tuple(i for i in range(cluster.bit_length()) if cluster >> i & 1)


def as_duals(duals: ArrayLike, mentions: int) -> Floats:
    """Return dual values as an array after checking that there is one per mention."""
    value = np.asarray(duals, dtype=np.float64)
    if value.shape != (mentions,) or not np.isfinite(value).all():
        raise InputError(f"expected a finite dual value for each of {mentions} mentions, got {duals!r}")
    return value


def _pairs(mentions: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(mentions) for j in range(i + 1, mentions)]
