"""Programs whose columns can all be written down, in whole numbers times scales, and ways to solve them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PoolColumn:
    """A column of the pool: whole numbers, by row.

    Attributes
    ----------
    group
        The pricing problem that it belongs to.
    upper
        Bound of its variable; None for none.
    link
        The column brings the row ``x_j ≤ 3 y_link`` for this template variable.
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
    """A dual-optimal inequality that somebody believes in: whatever it says, nothing that is proved rests on it."""

    cost: int
    entries: Mapping[int, int]


@dataclass(frozen=True)
class PoolRow:
    """A row with its sides; None for none.  A lazy one is not in the template: separation brings it."""

    lower: int | None = None
    upper: int | None = None
    lazy: bool = False


@dataclass(frozen=True)
class PoolGroup:
    """A pricing problem over its group of columns.

    Attributes
    ----------
    multiplicity
        Whole columns that an answer uses at most, as the rows make it true; None where nothing is known.
    bounds_cost
        Whether it states a bound on its columns' costs.
    states
        Whether it states reduced costs.
    many
        How many columns it returns at most.
    prices
        ``own``: reduced costs by its own arithmetic; ``engine``: by the context's; ``stages``: a heuristic goes first;
        ``total``: it bounds the total instead of the multiplicity's product.
    """

    multiplicity: int | None = None
    bounds_cost: bool = False
    states: bool = True
    many: int = 1
    prices: str = "own"


@dataclass(frozen=True)
class Program:
    """A complete program.  What a master sees is these whole numbers times ``cost_scale`` and ``row_scales``.

    Attributes
    ----------
    step
        Every answer's objective is a multiple of it, in whole numbers; 0 where nothing is stated.
    unit_artificials
        Artificial variables have the coefficient 1 in their row, and not the row's scale.
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
        """Columns, then variables."""
        return (*self.columns, *self.variables)

    @property
    def size(self) -> float:
        """What costs are like, in the user's units: the largest but for penalties."""
        costs = [abs(part.cost) for part in self.parts]
        ordinary = [cost for cost in costs if cost < PENALTY] or costs
        return float(self.cost_scale * max([1, *ordinary]))


PENALTY = 10**4 * 2**10
"""Costs from here on are penalties: no answer wants the column if there is another."""


@dataclass(frozen=True)
class Way:
    """How a program is solved.

    Attributes
    ----------
    branching
        ``pairs``: Ryan and Foster's rule first, then the columns themselves; ``columns``: these alone.
    alpha
        Of smoothing; None: adjusts itself; negative: no stabilization.
    turned
        Smoothing is directional, at all nodes.
    real_costs
        In phase 1 oracles are asked at real costs first.
    branch_early
        Of column generation.
    start
        Columns given at the start.
    duals
        A guess, one number a row, times the program's scales.
    answer
        A right answer known before, as values of all columns and then of all variables.
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
    """A program and the way to solve it: what a replay file holds.

    Attributes
    ----------
    truth
        About the program, where it is known already; it is in no file.
    """

    program: Program
    way: Way
    truth: Any = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {"program": dataclasses.asdict(self.program), "way": dataclasses.asdict(self.way)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Case:
        """What :meth:`to_dict` has made, also by way of JSON."""

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
    """Whether the rows partition, so that Ryan and Foster's rule applies."""
    ones = all(part.integer and set(part.entries.values()) <= {1} for part in program.columns)
    alone = not any(variable.entries for variable in program.variables)
    return ones and alone and all(row == PoolRow(1, 1, row.lazy) for row in program.rows)


def scaled(program: Program, cost_factor: float, row_factors: tuple[float, ...]) -> Program:
    """The same program in other units."""
    factors = row_factors or (1.0,) * len(program.rows)
    return dataclasses.replace(
        program,
        cost_scale=program.cost_scale * cost_factor,
        row_scales=tuple(a * b for a, b in zip(program.row_scales, factors, strict=True)),
        unit_artificials=program.unit_artificials and all(math.isclose(f, 1.0) for f in factors),
    )
