"""Bounds on all trees at dual values of grandparent parts, from the scores alone."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.grandparent_parsing.instance import Floats, Ints, PartScores
from colgen.problems.grandparent_parsing.kernels.dual_bound import lazy_bound
from colgen.problems.grandparent_parsing.kernels.dual_state import Source
from colgen.problems.grandparent_parsing.kernels.token_bounds import token_bounds
from colgen.problems.grandparent_parsing.standard import StandardScores
from colgen.solvers.trees.arborescence import solve_arborescence

_NO_CODES = np.zeros((1, 1), dtype=np.int32)


def _source(weights: Weights) -> Source:
    """Of a model, without a sentence: computed once and kept with it, as its bounds are."""
    kept = vars(weights)
    if "grandparent_source" not in kept:
        bounds = weights.bounds
        pairs = bounds["parent_child"], bounds["grandparent_parent"]
        kept["grandparent_source"] = Source(_NO_CODES, weights.grandparents, *pairs, *map(token_bounds, pairs))
    found: Source = kept["grandparent_source"]
    return found


def bound_at(scores: StandardScores, pi: Floats, *, single_root: bool = False) -> tuple[Ints, float, int]:
    """What dual values of grandparent parts prove (:mod:`colgen.problems.grandparent_parsing.kernels.dual_bound`).

    Parameters
    ----------
    pi
        π by parent and child, any numbers, shape (n + 1, n + 1).

    Returns
    -------
    tuple[Ints, float, int]
        The tree that attains D(π), heads of all vertices; D(π), -inf if there is no tree; parts scored for it.
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
    """Whether grandparent parts are those of a trained model's tables, which kernels look up."""
    return isinstance(scores, SentenceScorer) and type(scores).grandparents is SentenceScorer.grandparents


def source_of(scores: SentenceScorer) -> Source:
    """Where kernels look up what a sentence's parts score."""
    return _source(scores.weights)._replace(codes=scores.encoded.codes)
