"""Complete branching on the variables of blocks, for single and for identical blocks.

A single block has one point in every solution, so a bound on a variable is a bound on its points.  If the integer
variables have integer values, the mean of the points in use is a point of the block, because its rows are linear.

Identical blocks have no variables of their own in the master.  Branching is then on the number of points within
component bounds, which is complete (:mod:`colgen.branching.component_bounds`): if all these numbers are integer, each
integer part is used an integer number of times.  Points with the same integer part may differ in continuous variables.
Their mean, used as often as all of them together, is a point of the block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from colgen.branching.component_bounds import boxes
from colgen.branching.rules import DOWN, UP, BranchingRule, Candidate
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.solution import Solution
from colgen.core.terms import Box
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.decomposition.blocks.decisions import Bounds, ComponentBound, PointsWithin
from colgen.decomposition.blocks.mixed_integer import in_box
from colgen.decomposition.reading.compact_model import Floats
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import BlockPoint, Splitting


class OnBlockVariables(BranchingRule):
    """Round integer variables of single blocks; bound the number of points within component bounds otherwise."""

    makes: Sequence[type[Decision]] = (ComponentBound, PointsWithin)

    def __init__(self, splitting: Splitting) -> None:
        self.splitting = splitting

    def restore(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        if kind is not PointsWithin:
            return super().restore(kind, data)
        of = {f"{self.splitting.convexity}[{sub.number}]": sub.number for sub in self.splitting.subproblems}
        number = of.get(data["block"])
        return None if number is None else PointsWithin(**data, value=_within(data["box"], number))

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        found = []
        for sub, points, amounts in self._used(solution):
            if sub.count == 1:
                found += self._of_block(sub, amounts @ points)
            else:
                found += self._of_copies(sub, points, amounts)
        found.sort(key=lambda candidate: -candidate.score)  # stable: the model's order breaks ties
        return found

    def recover(self, solution: Solution) -> Solution | None:
        """Merge points with the same integer part into their mean."""
        columns: list[tuple[Column, float]] = []
        for column, amount in solution.columns:
            if not isinstance(column.structure, BlockPoint):  # a path
                if column.integer and fractionality(amount):
                    return None
                amount = float(round(amount)) if column.integer else amount
                columns += [(column, amount)] if amount else []
        for sub, points, amounts in self._used(solution):
            if sub.unbounded:  # rays move the mean, and do not count in the convexity row
                points, amounts = (amounts @ points)[None, :], np.ones(1)
            integral = np.round(points[:, sub.integer])
            kinds = np.zeros(len(points), dtype=np.int64)
            if sub.count > 1:
                kinds = np.unique(integral, axis=0, return_inverse=True)[1].reshape(-1)
            for kind in range(int(kinds.max()) + 1):
                mine = kinds == kind
                total = float(amounts[mine].sum())
                mean = amounts[mine] @ points[mine] / total
                near = np.abs(mean - np.round(mean))[sub.integer]
                # An error of 5e-7 in the amount changes values of size 1e7 by 5 units.
                far = np.abs(mean).max(initial=1.0) if sub.count > 1 else 1.0
                if far * abs(total - round(total)) > TOLERANCES.integrality or any(map(fractionality, near.tolist())):
                    return None
                mean[sub.integer] = np.round(mean[sub.integer])
                if round(total):
                    columns.append((self.splitting.column(sub, mean + 0.0), float(round(total))))
        f = self.splitting.compact.formulation
        static = self.splitting.static.tolist()
        values = [(f.column_keys[k], solution.variables.get(f.column_keys[k], 0.0), bool(f.integer[k])) for k in static]
        if any(integral and fractionality(value) for _, value, integral in values):
            return None
        variables = {key: float(round(value)) if integral else value for key, value, integral in values if value}
        cost = math.fsum(column.cost * amount for column, amount in columns)
        cost += math.fsum(f.costs[k] * variables.get(f.column_keys[k], 0.0) for k in static)
        return Solution(cost + f.offset, tuple(columns), variables, solution.integer)

    def _used(self, solution: Solution) -> list[tuple[Subproblem, Floats, Floats]]:
        """Return the points in use and their amounts for each subproblem."""
        used: dict[int, list[tuple[Floats, float]]] = {}
        for column, amount in solution.columns:
            if isinstance(column.structure, BlockPoint):
                used.setdefault(column.structure.number, []).append((column.structure.values, amount))
        return [
            (
                self.splitting.subproblems[number],
                np.array([values for values, _ in entries]),
                np.array([amount for _, amount in entries]),
            )
            for number, entries in sorted(used.items())
        ]

    # --- a block by itself -------------------------------------------------------------------------------------------

    def _of_block(self, sub: Subproblem, mean: Floats) -> list[Candidate]:
        found = []
        row = self.splitting.convexity_key(sub)
        off = np.abs(mean - np.rint(mean)) > TOLERANCES.integrality  # most are integer; a loop over all is slow
        for k in np.flatnonzero(sub.integer & off).tolist():
            value = float(mean[k])
            score = fractionality(value)
            part = value - math.floor(value)
            down = ComponentBound(row, sub.number, k, -math.inf, float(math.floor(value)), sub.unbounded)
            up = ComponentBound(row, sub.number, k, float(math.ceil(value)), math.inf, sub.unbounded)
            found.append(_either((sub.number, k), part, down, up, score))
        return found

    # --- blocks that are the same ------------------------------------------------------------------------------------

    def _of_copies(self, sub: Subproblem, points: Floats, amounts: Floats) -> list[Candidate]:
        """Return fractional counts within component bounds, with one bound if possible, else more."""
        integral = np.flatnonzero(sub.integer)
        found = boxes(np.round(points[:, integral]), amounts)
        named = [(tuple((int(integral[k]), low, high) for k, low, high in bounds), count) for bounds, count in found]
        return [self._count(sub, bounds, count) for bounds, count in named]

    def _count(self, sub: Subproblem, bounds: Bounds, count: float) -> Candidate:
        name = f"{self.splitting.convexity}[{sub.number}]"
        box = Box(name, bounds)
        value = _within(box, sub.number)
        down = PointsWithin(name, box, -math.inf, float(math.floor(count)), value)
        up = PointsWithin(name, box, float(math.ceil(count)), math.inf, value)
        return _either((name, bounds), count - math.floor(count), down, up, fractionality(count))


def _within(box: Box, number: int) -> Callable[[Column], float]:
    """Return the function that is 1 for points of a subproblem in a box, else 0."""

    def value(column: Column) -> float:
        point = column.structure
        mine = isinstance(point, BlockPoint) and point.number == number
        return float(in_box(box, point.values[None, :])[0]) if mine else 0.0

    return value


def _either(quantity: object, part: float, down: Decision, up: Decision, score: float) -> Candidate:
    """Return the two children as a candidate, the nearer one first."""
    children: list[Sequence[Decision]] = [(down,), (up,)]
    moves = [(DOWN, part), (UP, 1.0 - part)]
    if part >= 0.5:
        children, moves = children[::-1], moves[::-1]
    return Candidate(children, quantity, moves, score)
