"""Bounds on all trees at dual values of grandparent parts, computed from the scores alone."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from colgen.problems.dependency.scorer import SentenceScorer
from colgen.problems.grandparent_parsing.instance import Floats, Ints, PartScores
from colgen.problems.grandparent_parsing.kernels.dual_bound import lazy_bound
from colgen.problems.grandparent_parsing.kernels.dual_state import Source
from colgen.problems.grandparent_parsing.kernels.token_bounds import token_bounds
from colgen.problems.grandparent_parsing.standard import StandardScores
from colgen.solvers.trees.arborescence import solve_arborescence


def bound_at(scores: StandardScores, pi: Floats, *, single_root: bool = False) -> tuple[Ints, float, int]:
    """Return the bound at given dual values (:mod:`colgen.problems.grandparent_parsing.kernels.dual_bound`).

    ``pi`` holds π by parent and child, shape (n + 1, n + 1); any values are valid.

    Returns
    -------
    tuple[Ints, float, int]
        Heads of all vertices in the tree that attains D(π); D(π), or -inf if there is no tree; number of parts scored.
    """
    given = scores.given
    if is_plain(given):
        found: tuple[Ints, float, int] = lazy_bound(scores.arcs, source_of(given), pi, single_root)
        return found
    arcs, most = scores.arcs, scores.parent_child_bounds
    present = ~np.isneginf(arcs)
    inner = present & (most > pi)
    inner[0] = False
    parents, children = np.nonzero(inner)
    improving = (
        np.minimum(most[parents, children], scores.grandparent_parent_bounds[:, parents]) > pi[parents, children]
    )
    improving &= present[:, parents]
    improving[children, np.arange(len(children))] = False
    grandparents, pairs = np.nonzero(improving)
    p, c = parents[pairs], children[pairs]
    gains = scores.grandparents(np.stack([grandparents, p, c], axis=1)) - pi[p, c]
    weights = arcs.copy()
    weights[1:] += pi[1:]
    np.add.at(weights, (grandparents, p), np.maximum(gains, 0.0))
    heads, value, _, _ = solve_arborescence(weights, single_root)
    return heads, float(value), len(gains)


def is_plain(scores: PartScores) -> TypeGuard[SentenceScorer]:
    """Return whether grandparent scores come from a trained model's tables, which kernels can read."""
    return isinstance(scores, SentenceScorer) and type(scores).grandparents is SentenceScorer.grandparents


def source_of(scores: SentenceScorer) -> Source:
    """Return the part source of a sentence for kernels; the model's part of it is cached with the model."""
    weights, codes = scores.weights, scores.encoded.codes
    cache = vars(weights)
    if "grandparent_source" not in cache:
        pairs = weights.bounds["parent_child"], weights.bounds["grandparent_parent"]
        cache["grandparent_source"] = pairs, tuple(map(token_bounds, pairs))
    pairs, tokens = cache["grandparent_source"]
    return Source(codes, weights.grandparents, *pairs, *tokens)
