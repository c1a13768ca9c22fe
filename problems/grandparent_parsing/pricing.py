"""Oracles of parts: upper bounds on scores decide which parts are scored.

A grandparent part (g, p, c) has the reduced cost

    r_gpc = s_gpc - π_pc(one_gp) - π_gp(no_gp),

where the last dual value is absent in the formulation without those rows.  The ``gp_arc`` row of a part outside the
master is missing too, and its dual value may be taken as 0.  The part's dual constraint is then r_gpc ≤ 0, the row's
slack prices out at 0, and the constraint of z_gp, which the row could only relax, still holds.  If all parts price out,
the restricted master's dual solution, extended by zeros, is feasible for the complete program.

*Filtering* (Riedel et al., section 4.3.1).  s_gpc is at most B_pc, its maximum over grandparents, and at most B'_gp,
its maximum over children.  Both are computed offline, and π(no_gp) ≥ 0.  Arcs (p, c) with B_pc ≤ π_pc(one_gp) therefore
have no improving part.  For the others, only g with min(B_pc, B'_gp) > π_pc(one_gp) + π_gp(no_gp) are scored.  Parts
become columns if their exact reduced cost is *positive*.  (Equation 10 of Riedel et al. removes those, due to a sign
error.)

Raising dual values first (section 4.3.3) is a stabilization:
:class:`~colgen.problems.grandparent_parsing.tightening.Tightening`.

*Arcs pay for parts.*  The dual value ρ_gpc of a missing ``gp_arc`` row may also be positive.  Lowering π_gp(one_gp) by
Σ_c ρ_gpc preserves the reduced cost of z_gp.  It also preserves the dual objective, because the sides of ``one_gp`` are
0.  The reduced costs of the parts (k, g, p) rise by the same amount.  Let G_gp be the sum of the positive r_gpc over c.
If r_kgp + G_gp ≤ 0 for every k, no part (g, p, c) needs to be added, because Σ_c r_gpc u_gpc ≤ G_gp z_gp = G_gp Σ_k
u_kgp.

*Arcs outside the master* are columns too (:class:`Arcs`) and add their ``one_gp`` rows.  For such an arc (p, c) neither
that row nor a ``gp_arc`` row exists; they remain constraints of the pricing problem.  z_pc = 1 adds one grandparent
part, which gains at most B_pc.  It may also add each part (p, c, k) with (c, k) in the master, which gains s_pck -
π_ck(one_gp).  So

    r̄_pc = s_pc + B_pc + Σ_k max(0, s_pck - π_ck(one_gp)) - π_c(one_head) - Σ_{S: p not in S, c in S} π_S(cut) - ...

bounds the gain of z_pc = 1 with all parts that contain it (parts of two such arcs are counted with the lower one).  If
no r̄ and no part of arcs in the master is positive, the Lagrangian bound equals the restricted master's optimum, which
is then optimal for the complete program.  Since each token has one head, the r̄ in a tree sum to at most Σ_c max_p
r̄_pc.

Sibling parts are treated in the same way, with π(before), π(after) and bounds on the scores of (h, m) and (h, s).

Source: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colgen import Column, Columns, Duals, Pricing, PricingContext, PricingResult, Row
from colgen.core.budget import Budget
from colgen.core.columns import Key
from colgen.problems.grandparent_parsing.bounds import bound_at
from colgen.problems.grandparent_parsing.instance import Floats, Ints, Mask, PartScores
from colgen.problems.grandparent_parsing.standard import StandardScores

SLICE = 1000
"""Number of columns made or looked up between two checks of the clock, which takes some hundredths of a second."""


@dataclass(frozen=True, eq=False)
class TreeDuals:
    """Dual values of parts alone; the best tree at any such values bounds the relaxation.

    ``pi`` is π(one_gp) by parent and child, shape (n + 1, n + 1), with all sibling parts worth 0.  None: use the bound
    from single arcs and the parts that they close.
    """

    pi: Floats | None = None


class PartOracle(Pricing):
    """Base class of both part oracles: dual values as matrices, scores, and counts.

    ``made`` contains the parts that have become columns.  ``present`` is the mask of arcs that are or were in the
    master, so that their rows exist; it is shared by all oracles of a problem, and :class:`Arcs` adds to it.
    """

    kind: str

    def __init__(self, scores: PartScores, *, present: Mask | None = None) -> None:
        self.scores = scores
        self.present = ~np.isneginf(scores.arcs) if present is None else present
        self.tokens = len(scores)
        shape = (self.tokens + 1,) * 3
        self.known = np.full(shape, np.nan)
        self.made: set[tuple[int, ...]] = set()
        self._indices: dict[str, tuple[tuple[Hashable, ...], Ints]] = {}
        self.multiplicity = float(self.tokens if self.kind == "grandparent" else 2 * self.tokens)

    @property
    def scored(self) -> int:
        return int((~np.isnan(self.known)).sum())

    def score(self, triples: Ints) -> Floats:
        """Return scores of parts, shape (parts, 3); each part is scored once."""
        i, j, k = triples.T
        fresh = np.isnan(self.known[i, j, k])
        if fresh.any():
            asked = triples[fresh]
            find = self.scores.grandparents if self.kind == "grandparent" else self.scores.siblings
            self.known[i[fresh], j[fresh], k[fresh]] = find(asked)
        found: Floats = self.known[i, j, k]
        return found

    def store_scores(self, triples: Ints, scores: Floats) -> None:
        self.known[tuple(triples.T)] = scores

    def matrix(self, duals: Duals, block: str) -> Floats:
        """Return dual values of a block of rows indexed by arcs as a matrix; 0 where there is no row."""
        values = np.zeros((self.tokens + 1,) * 2)
        values[self._places(duals, block, 2)] = duals.array(block)
        return values

    def own_row_prices(self, duals: Duals) -> Floats:
        """Return the dual price of each part in its own ``gp_arc`` and ``arc_gp`` rows."""
        paid = np.zeros((self.tokens + 1,) * 3)
        paid[self._places(duals, "gp_arc", 3)] += duals.array("gp_arc")
        paid[self._places(duals, "arc_gp", 3)] -= duals.array("arc_gp")
        return paid

    def _places(self, duals: Duals, block: str, size: int) -> tuple[Ints, ...]:
        """Return the indices of a block's rows as ``size`` arrays of vertices."""
        members = duals.members(block)
        known = self._indices.get(block)
        if known is None or known[0] is not members:
            known = self._indices[block] = members, vertices_of(members, size)
        return tuple(known[1].T)

    def result(
        self, triples: Ints, best: float, per_token: Floats, duals: Duals, context: PricingContext
    ) -> PricingResult:
        columns = self.columns_for(triples, duals, context.budget)
        return PricingResult(columns, bound=best, total=float(per_token.sum()))

    def column(self, triple: tuple[int, ...]) -> Column:
        raise NotImplementedError

    def columns_for(self, triples: Ints, duals: Duals, budget: Budget) -> Sequence[Column]:
        """Return the columns of scored parts for the master of these dual values."""
        return self.make_columns(triples, budget)

    def make_columns(self, triples: Ints, budget: Budget | None = None) -> list[Column]:
        """Return the columns of parts, valid in any master."""
        self.score(triples)
        columns: list[Column] = []
        for start in range(0, len(triples), SLICE):
            if start and budget is not None:
                budget.require()
            columns += [self.column(triple) for triple in map(tuple, triples[start : start + SLICE].tolist())]
        return columns


