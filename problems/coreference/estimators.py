"""Estimators of scikit-learn: exact correlation clustering and exact modularity clustering.

    labels = ExactCorrelationClustering(affinity="precomputed").fit_predict(scores)
    communities = ModularityClustering(affinity="precomputed").fit(adjacency)
    communities.labels_, communities.objective_, communities.proved_

Both solve :class:`~colgen.problems.coreference.Coreference` and end with a proof, unless a time limit stops them.  The
number of clusters is part of the answer.  scikit-learn is optional: install the extra ``learning``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from colgen import InputError, Termination, TimeLimit, solve
from colgen.core.numbers import integer, real
from colgen.problems.coreference.instance import CoreferenceInstance, modularity
from colgen.problems.coreference.template import Coreference

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
    from sklearn.neighbors import kneighbors_graph
    from sklearn.utils.validation import assert_all_finite, check_non_negative, check_symmetric, validate_data
except ImportError as error:
    needed = "the estimators need scikit-learn 1.6 or newer; run: pip install colgen[learning]"
    raise ModuleNotFoundError(needed, name="sklearn") from error

Floats = NDArray[np.float64]


class _ExactClustering(ClusterMixin, BaseEstimator):
    """Base of the estimators: the search, its time limit, and tags."""

    affinity: str | Callable[..., float]
    time_limit: float | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = True
        return tags

    def _solve(self, instance: CoreferenceInstance) -> Self:
        """Set the fitted attributes from a run of the engine."""
        result = solve(Coreference(instance), stop=() if self.time_limit is None else TimeLimit(self.time_limit))
        clusters = result.answer
        if clusters is None:  # stopped at once: single items are always a clustering
            clusters = [(k,) for k in range(instance.num_mentions)]
        self.labels_ = np.empty(instance.num_mentions, dtype=np.int64)
        for number, cluster in enumerate(clusters):
            self.labels_[list(cluster)] = number
        self.objective_ = instance.check(clusters) + instance.constant
        self.bound_ = result.dual_bound + instance.constant
        self.proved_ = result.termination is Termination.OPTIMAL
        self.n_iter_ = len(result.iterations)
        return self


class ExactCorrelationClustering(_ExactClustering):
    """Clustering of largest sum of scores over the pairs that share a cluster.

    The score of a pair is its affinity minus the threshold.  Pairs of positive score attract each other, pairs of
    negative score repel each other.

    Parameters
    ----------
    affinity
        ``"precomputed"``: X is the symmetric matrix of affinities, shape (n_samples, n_samples), and -inf forbids a
        pair.  Otherwise X has features, shape (n_samples, n_features), and this is a metric of
        :func:`sklearn.metrics.pairwise.pairwise_kernels`, such as ``"cosine"`` or ``"rbf"``, or a function of two rows.
    threshold
        Affinity of a pair that neither attracts nor repels.
    time_limit
        Maximum number of seconds of a fit; None for a fit that ends with a proof.

    Attributes
    ----------
    labels_
        Cluster number of each sample, shape (n_samples,); clusters are numbered by their first samples.
    objective_, bound_
        Sum of the scores of the pairs that share a cluster, each pair counted once, and an upper bound on it for every
        clustering.
    proved_
        Whether no clustering is better.
    n_iter_
        Number of rounds of column generation.

    Notes
    -----
    The effort is exponential in the worst case.

    References
    ----------
    N. Bansal, A. Blum, S. Chawla, *Correlation clustering*, Machine Learning 56 (2004).

    Examples
    --------
    >>> scores = [[0.0, 2.0, -1.0], [2.0, 0.0, -3.0], [-1.0, -3.0, 0.0]]
    >>> ExactCorrelationClustering(affinity="precomputed").fit_predict(scores)
    array([0, 0, 1])
    """

    def __init__(
        self,
        affinity: str | Callable[..., float] = "cosine",
        *,
        threshold: float = 0.0,
        time_limit: float | None = None,
    ) -> None:
        self.affinity, self.threshold, self.time_limit = affinity, threshold, time_limit

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Cluster the samples and return the estimator; ``y`` is ignored.

        Raises
        ------
        InputError
            If X or a parameter is invalid.
        """
        if not callable(self.affinity) and self.affinity not in {"precomputed", *PAIRWISE_KERNEL_FUNCTIONS}:
            metrics = ", ".join(sorted(PAIRWISE_KERNEL_FUNCTIONS))
            raise InputError(
                f"affinity: expected 'precomputed', a function, or one of {metrics}, got {self.affinity!r}"
            )
        real(self.threshold, "threshold", low=-math.inf)
        if self.affinity == "precomputed":
            given = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
            affinities = _dense(given)
            assert_all_finite(np.where(np.isneginf(affinities), 0.0, affinities), input_name="X")
        else:
            given = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
            affinities = pairwise_kernels(given, metric=self.affinity)
            affinities = 0.5 * (affinities + affinities.T)  # symmetric up to rounding
        return self._solve(CoreferenceInstance(affinities - self.threshold, "X"))


