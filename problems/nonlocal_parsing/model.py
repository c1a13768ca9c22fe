"""Complete integer programs of non-local parsing in Pyomo."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from colgen import InputError
from colgen.core.lazy_imports import LazyModule
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.solvers.trees.eisner_hypergraph import hypergraph
from colgen.solvers.trees.eisner_items import FIRST

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")


def full(instance: NonlocalInstance, formulation: str = "chart") -> pyo.ConcreteModel:
    """Return a complete Pyomo model of the problem; ``z[h, m]`` is 1 if the arc is in the tree.

    Parameters
    ----------
    formulation
        ``"chart"``: a flow through the dynamic program's items, for any local parts; its relaxation without factors is
        exact. ``"arcs"``: variables of arcs, connected by a single-commodity flow and, for projective trees, without
        crossings (similar to Martins, Smith and Xing, 2009), with O(n³) rows; for first-order parts.
    """
    if formulation == "chart":
        return _chart(instance)
    if formulation == "arcs":
        return _arcs(instance)
    raise ValueError(f"formulation must be 'chart' or 'arcs', not {formulation!r}")


def _chart(instance: NonlocalInstance) -> pyo.ConcreteModel:
    if not instance.projective:
        raise InputError("formulation 'chart' supports projective trees only; use 'arcs'")
    graph = hypergraph(instance.parts, allowed=instance.usable, single_root=instance.single_root)
    if not graph.num_items:
        raise InputError("the allowed arcs contain no tree, so there is no model")
    size = instance.parts.size
    built, used, makes = defaultdict(list), defaultdict(list), defaultdict(list)
    for way, (item, first, second) in enumerate(
        zip(graph.item.tolist(), graph.first.tolist(), graph.second.tolist(), strict=True)
    ):
        built[item].append(way)
        for part in (first, second):
            if part >= 0:
                used[part].append(way)
        if graph.arc[item] >= 0:
            makes[divmod(int(graph.arc[item]), size)].append(way)
    score = graph.score.tolist()
    m = pyo.ConcreteModel()
    m.way = pyo.RangeSet(0, len(score) - 1)
    m.item = pyo.RangeSet(1, graph.num_items - 1)
    m.x = pyo.Var(m.way, domain=pyo.NonNegativeReals)
    m.arc = pyo.Set(initialize=sorted(makes), dimen=2)
    m.z = pyo.Var(m.arc, domain=pyo.Binary)
    m.one_tree = pyo.Constraint(expr=pyo.quicksum(m.x[w] for w in built[0]) == 1)
    m.balance = pyo.Constraint(
        m.item,
        rule=lambda m, i: pyo.quicksum(m.x[w] for w in built[i]) == pyo.quicksum(m.x[w] for w in used[i]),
    )
    m.chosen = pyo.Constraint(m.arc, rule=lambda m, h, w: m.z[h, w] == pyo.quicksum(m.x[k] for k in makes[h, w]))
    _add_factors(m, instance)
    m.score = pyo.Objective(
        expr=pyo.quicksum(score[w] * m.x[w] for w in m.way) + pyo.quicksum(m.worth[c] * m.y[c] for c in m.factor),
        sense=pyo.maximize,
    )
    return m


def _arcs(instance: NonlocalInstance) -> pyo.ConcreteModel:
    if instance.parts.order != FIRST:
        raise InputError("formulation 'arcs' supports first-order parts only; use 'chart'")
    n = instance.num_words
    usable, scores = instance.usable, instance.parts.arcs
    m = pyo.ConcreteModel()
    m.word = pyo.RangeSet(1, n)
    m.arc = pyo.Set(
        initialize=[(h, w) for h in range(n + 1) for w in range(1, n + 1) if usable[h, w]],
        dimen=2,
    )
    m.z = pyo.Var(m.arc, domain=pyo.Binary)
    m.flow = pyo.Var(m.arc, domain=pyo.NonNegativeReals)
    heads = {w: [h for h in range(n + 1) if usable[h, w]] for w in range(1, n + 1)}
    modifiers = {h: [w for w in range(1, n + 1) if usable[h, w]] for h in range(n + 1)}
    if not all(heads.values()) or not modifiers[0]:
        raise InputError("the allowed arcs contain no tree, so there is no model")
    m.one_head = pyo.Constraint(m.word, rule=lambda m, w: pyo.quicksum(m.z[h, w] for h in heads[w]) == 1)
    m.consume = pyo.Constraint(
        m.word,
        rule=lambda m, w: (
            pyo.quicksum(m.flow[h, w] for h in heads[w]) - pyo.quicksum(m.flow[w, k] for k in modifiers[w]) == 1
        ),
    )
    m.no_flow = pyo.Constraint(m.arc, rule=lambda m, h, w: m.flow[h, w] <= n * m.z[h, w])
    if instance.single_root:
        m.one_root = pyo.Constraint(expr=pyo.quicksum(m.z[0, w] for w in modifiers[0]) == 1)
    m.crossing = pyo.ConstraintList()
    for h, w in m.arc if instance.projective else ():
        low, high = min(h, w), max(h, w)
        for k in range(1, n + 1):
            within = low < k < high
            if not within and low <= k <= high:
                continue
            crossing = [g for g in heads[k] if (g < low or g > high if within else low < g < high)]
            if crossing:
                m.crossing.add(pyo.quicksum(m.z[g, k] for g in crossing) + m.z[h, w] <= 1)
    _add_factors(m, instance)
    m.score = pyo.Objective(
        expr=pyo.quicksum(float(scores[h, w]) * m.z[h, w] for h, w in m.arc)
        + pyo.quicksum(m.worth[c] * m.y[c] for c in m.factor),
        sense=pyo.maximize,
    )
    return m


def _add_factors(m: pyo.ConcreteModel, instance: NonlocalInstance) -> None:
    """Add ``y[c]`` for each possible factor: at most each z if the score is positive, else at least their product."""
    factors = [
        (arcs, score) for arcs, score in instance.nonlocal_factors if score and all(arc in m.arc for arc in arcs)
    ]
    m.factor = pyo.RangeSet(0, len(factors) - 1)
    m.worth = pyo.Param(m.factor, initialize=dict(enumerate(score for _, score in factors)), within=pyo.Reals)
    m.y = pyo.Var(m.factor, bounds=(0.0, 1.0))
    m.at_most = pyo.ConstraintList()
    m.at_least = pyo.ConstraintList()
    for c, (arcs, score) in enumerate(factors):
        if score > 0.0:
            for arc in arcs:
                m.at_most.add(m.y[c] <= m.z[arc])
        else:
            m.at_least.add(m.y[c] >= pyo.quicksum(m.z[arc] for arc in arcs) - (len(arcs) - 1))