class GrandparentParts(PartOracle):
    """Oracle of grandparent parts: filters arcs (p, c), then g, and scores the rest.

    Parameters
    ----------
    rows
        Whether columns add their ``gp_arc`` rows (formulation ``"all"``); False for ``"one_gp+no_gp"``.
    batches
        Whether the master adds the ``gp_arc`` rows, so that columns can be arrays; the template's master does.
    charges
        Whether arcs pay for parts outside the master (see the module's notes); needs all arcs in the master.
    most
        Maximum number of columns per arc (p, c) and round, best first.  0: all improving ones, as in Riedel et al.
        (2012), which needs fewer rounds.
    """

    kind = "grandparent"

    def __init__(
        self,
        scores: PartScores,
        *,
        rows: bool = True,
        present: Mask | None = None,
        most: int = 0,
        single_root: bool = False,
        batches: bool = False,
        charges: bool = False,
    ) -> None:
        super().__init__(scores, present=present)
        self.charges = charges
        self.rows = rows
        self.batches = batches
        self.most = most
        self.single_root = single_root

    def price(self, duals: Duals | TreeDuals, context: PricingContext) -> PricingResult:
        if isinstance(duals, TreeDuals):
            return PricingResult(total=self._tree_bound(duals))
        if self.tokens == 1:  # no grandparent part exists
            return PricingResult(bound=0.0, total=0.0)
        price = self.matrix(duals, "one_gp")
        entered = self.matrix(duals, "no_gp")
        weight = context.cost_weight
        inner = self.present.copy()
        inner[0] = False
        own = self.own_row_prices(duals)
        refunded = np.maximum(-own, 0.0).max(axis=0)  # an arc_gp row rewards its part
        child = np.where(inner, weight * self.scores.parent_child_bounds - price + refunded, -np.inf)
        parents, children = np.nonzero(child > context.tolerance)
        bound = np.minimum(
            self.scores.parent_child_bounds[parents, children], self.scores.grandparent_parent_bounds[:, parents]
        )
        bound = weight * bound - price[parents, children] - entered[:, parents] - own[:, parents, children]
        improving = bound > context.tolerance
        improving &= self.present[:, parents]
        context.budget.require()
        improving[children, np.arange(len(children))] = False
        grandparents, pairs = np.nonzero(improving)
        triples = np.stack([grandparents, parents[pairs], children[pairs]], axis=1)
        g, p, c = triples.T
        gains = weight * self.score(triples) - price[p, c] - entered[g, p] - own[g, p, c]
        context.budget.require()
        best = float(gains.max(initial=0.0))
        if self.charges:
            gains = np.where(self._paid_by_arcs(triples, gains, price, own, weight), 0.0, gains)
        per_token = np.zeros(self.tokens + 1)
        np.maximum.at(per_token, c, gains)
        chosen: Ints = np.flatnonzero(gains > context.tolerance)
        if self.most:
            chosen = _best_of_each(chosen, gains, p * (self.tokens + 1) + c, self.most)
        return self.result(triples[chosen], best, per_token, duals, context)

    def _paid_by_arcs(self, triples: Ints, gains: Floats, price: Floats, own: Floats, weight: float) -> Mask:
        """Return the improving parts (g, p, c) whose total gain, per arc (g, p), is at most the loss of that arc.

        The loss includes the best part (x, g, p), because the arc closes one such part.
        """
        improving = (gains > 0.0) & (triples[:, 0] > 0)
        wanted = np.zeros_like(price)
        np.add.at(wanted, tuple(triples[improving, :2].T), gains[improving])
        g, p = wanted.nonzero()
        scores = self.known[:, g, p]
        most = np.minimum(self.scores.parent_child_bounds[g, p], self.scores.grandparent_parent_bounds[:, g])
        most = weight * np.where(np.isnan(scores), most, scores) - own[:, g, p]
        each = np.arange(len(g))
        most[g, each] = most[p, each] = -np.inf
        pays = np.zeros(price.shape, dtype=np.bool_)
        pays[g, p] = most.max(axis=0, initial=-np.inf) + wanted[g, p] <= price[g, p]
        found: Mask = improving & pays[triples[:, 0], triples[:, 1]]
        return found

    def _tree_bound(self, duals: TreeDuals) -> float:
        """Return the bound on all trees at dual values of parts; it includes the arc scores."""
        standard = self.scores
        assert isinstance(standard, StandardScores)
        if duals.pi is None:
            return standard.bound
        return bound_at(standard, duals.pi, single_root=self.single_root)[1]

    def column(self, triple: tuple[int, ...]) -> Column:
        self.made.add(triple)
        return grandparent_column(triple, float(self.known[triple]), rows=self.rows)

    def columns_for(self, triples: Ints, duals: Duals, budget: Budget) -> Sequence[Column]:
        if not self.batches or not len(triples):
            return super().columns_for(triples, duals, budget)
        return self.batch(triples, {block: (duals.members(block), duals.rows(block)) for block in self.linked})

    @property
    def linked(self) -> tuple[str, ...]:
        """Blocks of rows that exist before parts are added."""
        return ("one_gp",) if self.rows else ("one_gp", "no_gp")

    def batch(self, triples: Ints, rows: Mapping[str, tuple[Sequence[Hashable], Ints]]) -> Columns:
        """Return columns of parts as arrays; the master must add their ``gp_arc`` rows.

        ``rows`` maps each block of :attr:`linked` to the indices of its rows and their numbers in the master.
        """
        g, p, c = triples.T
        entries = []
        for block, ends in zip(self.linked, ((p, c), (g, p)), strict=False):
            members, numbers = rows[block]
            number = np.full((self.tokens + 1,) * 2, -1)
            number[tuple(vertices_of(members, 2).T)] = numbers
            entries.append(number[ends])
        parts: list[tuple[int, ...]] = list(map(tuple, triples.tolist()))
        self.made.update(parts)
        keys: list[Key | None] = [("grandparent", part) for part in parts]
        starts = len(entries) * np.arange(len(parts) + 1)
        ones = np.ones(len(entries) * len(parts))
        return Columns(self.score(triples), starts, np.stack(entries, axis=1).ravel(), ones, keys, keys, integer=False)


