"""Certificates of decomposed models: dual values of the linking rows, and the optima of the blocks at these."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from colgen.branching.rules import TemplateBound
from colgen.certificate import checker_blocks
from colgen.certificate.certifier import Certifier, Record, Split, as_exact
from colgen.certificate.checker_bounds import CheckedPoint, bound_of_uses, point_of
from colgen.certificate.checker_pricing import CheckerState, WrongError
from colgen.certificate.checker_program import Claims, Program, check_answer
from colgen.certificate.witness import WitnessPoint
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.solution import Solution
from colgen.core.terms import Box
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.block_trees import BoundingTree
from colgen.decomposition.blocks.decisions import ComponentBound, PointsWithin
from colgen.decomposition.blocks.shortest_path import shortest_path_of
from colgen.decomposition.reading.compact_model import REMOVED, CompactModel, Floats, Ints
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.solvers.arrays import EXACT

_MOST_SUMS = 1 << 21
"""Limit on row sums in the checker's dynamic program for a block; blocks with more are trusted."""

_MOST_NODES = 500_000
"""Limit on the nodes of all trees of bounds of a certificate."""

_DIGITS = (2.0**20, 2.0**48)
"""Approximate sizes of the largest dual value after scaling to integers, tried in order."""

_PARTS = 5_000
"""Largest denominator of approximations: dual values at vertices are often fractions of small integers."""

_NEAR = (1_000, 1_000_000, 100_000_000)
"""Largest denominators of fractions that approximate continuous values of a solution, tried in order."""

_Within = tuple[int, tuple[tuple[int, int | None, int | None], ...]]
"""A block with bounds on its variables, for counting its points."""


