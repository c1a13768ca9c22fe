"""JAX functions around oracles of structures: means, marginals and losses with gradients.

    layer = SparseMAP(Chains())
    means = layer(scores, transitions)                                         # one instance
    means = jax.vmap(layer, in_axes=(0, None))(scores, transitions)            # a batch, in one call of the processor

Layers work under ``jit``, ``vmap`` and ``grad``.  Each takes one instance; ``vmap`` passes a batch to the processor in
one call.  ``length`` is the number of valid tokens of chains, words of trees, or items; means and gradients are zero
beyond it.  Scores may have any floating-point type, and results have that of the first array.  Computations use 64 bits
on the processor.  Only first-order gradients in reverse mode exist.  JAX is optional: install the extra ``jax``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.batches import Batch, batch_of, batch_sums
from colgen.learning.losses import Loss, Margin, Regularization, fenchel_young, hinge
from colgen.learning.oracles import Chains
from colgen.learning.sparsemap import SparseMean, sparsemap

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ModuleNotFoundError("colgen.jax needs JAX; run: pip install colgen[jax]", name="jax") from error

Floats = NDArray[np.float64]
Compute = Callable[..., Sequence[Floats]]
"""A function of a batch, and of further arrays with the instances along the first axis; its results have them too."""


class _Layer:
    """Base of all layers: a function of scores whose value and derivatives are computed outside JAX.

    Subclasses implement :meth:`_value` and :meth:`_gradient`, or override :meth:`_forward` and :meth:`_backward`.
    """

    def __init__(self, oracle: Any, *, workers: int = 1) -> None:
        self.oracle, self.workers = oracle, workers
        self._function = jax.custom_vjp(lambda *arguments: self._forward(*arguments)[0])
        self._function.defvjp(self._forward, self._backward)

    def __call__(self, *scores: Any, length: Any = None) -> Any:
        """Return the value for the scores of one instance."""
        return self._function(self._checked(scores), _length(length))

    def _value(self, batch: Batch) -> Sequence[Floats]:
        """Return one array of values, in the shape of the first array of scores."""
        raise NotImplementedError

    def _gradient(self, batch: Batch, derivative: Floats) -> Sequence[Floats]:
        """Return derivatives with respect to each array of scores, given those with respect to the values."""
        raise NotImplementedError

    def _forward(self, scores: Any, length: Any) -> tuple[Any, Any]:
        return self._call(self._value, _like(scores[:1]), scores, length)[0], (scores, length)

    def _backward(self, carry: Any, derivative: Any) -> tuple[Any, ...]:
        scores, length = carry
        return tuple(self._call(self._gradient, _like(scores), scores, length, derivative)), None

    def _checked(self, scores: Sequence[Any]) -> tuple[Any, ...]:
        """Return arrays of scores after checking their types, and their shapes by the oracle."""
        if not scores:
            raise InputError("scores: expected one array or more")
        arrays = tuple(jnp.asarray(array) for array in scores)
        for k, array in enumerate(arrays):
            if not jnp.issubdtype(array.dtype, jnp.floating):
                raise InputError(f"{f'scores {k}' if k else 'scores'}: expected floats, got {array.dtype}")
        if hasattr(self.oracle, "check"):
            self.oracle.check(*(np.zeros(array.shape) for array in arrays))
        return arrays

    def _call(self, compute: Compute, results: Sequence[Any], scores: Any, length: Any, *others: Any) -> list[Any]:
        """Return arrays computed on the processor, also for batches along any number of leading axes.

        Parameters
        ----------
        results
            Shapes and types of the results of one instance.
        others
            Further arrays, or trees of arrays, that are passed to ``compute``.
        """
        leaves, tree = jax.tree.flatten((scores, length, others))
        axes = [leaf.ndim for leaf in leaves]

        def on_processor(*given: Any) -> list[NDArray[Any]]:
            arrays = [np.asarray(array) for array in given]
            leading = [array.shape[: array.ndim - own] for array, own in zip(arrays, axes, strict=True)]
            outer = np.broadcast_shapes(*leading)
            inner = [array.shape[len(own) :] for array, own in zip(arrays, leading, strict=True)]
            alike = (
                isinstance(self.oracle, Chains) and axes[1] == 2 and math.prod(leading[1]) == 1
            )  # shared transitions
            shared = [alike and k == 1 for k in range(len(arrays))]
            flat = [
                array.reshape(own) if shared[k] else np.broadcast_to(array, outer + own).reshape(math.prod(outer), *own)
                for k, (array, own) in enumerate(zip(arrays, inner, strict=True))
            ]
            theta, own_length, own_others = jax.tree.unflatten(tree, flat)
            batch = batch_of(
                self.oracle,
                [array.astype(np.float64) for array in theta],
                lengths=own_length,
                shared=shared[: len(theta)],
                workers=self.workers,
            )
            found = compute(batch, *own_others)
            return [
                array.reshape(outer + result.shape).astype(result.dtype)
                for array, result in zip(found, results, strict=True)
            ]

        call = jax.custom_jvp(
            lambda *arrays: jax.pure_callback(on_processor, list(results), *arrays, vmap_method="expand_dims")
        )
        call.defjvp(_refuse_derivatives)
        called: list[Any] = call(*leaves)
        return called


class SparseMAP(_Layer):
    """Sparse means of structures (Niculae et al., 2018) for any oracle, in the shape of the first array of scores.

    Parameters
    ----------
    oracle
        See :mod:`colgen.learning.oracles`.
    rounds
        Maximum number of oracle calls per instance; by default until the mean is exact.
    workers
        Number of threads for the instances of a batch; results do not depend on it.

    Notes
    -----
    The mean has a kink where its set of structures changes.  The gradient there is one of the limits of nearby
    gradients.  The backward pass computes the mean again.
    """

    def __init__(self, oracle: Any, *, rounds: int | None = None, workers: int = 1) -> None:
        super().__init__(oracle, workers=workers)
        self.rounds = rounds

    def _value(self, batch: Batch) -> Sequence[Floats]:
        means = np.zeros(batch.arrays[0].shape)
        for k, one in enumerate(self._means(batch)):
            batch.instance(k, (means, *batch.arrays[1:]))[0][...] = one.marginals
        return [means]

    def _gradient(self, batch: Batch, derivative: Floats) -> Sequence[Floats]:
        sparse, arrays = self._means(batch), (np.asarray(derivative, dtype=np.float64), *batch.arrays[1:])
        return _gathered(batch, batch.over(lambda k: sparse[k].gradient(batch.instance(k, arrays)[0])))

    def _means(self, batch: Batch) -> list[SparseMean]:
        return batch.each(lambda *arrays: sparsemap(self.oracle, *arrays, rounds=self.rounds))


class Marginals(_Layer):
    """Marginals of chains, trees and projective trees, in the shape of the first array of scores.

    The backward pass computes the sums over all structures again.
    """

    def _value(self, batch: Batch) -> Sequence[Floats]:
        return [batch_sums(batch).means[0]]

    def _gradient(self, batch: Batch, derivative: Floats) -> Sequence[Floats]:
        sums = batch_sums(batch)
        zeros = (np.zeros(mean.shape) for mean in sums.means[1:])
        return sums.tangent(np.asarray(derivative, dtype=np.float64), *zeros)


class _Value(_Layer):
    """A layer with one number per instance, whose gradients are computed along with it."""

    def _with_gradients(self, batch: Batch, *others: Any) -> Sequence[Floats]:
        """Return the values, and their derivatives with respect to each array of scores."""
        raise NotImplementedError

    def _forward(self, scores: Any, length: Any, *others: Any) -> tuple[Any, Any]:
        results = [jax.ShapeDtypeStruct((), scores[0].dtype), *_like(scores)]
        value, *gradients = self._call(self._with_gradients, results, scores, length, *others)
        return value, (tuple(gradients), (None,) * len(others))

    def _backward(self, carry: Any, derivative: Any) -> tuple[Any, ...]:
        gradients, others = carry
        return tuple((derivative * own).astype(own.dtype) for own in gradients), None, *others


class LogPartition(_Value):
    """log Σ exp over the scores of all structures; its gradients are the marginals."""

    def _with_gradients(self, batch: Batch, *others: Any) -> Sequence[Floats]:
        sums = batch_sums(batch)
        return [sums.log_partition, *sums.means]


class _LossLayer(_Value):
    """A loss against a gold structure."""

    def __call__(self, *scores: Any, gold: Any, length: Any = None) -> Any:  # type: ignore[override]
        """Return the loss of one instance.

        Parameters
        ----------
        gold
            The gold structure: labels of a chain, shape (tokens,); heads of a tree, shape (N,), the root's ignored;
            cluster numbers, shape (n,); or parts, see :mod:`colgen.learning.oracles`.
        """
        return self._function(self._checked(scores), _length(length), jax.tree.map(jnp.asarray, gold))

    def _loss(self, gold: Any, scores: Sequence[Floats], number: int) -> Loss:
        raise NotImplementedError

    def _with_gradients(self, batch: Batch, *others: Any) -> Sequence[Floats]:
        leaves, tree = jax.tree.flatten(others[0])

        def loss(k: int) -> Loss:
            given = jax.tree.unflatten(tree, [leaf[k] for leaf in leaves])
            return self._loss(batch.gold(k, given), batch.instance(k), k)

        losses: list[Loss] = batch.over(loss)
        return [np.array([one.value for one in losses]), *_gathered(batch, [one.gradients for one in losses])]


class StructuredHinge(_LossLayer):
    """Structured hinge loss, max_y s(y) + Δ(y) - s(gold).

    Parameters
    ----------
    margin
        Δ: ``"hamming"``, ``"zero_one"`` or ``"none"``, see :func:`colgen.learning.augmented`.
    """

    def __init__(self, oracle: Any, *, margin: Margin = "hamming", workers: int = 1) -> None:
        super().__init__(oracle, workers=workers)
        self.margin: Margin = margin

    def _loss(self, gold: Any, scores: Sequence[Floats], number: int) -> Loss:
        return hinge(self.oracle, gold, *scores, margin=self.margin)


class FenchelYoung(_LossLayer):
    """Fenchel-Young loss, see :func:`colgen.learning.fenchel_young`; ``"gibbs"`` is the negative log-likelihood.

    Parameters
    ----------
    regularization
        ``"sparsemap"``, ``"gibbs"``, ``"beliefs"`` or ``"perturbed"``.
    samples, spread, seed
        Number of perturbations, factor of their noise, and seed; the k-th instance of a batch has the seed plus k.
    rounds
        Maximum number of rounds of SparseMAP.
    """

    def __init__(
        self,
        oracle: Any,
        *,
        regularization: Regularization = "sparsemap",
        samples: int = 16,
        spread: float = 1.0,
        seed: int = 0,
        rounds: int | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(oracle, workers=workers)
        self.regularization: Regularization = regularization
        self.samples, self.spread, self.seed, self.rounds = samples, spread, seed, rounds

    def _loss(self, gold: Any, scores: Sequence[Floats], number: int) -> Loss:
        return fenchel_young(
            self.oracle,
            gold,
            *scores,
            regularization=self.regularization,
            samples=self.samples,
            spread=self.spread,
            seed=self.seed + number,
            rounds=self.rounds,
        )


def _refuse_derivatives(*arguments: Any) -> Any:
    raise InputError(
        "layers of colgen have first-order gradients in reverse mode only; jax.hessian, jax.jvp and gradients of "
        "gradients are not available"
    )


def _length(length: Any) -> Any:
    """Return a length as an array."""
    return None if length is None else jnp.asarray(length)


def _like(scores: Sequence[Any]) -> list[Any]:
    """Return the shapes and types of arrays."""
    return [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in scores]


def _gathered(batch: Batch, parts: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Return the arrays of all instances with the instances along the first axis, also those of shared arrays."""
    apart = dataclasses.replace(batch, shared=(False,) * len(batch.shared))
    shapes = [(len(batch), *a.shape) if s else a.shape for a, s in zip(batch.arrays, batch.shared, strict=True)]
    result = [np.zeros(shape) for shape in shapes]
    for k, own in enumerate(parts):
        apart.add(k, result, own)
    return result


__all__ = ["FenchelYoung", "LogPartition", "Marginals", "SparseMAP", "StructuredHinge"]
