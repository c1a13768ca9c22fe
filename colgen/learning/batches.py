"""Batches of instances in arrays whose first axis is the instance, with lengths or masks.

Lengths count tokens of chains.  For trees they count words, so arrays of N positions are cut to the first n + 1.  The
arrays of other oracles are cut along their first axis, unless the oracle has a method ``crop(length, *scores)``.

A mask may have any true entries: padding on the left, or holes.  An instance then consists of its true positions, in
order, as if no others existed.  An axis that is cut to the first entries for a length has these positions instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import ColgenError, InputError
from colgen.core.workers import shares
from colgen.learning.derivations import DerivedStructures, derived, in_shapes, joined_rows
from colgen.learning.labelled import LabelledTrees, LabelShares
from colgen.learning.marginals import Summed, marginals
from colgen.learning.oracles import (
    Chains,
    SecondOrder,
    Structure,
    Trees,
    as_labels,
    check_scores,
    decode,
    gold_structure,
)
from colgen.parallel.threads import Threads
from colgen.solvers.arrays import ArrayError, as_booleans, as_floats, as_integer, as_integers
from colgen.solvers.chains.sums import chain_sums
from colgen.solvers.trees.matrix_tree import tree_sums, tree_tangents

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Batch:
    """Arrays of scores of several instances.

    ``arrays`` have the instances along the first axis, unless they are ``shared``.  ``lengths`` is None for full
    lengths.  The results do not depend on ``workers``, the number of threads.  ``first`` is the index of the first
    instance, if this is a part of a batch.  ``mask`` marks the positions of the instances if they are not the first.
    """

    oracle: Any
    arrays: tuple[Floats, ...]
    shared: tuple[bool, ...]
    lengths: Ints | None
    workers: int = 1
    first: int = 0
    mask: Bools | None = None

    def __len__(self) -> int:
        return len(self.arrays[0])

    def instance(self, k: int, arrays: Sequence[NDArray[Any]] | None = None) -> tuple[NDArray[Any], ...]:
        """Return one instance's arrays, or its part of ``arrays``, cut to its positions."""
        own = self._padded(k, self.arrays if arrays is None else arrays)
        if self.lengths is None:
            return own
        if self.mask is None:
            return _crop(self.oracle, int(self.lengths[k]), own)
        return tuple(a[np.ix_(*axes)] for a, axes in zip(own, self._positions(k, own), strict=True))

    def gold(self, k: int, given: Any) -> Structure:
        """Return one instance's gold structure, checked.

        Labels are given by position of the padded arrays, or of the instance alone.  Heads are positions in the same
        numbering.  Parts are those of the instance's arrays, see :meth:`instance`.
        """
        own = self.instance(k)
        labels = as_labels(given) if hasattr(self.oracle, "from_labels") else None
        if labels is None:
            return gold_structure(self.oracle, given, own)
        if self.lengths is not None and len(labels) == len(self.arrays[0][k]):
            labels = labels[: len(own[0])] if self.mask is None else self._at_positions(k, labels)
        return gold_structure(self.oracle, labels, own)

    def _at_positions(self, k: int, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels at an instance's positions; heads are renumbered."""
        positions = self._positions(k, self._padded(k, self.arrays))[0][0]
        chosen = labels[positions]
        if not isinstance(self.oracle, (Trees, SecondOrder)):
            return chosen
        chosen[:1] = 0  # that of the root is ignored
        wrong = ~np.isin(chosen, positions)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InputError(f"gold: the head of position {positions[at]} is {chosen[at]}, which the mask leaves out")
        return np.searchsorted(positions, chosen)

    def _padded(self, k: int, arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        """Return views of one instance's arrays, with its padding."""
        return tuple(a if shared else a[k] for a, shared in zip(arrays, self.shared, strict=True))

    def _positions(self, k: int, own: tuple[NDArray[Any], ...]) -> list[tuple[Ints, ...]]:
        """Return for each array and axis the entries that belong to an instance, which is given with its padding.

        An axis that a length cuts to its first ``count + extra`` entries, such as a root and the words, keeps the first
        ``extra`` ones.
        """
        assert self.lengths is not None
        assert self.mask is not None
        count, true = int(self.lengths[k]), np.flatnonzero(self.mask[k])
        cut = _crop(self.oracle, count, tuple(np.broadcast_to(0.0, a.shape) for a in own))

        def entries(kept: int, size: int) -> Ints:
            if kept == size:
                return np.arange(size)
            extra = max(kept - count, 0)
            return np.concatenate([np.arange(extra), true + extra])[:kept]

        return [tuple(map(entries, c.shape, a.shape)) for c, a in zip(cut, own, strict=True)]

    def with_arrays(self, arrays: tuple[Floats, ...]) -> Batch:
        """Return a batch of the same instances with other arrays of the same shapes."""
        return dataclasses.replace(self, arrays=arrays)

    def each(self, function: Callable[..., Any]) -> list[Any]:
        """Return the results of a function of each instance's arrays.  Its ColgenError names the instance."""
        return self.over(lambda k: function(*self.instance(k)))

    def over(self, function: Callable[[int], Any]) -> list[Any]:
        """Return the results of a function of each instance's index.  Its ColgenError names the first such instance."""

        def call(k: int) -> Any:
            try:
                return function(k)
            except ColgenError as error:
                raise type(error)(f"instance {self.first + k} of the batch: {error}") from None

        return self._run(call, range(len(self)))

    def shares(self) -> list[Batch]:
        """Return consecutive parts, one per worker."""
        return [
            dataclasses.replace(
                self,
                arrays=tuple(a if shared else a[own] for a, shared in zip(self.arrays, self.shared, strict=True)),
                lengths=None if self.lengths is None else self.lengths[own],
                mask=None if self.mask is None else self.mask[own],
                workers=1,
                first=self.first + own.start,
            )
            for own in shares(len(self), self.workers)
        ]

    def _run(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> list[Any]:
        with Threads(self.workers) as threads:
            return threads.each(work, pieces)

    def stack(self, parts: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
        """Return the instances' arrays in the shapes of the batch's; those of shared arrays get a first axis."""
        apart = dataclasses.replace(self, shared=(False,) * len(self.shared))
        shapes = [(len(self), *a.shape) if s else a.shape for a, s in zip(self.arrays, self.shared, strict=True)]
        result = tuple(np.zeros(shape) for shape in shapes)
        for k, own in enumerate(parts):
            apart.add(k, result, own)
        return result

    def add(self, k: int, targets: Sequence[Floats], arrays: Sequence[Floats]) -> None:
        """Add an instance's arrays to the corresponding entries of the batch's."""
        if self.mask is None:
            for target, array in zip(self.instance(k, targets), arrays, strict=True):
                target += array
            return
        own = self._padded(k, targets)
        for target, axes, array in zip(own, self._positions(k, own), arrays, strict=True):
            target[np.ix_(*axes)] += array


def batch_of(
    oracle: Any,
    arrays: Sequence[Any],
    *,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    shared: Sequence[bool] | None = None,
    workers: int = 1,
) -> Batch:
    """Return arrays of scores as a batch.

    Parameters
    ----------
    arrays
        The first has the instances along its first axis.  Transitions of :class:`~colgen.learning.Chains` with two axes
        are shared by all chains.  With three they are per chain, with four also per step.
    lengths
        Lengths of the instances.
    mask
        Instead of lengths: true for existing tokens (words), shape (instances, longest).  Any of them may be missing.
    shared
        Which of the arrays have no axis of instances, for custom oracles; by default none.
    workers
        Number of threads.  Compiled kernels run in parallel.  An oracle in Python is limited by the interpreter lock.
        The results do not depend on it.

    Raises
    ------
    InputError
        If numbers, shapes or lengths are invalid.
    """
    checked = check_scores(arrays)
    if not checked or not checked[0].ndim:
        raise InputError("scores: expected one array or more, with the instances along the first axis")
    first = checked[0]
    if isinstance(oracle, (Chains, Trees, SecondOrder)) and first.ndim != 3:
        raise InputError(
            f"scores: expected three axes, the instances along the first, got an array of shape {first.shape}"
        )
    flags = tuple(shared) if shared is not None else _usually_shared(oracle, checked)
    if len(flags) != len(checked) or flags[0]:
        raise InputError(f"shared: expected a truth value for each of {len(checked)} arrays, the first of them false")
    for k, array in enumerate(checked):
        if not flags[k] and len(array) != len(first):
            raise InputError(f"scores {k}: expected {len(first)} instances as in the first array, got {len(array)}")
    if hasattr(oracle, "check") and len(first):
        oracle.check(*(a if alike else a[0] for a, alike in zip(checked, flags, strict=True)))
    try:
        count = as_integer(workers, "workers", low=1)
    except ArrayError as error:
        raise InputError(str(error)) from None
    counted, existing = _lengths(oracle, first, lengths, mask)
    return Batch(oracle, checked, flags, counted, count, mask=existing)


def best_counts(batch: Batch) -> tuple[Floats, ...]:
    """Return the best structures of all instances: for each array of scores the counts of the parts, in its shape.

    Counts of shared arrays have an additional first axis.  An oracle of one array of scores with a method
    ``best_of_each(scores)`` is called once per worker, unless lengths differ.
    """
    if len(batch.arrays) > 1 or batch.lengths is not None or not hasattr(batch.oracle, "best_of_each"):
        found = batch.each(lambda *arrays: decode(batch.oracle, arrays))
        return batch.stack(
            [tuple(f.array(k, a.shape) for k, a in enumerate(batch.instance(i))) for i, f in enumerate(found)]
        )

    def call(part: Batch) -> Floats:
        name = f"{type(batch.oracle).__name__}.best_of_each"
        counts: Floats = as_floats(part.oracle.best_of_each(part.arrays[0]), name, shape=part.arrays[0].shape)
        forbidden = np.isneginf(part.arrays[0]) & (counts != 0.0)
        if forbidden.any():
            k, *where = (int(i) for i in np.argwhere(forbidden)[0])
            raise InputError(
                f"instance {part.first + k} of the batch: {name} returned the forbidden part {tuple(where)}, whose "
                "score is -inf: every structure is forbidden, or the oracle ignores -inf"
            )
        return counts

    try:
        return (np.concatenate(batch._run(call, batch.shares())),)
    except ArrayError as error:
        raise InputError(str(error)) from None


@dataclass(frozen=True, eq=False)
class BatchSums:
    """Gibbs distributions of the instances of a batch."""

    log_partition: Floats
    scaled_means: Callable[[Floats | None], tuple[Floats, ...]]
    """Maps factors per instance to the means times these factors, in new arrays; None to the means."""
    tangent: Callable[..., tuple[Floats, ...]]
    """Maps directions in the shapes of the means to derivatives of the means."""

    @cached_property
    def means(self) -> tuple[Floats, ...]:
        """Means in the shapes of the batch's arrays.  Those of shared arrays have an additional first axis."""
        return self.scaled_means(None)


def _scaled(*means: Floats) -> Callable[[Floats | None], tuple[Floats, ...]]:
    """Return the function ``scaled_means`` for means that have been computed."""

    def scale(factors: Floats | None) -> tuple[Floats, ...]:
        return means if factors is None else tuple(m * factors.reshape(-1, *(1,) * (m.ndim - 1)) for m in means)

    return scale


def batch_sums(batch: Batch) -> BatchSums:
    """Return the Gibbs distributions of all instances, for chains and matrix-tree sums in one compiled call.

    A model without sums over its structures raises an InputError, as does an instance without allowed structures.
    """
    if batch.workers > 1 and len(batch) > 1:
        return _in_parallel(batch)
    model, derivations = batch.oracle, derived(batch.oracle)
    try:
        if isinstance(model, LabelledTrees):
            return _labelled_trees(batch, model)
        if isinstance(model, Chains) and len(batch.arrays) == 2 and batch.shared[1]:
            found = _chains(batch)
        elif isinstance(model, Trees) and len(batch.arrays) == 1 and batch.mask is None:
            found = _trees(batch, model)
        elif derivations is not None and len(batch):
            found = _derivations(batch, derivations)
        else:
            return _per_instance(batch, model)
    except ArrayError as error:
        raise InputError(str(error)) from None
    none = np.flatnonzero(np.isneginf(found.log_partition))
    if len(none):
        number = batch.first + none[0]
        raise InputError(f"instance {number} of the batch: every structure is forbidden: the scores of -inf leave none")
    return found


def _in_parallel(batch: Batch) -> BatchSums:
    """Compute each worker's part of the batch and concatenate the results."""
    parts = batch.shares()
    each: list[BatchSums] = batch._run(batch_sums, parts)
    ends = np.cumsum([len(part) for part in parts])[:-1]

    def concatenate(found: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
        return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))

    def tangent(*directions: Floats) -> tuple[Floats, ...]:
        own = zip(each, *(np.split(direction, ends) for direction in directions), strict=True)
        return concatenate(batch._run(lambda one: one[0].tangent(*one[1:]), list(own)))

    def scaled_means(factors: Floats | None) -> tuple[Floats, ...]:
        own = [None] * len(each) if factors is None else np.split(factors, ends)
        pairs = list(zip(each, own, strict=True))
        return concatenate(batch._run(lambda one: one[0].scaled_means(one[1]), pairs))

    return BatchSums(np.concatenate([one.log_partition for one in each]), scaled_means, tangent)


def _chains(batch: Batch) -> BatchSums:
    scores, transitions = batch.arrays
    count, longest, num = scores.shape
    lengths = np.full(count, longest) if batch.lengths is None else batch.lengths
    inside = np.arange(longest) < lengths[:, np.newaxis] if batch.mask is None else batch.mask
    whole = bool(inside.all())
    flat = scores.reshape(-1, num) if whole else scores[inside]
    sums = chain_sums(flat, np.concatenate([[0], np.cumsum(lengths)]), transitions)

    def put_back(labels: Floats) -> Floats:
        if whole:
            return labels.reshape(scores.shape)
        result = np.zeros(scores.shape)
        result[inside] = labels
        return result

    def tangent(by_labels: Floats, by_pairs: Floats) -> tuple[Floats, ...]:
        flat_direction = by_labels.reshape(-1, num) if whole else by_labels[inside]
        _, labels, pairs = sums.tangent(flat_direction, by_pairs)
        return put_back(labels), pairs

    return BatchSums(sums.log_partition, _scaled(put_back(sums.labels), sums.pairs), tangent)


def _trees(batch: Batch, model: Trees) -> BatchSums:
    (scores,) = batch.arrays
    log_partition, means = tree_sums(scores, batch.lengths, single_root=model.single_root)

    def tangent(by_arcs: Floats) -> tuple[Floats, ...]:
        return (tree_tangents(scores, by_arcs, batch.lengths, single_root=model.single_root),)

    return BatchSums(log_partition, _scaled(means), tangent)


def _labelled_trees(batch: Batch, model: LabelledTrees) -> BatchSums:
    """Sum over trees without labels, in which an arc has the sum over its labels."""
    scores, *others = batch.arrays
    labels = LabelShares.of(scores)
    trees = batch_sums(dataclasses.replace(batch, oracle=model.trees, arrays=(labels.arcs, *others)))

    def tangent(by_arcs: Floats, *by: Floats) -> tuple[Floats, ...]:
        return labels.tangent(trees.means[0], by_arcs, lambda mean: trees.tangent(mean, *by))

    return BatchSums(trees.log_partition, _scaled(labels.means(trees.means[0]), *trees.means[1:]), tangent)


def _derivations(batch: Batch, model: DerivedStructures) -> BatchSums:
    """Sum over derivations, in one call for all instances of equal length."""
    apart = dataclasses.replace(batch, shared=(False,) * len(batch.shared))
    lengths = np.zeros(len(batch), np.int64) if batch.lengths is None else batch.lengths
    groups = [np.flatnonzero(lengths == length) for length in np.unique(lengths)]

    def gather(found: Sequence[Floats]) -> tuple[Floats, ...]:
        if batch.lengths is None:
            return in_shapes(found[0], batch.instance(0))
        count = len(batch)
        result = tuple(
            np.zeros((count, *a.shape) if s else a.shape) for a, s in zip(batch.arrays, batch.shared, strict=True)
        )
        for own, flat in zip(groups, found, strict=True):
            for k, *arrays in zip(own, *in_shapes(flat, batch.instance(own[0])), strict=True):
                apart.add(k, result, arrays)
        return result

    def stacked(arrays: Batch, own: Ints) -> tuple[Floats, ...]:
        if batch.lengths is None and not any(arrays.shared):
            return arrays.arrays
        each = [arrays.instance(k) for k in own]
        return tuple(np.stack(alike) for alike in zip(*each, strict=True))

    sums = [model.sums(*stacked(batch, own)) for own in groups]
    log_partition = np.empty(len(batch))
    for own, one in zip(groups, sums, strict=True):
        log_partition[own] = one.log_partition

    def tangent(*directions: Floats) -> tuple[Floats, ...]:
        given = dataclasses.replace(apart, arrays=directions)
        flat = [joined_rows(stacked(given, own)) for own in groups]
        return gather([one.tangent(a)[1] for one, a in zip(sums, flat, strict=True)])

    def scaled_means(factors: Floats | None) -> tuple[Floats, ...]:
        weights = np.ones(len(batch)) if factors is None else factors
        return gather([one.scaled_means(weights[own]) for own, one in zip(groups, sums, strict=True)])

    return BatchSums(log_partition, scaled_means, tangent)


def _usually_shared(oracle: Any, arrays: Sequence[Floats]) -> tuple[bool, ...]:
    """Return whether each array has too few axes for one of instances."""
    if isinstance(oracle, DerivedStructures):
        return tuple(k > 0 and a.ndim == axes for k, (a, axes) in enumerate(zip(arrays, oracle.axes, strict=False)))
    return tuple(isinstance(oracle, Chains) and a.ndim == 2 for a in arrays)


def _per_instance(batch: Batch, model: Summed) -> BatchSums:
    each = batch.each(lambda *arrays: marginals(model, *arrays))
    apart = dataclasses.replace(batch, shared=(False,) * len(batch.shared))

    def tangent(*directions: Floats) -> tuple[Floats, ...]:
        return batch.stack([one.gradient(*apart.instance(k, directions)) for k, one in enumerate(each)])

    means = batch.stack([one.means for one in each])
    return BatchSums(np.array([one.log_partition for one in each]), _scaled(*means), tangent)


def _crop(oracle: Any, length: int, arrays: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    if hasattr(oracle, "crop"):
        return tuple(oracle.crop(length, *arrays))
    if isinstance(oracle, Chains):
        return (arrays[0][:length], *(a[:length] if a.ndim == 3 else a for a in arrays[1:]))
    if isinstance(oracle, (Trees, SecondOrder)):
        return tuple(a[(slice(length + 1),) * a.ndim] for a in arrays)
    return tuple(a[:length] for a in arrays)


def _lengths(
    oracle: Any, first: Floats, lengths: ArrayLike | None, mask: ArrayLike | None
) -> tuple[Ints | None, Bools | None]:
    """Return the lengths of the instances, and a mask if their positions are not the first ones."""
    if lengths is None and mask is None:
        return None, None
    longest = first.shape[1] - (1 if isinstance(oracle, (Trees, SecondOrder, LabelledTrees)) else 0)
    try:
        if lengths is not None:
            if mask is not None:
                raise InputError("expected lengths or a mask, not both")
            return as_integers(lengths, "lengths", shape=(len(first),), low=1, high=longest), None
        given = as_booleans(mask, "mask", shape=(len(first), longest))
    except ArrayError as error:
        raise InputError(str(error)) from None
    counted: Ints = given.sum(axis=1).astype(np.int64)
    if not counted.all():
        raise InputError(
            f"mask: expected one true entry or more for each instance, got none in instance {np.argmin(counted)}"
        )
    return counted, given if (given != (np.arange(longest) < counted[:, np.newaxis])).any() else None