class BlockCertifier(Certifier):
    """Certificates of node bounds by dual values of the linking rows, under which each block is a separate problem.

    The checker enumerates blocks of integer variables.  For blocks that have continuous rows or are too large, a claim
    contains trees of bounds.  Leaves are trusted if such a tree is too large or a variable of a block is unbounded, and
    so are solutions that hold up to rounding only.
    """

    states_formulation = False
    needs_duals = False

    def __init__(self, splitting: Splitting, compact: CompactModel) -> None:
        super().__init__(compact.formulation.sense, compact.source.name)
        self._splitting, self._compact = splitting, compact
        self._orders = [_order_of(sub) for sub in splitting.subproblems]
        self._ranks = [np.argsort(order) for order in self._orders]
        self._last: tuple[Solution, list[Any] | str, Fraction] | None = None
        self.checks_nodes = self._checks_all
        self._nodes_left = _MOST_NODES

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        splitting, f, units = self._splitting, self._splitting.compact.formulation, self._units
        # The user's model with the copies of linking variables; the checker repeats the presolve.
        user, copied = self._compact.formulation, splitting.compact.copied
        lower, upper = (np.append(ends, ends[copied]) for ends in (user.lower, user.upper))
        added = slice(len(user.row_lower), None)
        row_lower, row_upper = (
            np.append(user.row_lower, f.row_lower[added]),
            np.append(user.row_upper, f.row_upper[added]),
        )
        matrix = splitting.compact.rows @ sparse.diags_array(1.0 / units)
        if self._compact.presolved is not self._compact:
            removed = sparse.csr_array(user.matrix - self._compact.presolved.formulation.matrix)
            removed.resize(matrix.shape)
            matrix = sparse.csr_array(matrix + removed)
        coefficients = matrix.data
        entries = [
            [
                [int(v), exact_decimal(a)]
                for v, a in zip(matrix.indices[i:j].tolist(), coefficients[i:j].tolist(), strict=True)
                if a
            ]
            for i, j in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
        ]
        sides = zip(map(exact_side, row_lower.tolist()), map(exact_side, row_upper.tolist()), entries, strict=True)
        rows = [list(row) for row in sides]
        variables = [
            [exact_decimal(cost), exact_side(low), exact_side(high), is_whole]
            for cost, low, high, is_whole in zip(
                (f.costs / units).tolist(), lower.tolist(), upper.tolist(), f.integer.tolist(), strict=True
            )
        ]
        # Rows that presolve has removed and that are not redundant in fractions link, with dual values of zero.
        linking, removed = splitting.linking.tolist(), np.flatnonzero(splitting.partition.of_row == REMOVED).tolist()
        if removed:
            linking += sorted(set(removed).difference(checker_blocks.presolve(variables, rows)[2]))
        return {
            "kind": "compact",
            "name": self.name,
            "sense": f.sense.name.lower(),
            "offset": exact_decimal(f.offset),
            "variables": variables,
            "rows": rows,
            "linking": linking,
            "blocks": [
                [members[order].tolist() for members in sub.columns]
                for sub, order in zip(splitting.subproblems, self._orders, strict=True)
            ],
        }

    @cached_property
    def _units(self) -> Floats:
        """The units of the columns, powers of two; the certificate has the numbers of the user's model."""
        units = self._splitting.compact.units
        return np.ones(len(self._splitting.compact.formulation.costs)) if units is None else units

    def formulation(self) -> Record:
        return self._formulation

    @cached_property
    def _formulation(self) -> Record:
        return checker_blocks.formulation(self._data)

    @cached_property
    def _program(self) -> Program:
        program = Program(self._formulation)
        for block in program.pricing:
            block.limit = _MOST_SUMS
        return program

    @property
    def _checks_all(self) -> bool:
        """Whether the checker can bound all blocks, because the variables in their rows are bounded."""
        for block in self._program.pricing:
            limits = block.limits(CheckerState())
            if any(math.inf in map(abs, limits[v]) for _, terms in block.rows for v in terms):
                return False
        return True

    @cached_property
    def _trees(self) -> list[BoundingTree]:
        """Trees of bounds of all blocks; blocks with the same points share one."""
        made = dict[str, BoundingTree]()
        blocks = [(block, str((block.rows, block.bounds, block.integer))) for block in self._program.pricing]
        return [made.get(points) or made.setdefault(points, BoundingTree(block)) for block, points in blocks]

    # --- answers -----------------------------------------------------------------------------------------------------

    def columns(self, solution: Solution) -> list[Any] | str:
        """Return the values of the model's variables by blocks; "trusted" if rows do not hold exactly."""
        return self._answer(solution)[1]

    def objective(self, solution: Solution) -> Fraction:
        return self._answer(solution)[2]

    def _answer(self, solution: Solution) -> tuple[Solution, list[Any] | str, Fraction]:
        if self._last is not None and self._last[0] is solution:
            return self._last
        x = (self._splitting.values(solution) * self._units).tolist()
        variables = self._data["variables"]
        for most in _NEAR:
            values = [
                round(value) if is_whole else Fraction(value).limit_denominator(most)
                for value, (*_, is_whole) in zip(x, variables, strict=True)
            ]
            objective = Fraction(self._data["offset"])
            objective += sum(
                Fraction(cost) * value for value, (cost, *_) in zip(values, variables, strict=True) if value
            )
            columns = self._in_blocks([value if type(value) is int else as_exact(value) for value in values])
            try:
                check_answer(self._program, {"columns": columns, "objective": as_exact(objective)}, Claims())
            except WrongError:
                continue
            self._last = solution, columns, objective
            return self._last
        self._last = solution, "trusted", Fraction(solution.objective)
        return self._last

    def _in_blocks(self, values: list[int | str]) -> list[Any]:
        """Return values as columns; identical blocks with equal values share one."""
        columns: list[Any] = []
        held = set[int]()
        for k, block in enumerate(self._data["blocks"]):
            points = Counter(tuple(values[v] for v in member) for member in block)
            columns += [[k, times, list(point)] for point, times in points.items()]
            held.update(v for member in block for v in member)
        return [*columns, [len(self._data["blocks"]), 1, [value for v, value in enumerate(values) if v not in held]]]

    # --- led through the tree ----------------------------------------------------------------------------------------

    def start(self) -> CheckerState:
        return CheckerState()

    def claim(self, state: CheckerState, point: WitnessPoint, goal: Fraction | None) -> Record | None:
        near: tuple[Record, Fraction] | None = None
        for duals, counts, unit in self._rounded(point, state):
            found = self._claim(state, duals, counts, unit, point, goal)
            if found is None:
                break
            if self._proves(*found, goal):
                return found[0]
            if near is None or found[1] / unit > near[1] / near[0]["unit"]:
                near = found
        # A block may be empty, which needs no dual values.
        found = self._claim(
            state, [0] * len(self._data["linking"]), {}, 1, WitnessPoint(None, 0.0, costs_count=False), goal
        )
        if found is not None and self._proves(*found, goal):
            return found[0]
        if near is None or goal is None or not point.costs_count or self._program.step is not None:
            return None
        # Without a step, rounded dual values prove slightly less.
        missing = goal - near[1] / near[0]["unit"]
        return near[0] if missing <= TOLERANCES.diagnostic * max(1.0, abs(float(goal))) else None

    def _claim(
        self,
        state: CheckerState,
        duals: Sequence[int],
        counts: Mapping[_Within, int],
        over: int,
        near: WitnessPoint,
        goal: Fraction | None,
    ) -> tuple[Record, Fraction] | None:
        """Return a claim and the total of its dual values, over a denominator; None if the checker would reject it."""
        told = [[k, [list(each) for each in box], dual] for (k, box), dual in counts.items()]
        unit, weight = (over, 1) if near.costs_count else (1, 0)
        record: Record = {"weight": weight, "unit": unit, "duals": list(duals), "counts": told}
        program = self._program
        try:
            point = point_of(program, state, record, unit * weight)
            enumerated = [self._enumerate(k, point, state) for k in range(len(program.pricing))]
            least = [each for each in enumerated if each is not None]
            if None in enumerated:
                trees = self._grow(state, point, enumerated, over, near, goal)
                if trees is None:
                    return None
                record["potentials"] = trees
                given = replace(state, given=trees)
                least = [block.least(point.duals, point.unit, point.counts, given) for block in program.pricing]
            total = point.total + sum(bound_of_uses(program, k, each) for k, each in enumerate(least))
        except WrongError:
            return None
        record["least"] = list(map(as_exact, least))
        record["bound"] = as_exact(program.sign * total / unit) if weight else None
        return (record if weight else {**record, "worth": as_exact(total)}), total

    def _enumerate(self, k: int, point: CheckedPoint, state: CheckerState) -> Fraction | None:
        """Return the least reduced cost of a block by the checker's dynamic program, or None."""
        try:
            return self._program.pricing[k].least(point.duals, point.unit, point.counts, state)  # type: ignore[no-any-return]
        except WrongError:
            return None

    def _grow(
        self,
        state: CheckerState,
        point: CheckedPoint,
        least: Sequence[Fraction | None],
        over: int,
        near: WitnessPoint,
        goal: Fraction | None,
    ) -> list[Any] | None:
        """Return trees of bounds for the blocks that are not enumerated; they are as coarse as the goal allows.

        The dual values of convexity rows are the least reduced costs of blocks if all prices have converged.
        """
        program, counts = self._program, [sub.count for sub in self._splitting.subproblems]
        open_ = [k for k, each in enumerate(least) if each is None]
        if open_[-1] >= len(counts):
            return None
        needed = 0.0
        if near.costs_count:
            if goal is None:
                return None
            needed = float(goal - (program.step or 0))
        others = (bound_of_uses(program, k, each) for k, each in enumerate(least) if each is not None)
        known, total = float((point.total + sum(others)) / over) - needed, sum(counts[k] for k in open_)
        best = dict.fromkeys(open_, -1.0)  # without dual values a gain of 0 is that of any point
        if isinstance(near.duals, Duals):
            first = len(self._splitting.linking)
            best = {k: -program.sign * float(near.duals.values[first + k]) for k in open_}
        room = known - sum(counts[k] * gain for k, gain in best.items())
        if room < 0.0:
            best, room = dict.fromkeys(open_, -math.inf), 0.0
        while True:
            trees: list[Any] = [None] * len(least)
            grown = list[tuple[Any, Any]]()
            for k in open_:
                block = program.pricing[k]
                arrays = block.gains(point.duals, point.unit), block.boxes(point.counts, state), block.limits(state)
                asked = self._trees[k], *arrays, over * block.over, best[k]
                found = next((tree for each, tree in grown if each == asked), None)
                if found is None:
                    found = asked[0].grow(*asked[1:], room / (2 * total), self._nodes_left)
                    if found is None:
                        return None
                    grown.append((asked, found))
                    self._nodes_left -= len(found[0])
                trees[k], best[k] = found
            left = known - sum(counts[k] * gain for k, gain in best.items())
            if not 0.0 < left < room / 2:  # the goal is reached, or out of reach
                return trees
            room = left

    def _proves(self, claim: Record, total: Fraction, goal: Fraction | None) -> bool:
        if not claim["weight"]:
            return total > 0
        return goal is not None and self._program.round_up(total / claim["unit"]) >= goal

    def _rounded(self, point: WitnessPoint, state: CheckerState) -> Iterator[tuple[list[int], dict[_Within, int], int]]:
        """Yield dual values of linking rows and counted points as integers over a denominator, coarse ones first."""
        if not isinstance(point.duals, Duals):
            return
        sign, rows = self._program.sign, self._program.rows
        values = np.zeros(len(rows))
        values[: len(self._splitting.linking)] = sign * point.duals.values[: len(self._splitting.linking)]
        found: dict[_Within, float] = {}
        terms = point.duals.terms(Box)
        for box, value in zip(terms.terms, terms.values.tolist(), strict=True):
            place = self._place(box)
            if place is not None and place in state.counts:
                found[place] = sign * value
        allowed = [*rows, *(state.counts[place] for place in found)]
        every = [
            0.0 if sides[value < 0.0] is None else value
            for value, sides in zip((*values.tolist(), *found.values()), allowed, strict=True)
        ]
        for integers, unit in _scale_to_integers(every, self._size):
            counts = zip(found, integers[len(rows) :], strict=True)
            yield integers[: len(rows)], {place: dual for place, dual in counts if dual}, unit

    @cached_property
    def _size(self) -> Fraction:
        """A common divisor of all costs, the unit of dual values."""
        costs = [Fraction(cost) for cost, *_ in self._data["variables"] if cost]
        over = math.lcm(*(cost.denominator for cost in costs))
        return Fraction(math.gcd(*(int(over * cost) for cost in costs)), over) if costs else Fraction(1)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def split(self, state: CheckerState, children: Sequence[Sequence[Decision]]) -> Split | None:
        said = [self._as_count(child[0]) for child in children if len(child) == 1]
        if len(children) != 2 or len(said) != 2:
            return None
        for order in ((0, 1), (1, 0)):
            first, second = (said[k] for k in order)
            if first is None or second is None:
                return None
            place, least, most = first
            if most is not None and least == 0 and second == (place, most + 1, None):
                record = {"within": [place[0], [list(each) for each in place[1]]], "at_most": most}
                return Split(record, order, self._program.split(state, record, 2, Claims()))
        return None

    def _as_count(self, decision: Decision) -> tuple[_Within, int, int | None] | None:
        """Return a decision as a count of points: bounds, and the minimum and maximum number of points within them.

        An upper bound v on a variable means that 0 points have a value of v + 1 or more. A lower bound v means that at
        least 1 point has a value of v or more.
        """
        if isinstance(decision, PointsWithin):
            place = self._place(decision.box)
            least = max(math.ceil(decision.lower), 0) if decision.lower > -math.inf else 0
            return None if place is None else (place, least, _as_integer(decision.upper))
        if isinstance(decision, ComponentBound):
            k, v = decision.number, int(self._ranks[decision.number][decision.variable])
        elif isinstance(decision, TemplateBound):
            static = [self._splitting.compact.formulation.column_keys[k] for k in self._splitting.static.tolist()]
            k, v = len(self._splitting.subproblems), static.index(decision.key)
        else:
            return None
        low, high = _as_integer(decision.lower), _as_integer(decision.upper)
        if (low is None) == (high is None):
            return None
        if high is not None:
            return (k, ((v, high + 1, None),)), 0, 0
        return (k, ((v, low, None),)), 1, None

    def _place(self, box: Box) -> _Within | None:
        """Return the block of a box, and its bounds in the checker's order of variables."""
        name = self._splitting.convexity
        k = next((sub.number for sub in self._splitting.subproblems if box.block == f"{name}[{sub.number}]"), None)
        if k is None:
            return None
        bounds: Any = box.bounds
        return k, tuple(
            sorted((int(self._ranks[k][v]), _as_integer(low), _as_integer(high)) for v, low, high in bounds)
        )


