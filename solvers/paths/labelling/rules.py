"""Rules of paths that need memory: alternative vertices, exclusions, pickups before deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_indices
from colgen.solvers.paths.labelling.network import Network

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Vertices of a set stand for one another, like the places where a customer may be served.

    Neighbourhoods, elementary paths and enumeration treat a visit of one of them as a visit of all.

    Parameters
    ----------
    sets : disjoint sets of vertices
    """

    sets: Sequence[ArrayLike]


@dataclass(frozen=True, eq=False)
class Exclude:
    """A path makes at most one visit to each set of vertices, whatever the neighbourhoods.

    Parameters
    ----------
    sets : sets of vertices, which may overlap; two incompatible vertices are a set
    """

    sets: Sequence[ArrayLike]


@dataclass(frozen=True, eq=False)
class Pairs:
    """A path that visits a pickup visits its delivery later, and no delivery without its pickup before.

    Parameters
    ----------
    pickups : the pickup of each request
    deliveries : the delivery of each request
    """

    pickups: ArrayLike
    deliveries: ArrayLike


Rule: TypeAlias = Alternatives | Exclude | Pairs


class Rules(NamedTuple):
    """Rules as arrays.

    * ``classes``: for each vertex, the first of the vertices that count as one: alternatives, or both of a request.
    * ``sets``: mask of the vertices of each set with at most one visit.
    * ``pickups``, ``deliveries``: the vertices of each request.
    """

    classes: Ints
    sets: Mask
    pickups: Ints
    deliveries: Ints


def as_rules(network: Network, given: Sequence[Rule]) -> Rules:
    """Return the validated rules."""
    n, ends = network.num_vertices, (network.source, network.sink)
    classes, excluded, requests = np.arange(n), [], []
    seen = np.zeros(n, dtype=bool)

    def vertices(one: ArrayLike, name: str) -> Ints:
        found: Ints = as_indices(one, name, upper=n, shape=(None,))
        if len(np.unique(found)) < len(found) or np.isin(found, ends).any():
            raise ArrayError(f"{name}: expected different vertices other than source and sink, got {found.tolist()}")
        return found

    def count_as_one(members: Ints, name: str) -> None:
        if seen[members].any():
            raise ArrayError(
                f"{name}: expected each vertex in at most one set of alternatives or one request, "
                f"got vertex {members[seen[members]][0]} twice"
            )
        seen[members] = True
        classes[members] = members.min(initial=n)

    for rule in given:
        match rule:
            case Alternatives():
                for one in rule.sets:
                    count_as_one(vertices(one, "alternatives"), "alternatives")
            case Exclude():
                excluded += [np.isin(np.arange(n), vertices(one, "exclude")) for one in rule.sets]
            case Pairs():
                pickups, deliveries = vertices(rule.pickups, "pickups"), vertices(rule.deliveries, "deliveries")
                if len(pickups) != len(deliveries):
                    raise ArrayError(f"deliveries: expected {len(pickups)}, one per pickup, got {len(deliveries)}")
                vertices(np.concatenate([pickups, deliveries]), "pickups and deliveries")
                for pair in np.column_stack([pickups, deliveries]):
                    count_as_one(pair, "pickups and deliveries")
                requests.append((pickups, deliveries))
            case _:
                raise ArrayError(f"rules: expected Alternatives, Exclude or Pairs, got {rule!r}")
    none = np.zeros(0, dtype=np.int64)
    pickups, deliveries = (np.concatenate([none, *(pair[k] for pair in requests)]) for k in (0, 1))
    return Rules(classes, np.array(excluded, dtype=bool).reshape(-1, n), pickups, deliveries)
