"""Terms: what a cut counts in a column, as data shared by master, oracles and separations.

If the coefficient of a row in a column is a term, its dual value enters the pricing problem: the reduced cost
``c_j - πᵀa_j`` falls by the dual value for each unit of the term. Oracles list the kinds of terms that they can price
(:attr:`colgen.Pricing.prices`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import FormulationError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Term(ABC):
    """What a cut counts in a column, from the amounts a_i of the components of a block.

    Attributes
    ----------
    block
        Block of the components: rows of the master, whose coefficients are the amounts, or original variables, as named
        by a branching rule or a family of cuts.
    """

    block: str

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != _HASH}


_HASH = "_hash"
"""Attribute that caches a term's hash: rows are found by their terms, and cuts may have hundreds of members."""


def _cached_hash(term: Term, what: Hashable) -> int:
    value: int | None = term.__dict__.get(_HASH)
    if value is None:
        value = hash(what)
        object.__setattr__(term, _HASH, value)
    return value


@dataclass(frozen=True)
class Linear(Term):
    """``Σ_i coefficients_i a_i``: a robust cut, which does not change the pricing problem."""

    members: tuple[Hashable, ...]
    coefficients: tuple[float, ...]

    def __hash__(self) -> int:
        return _cached_hash(self, (self.block, self.members, self.coefficients))

    def __post_init__(self) -> None:
        if len(self.members) != len(self.coefficients):
            raise FormulationError(
                f"a linear term over {self.block!r} has {len(self.coefficients)} coefficients for {len(self.members)} "
                "members"
            )


@dataclass(frozen=True)
class Count(Term):
    """``⌊Σ_i weights_i a_i / divisor⌋``: the term of a rank-1 cut, by Chvátal-Gomory rounding of rows.

    Parameters
    ----------
    members, weights
        Components that count, and their weights: integers from 1 to ``divisor - 1``.
    divisor
        At least 2.
    memory
        Limited memory: components, ``members`` among them, at which a route keeps its partial sum; None: all. The term
        then depends on the order of visits. The sum restarts at a component outside the memory; when it reaches
        ``divisor`` the term counts 1 and the sum is reduced by ``divisor``. It is at most the term without memory.

    References
    ----------
    D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, *Improved branch-cut-and-price for capacitated vehicle routing*,
    Mathematical Programming Computation 9 (2017), section 4.
    """

    members: tuple[Hashable, ...]
    weights: tuple[int, ...]
    divisor: int
    memory: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        integer = all(isinstance(w, int) for w in (*self.weights, self.divisor))
        if not integer or not all(0 < w < self.divisor for w in self.weights):
            raise FormulationError(
                f"a Count term of {self.block!r} has the weights {self.weights} and the divisor {self.divisor!r}: "
                "expected integers, weights from 1 to divisor - 1"
            )
        if len(self.members) != len(self.weights) or len(set(self.members)) < len(self.members):
            raise FormulationError(
                f"a Count term of {self.block!r} has {len(self.weights)} weights for {len(self.members)} members: "
                "expected one per member and no member twice"
            )
        if self.memory is not None and not set(self.members) <= set(self.memory):
            raise FormulationError(f"a Count term of {self.block!r} has members that its memory lacks")

    @property
    def side(self) -> int:
        """The upper side of the cut over rows that are at most 1: ``⌊Σ_i weights_i / divisor⌋``."""
        return sum(self.weights) // self.divisor


@dataclass(frozen=True)
class Box(Term):
    """1 if ``lower ≤ a_i ≤ upper`` for each ``(i, lower, upper)`` of ``bounds``, else 0: component bounds.

    References
    ----------
    F. Vanderbeck, *Branching in branch-and-price: a generic scheme*, Mathematical Programming 130 (2011).
    """

    bounds: tuple[tuple[Hashable, float, float], ...]

    @property
    def members(self) -> tuple[Hashable, ...]:
        """The components that are bounded."""
        return tuple(member for member, _, _ in self.bounds)

    def holds(self, amounts: Mapping[Any, float]) -> bool:
        """Whether amounts by component lie within the bounds; missing ones are zero."""
        return all(lower <= amounts.get(member, 0.0) <= upper for member, lower, upper in self.bounds)


Kind = TypeVar("Kind", bound=Term)


class CountArrays(NamedTuple):
    """``Count`` terms with an oracle's own numbers for components.

    ``starts`` is where each term's ``members`` and ``weights`` begin, ``memory_starts`` where its ``memory`` begins
    (empty if not limited); both have one entry more than there are terms. The other arrays have one entry per term.
    """

    starts: Ints
    members: Ints
    weights: Ints
    divisors: Ints
    limited: NDArray[np.bool_]
    memory_starts: Ints
    memory: Ints
    values: Floats


class PricedTerms(Generic[Kind]):
    """The terms of one kind with nonzero dual values, in the order in which their rows were added."""

    __slots__ = ("terms", "values")

    def __init__(self, terms: Sequence[Kind], values: Floats) -> None:
        self.terms = tuple(terms)
        self.values = values

    def __len__(self) -> int:
        return len(self.terms)

    def arrays(self: PricedTerms[Count], number: Mapping[Any, int]) -> CountArrays:
        """Return ``Count`` terms as arrays with an oracle's numbers; members that ``number`` lacks are dropped."""
        starts, members, weights, memory_starts, memory = [0], [], [], [0], []
        for term in self.terms:
            known = [(number[i], w) for i, w in zip(term.members, term.weights, strict=True) if i in number]
            members += [k for k, _ in known]
            weights += [w for _, w in known]
            memory += [number[i] for i in term.memory or () if i in number]
            starts.append(len(members))
            memory_starts.append(len(memory))
        return CountArrays(
            np.array(starts, dtype=np.int64),
            np.array(members, dtype=np.int64),
            np.array(weights, dtype=np.int64),
            np.array([term.divisor for term in self.terms], dtype=np.int64),
            np.array([term.memory is not None for term in self.terms], dtype=np.bool_),
            np.array(memory_starts, dtype=np.int64),
            np.array(memory, dtype=np.int64),
            self.values,
        )

    def gains(self: PricedTerms[Linear], block: str) -> dict[Hashable, float]:
        """Return the gain per unit of each component of a block by linear terms: Σ dual value · coefficient."""
        gain: dict[Hashable, float] = {}
        for term, value in zip(self.terms, self.values.tolist(), strict=True):
            if term.block == block:
                for member, coefficient in zip(term.members, term.coefficients, strict=True):
                    gain[member] = gain.get(member, 0.0) + value * coefficient
        return gain
