"""Branching on the number of columns within component bounds: complete for identical pricing problems.

Columns of one pricing problem that is used K times have no variables of their own to branch on. The sum of a component
over the columns in use may be an integer although the solution is fractional. A *box* bounds some components, and an
integer solution has an integer number of columns in it. Let λ be the solution of a relaxation. A *class* is the set of
all columns that agree in all components.

*The rule is complete.* Some box contains a fractional number of columns, unless each class has an integer total. For
let F be the set of classes with fractional totals. A box with an integer number contains either none or at least two
classes of F. As two classes differ in some component, a bound on it splits the box into two, which both contain classes
of F, and one of which contains at most half of them. If the number in either part is fractional, that is the box.
Otherwise continue with the part that contains fewer. After at most log₂ |F| cuts a single class of F would remain,
whose box contains a fractional number. Every integer solution lies in one of the children ``count ≤ ⌊·⌋`` and ``count ≥
⌈·⌉``, and λ in neither.

*The tree is finite.* If components are bounded there are finitely many boxes, and each decision narrows the integers
that one of them may contain. A node in which no box can be narrowed has only integer classes.

*Integer classes give a feasible solution* if columns that agree in all components have the same coefficients: use the
cheapest column of each class as often as all of its columns together.

Sources: F. Vanderbeck, *On Dantzig-Wolfe decomposition in integer programming and ways to perform branching in a
branch-and-price algorithm*, Operations Research 48 (2000), section 4; F. Vanderbeck, *Branching in branch-and-price: a
generic scheme*, Mathematical Programming 130 (2011).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.branching.rules import BranchingRule, Candidate, round_candidate
from colgen.core.columns import Column, Row
from colgen.core.decision import Decision
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.terms import Box
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.master.protocol import RestrictedMaster

Floats = NDArray[np.float64]
Bounds: TypeAlias = tuple[tuple[int, float, float], ...]
"""Component number, lower and upper bound, in the order of the numbers."""


@dataclass(frozen=True)
class Within(Decision):
    """``lower ≤ Σ_j λ_j ≤ upper`` over the columns in a box. ``value(column)`` is 1 for these and 0 for others."""

    box: Box
    lower: float
    upper: float
    value: Callable[[Column], float] = field(compare=False, repr=False)

    def row(self) -> Row:
        return Row((self.box.block, self.box), self.lower, self.upper, coefficient=self.value)


class OnComponents(BranchingRule):
    """Branch on the number of columns within bounds on one component, or on several if all single counts are integer.

    This is for pricing problems with a multiplicity above 1. Their oracles must price :class:`colgen.core.terms.Box`:
    ``duals.terms(Box)`` are the boxes with their dual values, and ``box.holds(components)`` tests a structure. The rule
    is complete (see the module) if columns with equal components have equal coefficients.

    Parameters
    ----------
    components
        Returns the nonzero integer components of a column, or None for a column that is not counted.
    block
        Block of the branching rows, and name of the components in boxes.

    Raises
    ------
    InputError
        Before the first round if an oracle does not price boxes. At a node if a component is fractional.

    Examples
    --------
    >>> rule = OnComponents(lambda column: {i: n for i, n in enumerate(column.structure) if n})
    """

    def __init__(
        self, components: Callable[[Column], Mapping[Hashable, float] | None], *, block: str = "components"
    ) -> None:
        self.components = components
        self.block = block

    makes: Sequence[type[Decision]] = (Within,)

    def restore(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        box = data["box"]
        return Within(**data, value=self._within(box)) if box.block == self.block else None

    def suit(self, master: RestrictedMaster) -> None:
        for oracle in master.oracles:
            if Box not in oracle.prices:
                raise InputError(
                    f"{type(self).__name__}({self.block!r}) needs oracles that price Box terms, and {oracle.name} does "
                    "not: read duals.terms(Box) and add Box to its prices, or use another branching rule"
                )

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        names, points, columns, amounts = self._points(solution)
        if not columns:
            return []
        fractional = self._fractional(points, amounts)
        found = [self._candidate(self._box(names, bounds), count) for bounds, count in fractional]
        found.sort(key=lambda candidate: -candidate.score)
        return found

    def _fractional(self, points: Floats, amounts: Floats) -> list[tuple[Bounds, float]]:
        """Return boxes with a fractional number of points, and that number. None if all classes are integer."""
        return boxes(points, amounts)

    def recover(self, solution: Solution) -> Solution | None:
        """Replace columns with equal components by the cheapest of them."""
        _, points, columns, amounts = self._points(solution)
        if any(key in solution.integer and fractionality(value) for key, value in solution.variables.items()):
            return None
        others = [(column, value) for column, value in solution.columns if self.components(column) is None]
        if not columns or any(column.integer and fractionality(value) for column, value in others):
            return None
        kinds = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
        used, objective = list(others), solution.objective
        for kind in range(int(kinds.max()) + 1):
            mine = np.flatnonzero(kinds == kind).tolist()
            total = float(amounts[mine].sum())
            if fractionality(total):
                return None
            # In an optimal relaxation all used columns of a class cost the same.
            best = max(mine, key=lambda j: amounts[j])
            objective += round(total) * columns[best].cost - sum(amounts[j] * columns[j].cost for j in mine)
            if round(total):
                used.append((columns[best], float(round(total))))
        return Solution(float(objective), tuple(used), solution.variables, solution.integer)

    def _points(self, solution: Solution) -> tuple[list[Hashable], Floats, list[Column], Floats]:
        """Return component names, one row of components per counted column, these columns, and their values."""
        each = [(self.components(column), column, amount) for column, amount in solution.columns]
        known = [(parts, column, amount) for parts, column, amount in each if parts is not None]
        place: dict[Hashable, int] = {}
        for parts, _, _ in known:
            for name in parts:
                place.setdefault(name, len(place))
        points = np.zeros((len(known), len(place)))
        for line, (parts, column, _) in zip(points, known, strict=True):
            for name, value in parts.items():
                if value != round(value):
                    raise InputError(
                        f"{type(self).__name__}({self.block!r}) expects integer components: {name!r} is {value:g} in "
                        f"the column of {column.structure!r}"
                    )
                line[place[name]] = value
        return list(place), points, [column for _, column, _ in known], np.array([amount for _, _, amount in known])

    def _box(self, names: Sequence[Hashable], bounds: Bounds) -> Box:
        return Box(self.block, tuple(sorted(((names[k], low, high) for k, low, high in bounds), key=repr)))

    def _within(self, box: Box) -> Callable[[Column], float]:
        components = self.components

        def value(column: Column) -> float:
            parts = components(column)
            return 0.0 if parts is None else float(box.holds(parts))

        return value

    def _candidate(self, box: Box, count: float) -> Candidate:
        value = self._within(box)
        down: Sequence[Decision] = (Within(box, -math.inf, float(math.floor(count)), value),)
        up: Sequence[Decision] = (Within(box, float(math.ceil(count)), math.inf, value),)
        return round_candidate((self.block, box), count, down, up, fractionality(count))


class OnPairs(OnComponents):
    """Branch on the number of columns with two components, or with one twice: an extension of Ryan and Foster's rule.

    If rows are covered once, two of them are in one column or not. If rows may be covered more often, as for demands
    above 1, the rule counts columns instead: those with at least one of each component, or at least two of one. These
    numbers are integer in integer solutions. Each count is a box of two bounds or of one. If all are integer the rule
    continues with other boxes, so it is as complete as :class:`OnComponents`. Parameters and oracles are the same.

    References
    ----------
    R. F. F. da Silva, R. C. S. Schouery, *Solving cutting stock problems via an extended Ryan-Foster branching scheme
    and fast column generation* (2023).
    """

    def _fractional(self, points: Floats, amounts: Floats) -> list[tuple[Bounds, float]]:
        return pairs(points, amounts) or boxes(points, amounts)


class OnCoefficients(OnComponents):
    """The default rule of problems without one: branch on component bounds, where components are column coefficients.

    The components are the coefficients in the block in which columns have most rows, named by the indices of the rows.
    Boxes have the block ``"coefficients of <block>"``. The rule has no candidates unless all oracles price ``Box``
    terms, columns are integer, and these coefficients are.
    """

    _PREFIX = "coefficients of "

    def __init__(self) -> None:
        super().__init__(self._coefficients)
        self._applies, self._rows = False, ""

    def suit(self, master: RestrictedMaster) -> None:
        self._applies = bool(master.oracles) and all(Box in oracle.prices for oracle in master.oracles)

    def restore(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        box = data["box"]
        return Within(**data, value=self._within(box)) if box.block.startswith(self._PREFIX) else None

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        return super().candidates(solution) if self._fits(solution) else []

    def recover(self, solution: Solution) -> Solution | None:
        """Replace each class by its cheapest column, if the columns of a class agree in all rows."""
        if not self._fits(solution):
            return None
        every: dict[Hashable, Mapping[Any, float]] = {}
        for column, _ in solution.columns:
            known = every.setdefault(frozenset(self._coefficients(column).items()), column.coefficients)
            if dict(known) != dict(column.coefficients):
                return None
        return super().recover(solution)

    def _fits(self, solution: Solution) -> bool:
        """Choose the block of rows, and return whether the rule applies to these columns."""
        columns = [column for column, _ in solution.columns]
        if not self._applies or not all(column.integer for column in columns):
            return False
        rows = {key for column in columns for key in column.coefficients if not isinstance(key[1], Box)}
        count = Counter(block for block, _ in rows)
        self._rows = min(count, key=lambda block: (-count[block], block), default="")
        self.block = self._PREFIX + self._rows
        return all(amount == round(amount) for column in columns for amount in self._coefficients(column).values())

    def _coefficients(self, column: Column) -> Mapping[Hashable, float]:
        return _in_block(column, self._rows)

    def _within(self, box: Box) -> Callable[[Column], float]:
        rows = box.block.removeprefix(self._PREFIX)  # not self._rows, which may have changed
        return lambda column: float(box.holds(_in_block(column, rows)))


def _in_block(column: Column, rows: str) -> Mapping[Hashable, float]:
    return {index: amount for (block, index), amount in column.coefficients.items() if block == rows and amount}


def pairs(points: Floats, amounts: Floats) -> list[tuple[Bounds, float]]:
    """Return boxes with two components, or with one twice, that contain a fractional number of points.

    ``points`` has one row of integer components per point, and ``amounts`` the value of each point.
    """
    if not len(points):
        return []
    once, twice = (points >= 1.0).astype(float), (points >= 2.0).astype(float)
    together = once.T @ (once * amounts[:, None])
    np.fill_diagonal(together, twice.T @ amounts)
    off = np.abs(together - np.rint(together)) > TOLERANCES.integrality
    found: list[tuple[Bounds, float]] = []
    for i, j in zip(*(each.tolist() for each in np.nonzero(np.triu(off))), strict=True):
        bounds: Bounds = ((i, 2.0, math.inf),) if i == j else ((i, 1.0, math.inf), (j, 1.0, math.inf))
        found.append((bounds, float(together[i, j])))
    return found


def boxes(points: Floats, amounts: Floats) -> list[tuple[Bounds, float]]:
    """Return boxes that contain a fractional number of points, and that number: those with the fewest bounds found.

    The result is empty if every class of equal points has an integer total. Boxes of one bound are listed unless they
    contain the same points. Parameters are as for :func:`pairs`.
    """
    if not len(points):
        return []
    classes, which = np.unique(points, axis=0, return_inverse=True)
    used = np.bincount(which.reshape(-1), amounts)
    fractional = np.abs(used - np.rint(used)) > TOLERANCES.integrality
    if not fractional.any():  # rounding errors may add up in larger boxes
        return []
    if fractionality(float(used.sum())):
        return [((), float(used.sum()))]
    found: list[tuple[Bounds, float]] = [
        (((k, value, math.inf),), count)
        for k in range(classes.shape[1])
        for value in np.unique(classes[:, k])[1:].tolist()
        if fractionality(count := float(used[classes[:, k] >= value].sum()))
    ]
    waiting: list[tuple[Bounds, NDArray[np.bool_]]] = [((), np.ones(len(classes), dtype=np.bool_))]
    while waiting and not found:
        longer: list[tuple[Bounds, NDArray[np.bool_]]] = []
        for bounds, members in waiting:
            split = _even_split(classes[members & fractional])
            if split is None:
                continue
            k, cut = split
            for low, high in ((cut, math.inf), (-math.inf, cut - 1.0)):
                narrower = _intersect(bounds, k, low, high)
                half = members & (classes[:, k] >= low) & (classes[:, k] <= high)
                count = float(used[half].sum())
                if fractionality(count):
                    found.append((narrower, count))
                longer.append((narrower, half))
        waiting = longer
    return found


def _even_split(classes: Floats) -> tuple[int, float] | None:
    """Return the component and the lowest value of the upper part that split classes most evenly."""
    best: tuple[int, float] | None = None
    most = 0
    for k in range(classes.shape[1]):
        values = np.sort(classes[:, k])
        for cut in np.unique(values)[1:].tolist():
            below = int(np.searchsorted(values, cut))
            smaller = min(below, len(values) - below)
            if smaller > most:
                best, most = (k, cut), smaller
    return best


def _intersect(bounds: Bounds, component: int, low: float, high: float) -> Bounds:
    """Add a bound on a component, intersected with the present one."""
    known = {k: (lower, upper) for k, lower, upper in bounds}
    lower, upper = known.get(component, (-math.inf, math.inf))
    known[component] = (max(lower, low), min(upper, high))
    return tuple((k, lower, upper) for k, (lower, upper) in sorted(known.items()))