class ModularityClustering(_ExactClustering):
    """Communities of largest modularity.

    Parameters
    ----------
    affinity
        ``"precomputed"``: X is the symmetric adjacency matrix of a graph, shape (n_samples, n_samples), with weights of
        at least 0; a loop is an entry of the diagonal.  ``"nearest_neighbors"``: X has features, shape (n_samples,
        n_features), and each sample has an edge of weight 1/2 to each of its nearest neighbours, so that mutual
        neighbours have weight 1.
    n_neighbors
        Number of neighbours, at most n_samples - 1; ignored for an adjacency matrix.
    resolution
        γ; larger values give smaller communities.
    time_limit
        Maximum number of seconds of a fit; None for a fit that ends with a proof.

    Attributes
    ----------
    labels_
        Community of each sample, shape (n_samples,); communities are numbered by their first samples.
    objective_, bound_
        Modularity, and an upper bound on the modularity of every partition.
    proved_
        Whether no partition is better.
    n_iter_
        Number of rounds of column generation.

    Notes
    -----
    The effort is exponential in the worst case.

    References
    ----------
    M. E. J. Newman, *Modularity and community structure in networks*, PNAS 103 (2006).

    Examples
    --------
    >>> adjacency = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    >>> ModularityClustering(affinity="precomputed").fit(adjacency).objective_
    0.41978961209730437
    """

    def __init__(
        self,
        affinity: str = "nearest_neighbors",
        *,
        n_neighbors: int = 10,
        resolution: float = 1.0,
        time_limit: float | None = None,
    ) -> None:
        self.affinity, self.n_neighbors = affinity, n_neighbors
        self.resolution, self.time_limit = resolution, time_limit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find communities of the samples and return the estimator; ``y`` is ignored.

        Raises
        ------
        InputError
            If X or a parameter is invalid.
        """
        if self.affinity not in ("precomputed", "nearest_neighbors"):
            raise InputError(f"affinity: expected 'precomputed' or 'nearest_neighbors', got {self.affinity!r}")
        real(self.resolution, "resolution")
        neighbors = integer(self.n_neighbors, "n_neighbors", low=1)
        given = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        if self.affinity == "precomputed":
            adjacency = _dense(given)
            check_symmetric(adjacency, raise_exception=True)
            check_non_negative(adjacency, "ModularityClustering.fit")
        else:
            directed = kneighbors_graph(given, min(neighbors, given.shape[0] - 1)).toarray()
            adjacency = 0.5 * (directed + directed.T)
        return self._solve(modularity(nx.from_numpy_array(adjacency), resolution=self.resolution))


def _dense(matrix: Any) -> Floats:
    """Return a square matrix as an array."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"X: expected a square matrix, because affinity is 'precomputed', got shape {matrix.shape}")
    dense: Floats = matrix.toarray() if sparse.issparse(matrix) else matrix
    return dense


__all__ = ["ExactCorrelationClustering", "ModularityClustering"]
