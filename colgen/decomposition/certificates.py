"""Certificates of decomposed models: dual values of the rows that link blocks, and what the blocks come to at them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from colgen.branching.rules import TemplateBound
from colgen.certificate import checker_blocks
from colgen.certificate.certifier import Certifier, Record, Split, as_exact
from colgen.certificate.checker_bounds import bound_of_uses, point_of
from colgen.certificate.checker_pricing import CheckerState, WrongError
from colgen.certificate.checker_program import Claims, Program, check_answer
from colgen.certificate.witness import WitnessPoint
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.solution import Solution
from colgen.core.terms import Box
from colgen.decomposition.blocks.decisions import ComponentBound, PointsWithin
from colgen.decomposition.blocks.shortest_path import shortest_path_of
from colgen.decomposition.reading.arrays import Ints
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.decomposition.splitting import Splitting
from colgen.solvers.arrays import EXACT

_MOST_SUMS = 1 << 21
"""Blocks over whose rows a dynamic program looks at more sums than these are trusted."""

_DIGITS = (2.0**20, 2.0**48)
"""The largest dual value becomes a whole number of about this size: tried in order."""

_PARTS = 5_000
"""Dual values of vertices are often fractions of small whole numbers."""

_NEAR = (1_000, 1_000_000)
"""What is continuous in an answer is sought among fractions with denominators up to these."""

_Within = tuple[int, tuple[tuple[int, int | None, int | None], ...]]
"""Points of a block within bounds."""


class BlockCertifier(Certifier):
    """A bound of a node is proved by dual values of the linking rows, for each block is then a problem of its own.

    Blocks of whole variables are looked at once more by the checker.  Where a block has rows over continuous ones,
    leaves are trusted, and so is an answer that holds but for rounding.
    """

    states_formulation = False
    needs_duals = False

    def __init__(self, splitting: Splitting) -> None:
        f = splitting.reading.formulation
        super().__init__(f.sense, str(splitting.reading.model.name))
        self._splitting = splitting
        self._orders = [_order_of(sub) for sub in splitting.subproblems]
        self._ranks = [np.argsort(order) for order in self._orders]
        self._told: tuple[Solution, list[Any] | str, Fraction] | None = None
        self.checks_nodes = self._looks_at_all

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        splitting, f = self._splitting, self._splitting.reading.formulation
        matrix = splitting.reading.rows
        entries = [
            [
                [int(v), _exact(a)]
                for v, a in zip(matrix.indices[i:j].tolist(), matrix.data[i:j].tolist(), strict=True)
                if a
            ]
            for i, j in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
        ]
        rows = list(zip(map(_side, f.row_lower.tolist()), map(_side, f.row_upper.tolist()), entries, strict=True))
        return {
            "kind": "compact",
            "name": self.name,
            "sense": f.sense.name.lower(),
            "offset": _exact(f.offset),
            "variables": [
                [_exact(cost), _side(low), _side(high), is_whole]
                for cost, low, high, is_whole in zip(
                    f.costs.tolist(), f.lower.tolist(), f.upper.tolist(), f.integer.tolist(), strict=True
                )
            ],
            "rows": [list(row) for row in rows],
            "linking": self._linking,
            "blocks": [
                [members[order].tolist() for members in sub.columns]
                for sub, order in zip(splitting.subproblems, self._orders, strict=True)
            ],
        }

    @cached_property
    def _linking(self) -> list[int]:
        return [int(row) for row in self._splitting.linking]

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
    def _looks_at_all(self) -> bool:
        """Whether the checker can look at all blocks."""
        return self._claim(CheckerState(), [0] * len(self._linking), {}, 1, 0) is not None

    # --- answers -----------------------------------------------------------------------------------------------------

    def columns(self, solution: Solution) -> list[Any] | str:
        """The values of the model's variables, block by block; "trusted" if rows do not hold exactly."""
        return self._answer(solution)[1]

    def objective(self, solution: Solution) -> Fraction:
        return self._answer(solution)[2]

    def _answer(self, solution: Solution) -> tuple[Solution, list[Any] | str, Fraction]:
        if self._told is not None and self._told[0] is solution:
            return self._told
        x, variables = self._splitting.values(solution).tolist(), self._data["variables"]
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
            self._told = solution, columns, objective
            return self._told
        self._told = solution, "trusted", Fraction(solution.objective)
        return self._told

    def _in_blocks(self, values: list[int | str]) -> list[Any]:
        """Values of the variables as columns: blocks that are the same and have the same values are one."""
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
        for duals, counts, unit in self._rounded(point, state):
            found = self._claim(state, duals, counts, *((unit, 1) if point.costs_count else (1, 0)))
            if found is None:
                break
            if self._proves(*found, goal):
                return found[0]
        # Perhaps a block has no point, which needs no dual values.
        found = self._claim(state, [0] * len(self._linking), {}, 1, 0)
        return found[0] if found is not None and self._proves(*found, goal) else None

    def _claim(
        self, state: CheckerState, duals: Sequence[int], counts: Mapping[_Within, int], unit: int, weight: int
    ) -> tuple[Record, Fraction] | None:
        """A claim, and what its dual values come to; None where the checker would have nothing of it."""
        told = [[k, [list(each) for each in box], dual] for (k, box), dual in counts.items()]
        record: Record = {"weight": weight, "unit": unit, "duals": list(duals), "counts": told}
        program = self._program
        try:
            point = point_of(program, state, record, unit * weight)
            least = [problem.least(point.duals, point.unit, point.counts, state) for problem in program.pricing]
            total = point.total + sum(bound_of_uses(program, k, each) for k, each in enumerate(least))
        except WrongError:
            return None
        record["least"] = list(map(as_exact, least))
        record["bound"] = as_exact(program.sign * total / unit) if weight else None
        return (record if weight else {**record, "worth": as_exact(total)}), total

    def _proves(self, claim: Record, total: Fraction, goal: Fraction | None) -> bool:
        if not claim["weight"]:
            return total > 0
        return goal is not None and self._program.round_up(total / claim["unit"]) >= goal

    def _rounded(self, point: WitnessPoint, state: CheckerState) -> Iterator[tuple[list[int], dict[_Within, int], int]]:
        """A point's dual values as whole numbers over a denominator: of the linking rows, and of points counted."""
        if not isinstance(point.duals, Duals):
            return
        sign, rows = self._program.sign, self._program.rows
        values = (sign * point.duals.values[: len(rows)]).tolist()
        found: dict[_Within, float] = {}
        terms = point.duals.terms(Box)
        for box, value in zip(terms.terms, terms.values.tolist(), strict=True):
            place = self._place(box)
            if place is not None and place in state.counts:
                found[place] = sign * value
        allowed = [*rows, *(state.counts[place] for place in found)]
        every = [
            0.0 if sides[value < 0.0] is None else value
            for value, sides in zip((*values, *found.values()), allowed, strict=True)
        ]
        for whole, unit in _in_whole_numbers(every, self._size):
            counts = zip(found, whole[len(rows) :], strict=True)
            yield whole[: len(rows)], {place: dual for place, dual in counts if dual}, unit

    @cached_property
    def _size(self) -> Fraction:
        """What all costs are multiples of: dual values are fractions of it."""
        costs = [Fraction(cost) for cost, *_ in self._data["variables"] if cost]
        over = math.lcm(*(cost.denominator for cost in costs))
        return Fraction(math.gcd(*(int(over * cost) for cost in costs)), over) if costs else Fraction(1)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def split(self, state: CheckerState, children: Sequence[Sequence[Decision]]) -> Split | None:
        said = [self._said(child[0]) for child in children if len(child) == 1]
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

    def _said(self, decision: Decision) -> tuple[_Within, int, int | None] | None:
        """How many points lie within bounds, at least and at most.

        That a value is at most v is that no point has more.
        """
        if isinstance(decision, PointsWithin):
            place = self._place(decision.box)
            least = max(math.ceil(decision.lower), 0) if decision.lower > -math.inf else 0
            return None if place is None else (place, least, _whole(decision.upper))
        if isinstance(decision, ComponentBound):
            k, v = decision.number, int(self._ranks[decision.number][decision.variable])
        elif isinstance(decision, TemplateBound):
            static = [self._splitting.reading.formulation.column_keys[k] for k in self._splitting.static.tolist()]
            k, v = len(self._splitting.subproblems), static.index(decision.key)
        else:
            return None
        low, high = _whole(decision.lower), _whole(decision.upper)
        if (low is None) == (high is None):
            return None
        if high is not None:
            return (k, ((v, high + 1, None),)), 0, 0
        return (k, ((v, low, None),)), 1, None

    def _place(self, box: Box) -> _Within | None:
        """The block of component bounds, and they themselves in its order of variables."""
        name = self._splitting.convexity
        k = next((sub.number for sub in self._splitting.subproblems if box.block == f"{name}[{sub.number}]"), None)
        if k is None:
            return None
        bounds: Any = box.bounds
        return k, tuple(sorted((int(self._ranks[k][v]), _whole(low), _whole(high)) for v, low, high in bounds))


