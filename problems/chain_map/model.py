"""Pairwise models as Pyomo linear programs, whose optimum is the score of the best labelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from colgen.core.errors import InputError
from colgen.core.lazy_imports import LazyModule
from colgen.problems.chain_map.instance import ChainInstance
from colgen.solvers.chains.forest import NONE

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

FORMULATIONS = ("marginals", "forward", "both_ways")
"""Names of the complete formulations."""


def full(instance: ChainInstance, formulation: str = "marginals") -> pyo.ConcreteModel:
    """Return the complete linear program over all labels and pairs.

    Parameters
    ----------
    formulation
        ``marginals``, for any trees: variables for labels and for pairs, consistent at both ends of every edge.
        ``forward``, for chains: variables for pairs only, and one flow row per token and label. Each pair includes the
        local score of its right token. ``both_ways``, for chains: local scores are split equally between the pairs on
        both sides. Every row appears twice, so that dual values are messages in both directions.

    Notes
    -----
    Pairs with score -inf have no variable. The dual values of the last two formulations are messages. With the sign of
    HiGHS for maximisation (gain of the objective per unit of right-hand side), the dual value of ``forward[i, x]`` is
    -α_i(x). Those of the two families of ``both_ways`` are -α_i(x) / 2 and -β_i(x) / 2.
    """
    if formulation not in FORMULATIONS:
        raise InputError(f"formulation must be one of {', '.join(FORMULATIONS)}, not {formulation!r}")
    if formulation == "marginals":
        return _marginals(instance)
    if not instance.is_chains:
        raise InputError(f"formulation {formulation!r} supports chains only; use 'marginals' for trees")
    return _pairs(instance, both_ways=formulation == "both_ways")


def _marginals(instance: ChainInstance) -> pyo.ConcreteModel:
    """Maximise Σ θ μ + Σ τ μ,  Σ_x μ_i(x) = 1,  Σ_y μ_e(x, y) = μ_i(x),  Σ_x μ_e(x, y) = μ_p(y),  μ ≥ 0."""
    forest, scores = instance.forest, instance.scores
    m = pyo.ConcreteModel()
    labels = [[x for x in range(instance.num_labels) if scores[i, x] > -np.inf] for i in range(forest.num_nodes)]
    edges = [i for i in range(forest.num_nodes) if forest.parent[i] != NONE]
    pairs = [
        (i, x, y)
        for i in edges
        for x in labels[i]
        for y in labels[int(forest.parent[i])]
        if instance.table_of(i)[x, y] > -np.inf
    ]
    m.label = pyo.Var([(i, x) for i, mine in enumerate(labels) for x in mine], bounds=(0, None))
    m.pair = pyo.Var(pairs, bounds=(0, None))
    below: dict[tuple[int, int], list[Any]] = {}
    above: dict[tuple[int, int], list[Any]] = {}
    for i, x, y in pairs:
        below.setdefault((i, x), []).append(m.pair[i, x, y])
        above.setdefault((i, y), []).append(m.pair[i, x, y])
    m.one = pyo.Constraint(range(forest.num_nodes), rule=lambda m, i: _one(m, i, labels[i]))
    m.lower = pyo.Constraint(
        [(i, x) for i in edges for x in labels[i]],
        rule=lambda m, i, x: m.label[i, x] == pyo.quicksum(below.get((i, x), ())),
    )
    m.upper = pyo.Constraint(
        [(i, y) for i in edges for y in labels[int(forest.parent[i])]],
        rule=lambda m, i, y: m.label[int(forest.parent[i]), y] == pyo.quicksum(above.get((i, y), ())),
    )
    m.score = pyo.Objective(
        expr=pyo.quicksum(float(scores[i, x]) * m.label[i, x] for i, mine in enumerate(labels) for x in mine)
        + pyo.quicksum(float(instance.table_of(i)[x, y]) * m.pair[i, x, y] for i, x, y in pairs),
        sense=pyo.maximize,
    )
    return m


def _pairs(instance: ChainInstance, both_ways: bool) -> pyo.ConcreteModel:
    """Return the model over pairs, with an edge before each first token and after each last token.

    The pair (i, x, y) has token i - 1 with label x and token i with label y, numbered within its chain from 1. x is
    None before the first token, y is None after the last.
    """
    m = pyo.ConcreteModel()
    pairs: dict[tuple[int, int, int | None, int | None], float] = {}
    ins: dict[tuple[int, int, int], list[Any]] = {}
    outs: dict[tuple[int, int, int], list[Any]] = {}
    share = 0.5 if both_ways else 0.0
    lengths: list[int] = []
    for k in range(instance.num_trees):
        first, end = (int(t) for t in instance.forest.starts[k : k + 2])
        theta, n = instance.scores[first:end].astype(float), end - first
        lengths.append(n)
        allowed = [np.flatnonzero(row > -np.inf).tolist() for row in theta]
        pairs.update({(k, 1, None, y): share * theta[0, y] for y in allowed[0]})
        for i in range(1, n):
            tau = instance.table_of(first + i - 1).astype(float)
            pairs.update(
                {
                    (k, i + 1, x, y): tau[x, y] + (1 - share) * theta[i - 1, x] + share * theta[i, y]
                    for x in allowed[i - 1]
                    for y in allowed[i]
                    if tau[x, y] > -np.inf
                }
            )
        pairs.update({(k, n + 1, x, None): (1 - share) * theta[n - 1, x] for x in allowed[n - 1]})
    m.pair = pyo.Var(list(pairs), bounds=(0, None))
    for k, i, x, y in pairs:
        if y is not None:
            ins.setdefault((k, i, y), []).append(m.pair[k, i, x, y])
        if x is not None:
            outs.setdefault((k, i - 1, x), []).append(m.pair[k, i, x, y])
    between = sorted(set(ins) | set(outs))

    def flow(m: pyo.ConcreteModel, k: int, i: int, x: int) -> Any:
        return (
            pyo.quicksum(ins.get((k, i, x), ())) - pyo.quicksum(outs.get((k, i, x), ())) == 0
        )  # [-α_i(x), or half of it]

    def ends(k: int, i: int) -> Any:
        return pyo.quicksum(m.pair[key] for key in pairs if key[:2] == (k, i)) == 1

    m.forward = pyo.Constraint(between, rule=flow)
    m.last = pyo.Constraint(range(len(lengths)), rule=lambda m, k: ends(k, lengths[k] + 1))
    if both_ways:
        m.backward = pyo.Constraint(between, rule=flow)
        m.first = pyo.Constraint(range(len(lengths)), rule=lambda m, k: ends(k, 1))
    m.score = pyo.Objective(expr=pyo.quicksum(c * m.pair[key] for key, c in pairs.items()), sense=pyo.maximize)
    return m


def _one(m: pyo.ConcreteModel, node: int, labels: list[int]) -> Any:
    return pyo.quicksum(m.label[node, x] for x in labels) == 1 if labels else pyo.Constraint.Infeasible
