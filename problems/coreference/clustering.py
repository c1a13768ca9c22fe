"""Clusterings of arrays of scores, one or a batch: the shortest way in."""

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
    """Clusters and what is proved of them.

    Attributes
    ----------
    clusters
        By first item, items ascending; None if there was no time for any.
    score, bound
        Of the clustering, each pair counted once, and an upper bound on all clusterings.
    termination
        Why the search stopped: ``OPTIMAL`` says that no clustering is better.
    """

    clusters: Sequence[Cluster] | None
    score: float
    bound: float
    termination: Termination

    @property
    def labels(self) -> NDArray[np.int64]:
        """The number of each item's cluster, in the order of their first items.

        Raises
        ------
        InputError
            If there are no clusters.
        """
        if self.clusters is None:
            raise InputError("expected a clustering to number: this search ended without any")
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
    """The best clustering of scored pairs: ``cluster(W).labels``.

    Parameters
    ----------
    scores
        Symmetric up to rounding, shape (n, n), positive where two items belong together, -inf where they may not; a
        batch of them, shape (instances, n, n); or an :class:`CoreferenceInstance`.
    lengths
        How many items each instance of a batch has; by default all.
    stop
        Stop rules, of each instance.
    options
        Of :class:`Coreference`.

    Returns
    -------
    Clustering
        A list of them for a batch.

    Raises
    ------
    InputError
        If the scores are none of this; in a batch the message names the instance.
    """
    if isinstance(scores, CoreferenceInstance):
        if lengths is not None:
            raise InputError("lengths: expected scores of shape (instances, n, n) to go with them, not an Instance")
        return _clustered(scores, stop, options)
    try:
        parts = as_batch(scores, "scores", lengths=lengths)
    except ArrayError as error:
        raise InputError(str(error)) from None
    if parts is None:
        return _clustered(CoreferenceInstance(scores), stop, options)
    return [_clustered(CoreferenceInstance(part, name=f"scores[{k}]"), stop, options) for k, part in enumerate(parts)]


def _clustered(
    instance: CoreferenceInstance, stop: StopRule | Sequence[StopRule], options: dict[str, Any]
) -> Clustering:
    result = solve(Coreference(instance, **options), stop=stop)
    score = result.objective if math.isfinite(result.objective) else -math.inf
    return Clustering(result.answer, score, result.dual_bound, result.termination)
