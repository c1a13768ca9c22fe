"""Branching rules, their candidates, and the decisions that they make."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row, RowFamily
from colgen.core.decision import Apart, Decision, Together
from colgen.core.decision_data import DecisionMaker
from colgen.core.errors import InputError
from colgen.core.numbers import require_result
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.master.protocol import RestrictedMaster
from colgen.solvers.columns.compressed import sums_by_number

DOWN, UP = 0, 1


@dataclass(frozen=True)
class Candidate:
    """One way to branch at a node.

    Attributes
    ----------
    children
        Decisions of each child, in the order of exploration. Together the children keep every feasible solution of the
        node, and each cuts off its solution.
    quantity
        The quantity branched on, the same at all nodes. The key of its pseudo-costs.
    moves
        For each child the direction in which the quantity moves, ``DOWN`` or ``UP``, and the least distance; empty
        without pseudo-costs.
    score
        Preference of the rule, from the solution alone.
    """

    children: Sequence[Sequence[Decision]]
    quantity: Hashable = None
    moves: Sequence[tuple[int, float]] = field(default=())
    score: float = 0.0


Floats = NDArray[np.float64]

_BITS = 32
"""Bits of a row number. A pair of rows is one number."""

_LAST = (1 << _BITS) - 1

_REMEMBERED = 1 << 16
"""Number of columns whose original variables are cached."""

_PAIRS = 1 << 22
"""Number of cached pairs of rows that columns cover."""


class BranchingRule(DecisionMaker, ABC):
    """Branches at a node whose relaxation is fractional.

    Examples
    --------
    >>> class Nothing(BranchingRule):
    ...     def branch(self, solution):
    ...         return ()  # nothing to decide here: the next rule is called
    """

    @abstractmethod
    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        """Return the decisions of each child, in the order of exploration. Empty if the rule finds nothing fractional.

        Together the children must keep every feasible solution of the node, and each must cut off ``solution``.
        """

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        """Return all ways to branch, the preferred first. By default only that of :meth:`branch`."""
        children = children_of(self, solution)
        return [Candidate(children)] if children else []

    def suit(self, master: RestrictedMaster) -> None:
        """Raise an ``InputError``, before the first node, if the rule is invalid for the rows of the master.

        The message names the rows that the rule expects.
        """

    def recover(self, solution: Solution) -> Solution | None:
        """Return an integer solution of the same objective, or None.

        This is for solutions in which all quantities of the rule are integer, but columns are not. The engine checks
        the result.
        """
        return None


def candidates_of(rule: BranchingRule, solution: Solution) -> Sequence[Candidate]:
    """Return the candidates of a rule; None is an error."""
    return require_result(rule.candidates(solution), f"{type(rule).__name__}.candidates()", "candidates, () for none")


def children_of(rule: BranchingRule, solution: Solution) -> Sequence[Sequence[Decision]]:
    """Return the children of a rule. None, as from a method without ``return``, is an error."""
    return require_result(
        rule.branch(solution), f"{type(rule).__name__}.branch()", "decisions of each child, () for none"
    )


# --- Ryan and Foster -------------------------------------------------------------------------------------------------


class RyanFoster(BranchingRule):
    """Two rows in one column or not (Ryan and Foster, 1981).

    This is for partitioning rows: equations whose coefficients are 0 or the right-hand side, usually 1, and integer
    columns. Every feasible solution lies in one of the two children. If columns are fractional, there is a pair of rows
    of ``block`` such that the values of the columns that cover both sum to a number strictly between 0 and 1. The pair
    whose sum is nearest to 1/2 is chosen. There is no such pair only if fractional columns that cover the same rows sum
    to an integer; these are left to the next rule.

    Rows ``≤ 1`` partition together with their slacks, and are allowed. Rows ``≥ 1`` are not: a solution that covers a
    row twice would lie in neither child. If every subset of a column's rows belongs to a column that costs no more,
    equations can replace rows ``≥ 1`` without loss.

    Parameters
    ----------
    block
        Name of the partitioning rows.

    Raises
    ------
    InputError
        Before the first round if the master has no such rows or they are of another kind. At a node if a column has
        other coefficients in them.

    Examples
    --------
    >>> class Pairs(CuttingStock):
    ...     def branching(self):
    ...         return [RyanFoster("demand")]
    """

    makes: Sequence[type[Decision]] = (Together, Apart)

    def __init__(self, block: str) -> None:
        self.block = block
        self._sides: dict[Key, float] = {}
        self._keys: list[Key] = []
        self._names: list[str] = []
        self._ranks: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._numbers: dict[Key, int] = {}
        self._known: dict[int, tuple[Column, NDArray[np.int64]]] = {}
        self._num_cached = 0

    def suit(self, master: RestrictedMaster) -> None:
        sides = None if master.rows is None else master.rows.sides(self.block)
        if sides is None or not master.num_rows:
            return
        if not sides:
            raise InputError(
                f"RyanFoster({self.block!r}) needs rows to branch on, but the master has no rows of this name"
            )
        for (_, index), (lower, upper) in sides.items():
            if upper <= 0.0 or not (upper == 1.0 or lower == upper):
                raise InputError(
                    f"RyanFoster({self.block!r}) loses answers unless each row is covered once, = 1 or ≤ 1: row "
                    f"{index!r} has the sides {lower:g} and {upper:g}; write an equation or use another branching rule"
                )
        self._sides = {key: upper for key, (_, upper) in sides.items()}

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        pairs, values, distances = self._covered_pairs(solution)
        most = distances.max(initial=0.0)
        if not most:
            return ()
        nearest = (distances == most).nonzero()[0]
        best = nearest.item(self._rank(pairs[nearest]).argmax())
        return self._candidate(pairs.item(best), values.item(best)).children

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        if type(self).branch is not RyanFoster.branch:
            return super().candidates(solution)
        pairs, values, distances = self._covered_pairs(solution)
        each = zip(distances.tolist(), self._rank(pairs).tolist(), pairs.tolist(), values.tolist(), strict=True)
        found = sorted((entry for entry in each if entry[0]), key=lambda entry: entry[:2], reverse=True)
        return [self._candidate(pair, value) for _, _, pair, value in found]

    def _covered_pairs(self, solution: Solution) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return pairs of rows, how much each is covered by single columns, and the distance of that to an integer."""
        every = np.array([value for _, value in solution.columns], dtype=np.float64)
        fractional = (np.abs(every - np.rint(every)) > TOLERANCES.integrality).nonzero()[0]
        if not len(fractional):
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        each = [self._pairs_of(solution.columns[k][0]) for k in fractional.tolist()]
        lengths = np.array(list(map(len, each)), dtype=np.int64)
        values: Floats
        pairs, values = sums_by_number(np.concatenate(each), lengths, every[fractional])
        distances: Floats = np.abs(values - np.rint(values))
        distances[distances <= TOLERANCES.integrality] = 0.0
        return pairs, values, distances

    def _rank(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of pairs in the order of the names of their rows."""
        if len(self._ranks) < len(self._names):
            rank = {name: k for k, name in enumerate(sorted(set(self._names)))}
            self._ranks = np.array([rank[name] for name in self._names], dtype=np.int64)
        ranked: NDArray[np.int64] = self._ranks[pairs >> _BITS] << _BITS | self._ranks[pairs & _LAST]
        return ranked

    def _candidate(self, pair: int, value: float) -> Candidate:
        keys = self._keys[pair >> _BITS], self._keys[pair & _LAST]
        return round_candidate(keys, value, (Apart(*keys),), (Together(*keys),), fractionality(value))

    def _pairs_of(self, column: Column) -> NDArray[np.int64]:
        """Return the pairs of rows of the block that a column covers, as cached numbers."""
        known = self._known.get(id(column))
        if known is None or known[0] is not column:
            keys = [row for row, entry in column.coefficients.items() if row[0] == self.block and entry]
            self._check(column, keys)
            rows = sorted(map(self._number, keys), key=self._names.__getitem__)
            pairs = [first << _BITS | second for k, first in enumerate(rows, 1) for second in rows[k:]]
            self._num_cached += len(pairs) + 1  # a column without pairs takes memory too
            if self._num_cached > _PAIRS:
                self._known.clear()
                self._num_cached = len(pairs) + 1
            known = self._known[id(column)] = column, np.array(pairs, dtype=np.int64)
        return known[1]

    def _number(self, row: Key) -> int:
        number = self._numbers.get(row)
        if number is None:
            number = self._numbers[row] = len(self._keys)
            self._keys.append(row)
            self._names.append(repr(row))  # orders pairs for indices of any type
        return number

    def _check(self, column: Column, rows: Sequence[Key]) -> None:
        """Raise an error if the pairs of a column need not be integer in a feasible solution."""
        if not column.integer and rows:
            raise InputError(
                f"RyanFoster({self.block!r}) needs integer columns: the column of {column.structure!r} is continuous"
            )
        for row in rows:
            entry, side = column.coefficients[row], self._sides.get(row, 1.0)
            if entry != side and abs(entry - side) > TOLERANCES.pruning * side:
                raise InputError(
                    f"RyanFoster({self.block!r}) expects the coefficients 0 and {side:g} in row {row[1]!r}: the "
                    f"column of {column.structure!r} has {entry:g}; use another branching rule"
                )


# --- a variable of the original formulation --------------------------------------------------------------------------


@dataclass(frozen=True)
class Bound(Decision):
    """``lower ≤ y ≤ upper`` for a nonnegative variable y of the original formulation, y = Σ_j x_j y_j with y_j ≥ 0.

    An upper bound of 0 needs no row: it forbids the columns with y_j > 0. The ``key`` of the row is ``(block, index)``,
    where the index is the name of the variable. The oracle pays its dual value per unit of y. ``value`` returns y_j for
    a column.
    """

    key: Key
    lower: float
    upper: float
    value: Callable[[Column], float] = field(compare=False, repr=False)
    family: RowFamily | None = field(default=None, compare=False, repr=False)

    def allows(self, column: Column) -> bool:
        return self.upper > 0 or not self.value(column)

    def allows_each(self, columns: Columns) -> NDArray[np.bool_]:
        return np.ones(len(columns), dtype=np.bool_) if self.upper > 0 else super().allows_each(columns)

    def forbids(self, block: str) -> Collection[Hashable]:
        return (self.key[1],) if self.upper <= 0 and self.key[0] == block else ()

    def row(self) -> Row | None:
        if self.upper <= 0:
            return None
        return Row(self.key, self.lower, self.upper, coefficient=self.value, family=self.family)


class OriginalVariables(RowFamily):
    """Rows of variables of the original formulation. The values of a column are computed once.

    The indices of the rows are names of variables. ``original`` returns the variables that a column sets, with their
    values.
    """

    def __init__(self, block: str, original: Callable[[Column], Mapping[Any, float]]) -> None:
        super().__init__(block)
        self._original = original
        self._known: dict[int, tuple[Column, Mapping[Hashable, float]]] = {}

    def set_by(self, column: Column) -> Mapping[Hashable, float]:
        """Return the original variables that a column sets, from a cache."""
        known = self._known.get(id(column))
        if known is None or known[0] is not column:
            if len(self._known) >= _REMEMBERED:  # most columns of oracles are never added to a master
                self._known.clear()
            known = self._known[id(column)] = (column, self._original(column))
        return known[1]

    def coefficients(self, columns: Sequence[Column], indices: Sequence[Hashable]) -> Floats:
        return np.array([[float(self.set_by(column).get(v, 0.0)) for v in indices] for column in columns]).reshape(
            len(columns), len(indices)
        )

    def entries(
        self, columns: Sequence[Column], indices: Sequence[Hashable]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        place = {variable: k for k, variable in enumerate(indices)}
        owners, members, amounts = [], [], []
        for number, column in enumerate(columns):
            for variable, amount in self.set_by(column).items():
                k = place.get(variable)
                if k is not None and amount:
                    owners.append(number)
                    members.append(k)
                    amounts.append(float(amount))
        return np.array(owners, dtype=np.int64), np.array(members, dtype=np.int64), np.array(amounts, dtype=np.float64)


class OnOriginalVariable(BranchingRule):
    """Branch on a variable of the original (compact) formulation.

    Parameters
    ----------
    original
        Returns the original variables that a column sets, with their values: ``original(column) -> {variable: value}``.
        It is called once per column, for any number of branching rows.
    block
        Block of the branching rows. An oracle reads their duals by ``duals.items(block)``.
    recover
        Builds an integer solution if the original variables are integer but columns are not, for example by decomposing
        a flow.

    Examples
    --------
    >>> rule = OnOriginalVariable(lambda column: {arc: 1.0 for arc in zip(column.structure, column.structure[1:])})
    """

    makes: Sequence[type[Decision]] = (Bound,)

    def __init__(
        self,
        original: Callable[[Column], Mapping[Any, float]],
        *,
        block: str = "branch",
        recover: Callable[[Solution], Solution | None] | None = None,
    ) -> None:
        self.original = original
        self.block = block
        self.rows = OriginalVariables(block, original)
        self._recover = recover

    def restore(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        if kind is not Bound:
            return super().restore(kind, data)
        key = data["key"]
        return Bound(**data, value=self._amount(key[1]), family=self.rows) if key[0] == self.block else None

    def _amount(self, variable: Hashable) -> Callable[[Column], float]:
        def amount(column: Column) -> float:
            return self.rows.set_by(column).get(variable, 0.0)

        return amount

    def values(self, solution: Solution) -> dict[Hashable, float]:
        """Return the values y = Σ_j x_j y_j of the original variables."""
        values: dict[Hashable, float] = defaultdict(float)
        for column, amount in solution.columns:
            for variable, value in self.rows.set_by(column).items():
                values[variable] += amount * value
        return values

    def score(self, variable: Hashable, value: float) -> float:
        """Return the preference for a variable of fractional value: by default its closeness to 1/2.

        Override this method to prefer other variables.
        """
        return fractionality(value)

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        fractional = {v: x for v, x in self.values(solution).items() if fractionality(x)}
        if not fractional:
            return ()
        variable = max(fractional, key=lambda v: (self.score(v, fractional[v]), repr(v)))
        return self._candidate(variable, fractional[variable]).children

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        if type(self).branch is not OnOriginalVariable.branch:
            return super().candidates(solution)
        found = [(self.score(v, x), v, x) for v, x in self.values(solution).items() if fractionality(x)]
        found.sort(key=lambda entry: (entry[0], repr(entry[1])), reverse=True)
        return [self._candidate(variable, value, score) for score, variable, value in found]

    def _candidate(self, variable: Hashable, value: float, score: float = 0.0) -> Candidate:
        key, amount = (self.block, variable), self._amount(variable)
        down = Bound(key, -math.inf, math.floor(value), amount, self.rows)
        up = Bound(key, math.ceil(value), math.inf, amount, self.rows)
        return round_candidate(key, value, (self.imposed(down),), (self.imposed(up),), score)

    def imposed(self, bound: Bound) -> Decision:
        """Return the decision for a bound. Override it to use an equivalent decision without a row."""
        return bound

    def recover(self, solution: Solution) -> Solution | None:
        return None if self._recover is None else self._recover(solution)


# --- a variable of the template --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TemplateBound(Decision):
    """Bounds on a variable of the Pyomo template."""

    key: Key
    lower: float
    upper: float

    def bounds(self) -> Mapping[Key, tuple[float, float]]:
        return {self.key: (self.lower, self.upper)}


class OnTemplateVariable(BranchingRule):
    """Branch on an integer variable of the Pyomo template, the most fractional first.

    Examples
    --------
    >>> class Opening(CuttingStock):
    ...     def branching(self):  # first variables of the Pyomo model, then pairs of rows
    ...         return [OnTemplateVariable(), RyanFoster("demand")]
    """

    makes: Sequence[type[Decision]] = (TemplateBound,)

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        fractional = {k: x for k, x in solution.variables.items() if k in solution.integer and fractionality(x)}
        if not fractional:
            return ()
        key = max(fractional, key=lambda k: (fractionality(fractional[k]), repr(k)))
        return self._candidate(key, fractional[key]).children

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        if type(self).branch is not OnTemplateVariable.branch:
            return super().candidates(solution)
        found = [(k, x) for k, x in solution.variables.items() if k in solution.integer and fractionality(x)]
        found.sort(key=lambda entry: (fractionality(entry[1]), repr(entry[0])), reverse=True)
        return [self._candidate(key, value) for key, value in found]

    def _candidate(self, key: Key, value: float) -> Candidate:
        down: Sequence[Decision] = (TemplateBound(key, -math.inf, math.floor(value)),)
        up: Sequence[Decision] = (TemplateBound(key, math.ceil(value), math.inf),)
        return round_candidate(key, value, down, up, fractionality(value))


@dataclass(frozen=True)
class SumBound(Decision):
    """``lower ≤ Σ y ≤ upper`` for a set of integer variables y of the Pyomo template."""

    name: Key
    keys: tuple[Key, ...]
    lower: float
    upper: float

    def row(self) -> Row:
        return Row(self.name, self.lower, self.upper, dict.fromkeys(self.keys, 1.0))


class OnSumOfVariables(BranchingRule):
    """Branch on the sum of integer variables of the Pyomo template, such as the number of all shifts without staff.

    Variables of equal cost can often replace each other: bounds on one of them hardly change the objective, and bounds
    on their sum do.

    Parameters
    ----------
    sums
        The variables of each sum, by the key of its row.
    """

    makes: Sequence[type[Decision]] = (SumBound,)

    def __init__(self, sums: Mapping[Key, tuple[Key, ...]]) -> None:
        self.sums = sums

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        found = []
        for name, keys in self.sums.items():
            value = math.fsum(solution.variables.get(key, 0.0) for key in keys)
            if fractionality(value):
                down = SumBound(name, keys, -math.inf, math.floor(value))
                up = SumBound(name, keys, math.ceil(value), math.inf)
                found.append(round_candidate(name, value, (down,), (up,), fractionality(value)))
        return sorted(found, key=lambda candidate: candidate.score, reverse=True)


def round_candidate(
    quantity: Hashable, value: float, down: Sequence[Decision], up: Sequence[Decision], score: float
) -> Candidate:
    """Return the candidate that rounds a quantity down or up, the nearer integer first."""
    part = value - math.floor(value)
    children, moves = [down, up], [(DOWN, part), (UP, 1.0 - part)]
    if part >= 0.5:
        children, moves = children[::-1], moves[::-1]
    return Candidate(children, quantity, moves, score)
