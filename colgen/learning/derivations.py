"""Oracles of segmentations, constituency trees, alignments, bipartite matchings and monotone chains (CTC).

Each structure is one derivation of a hypergraph, see :mod:`colgen.solvers.derivations`.  So one recursion gives the
best structure, the k best, log-partition functions, marginals, entropies and samples:

    found = marginals(Segmentations(), segments, transitions)
    found.log_partition, found.means, found.entropy, found.sample(generator)
    best_structure(Segmentations(), (segments, transitions))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError
from colgen.learning.oracles import (
    Chains,
    ProjectiveTrees,
    Structure,
    at_each_position,
    check_labels,
    check_shapes,
    check_tree_shapes,
    first_places,
    scores_for,
    structure_from,
)
from colgen.solvers.arrays import ArrayError, as_integers
from colgen.solvers.derivations.graphs import (
    alignments,
    constituents,
    labellings,
    matchings,
    monotone_chains,
    projective_trees,
    segmentations,
)
from colgen.solvers.derivations.hypergraph import (
    DerivationSums,
    Hypergraph,
    best_derivation,
    derivation_sums,
    k_best_derivations,
)
from colgen.solvers.flows.matchings import best_matching, k_best_matchings

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


class DerivedStructures:
    """Base class of oracles whose structures are the derivations of a hypergraph."""

    axes: ClassVar[tuple[int, ...]]
    """The number of axes of each array of scores of one instance."""

    def graph(self, *scores: Floats) -> Hypergraph:
        """Return the hypergraph whose places are those of the arrays of scores, flattened and in sequence."""
        raise NotImplementedError

    def check(self, *arrays: Floats) -> None:
        """Raise an InputError for scores of wrong shapes."""
        raise NotImplementedError

    def best(self, *scores: Floats) -> tuple[Ints, ...] | None:
        """Return a structure of largest score, None if all are forbidden."""
        value, places = _refused(best_derivation, self.graph(*scores), joined(scores))
        return None if value == -np.inf else separated(places, scores)

    def k_best(self, k: int, *scores: Floats) -> list[tuple[Ints, ...]]:
        """Return the k structures of largest score, best first, or all that are allowed if there are fewer."""
        _, found = _refused(k_best_derivations, self.graph(*scores), joined(scores), k)
        return [separated(places, scores) for places in found]

    def sums(self, *scores: Floats) -> DerivationSums:
        """Return sums over all structures for each instance of arrays whose first axis is the instance."""
        graph = self.graph(*(theta[0] for theta in scores))
        found: DerivationSums = _refused(derivation_sums, graph, joined_rows(scores))
        return found

    def crop(self, length: int, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Return the arrays of an instance's first tokens."""
        return arrays[0][:length], *arrays[1:]


def joined(scores: Sequence[Floats]) -> Floats:
    """Return arrays of scores as one array, flattened and in sequence."""
    return np.concatenate([theta.ravel() for theta in scores])


def joined_rows(scores: Sequence[Floats]) -> Floats:
    """Return the joined scores of each instance, shape (instances, parts)."""
    flat = [theta.reshape(len(theta), -1) for theta in scores]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)


