"""A program as a problem for column generation: oracles enumerate their pools, lazy rows are separated."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.branching.rules import Bound, BranchingRule, OnOriginalVariable, OnTemplateVariable, RyanFoster
from colgen.core.budget import Budget
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import Duals
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.warm_start import WarmStart
from colgen.cuts.separation import Separation, SeparationContext
from colgen.master.linear_master import LinearMaster
from colgen.model.rows import Rows
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, Stages
from colgen.problem import Problem
from tests.fuzz.engine.pools import Case, PoolRow, Program

Floats = NDArray[np.float64]

_VIOLATED = 1e-6
"""Relative violation above which a lazy row is separated, before scaling."""


class PoolOracle(Pricing):
    """Enumerates the columns of a group exactly, with branching, phase 1 and lazy rows."""

    def __init__(self, problem: PoolProblem, number: int, heuristic: bool = False) -> None:
        group = problem.program.groups[number]
        self.problem, self.group, self.heuristic = problem, group, heuristic
        self.columns = [c for c, p in zip(problem.columns, problem.program.columns, strict=True) if p.group == number]
        self.multiplicity = math.inf if group.multiplicity is None else group.multiplicity
        costs = [column.cost for column in self.columns]
        if group.bounds_cost and costs:
            self.cost_bound = max(costs) if problem.program.maximize else min(costs)

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        self._check_signs(duals, context)
        # Bounded columns that are in the master already are priced there.
        columns = [c for c in self.columns if context.allows(c) and not self._is_in_master(c)]
        if not columns:
            return PricingResult(bound=None if self.heuristic else context.sense.hopeless)
        if self.group.prices == "engine":
            reduced = np.asarray(context.reduced_costs(columns, duals))
        else:
            reduced = self._reduced_costs(columns, duals, context)
        gains = context.sense.gains(reduced)
        order = np.argsort(-gains, kind="stable")
        best = [columns[k] for k in order[: self.group.many]]
        returned = reduced[order[: self.group.many]].tolist() if self.group.states else None
        if self.heuristic:
            return PricingResult(best, None, returned)
        bound = float(reduced[order[0]])
        if self.group.prices == "total" and math.isfinite(self.multiplicity):
            total = context.sense.best(0.0, bound) * self.multiplicity
            return PricingResult(best, bound, returned, total)
        return PricingResult(best, bound, returned)

    def _check_signs(self, duals: Duals, context: PricingContext) -> None:
        """Check that oracles are called only at dual values with the signs of the template's rows."""
        master = self.problem.latest
        if master is None or not isinstance(duals, Duals):
            return
        lower, upper = master.formulation.row_lower, master.formulation.row_upper
        pull = context.sense.sign * duals.values[: len(lower)]
        if ((pull > 0.0) & np.isneginf(lower)).any() or ((pull < 0.0) & np.isposinf(upper)).any():
            raise AssertionError("an oracle was called at dual values with signs that the rows do not allow")

    def _is_in_master(self, column: Column) -> bool:
        master = self.problem.latest
        return math.isfinite(column.upper) and master is not None and bool(master.find((column,))[0] >= 0)

    def _reduced_costs(self, columns: Sequence[Column], duals: Duals, context: PricingContext) -> Floats:
        """Return reduced costs computed independently of the engine, which compares them with its own."""
        program = self.problem.program
        lazy = {int(str(i)): dual for i, dual in duals.items("lazy")}
        branch: Mapping[Hashable, float] = dict(duals.items("branch"))
        reduced = []
        for column in columns:
            value = context.cost_weight * column.cost
            value -= sum(entry * duals.get(key) for key, entry in column.coefficients.items())
            if lazy:
                entries = program.columns[column.structure].entries
                value -= sum(self.problem.entry(i, entries.get(i, 0)) * dual for i, dual in lazy.items())
            if column.structure in branch and column.integer:
                value -= branch[column.structure] * _in_force(context, column)
            reduced.append(value)
        return np.array(reduced)


