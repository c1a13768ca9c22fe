r"""Oracles for parts: upper bounds on their scores decide which of them are scored at all.

A grandparent part (g, p, c) has the reduced cost

    r_gpc = s_gpc - π_pc(one_gp) - π_gp(no_gp),

where the last dual value is absent in the formulation without those rows.  The ``gp_arc`` row of a part that is not in
the master is not there either, and its dual value may be taken as 0: the dual constraint of the part says r_gpc ≤ 0,
the row's own column, a slack, prices out at 0, and that of z_gp, which the row would only relax, holds as it is.  If
all parts price out, the dual solution of the restricted master, filled up with zeros, is one of the complete program.

*Filtering* (the source's section 4.3.1).  s_gpc is at most B_pc, its maximum over grandparents, and at most B'_gp, that
over children, both known offline.  π(no_gp) ≥ 0.  So arcs (p, c) with B_pc ≤ π_pc(one_gp) have no part of positive
reduced cost; of the others, only g with min(B_pc, B'_gp) > π_pc(one_gp) + π_gp(no_gp) are scored; only parts whose
exact reduced cost is *positive* become columns.  (Equation 10 of the source removes those, by a slip of the sign.)

*Tightening* (4.3.3).  Where the reduced cost r_pc of an arc is negative, π_pc(one_gp) may be raised by -r_pc: the row's
right-hand side is 0, and z_pc stays dual feasible.  Any dual value of a Lagrangian bound may be chosen so.

Sibling parts go the same way, with π(before), π(after) and the bounds on what (h, m) and (h, s) can score.

Source: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colgen import Column, Duals, Pricing, PricingContext, PricingResult, Row
from colgen.columns import Key
from problems.grandparent_parsing.instance import Floats, Ints, PartScores


class Parts(Pricing):
    """What both oracles share: dual values as matrices, and the reduced costs of arcs.

    Parameters
    ----------
    scores
        Where scores and bounds come from.
    tighten
        Which share of an arc's reduced cost goes into raising dual values, as the source's section 4.3.3 does; the
        shares of all oracles sum to 1 at most, 0 leaves the dual values alone.

    Attributes
    ----------
    made
        Parts that have become columns.
    """

    kind: str

    def __init__(self, scores: PartScores, *, tighten: float = 1.0) -> None:
        self.scores = scores
        self.tighten = tighten
        self.tokens = len(scores)
        shape = (self.tokens + 1,) * 3
        self.known = np.full(shape, np.nan)
        self.made: set[tuple[int, ...]] = set()
        self.multiplicity = float(self.tokens if self.kind == "grandparent" else 2 * self.tokens)

    @property
    def scored(self) -> int:
        """How many parts have been scored."""
        return int((~np.isnan(self.known)).sum())

    def score(self, triples: Ints) -> Floats:
        """Scores of parts, shape (parts, 3), those asked for before looked up."""
        i, j, k = triples.T
        fresh = np.isnan(self.known[i, j, k])
        if fresh.any():
            asked = triples[fresh]
            find = self.scores.grandparents if self.kind == "grandparent" else self.scores.siblings
            self.known[i[fresh], j[fresh], k[fresh]] = find(asked)
        found: Floats = self.known[i, j, k]
        return found

    def matrix(self, duals: Duals, block: str) -> Floats:
        """Dual values of a block of rows indexed by arcs, as a matrix; 0 where there is no row."""
        values = np.zeros((self.tokens + 1,) * 2)
        index: Any
        for index, value in duals.items(block):
            values[index] = value
        return values

    def own_rows(self, duals: Duals) -> Floats:
        """What parts pay in rows of their own, which those in the master have."""
        paid = np.zeros((self.tokens + 1,) * 3)
        index: Any
        for index, value in duals.items("gp_arc"):
            paid[index] += value
        for index, value in duals.items("arc_gp"):
            paid[index] -= value
        return paid

    def arc_reduced_costs(self, duals: Duals, context: PricingContext) -> Floats:
        """Reduced costs of the arcs' variables; -inf where there is no arc."""
        costs: Floats = context.cost_weight * np.where(np.isneginf(self.scores.arcs), 0.0, self.scores.arcs)
        index: Any
        for index, value in duals.items("one_head"):
            costs[:, index] -= value
        for _, value in duals.items("one_root"):
            costs[0, :] -= value
        costs += self.tokens * self.matrix(duals, "no_flow")
        costs += self.matrix(duals, "one_gp") + self.tokens * self.matrix(duals, "no_gp")
        costs += self.matrix(duals, "before") + self.matrix(duals, "after")
        for index, value in duals.items("gp_arc"):
            costs[index[:2]] += value
        for index, value in duals.items("arc_gp"):
            costs[index[:2]] -= value
            costs[index[1:]] -= value
        for index, value in duals.items("cut"):
            inside = np.zeros(self.tokens + 1, dtype=np.bool_)
            inside[list(index)] = True
            costs[np.ix_(~inside, inside)] -= value
        costs[np.isneginf(self.scores.arcs)] = -np.inf
        return costs

    def spare(self, duals: Duals, context: PricingContext) -> Floats:
        """How far dual values may be raised for each arc: what its reduced cost is below 0, and 0 where z must be 1.

        There z is not 0, and neither is its reduced cost's part in the bound.  Smoothed dual values are left alone as
        well: columns of the master may improve at them, and raising would hide that.
        """
        if not self.tighten or context.provisional:
            return np.zeros((self.tokens + 1,) * 2)
        costs = self.arc_reduced_costs(duals, context)
        spare = np.where(np.isneginf(costs), 0.0, -self.tighten * np.minimum(costs, 0.0))
        index: Any
        for decision in context.decisions:
            for (block, index), (lower, _) in decision.bounds().items():
                if block == "z" and lower > 0.0:
                    spare[index] = 0.0
        return spare

    def result(
        self, triples: Ints, gains: Floats, per_token: Floats, duals: Duals, context: PricingContext
    ) -> PricingResult:
        """Columns of the parts that gain at the raised dual values, and what is proved of the others.

        The total is one at the raised dual values, where z has no positive reduced cost either and the rows' right-hand
        sides are the same, so that the Lagrangian bound is.  At the master's own dual values the parts returned have
        larger reduced costs; parts that are not returned may have positive ones there, which proves nothing against
        the master's optimum.
        """
        columns = [self.column(triple) for triple in map(tuple, triples.tolist())]
        own = context.reduced_costs(columns, duals)
        best = max(float(gains.max(initial=0.0)), max((float(cost) for cost in own), default=0.0))
        return PricingResult(columns, bound=best, total=float(per_token.sum()))

    def column(self, triple: tuple[int, ...]) -> Column:
        """The column of a part."""
        raise NotImplementedError

    def take(self, triples: Ints) -> list[Column]:
        """Columns of parts to start from."""
        self.score(triples)
        return [self.column(triple) for triple in map(tuple, triples.tolist())]


