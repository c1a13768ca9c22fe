"""Marginals by dynamic programs: log-partition functions, means, entropies, gradients and samples.

The Gibbs distribution of a model gives each structure a probability proportional to exp of its score.  Models are the
oracles that can also sum over all their structures.  These are chains, dependency trees by the matrix-tree theorem,
projective trees with adjacent siblings and grandchildren, and the oracles of :mod:`colgen.learning.derivations`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.derivations import DerivedStructures, derived, in_shapes, joined, separated
from colgen.learning.labelled import LabelledTrees, LabelShares
from colgen.learning.oracles import (
    Chains,
    ProjectiveTrees,
    SecondOrder,
    Structure,
    Trees,
    check_derivatives,
    penalized,
    scores_for,
    structure_from,
)
from colgen.solvers.arrays import ArrayError
from colgen.solvers.chains.sums import chain_sums
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_sums import projective_sums
from colgen.solvers.trees.matrix_tree import sample_trees, tree_sums, tree_tangents

Floats: TypeAlias = NDArray[np.float64]

Summed: TypeAlias = Chains | Trees | ProjectiveTrees | LabelledTrees | DerivedStructures
"""Models with sums over their structures."""


@dataclass(frozen=True, eq=False)
class StructureMarginals:
    """The Gibbs distribution of a model.

    Attributes
    ----------
    log_partition
        log Σ exp over the scores of all structures.
    means
        For each array of scores the mean counts of its parts, in its shape.
    scores
        The arrays of scores.
    """

    log_partition: float
    means: tuple[Floats, ...]
    scores: tuple[Floats, ...]
    _tangent: Callable[..., tuple[Floats, ...]]
    _draw: Callable[[np.random.Generator], tuple[Any, ...]]

    @property
    def marginals(self) -> Floats:
        """Mean counts of the parts of the first array of scores."""
        return self.means[0]

    @property
    def entropy(self) -> float:
        """-Σ p log p over the structures, never negative."""
        allowed = [mean > 0.0 for mean in self.means]
        triples = zip(self.scores, self.means, allowed, strict=True)
        return max(self.log_partition - sum(float(t[a] @ m[a]) for t, m, a in triples), 0.0)

    def gradient(self, *means: Any) -> tuple[Floats, ...]:
        """Return a function's derivatives with respect to the scores, given those with respect to the means.

        Parameters
        ----------
        means
            Derivatives with respect to each mean, in its shape.  Trailing ones may be omitted; None stands for zeros.
        """
        return self._tangent(*check_derivatives(means, self.means))

    def sample(self, generator: np.random.Generator) -> Structure:
        """Draw a structure from the distribution."""
        return structure_from(self._draw(generator), self.scores)


def marginals(model: Summed, *scores: Any) -> StructureMarginals:
    """Return the Gibbs distribution of a model.

    Parameters
    ----------
    model
        :class:`~colgen.learning.Chains`, :class:`~colgen.learning.Trees`, :class:`~colgen.learning.ProjectiveTrees`,
        :class:`~colgen.learning.LabelledTrees` of these, :class:`~colgen.learning.Segmentations`,
        :class:`~colgen.learning.Constituents`, :class:`~colgen.learning.Alignments`,
        :class:`~colgen.learning.Matchings` or :class:`~colgen.learning.MonotoneChains`.
    scores
        Its arrays of scores; -inf forbids a part.

    Raises
    ------
    InputError
        If scores are NaN or +inf or of a wrong shape, or every structure is forbidden.
    """
    theta = scores_for(model, scores)
    try:
        found = _distribution(model, *theta)
    except ArrayError as error:
        raise InputError(str(error)) from None
    if found.log_partition == -np.inf:
        raise InputError("every structure is forbidden by scores of -inf")
    return found


def _distribution(model: Summed | SecondOrder, *theta: Floats) -> StructureMarginals:
    derivations = derived(model)
    if derivations is not None:
        return _of_derivations(derivations, *theta)
    if isinstance(model, Chains):
        return _of_chain(*theta)
    if isinstance(model, Trees):
        return _of_trees(model, *theta)
    if isinstance(model, ProjectiveTrees):
        return _of_projective_trees(model, *theta)
    if isinstance(model, LabelledTrees):
        return _of_labelled_trees(model, *theta)
    raise InputError(
        "expected a model with sums over its structures (Chains, Trees, ProjectiveTrees, LabelledTrees, Segmentations, "
        f"Constituents, Alignments, Matchings, MonotoneChains), not {type(model).__name__}"
    )


def _of_labelled_trees(model: LabelledTrees, scores: Floats, *others: Floats) -> StructureMarginals:
    labels = LabelShares.of(scores)
    trees = _distribution(model.trees, labels.arcs, *others)

    def tangent(by_arcs: Floats, *by: Floats) -> tuple[Floats, ...]:
        return labels.tangent(trees.means[0], by_arcs, lambda mean: trees._tangent(mean, *by))

    def draw(generator: np.random.Generator) -> tuple[Any, ...]:
        arcs, *parts = trees._draw(generator)
        own = scores.reshape(-1, scores.shape[2])[arcs]
        drawn = (own + generator.gumbel(size=own.shape)).argmax(axis=1)  # never a forbidden label
        return arcs * scores.shape[2] + drawn, *parts

    means = labels.means(trees.means[0]), *trees.means[1:]
    return StructureMarginals(trees.log_partition, means, (scores, *others), tangent, draw)


def _of_chain(scores: Floats, transitions: Floats) -> StructureMarginals:
    sums = chain_sums(scores, [0, len(scores)], transitions)
    stepwise = transitions.ndim == 3

    def tangent(by_labels: Floats, by_pairs: Floats) -> tuple[Floats, ...]:
        _, labels, pairs = sums.tangent(by_labels, by_pairs)
        return labels, pairs if stepwise else pairs[0]

    def draw(generator: np.random.Generator) -> tuple[Any, ...]:
        return Chains.structure(sums.sample(generator), scores.shape[1], stepwise)

    means = sums.labels, sums.pairs if stepwise else sums.pairs[0]
    return StructureMarginals(float(sums.log_partition[0]), means, (scores, transitions), tangent, draw)


def _of_trees(model: Trees, scores: Floats) -> StructureMarginals:
    found, means = tree_sums(scores[np.newaxis], single_root=model.single_root)

    def tangent(by_arcs: Floats) -> tuple[Floats, ...]:
        return (tree_tangents(scores[np.newaxis], by_arcs[np.newaxis], single_root=model.single_root)[0],)

    def draw(generator: np.random.Generator) -> tuple[Any, ...]:
        heads = sample_trees(scores, generator, single_root=model.single_root)
        assert heads is not None  # there is a tree
        return Trees.structure(heads[0])

    return StructureMarginals(float(found[0]), (means[0],), (scores,), tangent, draw)


def _of_projective_trees(model: ProjectiveTrees, scores: Floats, *others: Floats) -> StructureMarginals:
    names = ("arcs", *model.parts)
    finite, penalty = penalized(scores, others)

    def named(arrays: Sequence[Floats]) -> dict[str, Any]:
        return {name: _swapped(name, theta) for name, theta in zip(names, arrays, strict=True)}

    def in_order(found: dict[str, Floats]) -> tuple[Floats, ...]:
        return tuple(np.ascontiguousarray(_swapped(name, found[name])) for name in names)

    sums = projective_sums(Parts(**named((scores, *finite))), single_root=model.single_root)

    def tangent(*by: Floats) -> tuple[Floats, ...]:
        return in_order(sums.tangent(**named(by))[1])

    def draw(generator: np.random.Generator) -> tuple[Any, ...]:
        heads = sums.sample(generator)
        assert heads is not None  # there is a tree
        return model.structure(heads)

    log_partition = sums.log_partition if sums.log_partition > 0.5 * penalty else -np.inf
    return StructureMarginals(log_partition, in_order(sums.means), (scores, *others), tangent, draw)


def _swapped(name: str, theta: Floats) -> Floats:
    """Return scores of parts with the axes that kernels have: they read siblings by head, modifier and sibling."""
    return theta.transpose(0, 2, 1) if name == "siblings" else theta


def _of_derivations(model: DerivedStructures, *scores: Floats) -> StructureMarginals:
    sums = model.sums(*(theta[np.newaxis] for theta in scores))

    def tangent(*by: Floats) -> tuple[Floats, ...]:
        return in_shapes(sums.tangent(joined(by)[np.newaxis])[1][0], scores)

    def draw(generator: np.random.Generator) -> tuple[Any, ...]:
        return separated(sums.sample(generator), scores)

    return StructureMarginals(float(sums.log_partition[0]), in_shapes(sums.means[0], scores), scores, tangent, draw)
