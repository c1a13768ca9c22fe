"""Columns and rows: the frozen data that oracles and separations return to the master."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import FormulationError, InputError
from colgen.core.terms import Term
from colgen.core.text import FORGOTTEN, Described, brief, number, plural

Key: TypeAlias = tuple[str, Any]
"""``(block, index)`` with a hashable index, as Pyomo keys the members of a component: ``("demand", 3)``,
``("arc", (1, 2))``. A scalar component has one member with index None: ``m.budget = pyo.Constraint(...)`` has the row
``("budget", None)``."""

_NO_COEFFICIENTS: Mapping[Key, float] = {}

NUMBERS = (int, float, np.integer, np.floating, np.bool_)
"""Types of costs, coefficients, sides and bounds; numpy would silently convert some strings."""

_PLAIN = frozenset((float, int, np.float64, np.int64))


def as_number(value: Any) -> Any:
    """Return a number that mixes with floats, or None for anything else.

    Fractions, decimals and arrays without axes become floats; strings are not numbers.
    """
    if isinstance(value, NUMBERS):
        return value
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "fiub":
        return value[()]
    return None


def _check_coefficients(coefficients: Any, whose: str, of: str) -> Mapping[Key, float]:
    """Return coefficients as numbers; raise if one is not a number."""
    if not isinstance(coefficients, Mapping):
        raise InputError(f"{whose} has coefficients of type {type(coefficients).__name__}, expected a dictionary")
    if all(isinstance(value, NUMBERS) for value in coefficients.values()):
        return coefficients
    numbers = {key: as_number(value) for key, value in coefficients.items()}
    for key, converted in numbers.items():
        if converted is None:
            raise InputError(f"{whose} has the coefficient {coefficients[key]!r} in {of} {key!r}, expected a number")
    return numbers


def as_numbers(given: ArrayLike, what: str) -> NDArray[np.float64]:
    """Return a float64 array, copied only if necessary; raise for strings, which numpy would convert."""
    array = np.asarray(given)
    if array.dtype.kind not in "fiub" and array.size and None in map(as_number, array.flat):
        raise InputError(f"{what}: expected numbers, not entries such as {array.flat[0]!r}")
    return np.asarray(array, dtype=np.float64)


class RowFamily(Described, ABC):
    """The rows of one block, with coefficients computed for many columns at once. Implement :meth:`coefficients`.

    The engine requests each column and row once, in batches: new columns in all rows of the family that the master has,
    and new rows in all its columns. Separations make rows by :meth:`row`. Dual values are available as arrays,
    ``duals.members(block)`` and ``duals.array(block)``.

    Parameters
    ----------
    block
        The first part of the rows' keys; the second, the index, identifies the row.
    idle_after
        A row that was slack in this many consecutive solves is removed from the linear program, and put back when a
        solution violates it. None: never.
    """

    def __init__(self, block: str, *, idle_after: int | None = None) -> None:
        if idle_after is not None and idle_after < 1:
            raise FormulationError(f"idle_after of the rows {block!r} is {idle_after}, expected at least 1 or None")
        self.block = block
        self.idle_after = idle_after

    @abstractmethod
    def coefficients(self, columns: Sequence[Column], indices: Sequence[Hashable], /) -> ArrayLike:
        """Return the coefficients of columns in the rows of these indices, shape (columns, indices)."""

    def row(self, index: Hashable, lower: float = -math.inf, upper: float = math.inf) -> Row:
        """Return the row of an index."""
        return Row((self.block, index), lower, upper, family=self)

    def entries(
        self, columns: Sequence[Column], indices: Sequence[Hashable]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the nonzero coefficients as triples: column number, position in ``indices``, coefficient.

        Raises
        ------
        FormulationError
            If :meth:`coefficients` returns another shape, or an entry that is not a finite number.
        """
        matrix = as_numbers(self.coefficients(columns, indices), f"{type(self).__name__}.coefficients")
        if matrix.shape != (len(columns), len(indices)):
            raise FormulationError(
                f"{type(self).__name__}.coefficients returned an array of shape {matrix.shape}, expected "
                f"{(len(columns), len(indices))}: {len(columns)} columns and {len(indices)} rows of {self.block!r}"
            )
        owners, members = np.nonzero(matrix)
        return owners, members, matrix[owners, members]