def in_shapes(flat: Floats, scores: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return an array over the last axis of joined scores as one array in the shape of each; other axes are kept."""
    ends = np.cumsum([theta.size for theta in scores])[:-1]
    parts = np.split(flat, ends, axis=-1)
    return tuple(p.reshape(*flat.shape[:-1], *theta.shape) for p, theta in zip(parts, scores, strict=True))


def separated(places: Ints, scores: Sequence[Floats]) -> tuple[Ints, ...]:
    """Return places in joined scores as places in each array."""
    ends = np.cumsum([theta.size for theta in scores])
    return tuple(
        places[(places >= end - theta.size) & (places < end)] - (end - theta.size)
        for theta, end in zip(scores, ends.tolist(), strict=True)
    )


def _refused(function: Any, *arguments: Any) -> Any:
    """Call a solver and raise its ArrayError as an InputError."""
    try:
        return function(*arguments)
    except ArrayError as error:
        raise InputError(str(error)) from None


def _integers(given: ArrayLike, name: str, columns: int) -> Ints:
    found: Ints = _refused(lambda: as_integers(np.asarray(given).reshape(-1, columns), name, low=0))
    return found


class _Labellings(DerivedStructures):
    """Labellings of a chain, as derivations."""

    axes = (2, 2)

    def graph(self, *scores: Floats) -> Hypergraph:
        tokens, labels = scores[0].shape
        return labellings(tokens, labels, scores[1].ndim == 3)

    def check(self, *arrays: Floats) -> None:
        Chains().check(*arrays)


class _TreesOfArcs(DerivedStructures):
    """Projective trees without other parts, as derivations of Eisner's algorithm."""

    axes = (2,)

    def __init__(self, single_root: bool) -> None:
        self.single_root = single_root

    def graph(self, *scores: Floats) -> Hypergraph:
        return projective_trees(len(scores[0]) - 1, self.single_root)

    def check(self, *arrays: Floats) -> None:
        check_tree_shapes(self, arrays, ())


def derived(oracle: Any) -> DerivedStructures | None:
    """Return an oracle's structures as derivations, None if they are not."""
    if isinstance(oracle, ProjectiveTrees) and not oracle.parts:
        return _TreesOfArcs(oracle.single_root)
    return oracle if isinstance(oracle, DerivedStructures) else None


def k_best(oracle: Any, k: int, scores: Sequence[Any]) -> list[Structure]:
    """Return the k structures of largest score, best first, or all that are allowed if there are fewer.

    Parameters
    ----------
    oracle
        :class:`~colgen.learning.Chains`, or an oracle with a method ``k_best(k, *scores)``, such as those of trees and
        of this module.
    k
        Number of structures, at least 1.
    scores
        Its arrays of scores; -inf forbids a part.

    Raises
    ------
    InputError
        If k or scores are invalid, or the oracle is another one.
    """
    theta = scores_for(oracle, scores)
    model = _Labellings() if isinstance(oracle, Chains) else derived(oracle) or oracle
    if not hasattr(model, "k_best"):
        raise InputError(f"expected Chains, or an oracle with a method k_best(k, *scores), not {type(oracle).__name__}")
    return [structure_from(places, theta) for places in model.k_best(k, *theta)]


class Segmentations(DerivedStructures):
    """Labelled segmentations of a chain: semi-Markov models.

    Scores of segments have the shape (tokens, longest, labels), by first token, length minus 1, and label.  Those of
    transitions between labels of consecutive segments have the shape (labels, labels), row: the earlier label.
    Segments that exceed the chain are ignored.

    Source: S. Sarawagi, W. Cohen, *Semi-Markov conditional random fields for information extraction*, NIPS 2004.
    """

    axes = (3, 2)

    def graph(self, *scores: Floats) -> Hypergraph:
        tokens, longest, labels = scores[0].shape
        return segmentations(tokens, longest, labels)

    def check(self, *arrays: Floats) -> None:
        shape = arrays[0].shape
        if len(shape) != 3 or not all(shape):
            raise InputError(f"scores: expected the shape (tokens, longest, labels), one or more of each, got {shape}")
        check_shapes(self, arrays, {"scores": shape, "transitions": (shape[2], shape[2])})

    @staticmethod
    def structure(segments: ArrayLike, longest: int, labels: int) -> tuple[Ints, Ints]:
        """Return places of the parts of a segmentation, given rows of first token, length and label."""
        first, length, label = _integers(segments, "segments", 3).T
        ends = first + length
        if len(first) and (
            first[0] or (ends[:-1] != first[1:]).any() or not 0 < length.min() <= length.max() <= longest
        ):
            raise InputError(
                f"segments: expected rows (first token, length, label) that cover the chain, with lengths from 1 to "
                f"{longest}, got {np.asarray(segments).tolist()[:20]}"
            )
        if len(label) and label.max() >= labels:
            raise InputError(f"segments: expected labels from 0 to {labels - 1}, got {label.max()}")
        return (first * longest + length - 1) * labels + label, label[:-1] * labels + label[1:]


class Constituents(DerivedStructures):
    """Binary constituency trees: the algorithm of Cocke, Kasami and Younger.

    Scores of spans have the shape (words, words), by first and last word, or (words, words, labels).  A tree has a span
    for each word, and 2 words - 1 spans in total, each with one label.  Spans whose last word precedes the first are
    ignored.
    """

    axes = (2,)

    def graph(self, *scores: Floats) -> Hypergraph:
        return constituents(len(scores[0]), scores[0].shape[2] if scores[0].ndim == 3 else 1)

    def check(self, *arrays: Floats) -> None:
        shape = arrays[0].shape
        if len(shape) not in (2, 3) or shape[0] != shape[1] or not all(shape):
            raise InputError(f"scores: expected the shape (words, words) or (words, words, labels), got {shape}")
        check_shapes(self, arrays, {"scores": shape})

    def crop(self, length: int, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        return (arrays[0][:length, :length],)

    @staticmethod
    def structure(spans: ArrayLike, words: int, labels: int = 1) -> tuple[Ints]:
        """Return places of the spans of a tree, given rows of first word, last word and label (0 without labels)."""
        first, last, label = _integers(spans, "spans", 3).T
        given = set(zip(first.tolist(), last.tolist(), strict=True))
        tree = len(given) == len(first) == 2 * words - 1 and (0, words - 1) in given
        if not tree or any(i > j or not _splits(i, j, given) for i, j in given) or label.max() >= labels:
            raise InputError(
                f"spans: expected rows (first word, last word, label) of a binary tree over {words} words with "
                f"{labels} labels, got {np.asarray(spans).tolist()[:20]}"
            )
        return ((first * words + last) * labels + label,)


def _splits(i: int, j: int, spans: set[tuple[int, int]]) -> bool:
    """Return whether a span is a word or has two parts among the spans."""
    return i == j or any((i, k) in spans and (k + 1, j) in spans for k in range(i, j))


class Alignments(DerivedStructures):
    """Monotone alignments of the rows and columns of a lattice: weighted edit distances.

    Scores of steps have the shape (rows + 1, columns + 1, 3).  A step to (i, j) is one of three: 0 pairs row i - 1 with
    column j - 1, 1 leaves row i - 1 alone, 2 leaves column j - 1 alone.  Steps from outside the lattice are ignored.

    In batches, lengths count lattice rows (rows + 1).  For instances with fewer columns, set the scores of steps to
    surplus columns to 0 for 2, and to -inf for 0 and 1.
    """

    axes = (3,)

    def graph(self, *scores: Floats) -> Hypergraph:
        return alignments(scores[0].shape[0] - 1, scores[0].shape[1] - 1)

    def check(self, *arrays: Floats) -> None:
        shape = arrays[0].shape
        if len(shape) != 3 or not all(shape) or shape[2] != 3:
            raise InputError(f"scores: expected the shape (rows + 1, columns + 1, 3), got {shape}")
        check_shapes(self, arrays, {"scores": shape})

    @staticmethod
    def structure(steps: ArrayLike, rows: int, columns: int) -> tuple[Ints]:
        """Return places of the steps of an alignment, numbered 0 to 2 as above, in sequence."""
        kind = _integers(steps, "steps", 1).ravel()
        i, j = np.cumsum(kind != 2), np.cumsum(kind != 1)
        if (kind > 2).any() or (int(i[-1]) if len(i) else 0, int(j[-1]) if len(j) else 0) != (rows, columns):
            raise InputError(
                f"steps: expected numbers from 0 to 2 that lead to ({rows}, {columns}), got {kind.tolist()[:20]}"
            )
        return ((i * (columns + 1) + j) * 3 + kind,)


class Matchings(DerivedStructures):
    """Bipartite matchings: each row is matched to a column of its own; scores have the shape (rows, columns).

    There are at least as many columns as rows.  To let rows stay alone, append a column per row, with the score of row
    i in column i and -inf in the others.

    Best matchings come from augmenting paths, the k best from Murty's partition.  Marginals, log-partition functions,
    entropies and samples come from a dynamic program over sets of columns, which is refused above 2,500,000 steps: 18
    rows and columns are allowed, and 4 rows with 58 columns.

    In batches, lengths count rows.  For instances with fewer columns, set the scores of surplus columns to -inf.

    Source: K. G. Murty, *An algorithm for ranking all the assignments in order of increasing cost*, Operations Research
    16 (1968).
    """

    axes = (2,)

    def best(self, *scores: Floats) -> tuple[Ints, ...] | None:
        found = _refused(best_matching, *scores)
        return None if found is None else self.structure(found[1], scores[0].shape[1])

    def k_best(self, k: int, *scores: Floats) -> list[tuple[Ints, ...]]:
        found = _refused(k_best_matchings, *scores, k)
        return [self.structure(chosen, scores[0].shape[1]) for _, chosen in found]

    def graph(self, *scores: Floats) -> Hypergraph:
        found: Hypergraph = _refused(matchings, *scores[0].shape)
        return found

    def check(self, *arrays: Floats) -> None:
        shape = arrays[0].shape
        if len(shape) != 2 or not 0 < shape[0] <= shape[1]:
            raise InputError(
                f"scores: expected the shape (rows, columns), one row or more and at least as many columns, got {shape}"
            )
        check_shapes(self, arrays, {"scores": shape})

    def from_labels(self, labels: Any, scores: Floats) -> tuple[Ints]:
        """Return places of the pairs of a matching, given the column of each row, after checking it."""
        rows, columns = scores.shape
        chosen = check_labels(labels, rows, 0, columns - 1)
        if len(np.unique(chosen)) < rows:
            raise InputError(f"gold: expected a different column for each row, got {chosen.tolist()[:20]}")
        return self.structure(chosen, columns)

    @staticmethod
    def structure(chosen: Ints, columns: int) -> tuple[Ints]:
        """Return places of the pairs of a matching, given the column of each row."""
        return (np.arange(len(chosen)) * columns + chosen,)

    @staticmethod
    def columns(positions: Any, columns: int) -> Ints:
        """Return the column of each row, shape (rows,): the inverse of :meth:`structure`.

        ``positions`` are the places of its pairs, or a structure in the forms of :meth:`best` or :class:`Structure`.
        """
        places = first_places(positions)
        return at_each_position(places // columns, places % columns, len(places))


class MonotoneChains(DerivedStructures):
    """Chains of states whose number stays, or advances by one or two: connectionist temporal classification.

    Scores of states have the shape (frames, states).  Those of moves have the shape (states + 1, 3): entry (s, d) is
    the score of a move from state s - d to s.  Chains start with a move from the state -1, and end with one to the
    state ``states``.  These two have no frames.  Use -inf to forbid moves.

    Source: A. Graves et al., *Connectionist temporal classification*, ICML 2006.
    """

    axes = (2, 2)

    def graph(self, *scores: Floats) -> Hypergraph:
        return monotone_chains(*scores[0].shape)

    def check(self, *arrays: Floats) -> None:
        shape = arrays[0].shape
        if len(shape) != 2 or not all(shape):
            raise InputError(f"scores: expected the shape (frames, states), one or more of each, got {shape}")
        check_shapes(self, arrays, {"scores": shape, "moves": (shape[1] + 1, 3)})

    @staticmethod
    def transcript(labels: ArrayLike, blank: int = 0) -> tuple[Ints, Floats]:
        """Return the states' labels and the scores of moves for the paths of a transcript, with blanks between labels.

        Use ``scores[:, states]`` of frames as scores.  The log-partition function is then that of CTC.
        """
        given = _integers(labels, "labels", 1).ravel()
        states = np.full(2 * len(given) + 1, blank)
        states[1::2] = given
        moves = np.zeros((len(states) + 1, 3))
        moves[len(states), 0] = -np.inf
        moves[:2, 2] = -np.inf, 0.0
        moves[2:-1, 2] = np.where((states[2:] == blank) | (states[2:] == states[:-2]), -np.inf, 0.0)
        return states, moves

    @staticmethod
    def structure(chain: ArrayLike, states: int) -> tuple[Ints, Ints]:
        """Return places of the parts of a chain, given the state of each frame."""
        given = _integers(chain, "chain", 1).ravel()
        path = np.concatenate([[-1], given, [states]])
        steps = np.diff(path)
        if not len(given) or steps[0] < 1 or steps[-1] < 1 or steps.min() < 0 or steps.max() > 2:
            raise InputError(
                f"chain: expected states that start at 0 or 1, end at {states - 2} or {states - 1}, and advance by at "
                f"most 2, got {given.tolist()[:20]}"
            )
        return np.arange(len(given)) * states + given, path[1:] * 3 + steps
