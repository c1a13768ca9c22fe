"""A sentence's parts and their bounds, in the layout that kernels use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colgen import Decision
from colgen.problems.dependency.decisions import restrict
from colgen.problems.dependency.features.score_bounds import score_ends
from colgen.problems.dependency.scorer import SentenceScorer
from colgen.problems.dependency.sentence import Heads
from colgen.problems.grandparent_parsing.instance import Floats, GrandparentInstance, PartScores, tree_objective
from colgen.problems.grandparent_parsing.kernels import tree_parts
from colgen.problems.grandparent_parsing.kernels.arc_prices import Bounds
from colgen.problems.grandparent_parsing.standard import StandardScores

_ALL = 160
"""Up to this many vertices all parts are scored at once; beyond, on request."""


@dataclass(frozen=True, eq=False)
class Work:
    """Scores, parts and bounds of a sentence, filled as they are computed."""

    standard: StandardScores
    parts: tree_parts.TreeParts
    bounds: Bounds

    @property
    def arcs(self) -> Floats:
        return self.standard.arcs

    def standard_score(self, heads: Heads, score: float) -> float:
        """Return a tree's standard score without raised parts; ``score``: its score in the kernels."""
        standard = self.standard
        if standard.floor == -math.inf:
            return score
        return tree_objective(standard.as_given, heads)

    def usable(self, decisions: Sequence[Decision]) -> Floats:
        """Return the arc scores with arcs excluded by decisions at -inf."""
        if not decisions:
            return self.arcs
        allowed = restrict(self.arcs > -math.inf, decisions)
        return np.where(allowed, self.arcs, -math.inf)


def is_plain(scores: PartScores) -> bool:
    """Return whether scores come from a model's tables, without overrides in a subclass."""
    kind = type(scores)
    return (
        isinstance(scores, SentenceScorer)
        and kind.grandparents is SentenceScorer.grandparents
        and kind.siblings is SentenceScorer.siblings
    )


def lay_out_parts(standard: StandardScores) -> tuple[tree_parts.TreeParts, Bounds]:
    """Return the parts, and upper bounds on the parts that an arc closes."""
    scores = standard.given
    size = len(scores) + 1
    grandparents, siblings, last = np.zeros((3, size, size))
    refined = np.zeros((size, size), dtype=np.bool_)
    if isinstance(scores, SentenceScorer) and size <= _ALL:
        parts, grandparents, siblings, last = tree_parts.all_parts(scores.encoded.codes, *scores.weights.lists)
        refined[:] = True
    elif isinstance(scores, SentenceScorer):
        weights, codes = scores.weights, scores.encoded.codes
        if "grandparents" in weights.parts:
            grandparents = scores.parent_child_bounds.copy()
        if "siblings" in weights.parts:
            siblings = scores.head_modifier_bounds.copy()
            ends = score_ends(codes, weights.bounds["head_modifier"])
            last = np.where(np.tri(size, k=-1, dtype=np.bool_), ends[:, :1], ends[:, 1:])
        pairs = weights.bounds["parent_child"], weights.bounds["head_modifier"]
        parts = tree_parts.lazy_parts(codes, weights.grandparents, weights.siblings, *pairs, grandparents)
    else:
        assert isinstance(scores, GrandparentInstance)
        tables = [
            None if table is None else standard.raise_to_floor(table)
            for table in (scores.grandparent_scores, scores.sibling_scores)
        ]
        parts = tree_parts.given_parts(size, tables[0], tables[1])
        grandparents, siblings = standard.parent_child_bounds.copy(), standard.head_modifier_bounds.copy()
        if tables[1] is not None:
            vertices = np.arange(size)
            last = np.ascontiguousarray(tables[1][vertices, :, vertices])
    grandparents[0] = 0.0  # modifiers of the root have no grandparent
    return parts, Bounds(grandparents, siblings, last, refined)