def _order_of(sub: Subproblem) -> Ints:
    """Return the order in which the checker enumerates the variables of a block, chosen to give few row sums.

    Variables in many rows come first.  In an acyclic network the rows of passed nodes are complete, so that the
    remaining sums are the nodes that a path can have reached.
    """
    path = shortest_path_of(sub)
    if path is not None and path.place is not None:
        return np.lexsort((path.place[path.heads], path.place[path.tails]))
    return np.argsort(-_rows_of(sub), kind="stable")


def _rows_of(sub: Subproblem) -> Ints:
    rows: Ints = np.diff(sub.matrix.indptr).astype(np.int64)
    return rows


def _scale_to_integers(values: Sequence[float], size: Fraction) -> Iterator[tuple[list[int], int]]:
    """Yield numbers as integers with a denominator: coarsely, as fractions of small integers, and precisely."""
    largest = max(map(abs, values), default=0.0)
    if not 0.0 < largest < math.inf:
        if largest == 0.0:
            yield [0] * len(values), 1
        return
    for digits in _DIGITS:
        # A power of two, so that the only error is the rounding to integers.
        scale = max(math.ldexp(1.0, math.frexp(digits / largest)[1] - 1), 1.0)
        yield [round(value * scale) for value in values], int(scale)
        if digits == _DIGITS[0]:
            near = [size * (Fraction(value) / size).limit_denominator(_PARTS) for value in values]
            over = math.lcm(*(each.denominator for each in near))
            if over.bit_length() <= math.log2(_DIGITS[-1]):
                yield [int(over * each) for each in near], over


def exact_decimal(value: float) -> int | str:
    """Return the decimal number that the model states: 0.1 is exactly 1/10."""
    if value.is_integer() and abs(value) < EXACT:
        return int(value)
    return as_exact(Fraction(repr(value)))


def exact_side(value: float) -> int | str | None:
    """Return a side as the decimal number that the model states, None for an infinite one."""
    return None if math.isinf(value) else exact_decimal(value)


def _as_integer(value: float) -> int | None:
    return None if math.isinf(value) else round(value)