def grandparent_column(triple: tuple[int, ...], score: float, *, rows: bool = True) -> Column:
    """Return the column of a part (g, p, c), with its ``gp_arc`` row if ``rows``."""
    g, p, c = triple
    key: Key = ("grandparent", triple)
    if not rows:
        linked: dict[Key, float] = {("one_gp", (p, c)): 1.0, ("no_gp", (g, p)): 1.0}
        return Column(score, linked, key, key, integer=False)
    own = gp_arc_row(key)
    return Column(score, {("one_gp", (p, c)): 1.0, own.key: 1.0}, key, key, integer=False, rows=(own,))


def vertices_of(members: Sequence[Any], size: int) -> Ints:
    """Return arcs or parts, given as tuples of ``size`` vertices, as an array; 3 times faster than ``np.array``."""
    flat = itertools.chain.from_iterable(members)
    return np.fromiter(flat, dtype=np.int64, count=size * len(members)).reshape(-1, size)


def gp_arc_row(key: Key) -> Row:
    """Return the row u_gpc ≤ z_gp of a part."""
    triple: Any = key[1]
    return Row(("gp_arc", triple), upper=0.0, coefficients={("z", triple[:2]): -1.0, key: 1.0})


def _best_of_each(chosen: Ints, gains: Floats, groups: Ints, most: int) -> Ints:
    """Return the positions with the largest gains in each group, at most ``most`` per group."""
    order = chosen[np.lexsort((-gains[chosen], groups[chosen]))]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return order[rank < most]


