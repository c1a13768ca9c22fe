"""Programs with an explicit pool of integer columns, with scales, and ways to solve them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PoolColumn:
    """A column of the pool, with integer entries by row.

    Attributes
    ----------
    group
        Its pricing problem.
    upper
        Upper bound of its variable, or None.
    link
        Template variable of the row ``x_j ≤ 3 y_link`` that the column adds, or None.
    """

    cost: int
    entries: Mapping[int, int]
    group: int = 0
    upper: int | None = None
    integer: bool = True
    link: int | None = None


@dataclass(frozen=True)
class PoolVariable:
    """A variable of the template."""

    cost: int
    entries: Mapping[int, int]
    lower: int | None = 0
    upper: int | None = None
    integer: bool = False


@dataclass(frozen=True)
class PoolExchange:
    """A dual inequality, which may be invalid; proofs must not depend on it."""

    cost: int
    entries: Mapping[int, int]


@dataclass(frozen=True)
class PoolRow:
    """A row with its sides, or None; lazy rows are added by separation."""

    lower: int | None = None
    upper: int | None = None
    lazy: bool = False


@dataclass(frozen=True)
class PoolGroup:
    """A pricing problem over its group of columns.

    Attributes
    ----------
    multiplicity
        Maximum number of its columns in a solution, enforced by the rows; None if unknown.
    bounds_cost
        Whether it sets a bound on its columns' costs.
    states
        Whether it returns reduced costs.
    many
        Maximum number of returned columns.
    prices
        ``own``: computes reduced costs itself; ``engine``: by the context; ``stages``: calls a heuristic first;
        ``total``: bounds the total instead of the product with the multiplicity.
    """

    multiplicity: int | None = None
    bounds_cost: bool = False
    states: bool = True
    many: int = 1
    prices: str = "own"


@dataclass(frozen=True)
class Program:
    """A complete program; the master contains these integers times ``cost_scale`` and ``row_scales``.

    Attributes
    ----------
    step
        Divisor of the objective of every solution, unscaled; 0 if none is given.
    unit_artificials
        Whether artificial variables have coefficient 1 instead of the row's scale.
    """

    kind: str
    maximize: bool
    columns: tuple[PoolColumn, ...]
    variables: tuple[PoolVariable, ...]
    rows: tuple[PoolRow, ...]
    groups: tuple[PoolGroup, ...]
    offset: int = 0
    step: int = 0
    cost_scale: float = 1.0
    row_scales: tuple[float, ...] = ()
    unit_artificials: bool = True
    exchanges: tuple[PoolExchange, ...] = ()

    @property
    def parts(self) -> tuple[PoolColumn | PoolVariable, ...]:
        """Return columns, then variables."""
        return (*self.columns, *self.variables)

    @property
    def size(self) -> float:
        """Return the largest cost without penalties, in the user's units."""
        costs = [abs(part.cost) for part in self.parts]
        ordinary = [cost for cost in costs if cost < PENALTY] or costs
        return float(self.cost_scale * max([1, *ordinary]))


PENALTY = 10**4 * 2**10
"""Costs of at least this are penalties, which an optimal solution avoids if it can."""


@dataclass(frozen=True)
class Way:
    """Options of the solution of a program.

    Attributes
    ----------
    branching
        ``pairs``: Ryan and Foster's rule first, then on columns; ``columns``: on columns only.
    alpha
        Smoothing parameter; None for adaptive, negative for no stabilization.
    turned
        Whether smoothing is directional, at all nodes.
    real_costs
        Whether phase 1 prices at real costs first.
    branch_early
        Option of column generation.
    start
        Initial columns.
    duals
        Guess of the dual values, one per row, before scaling.
    answer
        Known optimal solution: values of all columns, then of all variables.
    """

    branching: str = "columns"
    queue: str = "Plunging"
    alpha: float | None = None
    clean_up_after: int | None = None
    heuristics: tuple[str, ...] = ("RestrictedMIP",)
    central: bool = False
    start: tuple[int, ...] = ()
    duals: tuple[float, ...] | None = None
    answer: tuple[int, ...] | None = None
    node_limit: int = 400
    depth_limit: int | None = None
    time_limit: float | None = None
    gap_limit: float | None = None
    iteration_limit: int | None = None
    relaxation: bool = False
    turned: bool = False
    real_costs: bool = False
    branch_early: float = 0.0


@dataclass(frozen=True)
class Case:
    """A program and the way to solve it, as stored in replay files.

    Attributes
    ----------
    truth
        Truth about the program if already known; not stored in files.
    """

    program: Program
    way: Way
    truth: Any = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"program": dataclasses.asdict(self.program), "way": dataclasses.asdict(self.way)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Case:
        """Build a case from the data of :meth:`to_dict`."""

        def entries(part: Mapping[str, Any]) -> dict[str, Any]:
            return {**part, "entries": {int(i): a for i, a in part["entries"].items()}}

        program, way = dict(data["program"]), dict(data["way"])
        program["columns"] = tuple(PoolColumn(**entries(part)) for part in program["columns"])
        program["variables"] = tuple(PoolVariable(**entries(part)) for part in program["variables"])
        program["rows"] = tuple(PoolRow(**part) for part in program["rows"])
        program["groups"] = tuple(PoolGroup(**part) for part in program["groups"])
        program["row_scales"] = tuple(program["row_scales"])
        program["exchanges"] = tuple(PoolExchange(**entries(part)) for part in program.get("exchanges", ()))
        for name in ("heuristics", "start", "duals", "answer"):
            way[name] = None if way[name] is None else tuple(way[name])
        return cls(Program(**program), Way(**way))


def may_pair(program: Program) -> bool:
    """Return whether the rows partition, so that Ryan and Foster's rule applies."""
    ones = all(part.integer and set(part.entries.values()) <= {1} for part in program.columns)
    alone = not any(variable.entries for variable in program.variables)
    return ones and alone and all(row == PoolRow(1, 1, row.lazy) for row in program.rows)


def scale_units(program: Program, cost_factor: float, row_factors: tuple[float, ...]) -> Program:
    """Return the program in other units."""
    factors = row_factors or (1.0,) * len(program.rows)
    return dataclasses.replace(
        program,
        cost_scale=program.cost_scale * cost_factor,
        row_scales=tuple(a * b for a, b in zip(program.row_scales, factors, strict=True)),
        unit_artificials=program.unit_artificials and all(math.isclose(f, 1.0) for f in factors),
    )
