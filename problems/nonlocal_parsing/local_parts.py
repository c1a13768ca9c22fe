"""Local parts as tuples of tokens that have features: which kinds there are, and what a tree has of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.vocabulary import ARC_TEMPLATES, FT, LC, C, F, L, T, _0
from colgen.problems.nonlocal_parsing.families import Grandchildren
from colgen.problems.nonlocal_parsing.kernels import factor_sets
from colgen.problems.nonlocal_parsing.kernels.part_tuples import (
    ADJACENT_RELATIONS,
    ARC_RELATIONS,
    NUM_BINS,
    OUTERMOST_RELATIONS,
    adjacent_tuples,
    arc_tuples,
    outermost_tuples,
)

Ints = NDArray[np.int64]

FILTER_TEMPLATES: tuple[tuple[int, int], ...] = tuple(
    template for template in ARC_TEMPLATES if set(template) <= {_0, T, C, F, LC, FT}
)
"""Of the classifier that picks candidate heads: the plainest templates of the arcs."""

ADJACENT_TEMPLATES: tuple[tuple[int, ...], ...] = (
    *((T, T, T), (C, C, C), (_0, T, T), (_0, C, C), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((_0, L, L), (_0, L, C), (_0, C, L), (T, L, L), (L, L, C), (L, C, L)),
)
"""Head, modifier, adjacent sibling."""

OUTERMOST_TEMPLATES: tuple[tuple[int, ...], ...] = (
    *((T, T, T), (C, C, C), (T, _0, T), (C, _0, C), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((L, _0, L), (_0, T, L), (_0, L, T), (L, L, C), (C, L, L)),
)
"""Head, modifier, the modifier's outermost modifier."""

GRAND = Grandchildren()

BACKBONES = ("first", "sibling", "grandchild", "third")
"""First order; adjacent siblings; outermost grandchildren besides (the source's); all grandchildren and triples."""


class PartKind(NamedTuple):
    """Features of one kind of tuples.

    Attributes
    ----------
    templates
        Each names a conjunction for each token.
    relations
        How many ways there are in which the tokens lie to one another.
    weights
        Weights a feature.
    """

    templates: tuple[tuple[int, ...], ...]
    relations: int
    weights: int = 1


FILTER = PartKind(FILTER_TEMPLATES, ARC_RELATIONS, 1 + NUM_BINS)
ARCS = PartKind(ARC_TEMPLATES, ARC_RELATIONS, 1 + NUM_BINS)


class Tuples(NamedTuple):
    """Tuples of one kind: columns of the codes, shape (tuples, tokens), relations, and bins where the kind has some."""

    columns: Ints
    relation: Ints
    bins: Ints


def kinds_of(backbone: str) -> dict[str, PartKind]:
    """The kinds of local parts besides arcs, by name."""
    kinds = {} if backbone == "first" else {"adjacent": PartKind(ADJACENT_TEMPLATES, ADJACENT_RELATIONS)}
    if backbone == "grandchild":
        kinds["outermost"] = PartKind(OUTERMOST_TEMPLATES, OUTERMOST_RELATIONS)
    if backbone == "third":
        kinds["all_grandchildren"] = PartKind(GRAND.templates, GRAND.relations)
    return kinds


def tree_arcs(heads: Ints) -> Tuples:
    """The arcs of a tree, heads of shape (N,)."""
    rows = np.stack([heads[1:], np.arange(1, len(heads))], axis=1)
    return Tuples(*arc_tuples(rows))


def tree_parts(backbone: str, heads: Ints) -> dict[str, Tuples]:
    """The other local parts of a tree, by kind."""
    size = len(heads)
    found: dict[str, Tuples] = {}
    if backbone != "first":
        found["adjacent"] = Tuples(*adjacent_tuples(factor_sets.tree_adjacent_siblings(heads), size))
    if backbone == "grandchild":
        found["outermost"] = Tuples(*outermost_tuples(factor_sets.tree_outermost_grandchildren(heads), size))
    if backbone == "third":
        rows = factor_sets.grandchildren(allowed_by(heads))
        relation = GRAND.relation(rows)
        found["all_grandchildren"] = Tuples(rows, relation, relation)
    return found


def allowed_by(heads: Ints) -> NDArray[np.bool_]:
    """The arcs of a tree as the only ones allowed, shape (N, N)."""
    size = len(heads)
    allowed = np.zeros((size, size), dtype=np.bool_)
    allowed[heads[1:], np.arange(1, size)] = True
    return allowed