@dataclass(frozen=True)
class Codec:
    """Two functions for structures of columns in files: checkpoints, and pools between runs.

    Attributes
    ----------
    read
        Returns the column of this instance for data that ``write`` returned, as the oracle would return it, with costs
        and coefficients of this instance. None if the structure is not valid here.
    write
        Returns the data of a structure: numbers, strings, tuples, lists, dictionaries and arrays. None: structures are
        such data themselves.
    """

    read: Callable[[Any], Column | None]
    write: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Row(Described):
    """A row of the master: ``lower ≤ Σ_j a_j x_j ≤ upper``.

    Parameters
    ----------
    key
        Its name, unique within a master.
    lower, upper
        Its sides; at least one is finite.
    coefficients
        a_j by key of the column: template variables, and present or future columns that have a key.
    coefficient
        a_j as a function of the column. It is used for generated columns whose own coefficients do not include this
        row, now and in later rounds.
    family
        Computes coefficients for many columns and rows at once; replaces ``coefficient``.

    Examples
    --------
    >>> row = Row(("rolls", 453), lower=453.0, coefficient=lambda column: 1.0)  # at least 453 columns
    >>> row.coefficient(Column(1.0, {("demand", 0): 2.0}))
    1.0
    """

    key: Key
    lower: float = -math.inf
    upper: float = math.inf
    coefficients: Mapping[Key, float] = field(default_factory=lambda: _NO_COEFFICIENTS)
    coefficient: Callable[[Column], float] | None = None
    family: RowFamily | None = None

    def __post_init__(self) -> None:
        coefficients, lower, upper = self.coefficients, self.lower, self.upper
        if not (
            type(coefficients) is dict and (not coefficients or _PLAIN.issuperset(map(type, coefficients.values())))
        ):
            checked = _check_coefficients(coefficients, f"row {self.key!r}", "column")
            object.__setattr__(self, "coefficients", checked)
        if not (type(lower) in _PLAIN and type(upper) in _PLAIN and lower == lower and upper == upper):
            for name, side in (("lower", lower), ("upper", upper)):
                number = as_number(side)
                if number is None or number != number:
                    raise InputError(f"row {self.key!r} has the side {side!r}, expected a number")
                object.__setattr__(self, name, number)

    def coefficient_in(self, column: Column) -> float:
        """Return the value of :attr:`coefficient` for a column, 0 without it; raise InputError if not a number."""
        if self.coefficient is None:
            return 0.0
        value = self.coefficient(column)
        number = value if type(value) is float else as_number(value)
        if number is not None:
            return float(number)
        shown = f"None ({FORGOTTEN})" if value is None else repr(value)
        raise InputError(
            f"the function of row {self.key!r} returned {shown} for the column of {column.structure!r}, expected a "
            "number"
        )

    def term(self) -> Term | None:
        """Return the term whose dual value enters the pricing problem; None if the row has none."""
        index = self.key[1] if isinstance(self.key, tuple) and len(self.key) == 2 else None
        return index if isinstance(index, Term) else None


@dataclass(frozen=True, slots=True, repr=False)
class Column:
    """A column of the master, and the structure that it stands for.

    Parameters
    ----------
    cost
        Its coefficient c_j in the objective, in the problem's own sense.
    coefficients
        a_ij by key of the row.
    structure
        The meaning of the column, such as a pattern, cluster or path. The engine only returns it with the answer.
    key
        A name, if rows must refer to this column. Columns without keys are identified by cost and coefficients:
        different structures that agree in both, such as two routes over the same stops, need keys.
    lower, upper
        Bounds of its variable.
    integer
        Whether its variable must be integer in an answer.
    rows
        Rows to add with the column; rows that the master already has are ignored.

    Raises
    ------
    InputError
        If the cost, a bound or a coefficient is not a number.
    FormulationError
        If the cost is not finite, or the bounds allow no value.

    Examples
    --------
    >>> column = Column(1.0, {("demand", 1): 2.0, ("demand", 3): 2.0}, structure=(0, 2, 0, 2))
    >>> column.coefficients["demand", 1]
    2.0
    """

    cost: float
    coefficients: Mapping[Key, float]
    structure: Any = None
    key: Key | None = None
    lower: float = 0.0
    upper: float = math.inf
    integer: bool = True
    rows: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        # There may be thousands of columns: numbers of the usual types take a fast path.
        coefficients = self.coefficients
        if not (type(coefficients) is dict and _PLAIN.issuperset(map(type, coefficients.values()))):
            checked = _check_coefficients(coefficients, f"the column of {self.structure!r}", "row")
            object.__setattr__(self, "coefficients", checked)
        plain = type(self.cost) in _PLAIN and type(self.lower) in _PLAIN and type(self.upper) in _PLAIN
        if not plain or type(self.integer) is not bool:
            self._convert()
        if not -math.inf < self.cost < math.inf:  # NaN fails every comparison
            raise FormulationError(f"the column of {self.structure!r} costs {self.cost}, expected a finite number")
        if not self.lower <= self.upper or self.lower == math.inf or self.upper == -math.inf:
            raise FormulationError(
                f"the column of {self.structure!r} has the bounds {self.lower} and {self.upper}, expected lower ≤ upper"
            )

    def __repr__(self) -> str:
        name = brief(self.key if self.structure is None else self.structure, 40)
        return f"<Column {name}: cost {number(self.cost, 8)}, {plural(len(self.coefficients), 'coefficient')}>"

    def _convert(self) -> None:
        for name in ("cost", "lower", "upper"):
            value = getattr(self, name)
            number = as_number(value)
            object.__setattr__(self, name, number)
            if number is None:
                raise InputError(f"the column of {self.structure!r} has the {name} {value!r}, expected a number")
        if not isinstance(self.integer, (int, np.bool_)):
            raise InputError(f"the column of {self.structure!r} has integer={self.integer!r}, expected True or False")

    @property
    def identity(self) -> Hashable:
        """What identifies the column: its key, or else its cost and coefficients."""
        return self.key if self.key is not None else (self.cost, frozenset(self.coefficients.items()))
