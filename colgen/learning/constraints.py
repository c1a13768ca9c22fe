"""Linear constraints over the parts of structures, for :func:`colgen.learning.constrained_best`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.core.numbers import real
from colgen.learning.oracles import Structure

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of a structure, selected from one of its arrays of scores.

    Attributes
    ----------
    structure
        Name of the structure.
    where
        Any index of numpy into the array of scores: integers, slices, lists or a mask. ``np.s_[:, 3]`` selects label 3
        of all tokens of a chain, ``(2, 5)`` the arc from 2 to 5 of a tree.
    array
        Number of the array, if the structure has several. That of a chain's transitions is 1.
    """

    structure: str
    where: Any
    array: int = 0


Selection: TypeAlias = Parts | Sequence[Parts]
"""Parts of one structure, or a list with parts of one or several."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """A linear constraint ``lower ≤ Σ c·(number of parts in the structures) ≤ upper``.

    Attributes
    ----------
    terms
        Pairs of parts and their coefficient c. A part that is selected twice counts twice.
    lower, upper
        Sides; infinite if absent.
    """

    terms: Sequence[tuple[Parts, float]]
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        for parts, coefficient in self.terms:
            if not isinstance(parts, Parts):
                raise InputError(f"terms: expected pairs of Parts and a coefficient, got {parts!r}")
            real(coefficient, "the coefficient of a constraint", low=-math.inf)
        for name in ("lower", "upper"):
            real(getattr(self, name), f"{name} of a constraint", low=-math.inf, finite=False)
        if not self.lower <= self.upper:
            raise InputError(f"a constraint has the sides {self.lower:g} and {self.upper:g}, expected lower ≤ upper")


def at_least(parts: Selection, number: float) -> Constraint:
    """Return the constraint that the structures have at least this number of the parts."""
    return Constraint([(each, 1.0) for each in _listed(parts)], lower=number)


def at_most(parts: Selection, number: float) -> Constraint:
    """Return the constraint that the structures have at most this number of the parts."""
    return Constraint([(each, 1.0) for each in _listed(parts)], upper=number)


def equal(first: Selection, second: Selection) -> Constraint:
    """Return the constraint that the structures have as many of the first parts as of the second.

    For single parts this is agreement: both occur or neither.
    """
    terms = [(each, 1.0) for each in _listed(first)] + [(each, -1.0) for each in _listed(second)]
    return Constraint(terms, 0.0, 0.0)


def must_link(clustering: str, first: int, second: int) -> Constraint:
    """Return the constraint that two items are in one cluster. ``clustering`` is the name of the structure."""
    return at_least(_pair(clustering, first, second), 1.0)


def cannot_link(clustering: str, first: int, second: int) -> Constraint:
    """Return the constraint that two items are in different clusters."""
    return at_most(_pair(clustering, first, second), 0.0)


def _pair(clustering: str, first: int, second: int) -> Parts:
    if first == second:
        raise InputError(f"a link needs two different items, got {first} twice")
    return Parts(clustering, (first, second))


def _listed(parts: Selection) -> Sequence[Parts]:
    return (parts,) if isinstance(parts, Parts) else tuple(parts)


# --- constraints over places -----------------------------------------------------------------------------------------

Term: TypeAlias = tuple[str, int, Ints, Floats]
"""Name of a structure, number of its array, different places in the flattened array, and their coefficients."""


@dataclass(frozen=True, eq=False)
class PlacedConstraint:
    """A constraint whose parts are places in flattened arrays of scores."""

    terms: tuple[Term, ...]
    lower: float
    upper: float

    def activity(self, counts: Mapping[tuple[str, int], Floats]) -> float:
        """Return the sum over the counts of parts, by structure and number of the array."""
        return sum(float(own @ counts[name, k][places]) for name, k, places, own in self.terms)

    def allows(self, counts: Mapping[tuple[str, int], Floats]) -> bool:
        """Whether structures satisfy the constraint, within the rounding error of the sum."""
        return self.lower - self.slack <= self.activity(counts) <= self.upper + self.slack

    @cached_property
    def slack(self) -> float:
        """Rounding error of the sum that is tolerated."""
        return 1e-9 * max((float(np.abs(own).max(initial=0.0)) for *_, own in self.terms), default=0.0)

    @cached_property
    def forbids(self) -> bool:
        """Whether the constraint only forbids its parts: positive coefficients, and an upper side of 0."""
        return self.lower <= 0.0 == self.upper and all(bool((own > 0.0).all()) for *_, own in self.terms)


Shapes: TypeAlias = tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
"""Shapes of the arrays of scores by structure."""


@lru_cache(maxsize=1024)  # constraints are often used again, for other instances of equal shapes
def place(constraint: Constraint, every: Shapes) -> PlacedConstraint:
    """Return a constraint over places, given the shapes of the arrays of scores of each structure.

    Raises
    ------
    InputError
        If a structure or an array is unknown, or an index does not fit the array.
    """
    shapes = dict(every)
    found: dict[tuple[str, int], list[tuple[Ints, float]]] = {}
    for parts, coefficient in constraint.terms:
        if parts.structure not in shapes:
            raise InputError(f"a constraint has the unknown structure {parts.structure!r}, expected {list(shapes)}")
        own = shapes[parts.structure]
        if not 0 <= parts.array < len(own):
            raise InputError(
                f"a constraint has array {parts.array} of {parts.structure!r}, expected 0 to {len(own) - 1}"
            )
        shape = own[parts.array]
        try:
            places = np.arange(math.prod(shape)).reshape(shape)[parts.where]
        except (IndexError, TypeError, ValueError) as error:
            raise InputError(f"Parts({parts.structure!r}, {parts.where!r}): {error}") from None
        found.setdefault((parts.structure, parts.array), []).append((np.ravel(places), float(coefficient)))
    return PlacedConstraint(tuple(_terms(found)), float(constraint.lower), float(constraint.upper))


def _terms(found: Mapping[tuple[str, int], list[tuple[Ints, float]]]) -> Iterable[Term]:
    for (name, k), pieces in found.items():
        if len(pieces) == 1 and (np.diff(pieces[0][0]) > 0).all():  # most constraints; the general case is slower
            yield name, k, pieces[0][0], np.full(len(pieces[0][0]), pieces[0][1])
            continue
        every = np.concatenate([places for places, _ in pieces])
        coefficients = np.concatenate([np.full(len(places), value) for places, value in pieces])
        places, numbers = np.unique(every, return_inverse=True)
        sums: Floats = np.bincount(numbers, coefficients, len(places)).astype(np.float64)
        yield name, k, places, sums


def counts_of(
    structures: Mapping[str, Structure],
    arrays: Iterable[tuple[str, int]],
    shapes: Mapping[str, Sequence[tuple[int, ...]]],
) -> dict[tuple[str, int], Floats]:
    """Return the counts of parts of some arrays, flattened, by structure and number of the array."""
    return {(name, k): structures[name].array(k, (math.prod(shapes[name][k]),)) for name, k in arrays}
