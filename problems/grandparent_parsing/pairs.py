"""Arbitrary siblings: scores of any two modifiers of one head, adjacent or not, on either side.

With w_hsm = 1 if (h, s) and (h, m) are in the tree, s < m, the program of :mod:`colgen.problems.grandparent_parsing`
gets + Σ s_hsm w_hsm and

    w_hsm ≤ z_hs,   w_hsm ≤ z_hm        for each pair of positive score       [pair_arc, ≥ 0]
    z_hs + z_hm - w_hsm ≤ 1             for each pair of negative score       [pair_both, ≥ 0]

The other rows of a pair never bind, because the objective pushes w to the limit that these rows allow.

*Pricing.*  A column of a positive pair adds its two rows.  Before that their dual values are 0, so that its reduced
cost is its score.  Rows ``pair_both`` are separated.  A column of a negative pair improves only once its row exists;
its reduced cost is s_hsm + π_hsm(pair_both).

*Bound on missing pairs.*  In a tree w_hsm ≤ z_hm, and Σ_h z_hm = 1.  With reduced costs r,

    Σ_hsm r_hsm w_hsm ≤ Σ_m Σ_h z_hm Σ_s max(0, r_hsm) ≤ Σ_m max_h Σ_s max(0, r_hsm).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colgen import (
    Column,
    Duals,
    InputError,
    Pricing,
    PricingContext,
    PricingResult,
    Row,
    Separation,
    SeparationContext,
    Solution,
)
from colgen.core.columns import Key
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.tolerances import TOLERANCES
from colgen.problems.dependency.sentence import Heads, is_projective
from colgen.problems.grandparent_parsing.instance import Floats, GrandparentInstance, pair_objective, pairs_of
from colgen.problems.grandparent_parsing.separation import Crossing, arc_values
from colgen.problems.grandparent_parsing.standard import StandardScores, standard_scores
from colgen.problems.grandparent_parsing.template import GrandparentParsing
from colgen.problems.grandparent_parsing.tree_list import first_order
from colgen.solvers.scaling import power_of_two

_TOLERANCE = TOLERANCES.feasibility


class PairParsing(GrandparentParsing):
    """Second-order parsing with arbitrary sibling pairs, projective or not; the answer is the head of each token.

    Parameters
    ----------
    instance
        All scores.  Arc scores may be -inf; part scores must be finite.
    pair_scores
        Scores by head h and two of its modifiers s < m, shape (n + 1, n + 1, n + 1); other entries are ignored.  By
        default those of the instance.
    projective
        Whether the tree must be projective, enforced by separated rows
        (:class:`~colgen.problems.grandparent_parsing.separation.Crossing`); by default taken from the instance.
    options
        Options of :class:`~colgen.problems.grandparent_parsing.GrandparentParsing`.
    """

    takes_pairs = True

    def __init__(
        self,
        instance: GrandparentInstance,
        pair_scores: ArrayLike | None = None,
        *,
        projective: bool | None = None,
        **options: Any,
    ) -> None:
        if pair_scores is not None:
            instance = instance.with_pairs(pair_scores)
        super().__init__(instance, **options)
        self.projective = instance.projective if projective is None else projective
        if self.projective and self.start != "tree":
            raise InputError(f"projective trees need start='tree', not start={self.start!r}")
        if instance.pair_scores is None:
            raise InputError("expected pair_scores, or an instance with pair_scores")
        self.pairs: Floats = instance.pair_scores

    @cached_property
    def standard(self) -> StandardScores:
        """The standard scores without raising any, because pairs may outweigh a part that is otherwise too low."""
        found = standard_scores(self.scores, single_root=self.single_root)
        arcs = self.scores.arcs - found.shifts
        largest = max(float(np.abs(arcs).max(initial=0.0, where=np.isfinite(arcs))), float(np.abs(self.pairs).max()))
        unit = max(found.unit, power_of_two(largest)) if largest else found.unit
        return replace(found, arcs=arcs, floor=-np.inf, known=None, unit=unit)

    def pricing(self) -> Sequence[Pricing]:
        return (*super().pricing(), SiblingPairs(self.pairs))

    def separation(self) -> Sequence[Separation]:
        crossing = [Crossing(self.tokens)] if self.projective else []
        return [*super().separation(), *crossing, PairRows(self.pairs)]

    def _first_tree(self) -> Heads | None:
        if not self.projective:
            return super()._first_tree()
        found = first_order(self.standard.arcs, 1, True, self.single_root)
        return found[0] if found else None

    def solution(self, heads: Heads) -> Solution:
        found = super().solution(heads)
        pairs = map(tuple, pairs_of(self.pairs, heads).tolist())
        columns = tuple((pair_column(pair, self.pairs), 1.0) for pair in pairs)
        objective = found.objective + pair_objective(self.pairs, heads)
        return replace(found, objective=objective, columns=(*found.columns, *columns))

    def standard_score(self, heads: Heads) -> float:
        return super().standard_score(heads) + pair_objective(self.pairs, heads)

    def check(self, heads: Heads) -> float:
        if self.projective and not is_projective(heads):
            raise InfeasibleAnswerError("the tree is not projective")
        return super().check(heads) + pair_objective(self.pairs, heads)


class SiblingPairs(Pricing):
    """Oracle of pairs with positive reduced cost; ``scores`` are 0 where there is no pair."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores
        tokens = len(scores) - 1
        self.multiplicity = float(max(tokens * (tokens - 1) // 2, 1))

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        gains = context.cost_weight * self.scores
        index: Any
        for index, value in duals.items("pair_arc"):
            gains[index[0]] -= value
        for index, value in duals.items("pair_both"):
            gains[index] += value
        gains = np.maximum(gains, 0.0)
        total = float(gains.sum(axis=1).max(axis=0).sum())
        improving = map(tuple, np.argwhere(gains > context.tolerance).tolist())
        columns = [pair_column(triple, self.scores) for triple in improving]
        return PricingResult(columns, bound=float(gains.max()), total=total)


class PairRows(Separation):
    """Separation of z_hs + z_hm - w_hsm ≤ 1 for pairs of negative score; the rows cover future columns too."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        z = arc_values(solution, len(self.scores) - 1)
        values = {column.key: value for column, value in solution.columns}
        both = z[:, :, None] + z[:, None, :]
        rows = []
        for triple in map(tuple, np.argwhere((both > 1.0 + _TOLERANCE) & (self.scores < 0.0)).tolist()):
            if both[triple] - values.get(("pair", triple), 0.0) > 1.0 + _TOLERANCE:
                h, s, m = triple
                entries: dict[Key, float] = {("z", (h, s)): 1.0, ("z", (h, m)): 1.0, ("pair", triple): -1.0}
                rows.append(Row(("pair_both", triple), upper=1.0, coefficients=entries))
        return rows


def pair_column(triple: tuple[int, ...], scores: Floats) -> Column:
    """Return the column of a pair (h, s, m), with its ``pair_arc`` rows if its score is positive."""
    key: Key = ("pair", triple)
    score = float(scores[triple])
    if score < 0.0:
        return Column(score, {}, key, key, integer=False)
    h = triple[0]
    rows = tuple(
        Row(("pair_arc", (triple, end)), upper=0.0, coefficients={("z", (h, end)): -1.0, key: 1.0})
        for end in triple[1:]
    )
    return Column(score, {row.key: 1.0 for row in rows}, key, key, integer=False, rows=rows)
