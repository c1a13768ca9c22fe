"""A sequence tagger in the form of scikit-learn's estimators: a conditional random field over a chain.

    tagger = CRFTagger().fit(sentences, tags)         # one dict of features, or one row of an array, per token
    tagger.predict(sentences)

scikit-learn is optional: install the extra ``learning``.  Estimators of clusterings are in
``colgen.problems``, because they need a template.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import InputError
from colgen.core.numbers import integer, real
from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.chains.sums import chain_sums
from colgen.solvers.chains.viterbi import viterbi

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    needed = "colgen.sklearn needs scikit-learn 1.6 or newer; run: pip install colgen[learning]"
    raise ModuleNotFoundError(needed, name="sklearn") from error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PAIRS = 2**24
"""Maximum number of pairs of labels, over all chains of a block, that a gradient stores at once."""

_ADDED = 3
"""Number of added features: a constant, the first token of a sequence, and the last."""


class CRFTagger(BaseEstimator):
    """Labels of sequences by a linear-chain conditional random field, trained by L-BFGS.

    A labelling scores the sum of its tokens' features times weights, one weight per feature and label, of the
    transitions between labels, and of the labels at both ends.  The loss is the negative log-likelihood plus
    ½ λ ‖weights‖², which is convex.  Its gradients are exact.

    Parameters
    ----------
    regularization
        λ, at least 0.
    max_iter
        Maximum number of iterations.
    tol
        Relative decrease of the loss in one iteration below which training stops.

    Attributes
    ----------
    classes_
        Labels in ascending order, shape (labels,).
    coef_
        Weights of features, shape (features, labels).
    intercept_, start_, end_
        Scores of labels at each token, at the first and at the last, shape (labels,).
    transitions_
        Scores of a label and the next one, shape (labels, labels).
    vectorizer_
        The :class:`sklearn.feature_extraction.DictVectorizer` of features given as dicts; None for arrays.
    loss_
        Regularized loss at the end of the training.
    n_iter_, n_features_in_
        Numbers of iterations and of features.

    References
    ----------
    J. Lafferty, A. McCallum, F. Pereira, *Conditional random fields*, ICML 2001.

    Examples
    --------
    >>> X = [[{"word": "a"}, {"word": "dog"}], [{"word": "the"}, {"word": "cat"}]]
    >>> CRFTagger().fit(X, [["DET", "NOUN"], ["DET", "NOUN"]]).predict([[{"word": "a"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """

    def __init__(self, *, regularization: float = 1.0, max_iter: int = 200, tol: float = 1e-6) -> None:
        self.regularization, self.max_iter, self.tol = regularization, max_iter, tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        return tags

    def fit(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> Self:
        """Learn weights and return the estimator.

        Parameters
        ----------
        X
            Sequences.  Each is a list of dicts, one per token, whose values are numbers or strings, or an array or
            sparse matrix of shape (tokens, features).
        y
            The labels of each sequence, strings or integers.

        Raises
        ------
        InputError
            If sequences, labels or a parameter are invalid.
        """
        from scipy import optimize  # takes 0.25 s to import and is needed only in training

        decay = real(self.regularization, "regularization")
        most, tol = integer(self.max_iter, "max_iter", low=1), real(self.tol, "tol")
        features, offsets = self._features(X, fit=True)
        if not offsets[-1]:
            raise InputError("X: expected one token or more, got none")
        labels = _labels(y, offsets)
        self.classes_ = _classes(labels)
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        right = np.array([number[label] for label in labels], dtype=np.int64)
        loss = _Loss(features, offsets, right, len(self.classes_), decay)
        found = optimize.minimize(
            loss, np.zeros(loss.size), jac=True, method="L-BFGS-B", options={"maxiter": most, "ftol": tol}
        )
        if found.nit >= most and not found.success:
            warnings.warn(f"CRFTagger: no convergence after max_iter = {most} iterations", ConvergenceWarning, 2)
        weights, self.transitions_ = loss.split(found.x)
        self.coef_, (self.intercept_, self.start_, self.end_) = weights[:-_ADDED], weights[-_ADDED:]
        self.loss_, self.n_iter_ = float(found.fun), int(found.nit)
        return self

    def predict(self, X: Sequence[Any]) -> list[list[Any]]:
        """Return the most probable labels of each sequence."""
        scores, offsets = self._scores(X)
        parts = [viterbi(*block, self.transitions_)[0] for block in _blocks(scores, offsets)]
        found = self.classes_[np.concatenate([np.zeros(0, dtype=np.int64), *parts])].tolist()
        return [found[start:end] for start, end in pairwise(offsets.tolist())]

    def predict_marginals(self, X: Sequence[Any]) -> list[Floats]:
        """Return the probability of each label at each token, one array of shape (tokens, labels) per sequence."""
        scores, offsets = self._scores(X)
        parts = [chain_sums(*block, self.transitions_).labels for block in _blocks(scores, offsets)]
        found = np.concatenate([scores[:0], *parts])
        return [found[start:end] for start, end in pairwise(offsets.tolist())]

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """Return the share of tokens whose label is right."""
        predicted = self.predict(X)
        right = _labels(y, np.cumsum([0, *map(len, predicted)]))
        if not right:
            raise InputError("X: expected one token or more, got none")
        found = (label for sequence in predicted for label in sequence)
        return float(np.mean([label == own for label, own in zip(right, found, strict=True)]))

    def _scores(self, X: Sequence[Any]) -> tuple[Floats, Ints]:
        """Return scores of the labels of all tokens, and offsets of the sequences."""
        check_is_fitted(self, "classes_")
        features, offsets = self._features(X)
        weights = np.vstack([self.coef_, self.intercept_, self.start_, self.end_])
        return np.asarray(features @ weights), offsets

    def _features(self, X: Sequence[Any], *, fit: bool = False) -> tuple[Any, Ints]:
        """Return a sparse matrix of features, a row per token and the added ones last, and offsets of the sequences."""
        if isinstance(X, (str, Mapping)) or not hasattr(X, "__iter__"):
            raise InputError(f"X: expected a list of sequences, got an object of type {type(X).__name__}")
        sequences = list(X)
        lengths = [_length(sequence, k) for k, sequence in enumerate(sequences)]
        offsets = np.cumsum([0, *lengths], dtype=np.int64)
        full = {k: sequence for k, sequence in enumerate(sequences) if lengths[k]}
        named = any(isinstance(own, (list, tuple)) and isinstance(own[0], Mapping) for own in full.values())
        if fit:
            self.vectorizer_: Any = DictVectorizer() if named else None
        elif full and named != (self.vectorizer_ is not None):
            expected = "arrays" if self.vectorizer_ is None else "dicts of features"
            raise InputError(f"X: expected sequences of {expected}, as in fit")
        if named:
            tokens = _dicts(full)
            matrix = self.vectorizer_.fit_transform(tokens) if fit else self.vectorizer_.transform(tokens)
            if not np.isfinite(matrix.data).all():
                raise InputError("X: expected finite values of features, got NaN or infinity")
        else:
            matrix = _stacked(full, None if fit else int(self.n_features_in_))
        if fit:
            self.n_features_in_: int = matrix.shape[1]
        added = np.zeros((int(offsets[-1]), _ADDED))
        added[:, 0] = 1.0
        starts, ends = offsets[:-1], offsets[1:]
        added[starts[ends > starts], 1] = added[ends[ends > starts] - 1, 2] = 1.0
        return sparse.hstack([matrix, added], format="csr"), offsets


class _Loss:
    """Regularized negative log-likelihood of labelled sequences and its gradient, for a flat array of weights."""

    def __init__(self, features: Any, offsets: Ints, right: Ints, num_labels: int, decay: float) -> None:
        self._features, self._offsets, self._right, self._decay = features, offsets, right, decay
        self._shape = features.shape[1], num_labels
        self.size = (features.shape[1] + num_labels) * num_labels
        one_hot = np.zeros((len(right), num_labels))
        one_hot[np.arange(len(right)), right] = 1.0
        steps = np.ones(len(right), dtype=bool)
        steps[offsets[:-1][offsets[:-1] < len(right)]] = False  # no step leads to the first token of a sequence
        into = np.flatnonzero(steps)
        pairs = np.zeros((num_labels, num_labels))
        np.add.at(pairs, (right[into - 1], right[into]), 1.0)
        self._observed = np.concatenate([np.asarray(features.T @ one_hot).ravel(), pairs.ravel()])

    def split(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weights of features, shape (features, labels), and of transitions."""
        end = self._shape[0] * self._shape[1]
        return weights[:end].reshape(self._shape), weights[end:].reshape(self._shape[1], self._shape[1])

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        by_feature, transitions = self.split(weights)
        scores = np.asarray(self._features @ by_feature)
        value, means, pairs = 0.0, [], np.zeros(transitions.shape)
        for block in _blocks(scores, self._offsets):
            sums = chain_sums(*block, transitions)
            value += float(sums.log_partition.sum())
            means.append(sums.labels)
            pairs += sums.pairs.sum(axis=0)
        expected = np.concatenate([np.asarray(self._features.T @ np.concatenate(means)).ravel(), pairs.ravel()])
        value += 0.5 * self._decay * float(weights @ weights) - float(weights @ self._observed)
        return value, expected - self._observed + self._decay * weights


def _blocks(scores: Floats, offsets: Ints) -> list[tuple[Floats, Ints]]:
    """Return scores and offsets of consecutive sequences, so many that their pairs of labels fit into memory.

    Empty sequences are left out, because kernels accept none.
    """
    kept, count = np.unique(offsets), max(_PAIRS // scores.shape[1] ** 2, 1)
    parts = [kept[start : start + count + 1] for start in range(0, len(kept) - 1, count)]
    return [(scores[part[0] : part[-1]], part - part[0]) for part in parts]


def _length(sequence: Any, number: int) -> int:
    """Return the number of tokens of a sequence."""
    if hasattr(sequence, "shape") and len(sequence.shape) == 2:
        return int(sequence.shape[0])
    if isinstance(sequence, (list, tuple)):
        return len(sequence)
    raise InputError(
        f"X[{number}]: expected a list of dicts or an array of shape (tokens, features), got an object of type "
        f"{type(sequence).__name__}" + (f" and shape {sequence.shape}" if hasattr(sequence, "shape") else "")
    )


def _dicts(sequences: Mapping[int, Any]) -> list[Mapping[str, Any]]:
    """Return the dicts of all tokens."""
    for k, sequence in sequences.items():
        tokens = sequence if isinstance(sequence, (list, tuple)) else [sequence]
        wrong = next((token for token in tokens if not isinstance(token, Mapping)), None)
        if wrong is not None:
            raise InputError(
                f"X[{k}]: expected a dict of features per token, got an object of type {type(wrong).__name__}"
            )
    return [token for sequence in sequences.values() for token in sequence]


def _stacked(sequences: Mapping[int, Any], columns: int | None) -> Any:
    """Return the rows of all arrays as one sparse matrix, with the given number of columns."""
    parts = []
    for k, sequence in sequences.items():
        name = f"X[{k}]"
        try:
            if sparse.issparse(sequence):
                part = sparse.csr_matrix(sequence, dtype=np.float64)
                as_floats(part.data, name)
            else:
                part = sparse.csr_matrix(as_floats(sequence, name, shape=(None, None)))
        except ArrayError as error:
            raise InputError(str(error)) from None
        columns = part.shape[1] if columns is None else columns
        if part.shape[1] != columns:
            raise InputError(f"{name}: expected {columns} features per token, got {part.shape[1]}")
        parts.append(part)
    return sparse.vstack(parts, format="csr") if parts else sparse.csr_matrix((0, columns or 0))


def _labels(y: Any, offsets: Ints) -> list[Any]:
    """Return the labels of all tokens, after checking their numbers."""
    if y is None or isinstance(y, str) or not hasattr(y, "__len__"):
        raise InputError(f"y: expected a list of labels for each sequence, got an object of type {type(y).__name__}")
    lengths = np.diff(offsets)
    if len(y) != len(lengths):
        raise InputError(f"y: expected labels of {len(lengths)} sequences, as in X, got {len(y)}")
    labels: list[Any] = []
    for k, (own, length) in enumerate(zip(y, lengths.tolist(), strict=True)):
        if isinstance(own, str) or not hasattr(own, "__len__") or len(own) != length:
            raise InputError(f"y[{k}]: expected {length} labels, one per token, got {str(own)[:40]!r}")
        labels += own.tolist() if isinstance(own, np.ndarray) else list(own)
    return labels


def _classes(labels: Sequence[Any]) -> NDArray[Any]:
    """Return the different labels in ascending order."""
    try:
        return np.array(sorted(set(labels)))
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(f"y: expected labels that are all strings or all integers, got {kinds}") from None


__all__ = ["CRFTagger"]
