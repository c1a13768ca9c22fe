"""PyTorch layers around oracles of structures: means, marginals and losses with gradients, over batches.

    layer = SparseMAP(Chains())
    means = layer(scores, transitions, lengths=lengths)          # scores (batch, tokens, labels); gradients flow back

Instances lie along the first axis. ``lengths`` or a ``mask`` marks the valid part of each, anywhere in the sequence;
means and gradients are zero elsewhere. Scores may have any floating-point type. Computations use 64 bits on the CPU.
Tensors of other devices are moved, with one warning per device type; sums over chains and trees of arcs are computed
where the scores are, see :mod:`colgen.torch_sums`. Only first-order gradients exist on the CPU. PyTorch is
optional: install the extra ``torch``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from colgen import torch_sums
from colgen.core.errors import InputError
from colgen.learning.batches import Batch, batch_of, batch_sums, best_counts
from colgen.learning.interpolation import check_length
from colgen.learning.losses import (
    Loss,
    Margin,
    Regularization,
    cone_aligned,
    fenchel_young,
    hinge,
    reflected,
    refuse_beaten,
    true_scores,
)
from colgen.learning.oracles import Structure
from colgen.learning.sparsemap import SparseMean, sparsemap
from colgen.solvers.arrays import ArrayError, as_floats, as_integers

Floats = NDArray[np.float64]

_MOVED: list[str] = []
"""Types of devices that tensors were moved from; each causes one warning."""


class _Layer(torch.nn.Module):
    """Base of all layers: an oracle, a mark for arrays shared by a batch, and threads over its instances."""

    def __init__(self, oracle: Any, *, shared: Sequence[bool] | None = None, workers: int = 1) -> None:
        super().__init__()
        self.oracle, self.shared, self.workers = oracle, shared, workers

    def _batch(self, tensors: Sequence[Any], lengths: Any, mask: Any, *, outline: bool = False) -> Batch:
        """Return the scores as a batch; an outline has their shapes alone, and no score is moved to the CPU."""
        for k, tensor in enumerate(tensors):
            _check_floats(tensor, _name(k))
        arrays = [np.zeros(t.shape) if outline else _array(t) for t in tensors]
        return batch_of(
            self.oracle,
            arrays,
            lengths=None if lengths is None else _plain(lengths),
            mask=None if mask is None else _plain(mask),
            shared=self.shared,
            workers=self.workers,
        )

    def _stays(self, scores: Sequence[Any]) -> bool:
        """Return whether sums over the structures are computed where the scores are, in operations of PyTorch."""
        return bool(scores) and _is_elsewhere(scores[0]) and torch_sums.has_sums(self.oracle)


class SparseMAP(_Layer):
    """Sparse means of structures (Niculae et al., 2018) for any oracle.

    Parameters
    ----------
    oracle
        See :mod:`colgen.learning.oracles`.
    shared
        Which arrays of scores have no axis of instances, see :func:`colgen.learning.batches.batch_of`.
    rounds
        Maximum number of oracle calls per instance; by default until the mean is exact.
    workers
        Number of threads for the instances of a batch; results do not depend on it.

    Notes
    -----
    The mean has a kink where its set of structures changes. The gradient there is that of the current set, one of the
    limits of nearby gradients.
    """

    def __init__(
        self, oracle: Any, *, shared: Sequence[bool] | None = None, rounds: int | None = None, workers: int = 1
    ) -> None:
        super().__init__(oracle, shared=shared, workers=workers)
        self.rounds = rounds

    def forward(self, *scores: Any, lengths: Any = None, mask: Any = None) -> Any:
        """Return means of the first array of scores, in its shape."""
        batch = self._batch(scores, lengths, mask)
        sparse: list[SparseMean] = batch.each(lambda *arrays: sparsemap(self.oracle, *arrays, rounds=self.rounds))
        means = [np.zeros(array.shape) for array in batch.arrays]
        for k, one in enumerate(sparse):
            batch.add(k, means, one.means)

        def backward(derivative: Floats) -> list[Floats]:
            gradients = [np.zeros(array.shape) for array in batch.arrays]
            arrays = (derivative, *batch.arrays[1:])
            for k, own in enumerate(batch.over(lambda k: sparse[k].gradient(batch.instance(k, arrays)[0]))):
                batch.add(k, gradients, own)
            return gradients

        return _Computed.apply(means[0], backward, *scores)


class Marginals(_Layer):
    """Marginals of chains, trees and projective trees: the expected number of times each part occurs."""

    def forward(self, *scores: Any, lengths: Any = None, mask: Any = None) -> Any:
        """Return marginals in the shape of the first array of scores."""
        if self._stays(scores):
            return torch_sums.marginals(self._batch(scores, lengths, mask, outline=True), scores)
        batch = self._batch(scores, lengths, mask)
        sums = batch_sums(batch)

        def backward(derivative: Floats) -> list[Floats]:
            return _gathered(batch, sums.tangent(derivative, *(np.zeros(mean.shape) for mean in sums.means[1:])))

        return _Computed.apply(sums.means[0], backward, *scores)


class LogPartition(_Layer):
    """log Σ exp over the scores of all structures; its gradients are the marginals."""

    def forward(self, *scores: Any, lengths: Any = None, mask: Any = None) -> Any:
        """Return one number per instance."""
        if self._stays(scores):
            return torch_sums.log_partition(self._batch(scores, lengths, mask, outline=True), scores)
        batch = self._batch(scores, lengths, mask)
        sums = batch_sums(batch)

        def backward(derivative: Floats) -> list[Floats]:
            return _gathered(batch, sums.scaled_means(derivative))

        return _Computed.apply(sums.log_partition, backward, *scores)


class _Reduced(_Layer):
    """A loss per instance, reduced to one number."""

    def __init__(
        self, oracle: Any, *, reduction: str = "mean", shared: Sequence[bool] | None = None, workers: int = 1
    ) -> None:
        super().__init__(oracle, shared=shared, workers=workers)
        if reduction not in ("mean", "sum", "none"):
            raise InputError(f"reduction: expected 'mean', 'sum' or 'none', got {reduction!r}")
        self.reduction = reduction

    def _reduce(self, each: Any) -> Any:
        return each if self.reduction == "none" else each.mean() if self.reduction == "mean" else each.sum()


class _LossLayer(_Reduced):
    """A loss against gold structures."""

    def _loss(self, gold: Any, scores: Sequence[Any], *, k: int) -> Loss:
        raise NotImplementedError

    def forward(self, *scores: Any, gold: Any, lengths: Any = None, mask: Any = None) -> Any:
        """Return the loss, or one loss per instance if ``reduction`` is ``"none"``.

        Parameters
        ----------
        gold
            The gold structures, one per instance: labels of chains, shape (batch, tokens); heads of trees, shape
            (batch, N), the root's ignored; cluster numbers, shape (batch, n); or parts, see
            :mod:`colgen.learning.oracles`. Labels outside an instance's valid part are ignored; parts are those of the
            instance without padding.
        """
        batch = self._batch(scores, lengths, mask)
        structures = _gold(batch, gold)

        def loss_of(k: int) -> Loss:
            own = batch.instance(k)
            return self._loss(structures[k], own, k=k)

        losses: list[Loss] = batch.over(loss_of)
        values = np.array([loss.value for loss in losses])

        def backward(derivative: Floats) -> list[Floats]:
            gradients = [np.zeros(array.shape) for array in batch.arrays]
            for k, loss in enumerate(losses):
                batch.add(k, gradients, [derivative[k] * own for own in loss.gradients])
            return gradients

        return self._reduce(_Computed.apply(values, backward, *scores))


class StructuredHinge(_LossLayer):
    """Structured hinge loss, max_y s(y) + Δ(y) - s(gold).

    Its gradient is the worst violator minus the gold structure. If several violate equally, the oracle's choice gives a
    subgradient.

    Parameters
    ----------
    margin
        Δ: ``"hamming"``, ``"zero_one"`` or ``"none"``, see :func:`colgen.learning.augmented`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self,
        oracle: Any,
        *,
        margin: Margin = "hamming",
        reduction: str = "mean",
        shared: Sequence[bool] | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(oracle, reduction=reduction, shared=shared, workers=workers)
        self.margin: Margin = margin

    def _loss(self, gold: Any, scores: Sequence[Any], *, k: int) -> Loss:
        return hinge(self.oracle, gold, *scores, margin=self.margin)