_AT_ONCE = 2**18
"""Approximate number of vertex triples processed in one step."""


class SiblingParts(PartOracle):
    """Oracle of sibling parts: filters arcs (h, m), then s, and scores the rest."""

    kind = "sibling"

    def price(self, duals: Duals | TreeDuals, context: PricingContext) -> PricingResult:
        if isinstance(duals, TreeDuals):
            return PricingResult(total=0.0)  # the bound from arcs includes sibling parts
        before, after = self.matrix(duals, "before"), self.matrix(duals, "after")
        first = np.zeros((self.tokens + 1, 2))
        index: Any
        for index, value in duals.items("first"):
            first[index] = value
        weight = context.cost_weight
        by_modifier = weight * self.scores.head_modifier_bounds - before
        by_sibling = weight * self.scores.head_sibling_bounds - after
        vertices = np.arange(self.tokens + 1)
        paid = np.where(vertices > vertices[:, None], first[:, 1:], first[:, :1])
        begins = np.argwhere(self.present & (by_modifier - paid > context.tolerance))
        ends = np.argwhere(self.present & (by_sibling > context.tolerance))
        candidates = [begins[:, [0, 0, 1]], ends[:, [0, 1, 0]]]
        # Bound min(a, b) - π(before) - π(after) for many heads at a time; the sibling is nearer than the modifier.
        by_modifier = np.where(self.present, by_modifier, -np.inf)
        by_sibling = np.where(self.present, by_sibling, -np.inf)
        lower = vertices[:, None] < vertices
        many = max(_AT_ONCE // (self.tokens + 1) ** 2, 1)
        for begin in range(0, self.tokens + 1, many):
            context.budget.require()
            some = slice(begin, begin + many)
            most = np.minimum(
                by_modifier[some, None, :] - after[some, :, None], by_sibling[some, :, None] - before[some, None, :]
            )
            right, left = vertices > vertices[some, None], vertices < vertices[some, None]
            between = (right[:, :, None] & lower) | (left[:, :, None] & lower.T)
            found = np.argwhere(between & (most > context.tolerance))
            found[:, 0] += begin
            candidates.append(found)
        triples: Ints = np.concatenate(candidates)
        context.budget.require()
        heads, siblings, modifiers = triples.T
        starts, ends = siblings == heads, modifiers == heads
        gains = weight * self.score(triples)
        gains = gains - np.where(ends, 0.0, before[heads, modifiers]) - np.where(starts, 0.0, after[heads, siblings])
        gains = gains - np.where(starts, first[heads, (modifiers > heads).astype(np.int64)], 0.0)
        per_token = np.zeros((2, self.tokens + 1))  # one part before each token and one after it
        np.maximum.at(per_token[0], modifiers[~ends], gains[~ends])
        np.maximum.at(per_token[1], siblings[ends], gains[ends])
        improving = gains > context.tolerance
        return self.result(triples[improving], float(gains.max(initial=0.0)), per_token, duals, context)

    def column(self, triple: tuple[int, ...]) -> Column:
        h, s, m = triple
        self.made.add(triple)
        coefficients: dict[Key, float] = {}
        rows: tuple[Row, ...] = ()
        if m != h:
            coefficients[("before", (h, m))] = 1.0
        if s != h:
            coefficients[("after", (h, s))] = 1.0
        if s == h:
            row: Key = ("first", (h, int(m > h)))
            coefficients[row] = 1.0
            rows = (Row(row, upper=1.0),)
        return Column(
            float(self.known[triple]),
            coefficients,
            ("sibling", triple),
            ("sibling", triple),
            integer=False,
            rows=rows,
        )


class Arcs(Pricing):
    """Oracle of arcs outside the master; their columns add the ``one_gp`` rows.

    ``holds(key)`` returns whether the master contains a column, because columns may be deleted.
    """

    rows = frozenset(("one_head", "one_root", "cut", "one_gp", "gp_arc"))

    def __init__(self, parts: GrandparentParts, holds: Callable[[Key], bool], *, single_root: bool = False) -> None:
        self.parts = parts
        self.holds = holds
        self.single_root = single_root
        self.multiplicity = float(parts.tokens)
        self._template = parts.present.copy()

    def begin(self) -> None:
        self._template = self.parts.present.copy()

    def price(self, duals: Duals | TreeDuals, context: PricingContext) -> PricingResult:
        if isinstance(duals, TreeDuals):
            return PricingResult(total=0.0)  # the grandparent oracle's bound includes the arc scores
        parts, scores, weight = self.parts, self.parts.scores, context.cost_weight
        arcs = ~np.isneginf(scores.arcs) & ~self._template
        for decision in context.decisions:
            for arc in getattr(decision, "arcs", ()):
                arcs[arc] = False
        deleted = []  # their rows still exist, so that the part oracle prices their parts
        for h, m in np.argwhere(arcs).tolist():
            arc = (h, m)
            if self.holds(("z", arc)):
                parts.present[arc], arcs[arc] = True, False
            elif parts.present[arc]:
                deleted.append(arc)
        absent = arcs & ~parts.present
        gains = self._own(absent, duals, context)
        gains[1:] += weight * scores.parent_child_bounds[1:]
        paid = parts.matrix(duals, "one_gp")
        inner = parts.present.copy()
        inner[0] = False
        vertices = np.arange(parts.tokens + 1)
        for p, c in np.argwhere(inner & (weight * scores.parent_child_bounds > paid)).tolist():
            most = np.minimum(scores.parent_child_bounds[p, c], scores.grandparent_parent_bounds[:, p])
            known = parts.known[:, p, c]
            gain = weight * np.where(np.isnan(known), most, known) - paid[p, c]
            gains[:, p] += np.where(vertices == c, 0.0, np.maximum(gain, 0.0))
        if deleted:
            again = context.reduced_costs([self.column(arc) for arc in deleted], duals)
            gains[tuple(np.array(deleted).T)] = again
        best = gains.max(axis=0, initial=0.0)
        columns = [self.column((h, m)) for h, m in np.argwhere(gains > context.tolerance).tolist()]
        return PricingResult(columns, bound=float(best.max()), total=float(best.sum()), together=True)

    def _own(self, absent: Mask, duals: Duals, context: PricingContext) -> Floats:
        """Return reduced costs of absent arcs without parts, -inf elsewhere."""
        gains: Floats = np.full(absent.shape, -np.inf)
        gains[absent] = context.cost_weight * self.parts.scores.arcs[absent]
        if not {block for block, _ in duals.keys} <= self.rows:  # other rows: the master computes the reduced costs
            arcs = np.argwhere(absent)
            columns = [self.column((h, m)) for h, m in arcs.tolist()]
            gains[tuple(arcs.T)] = context.reduced_costs(columns, duals)
            return gains
        index: Any
        for index, value in duals.items("one_head"):
            gains[:, index] -= value
        for _, value in duals.items("one_root"):
            gains[0, :] -= value
        for index, value in duals.items("cut"):
            inside = np.zeros(len(gains), dtype=np.bool_)
            inside[list(index)] = True
            gains[np.ix_(~inside, inside)] -= value
        return gains

    def column(self, arc: tuple[int, int]) -> Column:
        h, m = arc
        coefficients: dict[Key, float] = {("one_head", m): 1.0}
        rows: tuple[Row, ...] = ()
        if h == 0 and self.single_root:
            coefficients["one_root", None] = 1.0
        if h > 0:
            row: Key = ("one_gp", arc)
            coefficients[row] = -1.0
            rows = (Row(row, lower=0.0, upper=0.0),)
        key: Key = ("z", arc)
        return Column(float(self.parts.scores.arcs[arc]), coefficients, key, key, upper=1.0, rows=rows)