def _in_force(context: PricingContext, column: Column) -> float:
    """Return the coefficient of a column in its own branching row."""
    decisions = [d for d in context.decisions if isinstance(d, Bound) and d.key[1] == column.structure]
    return 1.0 if any(d.row() is not None for d in decisions) else 0.0


class LazyRows(Separation):
    """Separates violated lazy rows by enumeration."""

    def __init__(self, problem: PoolProblem) -> None:
        self.problem = problem

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        program = self.problem.program
        violated = []
        for i, row in enumerate(program.rows):
            if not row.lazy:
                continue
            activity = sum(program.columns[c.structure].entries.get(i, 0) * x for c, x in solution.columns)
            activity += sum(
                program.variables[int(str(key[1]))].entries.get(i, 0) * x
                for key, x in solution.variables.items()
                if key[0] == "y"
            )
            slack = _VIOLATED * max(1.0, abs(activity))
            low, high = _sides(row)
            if not low - slack <= activity <= high + slack:
                violated.append(self._row(i))
        return violated

    def _row(self, i: int) -> Row:
        problem, program = self.problem, self.problem.program
        low, high = _sides(program.rows[i])

        def coefficient(column: Column) -> float:
            part = program.columns[column.structure]
            if column.integer is not part.integer or column.upper != _high(part.upper):
                raise AssertionError(f"the row's function got {column}, expected column {column.structure}")
            return problem.entry(i, part.entries.get(i, 0))

        coefficients: dict[Key, float] = {
            ("y", v): problem.entry(i, variable.entries[i])
            for v, variable in enumerate(program.variables)
            if i in variable.entries
        }
        scale = program.row_scales[i]
        return Row(("lazy", i), low * scale, high * scale, coefficients, coefficient)