class FenchelYoung(_LossLayer):
    """Fenchel-Young loss, see :func:`colgen.learning.fenchel_young`; ``"gibbs"`` is the negative log-likelihood.

    Parameters
    ----------
    regularization
        ``"sparsemap"``, ``"gibbs"``, ``"beliefs"`` or ``"perturbed"``.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    samples, spread, seed
        Number of perturbations, factor of their noise, and seed.
    rounds
        Maximum number of rounds of SparseMAP.
    """

    def __init__(
        self,
        oracle: Any,
        *,
        regularization: Regularization = "sparsemap",
        reduction: str = "mean",
        samples: int = 16,
        spread: float = 1.0,
        seed: int = 0,
        rounds: int | None = None,
        shared: Sequence[bool] | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(oracle, reduction=reduction, shared=shared, workers=workers)
        self.rounds = rounds
        self.regularization: Regularization = regularization
        self.samples, self.spread, self.seed = samples, spread, seed

    def forward(self, *scores: Any, gold: Any, lengths: Any = None, mask: Any = None) -> Any:
        """Return the loss, see :class:`StructuredHinge`."""
        if self.regularization != "gibbs" or not self._stays(scores):
            return super().forward(*scores, gold=gold, lengths=lengths, mask=mask)
        batch = self._batch(scores, lengths, mask, outline=True)
        own = torch_sums.gold_scores(batch, scores, _gold(batch, gold))
        return self._reduce(torch_sums.log_partition(batch, scores) - own)

    def _loss(self, gold: Any, scores: Sequence[Any], *, k: int) -> Loss:
        return fenchel_young(
            self.oracle,
            gold,
            *scores,
            regularization=self.regularization,
            samples=self.samples,
            spread=self.spread,
            seed=self.seed + k,
            rounds=self.rounds,
        )


class SPOPlus(_Reduced):
    """SPO+ loss of predicted scores (Elmachtoub and Grigas, 2022), see :func:`colgen.learning.spo_plus`.

    Parameters
    ----------
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def forward(self, *scores: Any, true: Any, gold: Any = None, lengths: Any = None, mask: Any = None) -> Any:
        """Return the loss, or one loss per instance if ``reduction`` is ``"none"``.

        Parameters
        ----------
        true
            The true scores in the shape of the predicted ones; a tuple for an oracle of several arrays.
        gold
            The best structures at the true scores, one per instance, as in the other losses; with one array of scores
            also their counts in its shape.  None: they are computed, which takes a second call of the oracle.
        """
        batch = self._batch(scores, lengths, mask)
        known = true_scores(batch.arrays, tuple(_array(t) for t in (true if isinstance(true, tuple) else (true,))))
        own = best_counts(batch.with_arrays(known)) if gold is None else _gold_counts(batch, gold)
        at = reflected(batch.arrays, known)
        differences = [f - g for f, g in zip(best_counts(batch.with_arrays(at)), own, strict=True)]
        products = [np.where(d == 0.0, 0.0, a) * d for a, d in zip(at, differences, strict=True)]
        values = np.sum([p.reshape(len(batch), -1).sum(axis=1) for p in products], axis=0)
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            raise InputError(f"instance {k} of the batch: the gold structure has a forbidden part, of score -inf")
        refuse_beaten(self.oracle, values.min(initial=0.0), max(1.0, *(float(np.abs(p).sum()) for p in products)))

        def backward(derivative: Floats) -> list[Floats]:
            return _gathered(batch, [2.0 * d * derivative.reshape(-1, *(1,) * (d.ndim - 1)) for d in differences])

        return self._reduce(_Computed.apply(values, backward, *scores))


def first_pieces(states: Any, word_ids: Any) -> tuple[Any, Any]:
    """Return the states of the first piece of each word, shape (batch, words, dim), and the numbers of words.

    Rows beyond an instance's words are zero. Gradients flow to the first pieces.

    Parameters
    ----------
    states
        Hidden states of an encoder, shape (batch, pieces, dim).
    word_ids
        For each instance the word of each piece, numbered from 0; None or -1 for special pieces and padding, as from
        ``encoding.word_ids(k)`` of Hugging Face tokenizers. Lists, or a tensor of shape (batch, pieces).

    Raises
    ------
    InputError
        If shapes do not fit, an instance has no word, or a word has no piece or pieces in several places.
    """
    if not isinstance(states, torch.Tensor) or states.ndim != 3:
        got = tuple(states.shape) if isinstance(states, torch.Tensor) else f"an object of type {type(states).__name__}"
        raise InputError(f"states: expected a tensor of shape (batch, pieces, dim), got {got}")
    if isinstance(word_ids, (list, tuple)):
        word_ids = [[-1 if word is None else word for word in own] for own in word_ids]
    try:
        ids = as_integers(_plain(word_ids), "word_ids", shape=tuple(states.shape[:2]), low=-1)
    except (ArrayError, ValueError) as error:
        wrong = str(error) if isinstance(error, ArrayError) else "word_ids: expected as many pieces for each instance"
        raise InputError(wrong) from None
    before = np.pad(ids, ((0, 0), (1, 0)), constant_values=-1)[:, :-1]
    rows, pieces = np.nonzero((ids >= 0) & (ids != before))
    lengths = np.bincount(rows, minlength=len(ids))
    number = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    for expected, unlike in (
        ("words numbered from 0 without gaps, each in one place", rows[ids[rows, pieces] != number]),
        ("one word or more", np.flatnonzero(lengths == 0)),
    ):
        if len(unlike):
            raise InputError(f"word_ids: expected {expected}, not in instance {unlike[0]}")

    def at(places: NDArray[Any]) -> Any:
        return torch.as_tensor(places, device=states.device)

    words = states.new_zeros((len(ids), int(lengths.max(initial=0)), states.shape[2]))
    words = words.index_put((at(rows), at(number)), states[at(rows), at(pieces)])
    return words, torch.as_tensor(lengths, device=states.device)


class ConeAligned(_LossLayer):
    """Cone-aligned loss (Tang and Khalil, 2024) with exact projections, see :func:`colgen.learning.cone_aligned`.

    Parameters
    ----------
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def _loss(self, gold: Any, scores: Sequence[Any], *, k: int) -> Loss:
        return cone_aligned(self.oracle, gold, *scores)


class BestStructure(_Layer):
    """Best structures with gradients by interpolation (Vlastelica et al., 2020), for losses of your own.

    Parameters
    ----------
    length
        How far the scores move along the loss's derivatives, see :func:`colgen.learning.interpolated`.
    """

    def __init__(
        self, oracle: Any, *, length: float = 10.0, shared: Sequence[bool] | None = None, workers: int = 1
    ) -> None:
        super().__init__(oracle, shared=shared, workers=workers)
        self.length = check_length(length)

    def forward(self, *scores: Any, lengths: Any = None, mask: Any = None) -> Any:
        """Return the counts of the first array's parts in the best structures, in its shape."""
        batch = self._batch(scores, lengths, mask)
        best = best_counts(batch)

        def backward(derivative: Floats) -> list[Floats]:
            moved = batch.with_arrays((batch.arrays[0] - self.length * derivative, *batch.arrays[1:]))
            return _gathered(batch, [(a - b) / self.length for a, b in zip(best, best_counts(moved), strict=True)])

        return _Computed.apply(best[0], backward, *scores)


class _Computed(torch.autograd.Function):
    """A value computed outside PyTorch, with the function that propagates derivatives back.

    Only first-order derivatives exist; second-order ones (``create_graph=True``) are an error.
    """

    @staticmethod
    def forward(ctx: Any, value: Floats, backward: Any, *tensors: Any) -> Any:
        ctx.carry = backward
        ctx.kinds = [(t.dtype, t.device) if isinstance(t, torch.Tensor) else None for t in tensors]
        ctx.save_for_backward(*(t for t in tensors if isinstance(t, torch.Tensor)))
        first = next(t for t in tensors if isinstance(t, torch.Tensor))
        return torch.as_tensor(value).to(dtype=first.dtype, device=first.device)

    @staticmethod
    def backward(ctx: Any, derivative: Any) -> Any:
        gradients = ctx.carry(_floats(derivative))
        back = [
            None if kind is None else torch.as_tensor(gradient).to(dtype=kind[0], device=kind[1])
            for gradient, kind in zip(gradients, ctx.kinds, strict=True)
        ]
        if torch.is_grad_enabled():  # the caller wants a graph of the derivatives
            back = [None if b is None else _FirstOrder.apply(b, derivative, *ctx.saved_tensors) for b in back]
        return (None, None, *back)


class _FirstOrder(torch.autograd.Function):
    """A gradient that cannot be differentiated again."""

    @staticmethod
    def forward(ctx: Any, gradient: Any, *origins: Any) -> Any:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, derivative: Any) -> Any:
        raise InputError(
            "layers of colgen have first-order gradients only; second-order gradients, such as a gradient penalty with "
            "create_graph=True, are not available"
        )


