"""Clustering of one score matrix or a batch of them, without an instance or a problem class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import Termination, solve
from colgen.core.errors import InputError
from colgen.core.stop import StopRule
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance
from colgen.problems.coreference.template import Coreference
from colgen.solvers.arrays import ArrayError, as_batch


@dataclass(frozen=True)
class Clustering:
    """Clusters with their score and a bound.

    Attributes
    ----------
    clusters
        Sorted by first item, items ascending; None if none was found in time.
    score, bound
        Score of the clustering, each pair counted once, and an upper bound on the score of every clustering.
    termination
        Why the search stopped; ``OPTIMAL`` means that no clustering is better.
    """

    clusters: Sequence[Cluster] | None
    score: float
    bound: float
    termination: Termination

    @property
    def labels(self) -> NDArray[np.int64]:
        """The cluster number of each item; clusters are numbered by their first items.

        Raises
        ------
        InputError
            If there are no clusters.
        """
        if self.clusters is None:
            raise InputError(f"there is no clustering to label: the search ended without one ({self.termination.name})")
        labels = np.empty(sum(map(len, self.clusters)), dtype=np.int64)
        for number, cluster in enumerate(self.clusters):
            labels[list(cluster)] = number
        return labels


@overload
def cluster(scores: CoreferenceInstance, *, stop: StopRule | Sequence[StopRule] = (), **options: Any) -> Clustering: ...
@overload
def cluster(
    scores: ArrayLike, *, lengths: ArrayLike | None = None, stop: StopRule | Sequence[StopRule] = (), **options: Any
) -> Any: ...
def cluster(
    scores: Any, *, lengths: ArrayLike | None = None, stop: StopRule | Sequence[StopRule] = (), **options: Any
) -> Any:
    """Return the best clustering of scored pairs: ``cluster(W).labels``.

    Parameters
    ----------
    scores
        Symmetric matrix, shape (n, n), positive for two items that seem to belong together, -inf to forbid a pair. Or
        a batch, shape (instances, n, n), or a :class:`CoreferenceInstance`.
    lengths
        Number of items of each instance of a batch; by default all.
    stop
        Stop rules, applied to each instance.
    options
        Options of :class:`Coreference`.

    Returns
    -------
    Clustering
        For a batch, a list with one clustering per instance.

    Raises
    ------
    InputError
        If the scores are invalid; for a batch, the message names the instance.
    """
    if isinstance(scores, CoreferenceInstance):
        if lengths is not None:
            raise InputError("lengths requires a batch of scores, shape (instances, n, n), not a CoreferenceInstance")
        return _solve(scores, stop, options)
    try:
        parts = as_batch(scores, "scores", lengths=lengths)
    except ArrayError as error:
        raise InputError(str(error)) from None
    if parts is None:
        return _solve(CoreferenceInstance(scores), stop, options)
    return [_solve(CoreferenceInstance(part, name=f"scores[{k}]"), stop, options) for k, part in enumerate(parts)]


def _solve(instance: CoreferenceInstance, stop: StopRule | Sequence[StopRule], options: dict[str, Any]) -> Clustering:
    result = solve(Coreference(instance, **options), stop=stop)
    score = result.objective if math.isfinite(result.objective) else -math.inf
    return Clustering(result.answer, score, result.dual_bound, result.termination)
