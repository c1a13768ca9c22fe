"""Batches of instances in arrays whose first axis is the instance, with lengths or masks.

Lengths count tokens of chains.  For trees they count words, so arrays of N positions are cut to the first n + 1.  The
arrays of other oracles are cut along their first axis, unless the oracle has a method ``crop(length, *scores)``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import ColgenError, InputError
from colgen.core.workers import shares
from colgen.learning.marginals import Summed, marginals
from colgen.learning.oracles import Chains, ProjectiveTrees, Trees, check_scores
from colgen.parallel.threads import Threads
from colgen.solvers.arrays import ArrayError, as_booleans, as_integer, as_integers
from colgen.solvers.chains.sums import chain_sums
from colgen.solvers.trees.matrix_tree import tree_sums, tree_tangents

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Arrays of scores of several instances.

    ``arrays`` have the instances along the first axis, unless they are ``shared``.  ``lengths`` is None for full
    lengths.  The results do not depend on ``workers``, the number of threads.  ``first`` is the index of the first
    instance, if this is a part of a batch.
    """

    oracle: Any
    arrays: tuple[Floats, ...]
    shared: tuple[bool, ...]
    lengths: Ints | None
    workers: int = 1
    first: int = 0

    def __len__(self) -> int:
        return len(self.arrays[0])

    def instance(self, k: int, arrays: Sequence[NDArray[Any]] | None = None) -> tuple[NDArray[Any], ...]:
        """Return views of one instance's arrays, or of its part of ``arrays``, cut to its length."""
        chosen = self.arrays if arrays is None else arrays
        own = tuple(a if shared else a[k] for a, shared in zip(chosen, self.shared, strict=True))
        return own if self.lengths is None else _crop(self.oracle, int(self.lengths[k]), own)

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
                workers=1,
                first=self.first + own.start,
            )
            for own in shares(len(self), self.workers)
        ]

    def _run(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> list[Any]:
        with Threads(self.workers) as threads:
            return threads.each(work, pieces)

    def add(self, k: int, targets: Sequence[Floats], arrays: Sequence[Floats]) -> None:
        """Add an instance's arrays to the corresponding entries of the batch's."""
        for target, array in zip(self.instance(k, targets), arrays, strict=True):
            target += array


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
        Instead of lengths: true for existing tokens (words), which come first, shape (instances, longest).
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
    if isinstance(oracle, (Chains, Trees, ProjectiveTrees)) and first.ndim != 3:
        raise InputError(
            f"scores: expected three axes, the instances along the first, got an array of shape {first.shape}"
        )
    flags = tuple(shared) if shared is not None else tuple(isinstance(oracle, Chains) and a.ndim == 2 for a in checked)
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
    return Batch(oracle, checked, flags, _lengths(oracle, first, lengths, mask), count)


@dataclass(frozen=True, eq=False)
class BatchSums:
    """Gibbs distributions of the instances of a batch.

    ``means`` have the shapes of the batch's arrays.  Means of shared arrays have an additional first axis.
    """

    log_partition: Floats
    means: tuple[Floats, ...]
    tangent: Callable[..., tuple[Floats, ...]]
    """Maps directions in the shapes of the means to derivatives of the means."""


def batch_sums(batch: Batch) -> BatchSums:
    """Return the Gibbs distributions of all instances, for chains and matrix-tree sums in one compiled call.

    A model without sums over its structures raises an InputError, as does an instance without allowed structures.
    """
    if batch.workers > 1 and len(batch) > 1:
        return _in_parallel(batch)
    model = batch.oracle
    try:
        if isinstance(model, Chains) and len(batch.arrays) == 2 and batch.shared[1]:
            found = _chains(batch)
        elif isinstance(model, Trees) and len(batch.arrays) == 1:
            found = _trees(batch, model)
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

    return BatchSums(
        np.concatenate([one.log_partition for one in each]), concatenate([one.means for one in each]), tangent
    )


def _chains(batch: Batch) -> BatchSums:
    scores, transitions = batch.arrays
    count, longest, num = scores.shape
    lengths = np.full(count, longest) if batch.lengths is None else batch.lengths
    inside = np.arange(longest) < lengths[:, np.newaxis]
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

    return BatchSums(sums.log_partition, (put_back(sums.labels), sums.pairs), tangent)


def _trees(batch: Batch, model: Trees) -> BatchSums:
    (scores,) = batch.arrays
    log_partition, means = tree_sums(scores, batch.lengths, single_root=model.single_root)

    def tangent(by_arcs: Floats) -> tuple[Floats, ...]:
        return (tree_tangents(scores, by_arcs, batch.lengths, single_root=model.single_root),)

    return BatchSums(log_partition, (means,), tangent)


def _per_instance(batch: Batch, model: Summed) -> BatchSums:
    each = batch.each(lambda *arrays: marginals(model, *arrays))
    apart = dataclasses.replace(batch, shared=(False,) * len(batch.shared))
    shapes = [(len(batch), *a.shape) if s else a.shape for a, s in zip(batch.arrays, batch.shared, strict=True)]

    def gather(parts: list[tuple[Floats, ...]]) -> tuple[Floats, ...]:
        result = tuple(np.zeros(shape) for shape in shapes)
        for k, own in enumerate(parts):
            apart.add(k, result, own)
        return result

    def tangent(*directions: Floats) -> tuple[Floats, ...]:
        return gather([one.gradient(*apart.instance(k, directions)) for k, one in enumerate(each)])

    return BatchSums(np.array([one.log_partition for one in each]), gather([one.means for one in each]), tangent)


def _crop(oracle: Any, length: int, arrays: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    if hasattr(oracle, "crop"):
        return tuple(oracle.crop(length, *arrays))
    if isinstance(oracle, Chains):
        return (arrays[0][:length], *(a[:length] if a.ndim == 3 else a for a in arrays[1:]))
    if isinstance(oracle, (Trees, ProjectiveTrees)):
        return tuple(a[(slice(length + 1),) * a.ndim] for a in arrays)
    return tuple(a[:length] for a in arrays)


def _lengths(oracle: Any, first: Floats, lengths: ArrayLike | None, mask: ArrayLike | None) -> Ints | None:
    if lengths is None and mask is None:
        return None
    longest = first.shape[1] - (1 if isinstance(oracle, (Trees, ProjectiveTrees)) else 0)
    try:
        if lengths is not None:
            if mask is not None:
                raise InputError("expected lengths or a mask, not both")
            result: Ints = as_integers(lengths, "lengths", shape=(len(first),), low=1, high=longest)
            return result
        given = as_booleans(mask, "mask", shape=(len(first), longest))
    except ArrayError as error:
        raise InputError(str(error)) from None
    counted: Ints = given.sum(axis=1).astype(np.int64)
    wrong = ((given != (np.arange(longest) < counted[:, np.newaxis])).any(axis=1)) | (counted == 0)
    if wrong.any():
        raise InputError(
            f"mask: expected one true entry or more, all before the false ones, which does not hold in instance "
            f"{int(np.argmax(wrong))}"
        )
    return counted