def _gathered(batch: Batch, means: Sequence[Floats]) -> list[Floats]:
    """Return derivatives of the arrays of a batch; those of shared arrays are summed over the instances."""
    return [m.sum(axis=0) if shared else m for m, shared in zip(means, batch.shared, strict=True)]


def _name(k: int) -> str:
    return f"scores {k}" if k else "scores"


def _check_floats(tensor: Any, name: str) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise InputError(f"{name}: expected a tensor, got an object of type {type(tensor).__name__}")
    if not tensor.is_floating_point():
        raise InputError(f"{name}: expected floats, got {tensor.dtype}")


def _is_elsewhere(tensor: Any) -> bool:
    """Return whether a tensor is on another device than the CPU."""
    return isinstance(tensor, torch.Tensor) and tensor.device.type != "cpu"


def _array(tensor: Any) -> Floats:
    """Convert a tensor to a 64-bit array; warn once if it is on another device."""
    if tensor.device.type != "cpu" and tensor.device.type not in _MOVED:
        _MOVED.append(tensor.device.type)
        warnings.warn(
            f"colgen computes on the CPU: tensors are moved there from {tensor.device}, and means and gradients are "
            "moved back",
            stacklevel=4,
        )
    return _floats(tensor)


def _floats(tensor: Any) -> Floats:
    """Return a tensor as a contiguous 64-bit array: the tensor's memory if possible, otherwise one copy."""
    kept = tensor.detach().to(device="cpu", dtype=torch.float64, memory_format=torch.contiguous_format)
    result: Floats = kept.contiguous().numpy()
    return result


