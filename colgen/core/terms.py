"""What a cut counts in a column: data that master, oracles and separations agree on.

A row whose coefficients are a term of the columns reaches the pricing problem by its dual value: the reduced cost of a
column that the term counts q times is lower by q times that value (it is ``c_j - πᵀa_j`` as for every row).  An oracle
has to know the kind of term, and says which it knows (:attr:`colgen.Pricing.prices`).
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
        The name of the components: a block of the master's rows, whose coefficients are then the amounts, or the name
        that a branching rule or a family of cuts has for variables of the original formulation.
    """

    block: str

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != _HASH}


_HASH = "_hash"
"""Where a term keeps its hash: rows are found by their terms, and those of cuts have hundreds of members."""


def _remembered(term: Term, what: Hashable) -> int:
    found: int | None = term.__dict__.get(_HASH)
    if found is None:
        found = hash(what)
        object.__setattr__(term, _HASH, found)
    return found


@dataclass(frozen=True)
class Linear(Term):
    """``Σ_i coefficients_i a_i``: robust, the pricing problem stays what it is."""

    members: tuple[Hashable, ...]
    coefficients: tuple[float, ...]

    def __hash__(self) -> int:
        return _remembered(self, (self.block, self.members, self.coefficients))

    def __post_init__(self) -> None:
        if len(self.members) != len(self.coefficients):
            raise FormulationError(
                f"a linear term over {self.block!r} has {len(self.coefficients)} coefficients for {len(self.members)} "
                "members"
            )


@dataclass(frozen=True)
class Count(Term):
    """``⌊Σ_i weights_i a_i / divisor⌋``: a rank-1 cut's, by Chvátal and Gomory's rounding of rows.

    Parameters
    ----------
    members, weights
        Components that count, and how much: whole numbers from 1 to ``divisor - 1``.
    divisor
        At least 2.
    memory
        Components that a route visits without forgetting what it has collected, ``members`` among them; None: all.  The
        term then depends on the order of visits: the sum begins anew at a component that is not in the memory, and
        counts one, losing ``divisor``, whenever it reaches ``divisor``.  It counts no more than without.

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
        whole = all(isinstance(w, int) for w in (*self.weights, self.divisor))
        if not whole or not all(0 < w < self.divisor for w in self.weights):
            raise FormulationError(
                f"a term that counts {self.block!r} has the weights {self.weights} and the divisor {self.divisor!r}: "
                "expected whole numbers, weights from 1 to the divisor less 1"
            )
        if len(self.members) != len(self.weights) or len(set(self.members)) < len(self.members):
            raise FormulationError(
                f"a term that counts {self.block!r} has {len(self.weights)} weights for {len(self.members)} members: "
                "expected one for each, no member twice"
            )
        if self.memory is not None and not set(self.members) <= set(self.memory):
            raise FormulationError(f"a term that counts {self.block!r} has members that its memory lacks")

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
        """Whether amounts by component lie within; those that are left out are zero."""
        return all(lower <= amounts.get(member, 0.0) <= upper for member, lower, upper in self.bounds)


Kind = TypeVar("Kind", bound=Term)


class CountArrays(NamedTuple):
    """Terms of kind ``Count`` in an oracle's own numbers.

    Attributes
    ----------
    starts
        One more than there are terms: where each one's ``members`` and ``weights`` begin.
    divisors, limited, values
        One a term: its divisor, whether it has a limited memory, its dual value.
    memory_starts, memory
        Where the memory of each term begins, and whom it holds; nobody where it is not limited.
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
    """The terms of one kind whose dual value is not zero.

    Attributes
    ----------
    terms, values
        The terms and their dual values, in the order in which their rows were added.
    """

    __slots__ = ("terms", "values")

    def __init__(self, terms: Sequence[Kind], values: Floats) -> None:
        self.terms = tuple(terms)
        self.values = values

    def __len__(self) -> int:
        return len(self.terms)

    def arrays(self: PricedTerms[Count], number: Mapping[Any, int]) -> CountArrays:
        """Terms of kind ``Count`` as arrays in an oracle's own numbers; members that it has no number for are left out.

        Parameters
        ----------
        number
            Of each component that the oracle knows.
        """
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

    def earned(self: PricedTerms[Linear], block: str) -> dict[Hashable, float]:
        """What one unit of each component of a block earns by linear terms: the sum of dual value times coefficient."""
        found: dict[Hashable, float] = {}
        for term, value in zip(self.terms, self.values.tolist(), strict=True):
            if term.block == block:
                for member, coefficient in zip(term.members, term.coefficients, strict=True):
                    found[member] = found.get(member, 0.0) + value * coefficient
        return found