class GrandparentParts(Parts):
    """Grandparent parts of positive reduced cost: filter arcs (p, c), then g, and only then score.

    Parameters
    ----------
    rows
        Columns bring their ``gp_arc`` rows (formulation ``"all"``); False for ``"one_gp+no_gp"``.
    most
        So many columns of an arc (p, c) a round, the best; 0: all that improve, as the source does, in fewer rounds.
    """

    kind = "grandparent"

    def __init__(self, scores: PartScores, *, rows: bool = True, tighten: float = 1.0, most: int = 0) -> None:
        super().__init__(scores, tighten=tighten)
        self.rows = rows
        self.most = most
        arcs = ~np.isneginf(scores.arcs)
        self._inner = arcs.copy()
        self._inner[0] = False
        self._arcs = arcs

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        price = self.matrix(duals, "one_gp")
        entered = self.matrix(duals, "no_gp")
        price += np.where(self._inner, self.spare(duals, context), 0.0)
        weight = context.cost_weight
        child = np.where(self._inner, weight * self.scores.parent_child_bounds - price, -np.inf)
        parents, children = np.nonzero(child > context.tolerance)
        bound = np.minimum(
            self.scores.parent_child_bounds[parents, children], self.scores.grandparent_parent_bounds[:, parents]
        )
        improving = weight * bound - price[parents, children] - entered[:, parents] > context.tolerance
        improving &= self._arcs[:, parents]
        improving[children, np.arange(len(children))] = False
        grandparents, pairs = np.nonzero(improving)
        triples = np.stack([grandparents, parents[pairs], children[pairs]], axis=1)
        g, p, c = triples.T
        gains = weight * self.score(triples) - price[p, c] - entered[g, p]
        gains -= self.own_rows(duals)[g, p, c]
        per_token = np.zeros(self.tokens + 1)
        np.maximum.at(per_token, c, gains)
        chosen: Ints = np.flatnonzero(gains > context.tolerance)
        if self.most:
            chosen = _best_of_each(chosen, gains, p * (self.tokens + 1) + c, self.most)
        return self.result(triples[chosen], gains[chosen], per_token, duals, context)

    def column(self, triple: tuple[int, ...]) -> Column:
        g, p, c = triple
        self.made.add(triple)
        key: Key = ("grandparent", triple)
        coefficients: dict[Key, float] = {("one_gp", (p, c)): 1.0}
        rows: tuple[Row, ...] = ()
        if self.rows:
            row: Key = ("gp_arc", triple)
            coefficients[row] = 1.0
            rows = (Row(row, upper=0.0, coefficients={("z", (g, p)): -1.0}),)
        else:
            coefficients[("no_gp", (g, p))] = 1.0
        return Column(float(self.known[triple]), coefficients, ("grandparent", triple), key, integer=False, rows=rows)