class PoolProblem(Problem):
    """A program as a problem."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.program = program = case.program
        self.latest: LinearMaster | None = None
        if program.step:
            self.objective_step = program.step * program.cost_scale

    def entry(self, row: int, value: int) -> float:
        """Return a scaled coefficient."""
        return value * self.program.row_scales[row]

    @cached_property
    def columns(self) -> list[Column]:
        """Return all columns of the pool."""
        program = self.program
        columns = []
        for j, part in enumerate(program.columns):
            entries: dict[Key, float] = {
                ("row", i): self.entry(i, a) for i, a in part.entries.items() if not program.rows[i].lazy
            }
            rows: tuple[Row, ...] = ()
            if part.link is not None:
                entries["link", j] = 1.0
                rows = (Row(("link", j), upper=0.0, coefficients={("y", part.link): -3.0}),)
            columns.append(
                Column(
                    part.cost * program.cost_scale,
                    entries,
                    structure=j,
                    key=("x", j),
                    upper=_high(part.upper),
                    integer=part.integer,
                    rows=rows,
                )
            )
        return columns

    def rows(self) -> Rows:
        program = self.program
        kept = [i for i, row in enumerate(program.rows) if not row.lazy]
        position = {i: k for k, i in enumerate(kept)}
        entries = [
            (position[i], v, self.entry(i, a))
            for v, variable in enumerate(program.variables)
            for i, a in variable.entries.items()
            if i in position
        ]
        names: list[Key] = [("y", v) for v in range(len(program.variables))]
        for i in kept:
            unit = 1.0 if program.unit_artificials else program.row_scales[i]
            for name, sign, side in (
                ("missing", 1.0, program.rows[i].lower),
                ("excess", -1.0, program.rows[i].upper),
            ):
                if side is not None:
                    entries.append((position[i], len(names), sign * unit))
                    names.append((name, i))
        plain, trades = len(program.variables), len(program.exchanges)
        costs = [float(variable.cost) for variable in program.variables] + [0.0] * (len(names) - plain)
        for k, exchange in enumerate(program.exchanges):
            present = [(position[i], i, a) for i, a in exchange.entries.items() if i in position]
            entries += [(row, len(costs), self.entry(i, a)) for row, i, a in present]
            names.append(("trade", k))
            costs.append(float(exchange.cost))
        n = len(names)
        values = [e[2] for e in entries]
        places = ([e[0] for e in entries], [e[1] for e in entries])
        low = [-math.inf if v.lower is None else float(v.lower) for v in program.variables]
        return Rows.of_arrays(
            Sense.MAXIMIZE if program.maximize else Sense.MINIMIZE,
            sparse.csc_array((np.array(values, dtype=float), places), shape=(len(kept), n)),
            columns=(
                names,
                program.cost_scale * np.array(costs),
                [*low, *[0.0] * (n - plain)],
                [*(_high(v.upper) for v in program.variables), *[math.inf] * (n - plain)],
            ),
            rows=(
                [("row", i) for i in kept],
                [_sides(program.rows[i])[0] * program.row_scales[i] for i in kept],
                [_sides(program.rows[i])[1] * program.row_scales[i] for i in kept],
            ),
            integer=np.array([*(v.integer for v in program.variables), *[False] * (n - plain)], dtype=bool),
            artificial=np.arange(n) >= plain,
            exchange=np.arange(n) >= n - trades if trades else None,
            offset=program.offset * program.cost_scale,
        )

    def master(self) -> LinearMaster:
        self.latest = LinearMaster(self.rows(), central=self.case.way.central)
        return self.latest

    def pricing(self) -> Sequence[Pricing]:
        return [
            Stages(PoolOracle(self, k, heuristic=True), PoolOracle(self, k))
            if group.prices == "stages"
            else PoolOracle(self, k)
            for k, group in enumerate(self.program.groups)
        ]

    def separation(self) -> Sequence[Separation]:
        return (LazyRows(self),) if any(row.lazy for row in self.program.rows) else ()

    def branching(self) -> Sequence[BranchingRule]:
        rules: tuple[BranchingRule, ...] = (
            OnOriginalVariable(lambda column: {column.structure: 1.0} if column.integer else {}),
            OnTemplateVariable(),
        )
        return (RyanFoster("row"), *rules) if self.case.way.branching == "pairs" else rules

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart(self._duals(), self._answers(), [self.columns[j] for j in self.case.way.start])

    def _duals(self) -> Mapping[str, Any] | None:
        guess, program = self.case.way.duals, self.program
        if guess is None:
            return None
        kept = [i for i, row in enumerate(program.rows) if not row.lazy]
        return {"row": [guess[i] * program.cost_scale / program.row_scales[i] for i in kept]} if kept else None

    def _answers(self) -> Sequence[Solution]:
        known, program = self.case.way.answer, self.program
        if known is None:
            return ()
        n = len(program.columns)
        objective = program.offset + sum(part.cost * x for part, x in zip(program.parts, known, strict=True))
        return [
            Solution(
                objective * program.cost_scale,
                [(self.columns[j], float(x)) for j, x in enumerate(known[:n]) if x],
                {("y", v): float(x) for v, x in enumerate(known[n:]) if x},
                frozenset(("y", v) for v, variable in enumerate(program.variables) if variable.integer),
            )
        ]

    def answer(self, solution: Solution) -> tuple[float, ...]:
        """Return values of all columns, then of all variables."""
        program = self.program
        values = [0.0] * (len(program.columns) + len(program.variables))
        for column, value in solution.columns:
            values[column.structure] += value
        for key, value in solution.variables.items():
            if key[0] == "y":
                values[len(program.columns) + int(str(key[1]))] = value
        return tuple(values)


def _sides(row: PoolRow) -> tuple[float, float]:
    return -math.inf if row.lower is None else float(row.lower), _high(row.upper)


def _high(side: int | None) -> float:
    return math.inf if side is None else float(side)


__all__ = ["LazyRows", "PoolOracle", "PoolProblem", "Program"]