def _order_of(sub: Subproblem) -> Ints:
    """The order in which the checker walks through the variables of a block, so that it meets few sums of rows.

    What is in many rows is decided first.  Along a network without circuits the rows of the nodes behind are done with:
    the sums that are left are the nodes that a path may have come to.
    """
    path = shortest_path_of(sub)
    if path is not None and path.place is not None:
        return np.lexsort((path.place[path.heads], path.place[path.tails]))
    return np.argsort(-_rows_of(sub), kind="stable")


def _rows_of(sub: Subproblem) -> Ints:
    """How many rows of a block each of its variables is in."""
    rows: Ints = np.diff(sub.matrix.indptr).astype(np.int64)
    return rows


def _in_whole_numbers(values: Sequence[float], size: Fraction) -> Iterator[tuple[list[int], int]]:
    """Numbers as whole ones over a denominator: roughly, as fractions of small numbers, and more exactly."""
    largest = max(map(abs, values), default=0.0)
    if not 0.0 < largest < math.inf:
        if largest == 0.0:
            yield [0] * len(values), 1
        return
    for digits in _DIGITS:
        # A power of two, so that only rounding to whole numbers changes anything.
        scale = max(math.ldexp(1.0, math.frexp(digits / largest)[1] - 1), 1.0)
        yield [round(value * scale) for value in values], int(scale)
        if digits == _DIGITS[0]:
            near = [size * (Fraction(value) / size).limit_denominator(_PARTS) for value in values]
            over = math.lcm(*(each.denominator for each in near))
            if over.bit_length() <= math.log2(_DIGITS[-1]):
                yield [int(over * each) for each in near], over


def _exact(value: float) -> int | str:
    """A number as the model has it: 0.1 is a tenth, as it was written down."""
    if value.is_integer() and abs(value) < EXACT:
        return int(value)
    return as_exact(Fraction(repr(value)))


def _side(value: float) -> int | str | None:
    return None if math.isinf(value) else _exact(value)


def _whole(value: float) -> int | None:
    return None if math.isinf(value) else round(value)