def _plain(tensor: Any) -> NDArray[Any]:
    """Convert lengths, masks or labels to an array."""
    return np.asarray(tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else tensor)


def _gold_counts(batch: Batch, gold: Any) -> tuple[Floats, ...]:
    """Return the counts of the gold structures' parts, see :func:`colgen.learning.batches.best_counts`."""
    given = _plain(gold) if isinstance(gold, torch.Tensor) else gold
    if len(batch.arrays) == 1 and isinstance(given, np.ndarray) and given.dtype.kind in "bf":
        try:
            return (as_floats(given, "gold", shape=batch.arrays[0].shape),)
        except ArrayError as error:
            raise InputError(str(error)) from None

    structures = _gold(batch, given)

    def counts(k: int) -> tuple[Floats, ...]:
        own = batch.instance(k)
        return tuple(structures[k].array(number, theta.shape) for number, theta in enumerate(own))

    return batch.stack(batch.over(counts))


def _gold(batch: Batch, given: Any) -> list[Structure]:
    """Return the gold structures of all instances, checked."""
    given = _plain(given) if isinstance(given, torch.Tensor) else given
    count = len(given) if hasattr(given, "__len__") else "none"
    if count != len(batch):
        raise InputError(f"gold: expected {len(batch)} structures, one per instance, got {count}")
    return batch.over(lambda k: batch.gold(k, _plain(given[k]) if isinstance(given[k], torch.Tensor) else given[k]))
