"""Clusters and clusterings."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

Cluster: TypeAlias = tuple[int, ...]
"""The mentions of one entity, by number, ascending."""


def as_clusters(cluster_of: ArrayLike) -> list[Cluster]:
    """A clustering from the number of each mention's cluster: clusters by first mention, mentions ascending."""
    members: dict[int, list[int]] = {}
    for mention, number in enumerate(np.asarray(cluster_of).tolist()):
        members.setdefault(number, []).append(mention)
    return [tuple(cluster) for cluster in members.values()]
