"""Programs of second-order parsing: rows of price and cut, and complete Pyomo models of each formulation.

Vertices are numbered from 0, the root; V is the number of tokens.  z_hm = 1 if the arc (h, m) is in the tree.

*Trees.*  ``one_head``: Σ_h z_hm = 1.  Connectivity is a flow φ of one commodity, ``source``: Σ_m φ_0m = V, ``consume``:
Σ_h φ_ht - Σ_m φ_tm = 1, ``no_flow``: φ_hm ≤ V z_hm.  Alternatively it is enforced by ``cut`` rows Σ_{h not in S, m in
S} z_hm ≥ 1, separated by minimum cuts.  With ``one_head`` they describe the arborescences exactly (Edmonds, 1967).

*Grandparents.*  u_gpc = 1 if (g, p) and (p, c) are in the tree.

    ``arc_gp``   z_gp + z_pc - u_gpc ≤ 1
    ``gp_arc``   u_gpc ≤ z_gp        and  ``gp_arc_child``   u_gpc ≤ z_pc
    ``one_gp``   Σ_g u_gpc = z_pc    for p > 0
    ``no_gp``    Σ_c u_gpc ≤ V z_gp

``one_head``, ``one_gp`` and ``gp_arc`` imply all others: ``no_gp`` is a sum of ``gp_arc``; ``gp_arc_child`` follows
from ``one_gp`` and u ≥ 0; and ``arc_gp`` follows because

    u_gpc = z_pc - Σ_{g' ≠ g} u_g'pc ≥ z_pc - Σ_{g' ≠ g} z_g'p = z_pc - (1 - z_gp).

This also holds if some u are missing.  A restricted master with ``one_gp``, and ``gp_arc`` for its columns, never
violates ``arc_gp``, so the fourth step of Riedel et al. (2012, section 4.4) is not needed.

*Consecutive siblings.*  q_hsm = 1 if s and m are modifiers of h on one side with none between them; s = h: none before
m; m = h: none after s.  On each side they form a path from h through the modifiers and back:

    ``before``   Σ_s q_hsm = z_hm          ``after``   Σ_m q_hsm = z_hs          ``first``   Σ_m q_hhm ≤ 1

Source: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 3; A. Martins, N. Smith, E.
Xing, *Concise integer linear programming formulations for dependency parsing*, ACL (2009).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from colgen import InputError, Rows, Sense
from colgen.core.lazy_imports import LazyModule
from colgen.problems.grandparent_parsing.instance import GrandparentInstance, Ints, refuse_projective

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

FORMULATIONS = ("gp_arc+arc_gp", "one_gp+no_gp", "all")
"""The outer bounds in Table 2 of Riedel et al. (2012)."""

CONNECTIVITIES = ("flow", "cuts")

_MOST_CUTS = 14
"""Maximum number of tokens for listing all cut rows: 16,383 of them."""

Triple = tuple[int, int, int]


def grandparent_triples(tokens: int) -> list[Triple]:
    """Return all (g, p, c) with three different vertices; p and c are tokens."""
    vertices = range(tokens + 1)
    return [(g, p, c) for p in vertices[1:] for c in vertices[1:] if c != p for g in vertices if g not in (p, c)]


def sibling_triples(tokens: int) -> list[Triple]:
    """Return all (h, s, m), s nearer to h than m; s = h: none before; m = h: none after."""
    found: list[Triple] = []
    for h in range(tokens + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, tokens + 1)):
            inner = list(side)
            for k, m in enumerate(inner):
                found += [(h, h, m), (h, m, h), *((h, s, m) for s in inner[:k])]
    return found


def trees(tokens: int, connectivity: str = "flow", *, single_root: bool = False) -> pyo.ConcreteModel:
    """Return the first-order rows over all arcs, without an objective.

    ``connectivity="cuts"`` leaves the cut rows to separation.
    """
    if connectivity not in CONNECTIVITIES:
        raise ValueError(f"connectivity must be 'flow' or 'cuts', not {connectivity!r}")
    m = pyo.ConcreteModel()
    m.token = pyo.RangeSet(1, tokens)
    m.vertex = pyo.RangeSet(0, tokens)
    m.arc = pyo.Set(initialize=[(h, t) for t in m.token for h in m.vertex if h != t], dimen=2)
    m.z = pyo.Var(m.arc, domain=pyo.Binary)
    m.one_head = pyo.Constraint(m.token, rule=lambda m, t: pyo.quicksum(m.z[h, t] for h in m.vertex if h != t) == 1)
    if single_root:
        m.one_root = pyo.Constraint(expr=pyo.quicksum(m.z[0, t] for t in m.token) == 1)
    if connectivity == "flow":
        m.phi = pyo.Var(m.arc, domain=pyo.NonNegativeReals)
        m.source = pyo.Constraint(expr=pyo.quicksum(m.phi[0, t] for t in m.token) == tokens)
        m.consume = pyo.Constraint(
            m.token,
            rule=lambda m, t: (
                pyo.quicksum(m.phi[h, t] for h in m.vertex if h != t)
                - pyo.quicksum(m.phi[t, k] for k in m.token if k != t)
                == 1
            ),
        )
        m.no_flow = pyo.Constraint(m.arc, rule=lambda m, h, t: m.phi[h, t] - tokens * m.z[h, t] <= 0)
    return m


@lru_cache(64)
def arc_ends(tokens: int) -> tuple[Ints, Ints]:
    """Return heads and modifiers of all arcs, in the order of the block ``z``; read only."""
    modifiers, heads = np.divmod(np.arange(tokens * (tokens + 1)), tokens + 1)
    modifiers += 1
    return heads[heads != modifiers], modifiers[heads != modifiers]


@lru_cache(64)
def master(
    tokens: int,
    *,
    formulation: str = "all",
    connectivity: str = "cuts",
    siblings: bool = False,
    single_root: bool = False,
) -> Rows:
    """Return the rows of price and cut over all arcs; parts are added later as columns.

    Parts add their ``gp_arc`` and ``first`` rows.  Artificial variables stand in for parts until then.  Costs of ``z``
    are 0; set them to the arc scores in a copy, because the rows are cached per length.
    """
    if formulation not in ("all", "one_gp+no_gp"):
        raise InputError(f"formulation must be 'all' or 'one_gp+no_gp' for column generation, not {formulation!r}")
    if connectivity not in CONNECTIVITIES:
        raise InputError(f"connectivity must be 'flow' or 'cuts', not {connectivity!r}")
    heads, modifiers = arc_ends(tokens)
    arcs = list(zip(heads.tolist(), modifiers.tolist(), strict=True))
    inner, from_root = np.flatnonzero(heads > 0), np.flatnonzero(heads == 0)
    inner_arcs = [arcs[k] for k in inner.tolist()]
    rows = Rows(Sense.MAXIMIZE, objective="score")
    z = rows.add_variables("z", arcs, upper=1.0, integer=True)
    rows.add_entries(rows.add_rows("one_head", range(1, tokens + 1), lower=1.0, upper=1.0)[modifiers - 1], z, 1.0)
    if single_root:
        rows.add_entries(rows.add_rows("one_root", lower=1.0, upper=1.0), z[from_root], 1.0)
    if connectivity == "flow":
        phi = rows.add_variables("phi", arcs)
        rows.add_entries(rows.add_rows("source", lower=tokens, upper=tokens), phi[from_root], 1.0)
        consume = rows.add_rows("consume", range(1, tokens + 1), lower=1.0, upper=1.0)
        rows.add_entries(consume[modifiers - 1], phi, 1.0)
        rows.add_entries(consume[heads[inner] - 1], phi[inner], -1.0)
        no_flow = rows.add_rows("no_flow", arcs, upper=0.0)
        rows.add_entries(no_flow, phi, 1.0)
        rows.add_entries(no_flow, z, -tokens)
    if tokens > 1:
        no_part = rows.add_variables("no_part", inner_arcs, artificial=True)
        one_gp = rows.add_rows("one_gp", inner_arcs, lower=0.0, upper=0.0)
        rows.add_entries(one_gp, no_part, 1.0)
        rows.add_entries(one_gp, z[inner], -1.0)
        if formulation == "one_gp+no_gp":
            rows.add_entries(rows.add_rows("no_gp", arcs, upper=0.0), z, -tokens)
    for name in ("before", "after") if siblings else ():
        missing = rows.add_variables(f"no_{name}", arcs, artificial=True)
        side = rows.add_rows(name, arcs, lower=0.0, upper=0.0)
        rows.add_entries(side, missing, 1.0)
        rows.add_entries(side, z, -1.0)
    return rows


def sides(tokens: int) -> list[tuple[int, int]]:
    """Return (h, side) pairs where h can have modifiers; side 0 is the left."""
    return [(h, side) for h in range(tokens + 1) for side in (0, 1) if (h > 1 if side == 0 else h < tokens)]


def full(
    instance: GrandparentInstance, formulation: str = "all", *, connectivity: str = "flow", siblings: bool | None = None
) -> pyo.ConcreteModel:
    """Return a complete Pyomo model of an instance.

    Pair scores are included with all their rows.  Projective instances are refused.

    Parameters
    ----------
    formulation
        ``"first_order"``: arcs alone.  ``"gp_arc+arc_gp"``, ``"one_gp+no_gp"``, ``"all"``: with all grandparent parts.
    connectivity
        ``"flow"``; or ``"cuts"``, all 2ⁿ - 1 of them, for few tokens.
    siblings
        Whether to include consecutive siblings; by default, if the instance has scores for them.
    """
    if formulation != "first_order" and formulation not in FORMULATIONS:
        raise ValueError(f"formulation must be 'first_order' or one of {FORMULATIONS}, not {formulation!r}")
    refuse_projective(instance, "full")
    n = len(instance)
    m = complete(
        n,
        formulation,
        connectivity=connectivity,
        siblings=instance.sibling_scores is not None if siblings is None else siblings,
        single_root=instance.single_root,
    )
    for h, t in m.arc:
        if instance.arc_scores[h, t] == -np.inf:
            m.z[h, t].setub(0)  # fixing it would make a token without arcs a model error instead of infeasible
    del m.score
    terms = [float(instance.arc_scores[arc]) * m.z[arc] for arc in m.arc if instance.arc_scores[arc] > -np.inf]
    for name, scores in (("u", instance.grandparent_scores), ("q", instance.sibling_scores)):
        if scores is not None and hasattr(m, name):
            variable = getattr(m, name)
            terms += [float(scores[index]) * variable[index] for index in variable]
    if instance.pair_scores is not None:
        scores = instance.pair_scores
        _add_pairs(m)
        terms += [float(scores[index]) * m.w[index] for index in m.w]
    m.score = pyo.Objective(expr=pyo.quicksum(terms), sense=pyo.maximize)
    return m


def _add_pairs(m: pyo.ConcreteModel) -> None:
    m.two = pyo.Set(initialize=[(h, s, t) for h, s in m.arc for t in m.token if s < t != h], dimen=3)
    m.w = pyo.Var(m.two, bounds=(0, 1))
    m.pair_first = pyo.Constraint(m.two, rule=lambda m, h, s, t: m.w[h, s, t] <= m.z[h, s])
    m.pair_second = pyo.Constraint(m.two, rule=lambda m, h, s, t: m.w[h, s, t] <= m.z[h, t])
    m.pair_both = pyo.Constraint(m.two, rule=lambda m, h, s, t: m.z[h, s] + m.z[h, t] - m.w[h, s, t] <= 1)


def complete(
    tokens: int,
    formulation: str = "all",
    *,
    connectivity: str = "flow",
    siblings: bool = False,
    single_root: bool = False,
    separated: bool = False,
) -> pyo.ConcreteModel:
    """Return the complete model for a number of tokens with all scores 0, to compile once and fill with scores.

    ``separated``: leave the cut rows to separation.
    """
    m = trees(tokens, connectivity, single_root=single_root)
    if connectivity == "cuts" and not separated:
        if tokens > _MOST_CUTS:
            raise InputError(
                f"expected at most {_MOST_CUTS} tokens to list all cuts, got {tokens}: separate the cuts, or choose "
                "connectivity='flow'"
            )
        m.subset = pyo.RangeSet(1, 2**tokens - 1)
        m.cut = pyo.Constraint(m.subset, rule=_cut)
    if formulation != "first_order" and tokens > 1:
        _add_grandparents(m, tokens, formulation)
    if siblings:
        _add_siblings(m, tokens)
    m.score = pyo.Objective(expr=0.0 * m.z[0, 1], sense=pyo.maximize)
    return m


def _add_grandparents(m: pyo.ConcreteModel, tokens: int, formulation: str) -> None:
    m.triple = pyo.Set(initialize=grandparent_triples(tokens), dimen=3)
    m.u = pyo.Var(m.triple, domain=pyo.NonNegativeReals)
    m.inner = pyo.Set(initialize=[(p, c) for p, c in m.arc if p > 0], dimen=2)
    if formulation == "gp_arc+arc_gp":
        m.arc_gp = pyo.Constraint(m.triple, rule=lambda m, g, p, c: m.z[g, p] + m.z[p, c] - m.u[g, p, c] <= 1)
        m.gp_arc_child = pyo.Constraint(m.triple, rule=lambda m, g, p, c: m.u[g, p, c] - m.z[p, c] <= 0)
    else:
        m.one_gp = pyo.Constraint(
            m.inner,
            rule=lambda m, p, c: pyo.quicksum(m.u[g, p, c] for g in m.vertex if g not in (p, c)) - m.z[p, c] == 0,
        )
    if formulation == "one_gp+no_gp":
        m.no_gp = pyo.Constraint(
            m.arc,
            rule=lambda m, g, p: (
                pyo.quicksum(m.u[g, p, c] for c in m.token if c not in (g, p)) - tokens * m.z[g, p] <= 0
            ),
        )
    else:
        m.gp_arc = pyo.Constraint(m.triple, rule=lambda m, g, p, c: m.u[g, p, c] - m.z[g, p] <= 0)


def _add_siblings(m: pyo.ConcreteModel, tokens: int) -> None:
    m.pair = pyo.Set(initialize=sibling_triples(tokens), dimen=3)
    m.q = pyo.Var(m.pair, domain=pyo.NonNegativeReals)
    into: dict[tuple[int, int], list[Triple]] = {}
    out: dict[tuple[int, int], list[Triple]] = {}
    for h, s, t in m.pair:
        if t != h:
            into.setdefault((h, t), []).append((h, s, t))
        if s != h:
            out.setdefault((h, s), []).append((h, s, t))
    m.before = pyo.Constraint(
        m.arc, rule=lambda m, h, t: pyo.quicksum(m.q[part] for part in into[h, t]) - m.z[h, t] == 0
    )
    m.after = pyo.Constraint(m.arc, rule=lambda m, h, t: pyo.quicksum(m.q[part] for part in out[h, t]) - m.z[h, t] == 0)
    m.side = pyo.Set(initialize=sides(tokens), dimen=2)
    m.first = pyo.Constraint(
        m.side,
        rule=lambda m, h, side: (
            pyo.quicksum(m.q[h, h, t] for t in (range(1, h) if side == 0 else range(h + 1, tokens + 1))) <= 1
        ),
    )


def _cut(m: pyo.ConcreteModel, subset: int) -> object:
    """Return the row that an arc must enter the tokens whose bits are set; bit k stands for token k + 1."""
    inside = {token for token in m.token if subset >> (token - 1) & 1}
    return pyo.quicksum(m.z[h, t] for h, t in m.arc if t in inside and h not in inside) >= 1