def _best_of_each(chosen: Ints, gains: Floats, groups: Ints, most: int) -> Ints:
    """Of positions, those of the largest gains of each group, no more than ``most`` of one."""
    order = chosen[np.lexsort((-gains[chosen], groups[chosen]))]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return order[rank < most]


class SiblingParts(Parts):
    """Sibling parts of positive reduced cost: filter arcs (h, m), then s, and only then score."""

    kind = "sibling"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        before, after = self.matrix(duals, "before"), self.matrix(duals, "after")
        spare = 0.5 * self.spare(duals, context)  # for either row
        before, after = before + spare, after + spare
        first = np.zeros((self.tokens + 1, 2))
        index: Any
        for index, value in duals.items("first"):
            first[index] = value
        weight = context.cost_weight
        candidates: list[tuple[int, int, int]] = []
        arcs = ~np.isneginf(self.scores.arcs)
        by_modifier = weight * self.scores.head_modifier_bounds
        by_sibling = weight * self.scores.head_sibling_bounds
        for h in range(self.tokens + 1):
            for side, inner in ((0, range(h - 1, 0, -1)), (1, range(h + 1, self.tokens + 1))):
                order = [m for m in inner if arcs[h, m]]
                for k, m in enumerate(order):
                    if by_sibling[h, m] - after[h, m] > context.tolerance:
                        candidates.append((h, m, h))
                    if by_modifier[h, m] - before[h, m] - first[h, side] > context.tolerance:
                        candidates.append((h, h, m))
                    if k:
                        s = np.array(order[:k])
                        bound = np.minimum(by_modifier[h, m], by_sibling[h, s]) - before[h, m] - after[h, s]
                        candidates += [(h, int(t), m) for t in s[bound > context.tolerance]]
        triples = np.array(candidates, dtype=np.int64).reshape(-1, 3)
        heads, siblings, modifiers = triples.T
        starts, ends = siblings == heads, modifiers == heads
        gains = weight * self.score(triples)
        gains = gains - np.where(ends, 0.0, before[heads, modifiers]) - np.where(starts, 0.0, after[heads, siblings])
        gains = gains - np.where(starts, first[heads, (modifiers > heads).astype(np.int64)], 0.0)
        per_token = np.zeros((2, self.tokens + 1))  # each token has one part before it and one after it
        np.maximum.at(per_token[0], modifiers[~ends], gains[~ends])
        np.maximum.at(per_token[1], siblings[ends], gains[ends])
        improving = gains > context.tolerance
        return self.result(triples[improving], gains[improving], per_token, duals, context)

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
