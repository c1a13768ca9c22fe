"""Branching on how many columns lie within component bounds: complete for pricing problems that are identical.

Columns that are used K times over, from one pricing problem, have no variables of their own to branch on: the sum of a
component over the columns in use may be whole where the columns are not.  A *box* gives bounds to some components, and
how many of an answer's columns lie within is a whole number.  Let λ be the solution of a relaxation, and a *class* all
columns that agree in all components.

*The rule is complete.*  Some box holds a fractional number of columns, unless each class is used a whole number of
times.  For let F be the set of classes that are not.  A box whose number is whole holds no class of F or two at least.
As these differ in some component, a bound on it cuts the box in two, each of which holds some of F, and one of which at
most half of them.  If the number in either half is fractional then that is the box; else go on with the half that has
fewer.  After at most log₂ |F| cuts a single class of F would be left, whose box holds a number that is not whole.
Every answer lies in one of the children ``count ≤ ⌊·⌋`` and ``count ≥ ⌈·⌉``, neither of which has λ.

*It ends.*  Where components are bounded there are finitely many boxes, and each decision narrows the whole numbers that
one of them may hold; a node in which none can be narrowed has whole classes alone.

*Whole classes are an answer* where columns that agree in all components have the same coefficients: the cheapest column
of each is used as often as all of them together.

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

from colgen.branching.rules import DOWN, UP, BranchingRule, Candidate
from colgen.core.columns import Column, Row
from colgen.core.decision import Decision
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.terms import Box
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.master.protocol import RestrictedMaster

Floats = NDArray[np.float64]
Bounds: TypeAlias = tuple[tuple[int, float, float], ...]
"""Of components, by their numbers: lower and upper, in the order of the numbers."""


@dataclass(frozen=True)
class Within(Decision):
    """``lower ≤ Σ_j λ_j ≤ upper`` over the columns whose components lie in a box.

    Attributes
    ----------
    value
        1 for a column within, else 0.
    """

    box: Box
    lower: float
    upper: float
    value: Callable[[Column], float] = field(compare=False, repr=False)

    def row(self) -> Row:
        return Row((self.box.block, self.box), self.lower, self.upper, coefficient=self.value)


class OnComponents(BranchingRule):
    """Branch on the number of columns within bounds on one component, or on more where that is whole for each.

    For columns of pricing problems whose multiplicity is more than 1.  Their oracles must price
    :class:`colgen.core.terms.Box`: ``duals.terms(Box)`` are the boxes that count with their dual values,
    ``box.holds(components)`` says which a structure lies in.  Complete as the module says: it leaves no node fractional
    whose columns agree in all coefficients where they agree in all components.

    Parameters
    ----------
    components
        The whole numbers that make a column, zeros left out; None for one that is not to be counted.
    block
        Of the rows, and the name of the components in boxes.

    Raises
    ------
    InputError
        Before any work, if an oracle does not price boxes; when a node is split, if a component is not whole.
    """

    def __init__(
        self, components: Callable[[Column], Mapping[Hashable, float] | None], *, block: str = "components"
    ) -> None:
        self.components = components
        self.block = block

    makes: Sequence[type[Decision]] = (Within,)

    def revived(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        box = data["box"]
        return Within(**data, value=self._within(box)) if box.block == self.block else None

    def suit(self, master: RestrictedMaster) -> None:
        for oracle in master.oracles:
            if Box not in oracle.prices:
                raise InputError(
                    f"{type(self).__name__}({self.block!r}) needs oracles that price Box terms, which {oracle.name} "
                    "does not: let it read duals.terms(Box) and say so by prices, or branch on something else"
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
        """Boxes that hold a fractional number of points, with that number; none where each class is whole."""
        return boxes(points, amounts)

    def recover(self, solution: Solution) -> Solution | None:
        """Each class by its cheapest column."""
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
            # The relaxation has used none that is dearer than another of its class, or lost nothing by it.
            best = max(mine, key=lambda j: amounts[j])
            objective += round(total) * columns[best].cost - sum(amounts[j] * columns[j].cost for j in mine)
            if round(total):
                used.append((columns[best], float(round(total))))
        return Solution(float(objective), tuple(used), solution.variables, solution.integer)

    def _points(self, solution: Solution) -> tuple[list[Hashable], Floats, list[Column], Floats]:
        """Names of components, a line of components for each column that counts, those columns, how much they are."""
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
                        f"{type(self).__name__}({self.block!r}) expects components that are whole: {name!r} is "
                        f"{value:g} in the column of {column.structure!r}"
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
        part = count - math.floor(count)
        children, moves = [down, up], [(DOWN, part), (UP, 1.0 - part)]
        if part >= 0.5:
            children, moves = children[::-1], moves[::-1]
        return Candidate(children, (self.block, box), moves, fractionality(count))


class OnPairs(OnComponents):
    """Branch on how many columns hold two components, or one of them twice: Ryan and Foster's rule, extended.

    Where rows are covered once, two of them are in one column or not.  Where they are covered more often, as demands
    above one are, the columns that hold at least one of each, or at least two of one, are a whole number all the same:
    a box of two bounds, or of one.  Where all these numbers are whole the rule goes on with other boxes, and so it is
    as complete as :class:`OnComponents`, whose parameters and oracles it has.

    References
    ----------
    R. F. F. da Silva, R. C. S. Schouery, *Solving cutting stock problems via an extended Ryan-Foster branching scheme
    and fast column generation* (2023).
    """

    def _fractional(self, points: Floats, amounts: Floats) -> list[tuple[Bounds, float]]:
        return pairs(points, amounts) or boxes(points, amounts)


class OnCoefficients(OnComponents):
    """Branch on component bounds where a problem has no rule of its own: components are a column's coefficients.

    They are those in the block of which columns have most rows, and are named by the indices of the rows; boxes are of
    the block ``"coefficients of <block>"``.  The rule sees nothing to branch on unless all oracles price ``Box`` terms,
    columns are whole, and these coefficients are.
    """

    _PREFIX = "coefficients of "

    def __init__(self) -> None:
        super().__init__(self._coefficients)
        self._applies, self._rows = False, ""

    def suit(self, master: RestrictedMaster) -> None:
        self._applies = bool(master.oracles) and all(Box in oracle.prices for oracle in master.oracles)

    def revived(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        box = data["box"]
        return Within(**data, value=self._within(box)) if box.block.startswith(self._PREFIX) else None

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        return super().candidates(solution) if self._fits(solution) else []

    def recover(self, solution: Solution) -> Solution | None:
        """Each class by its cheapest column, if the columns of a class agree in all rows."""
        if not self._fits(solution):
            return None
        every: dict[Hashable, Mapping[Any, float]] = {}
        for column, _ in solution.columns:
            known = every.setdefault(frozenset(self._coefficients(column).items()), column.coefficients)
            if dict(known) != dict(column.coefficients):
                return None
        return super().recover(solution)

    def _fits(self, solution: Solution) -> bool:
        """Choose the block of rows, and tell whether the rule can look at these columns."""
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
        rows = box.block.removeprefix(self._PREFIX)  # not those of the present node, which may be others
        return lambda column: float(box.holds(_in_block(column, rows)))


def _in_block(column: Column, rows: str) -> Mapping[Hashable, float]:
    return {index: amount for (block, index), amount in column.coefficients.items() if block == rows and amount}


def pairs(points: Floats, amounts: Floats) -> list[tuple[Bounds, float]]:
    """Boxes of points that hold two components, or one of them twice, and hold a fractional number of points.

    Parameters
    ----------
    points
        A line of whole components each.
    amounts
        How much each point is used.
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
    """Boxes that hold a fractional number of points, with that number: those of fewest bounds that are found.

    None where every class of equal points has a whole number; of one bound all that differ by the points they hold.

    Parameters
    ----------
    points
        A line of whole components each.
    amounts
        How much each point is used.
    """
    if not len(points):
        return []
    classes, which = np.unique(points, axis=0, return_inverse=True)
    used = np.bincount(which.reshape(-1), amounts)
    fractional = np.abs(used - np.rint(used)) > TOLERANCES.integrality
    if not fractional.any():  # what rounding has left of each may add up to more
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
                narrower = _with(bounds, k, low, high)
                half = members & (classes[:, k] >= low) & (classes[:, k] <= high)
                count = float(used[half].sum())
                if fractionality(count):
                    found.append((narrower, count))
                longer.append((narrower, half))
        waiting = longer
    return found


def _even_split(classes: Floats) -> tuple[int, float] | None:
    """The component, and the least value of its upper part, that cut classes into parts most alike in number."""
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


def _with(bounds: Bounds, component: int, low: float, high: float) -> Bounds:
    """Bounds with one more, which a former one on the same component is narrowed by."""
    known = {k: (lower, upper) for k, lower, upper in bounds}
    lower, upper = known.get(component, (-math.inf, math.inf))
    known[component] = (max(lower, low), min(upper, high))
    return tuple((k, lower, upper) for k, (lower, upper) in sorted(known.items()))
