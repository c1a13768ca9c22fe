"""Kinds of local parts as tuples of tokens with features, and the tuples of a tree."""

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
"""Templates of the classifier for candidate heads: the simplest templates of the arcs."""

ADJACENT_TEMPLATES: tuple[tuple[int, ...], ...] = (
    *((T, T, T), (C, C, C), (_0, T, T), (_0, C, C), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((_0, L, L), (_0, L, C), (_0, C, L), (T, L, L), (L, L, C), (L, C, L)),
)
"""Templates of head, modifier, adjacent sibling."""

OUTERMOST_TEMPLATES: tuple[tuple[int, ...], ...] = (
    *((T, T, T), (C, C, C), (T, _0, T), (C, _0, C), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((L, _0, L), (_0, T, L), (_0, L, T), (L, L, C), (C, L, L)),
)
"""Templates of head, modifier, the modifier's outermost modifier."""

GRAND = Grandchildren()

BACKBONES = ("first", "sibling", "grandchild", "third")
"""Local parts: arcs; plus adjacent siblings; plus outermost grandchildren (Qian and Liu), or plus all and triples."""


class PartKind(NamedTuple):
    """Features of one kind of tuples."""

    templates: tuple[tuple[int, ...], ...]  # each has a conjunction per token
    relations: int  # number of relative orders of the tokens
    weights: int = 1  # per feature


FILTER = PartKind(FILTER_TEMPLATES, ARC_RELATIONS, 1 + NUM_BINS)
ARCS = PartKind(ARC_TEMPLATES, ARC_RELATIONS, 1 + NUM_BINS)


class Tuples(NamedTuple):
    """Tuples of one kind, shape (tuples, tokens), with relations, and with bins if the kind has them."""

    columns: Ints
    relation: Ints
    bins: Ints


def kinds_of(backbone: str) -> dict[str, PartKind]:
    """Return the kinds of local parts other than arcs, by name."""
    kinds = {} if backbone == "first" else {"adjacent": PartKind(ADJACENT_TEMPLATES, ADJACENT_RELATIONS)}
    if backbone == "grandchild":
        kinds["outermost"] = PartKind(OUTERMOST_TEMPLATES, OUTERMOST_RELATIONS)
    if backbone == "third":
        kinds["all_grandchildren"] = PartKind(GRAND.templates, GRAND.relations)
    return kinds


def tree_arcs(heads: Ints) -> Tuples:
    """Return the arcs of a tree, heads of shape (N,)."""
    rows = np.stack([heads[1:], np.arange(1, len(heads))], axis=1)
    return Tuples(*arc_tuples(rows))


def tree_parts(backbone: str, heads: Ints) -> dict[str, Tuples]:
    """Return the other local parts of a tree, by kind."""
    size = len(heads)
    found: dict[str, Tuples] = {}
    if backbone != "first":
        found["adjacent"] = Tuples(*adjacent_tuples(factor_sets.tree_adjacent_siblings(heads), size))
    if backbone == "grandchild":
        found["outermost"] = Tuples(*outermost_tuples(factor_sets.tree_outermost_grandchildren(heads), size))
    if backbone == "third":
        rows = factor_sets.grandchildren(tree_mask(heads))
        relation = GRAND.relation(rows)
        found["all_grandchildren"] = Tuples(rows, relation, relation)
    return found


def tree_mask(heads: Ints) -> NDArray[np.bool_]:
    """Return a mask of the arcs of a tree, shape (N, N)."""
    size = len(heads)
    allowed = np.zeros((size, size), dtype=np.bool_)
    allowed[heads[1:], np.arange(1, size)] = True
    return allowed
