"""Invalid programs: each must fail with one clear message instead of returning an answer.

A small correct program gets one error: an invalid attribute, a misspelt hook, a method without ``return``, a string
instead of a number, or an oracle without columns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo

from colgen import (
    NO_STRUCTURE,
    Best,
    Column,
    OnOriginalVariable,
    OraclePricing,
    Problem,
    Row,
    Separation,
    Termination,
    artificial,
    solve,
)
from colgen.core.errors import ColgenError

Rng = np.random.Generator

_SECONDS = 10.0
"""Time limit of a program, which usually takes much less."""

_NO_NUMBERS: tuple[Any, ...] = ("1", "", None, math.nan, [1.0], 1j, True)
_NOT_POSITIVE: tuple[Any, ...] = (0, 0.0, -1, -2.5, -math.inf)
_INFINITE: tuple[Any, ...] = (math.inf, -math.inf)

_METHODS = {
    "problem": (
        "master", "pricing", "separation", "branching", "method", "warm_start",
    ),
    "oracle": ("best", "encode", "others", "price"),
    "separation": ("separate",),
}  # fmt: skip
"""Methods that must return a value."""

_HOOKS: dict[str, tuple[tuple[str, Any], ...]] = {
    "problem": (
        ("method", lambda self: None),
        ("warm_start", lambda self, budget: None),
        ("certifier", lambda self: None),
        ("objective_step", 1.0),
    ),
    "oracle": (("multiplicity", 9.0), ("cost_bound", 0.0), ("others", lambda self, structure, duals, context: ())),
    "separation": (("exhaustive", False), ("applies", lambda self, depth: True), ("restore", lambda s, k, a, b: None)),
}
"""Optional hooks that the program does not define, each with a value for a misspelt copy."""


@dataclasses.dataclass
class Program:
    """Changed members of the program's classes, by class."""

    problem: dict[str, Any] = dataclasses.field(default_factory=dict)
    oracle: dict[str, Any] = dataclasses.field(default_factory=dict)
    separation: dict[str, Any] = dataclasses.field(default_factory=dict)

    def build(self, items: int) -> Problem:
        """Return the problem of covering items exactly once by intervals of at most two."""
        oracle = type("Oracle", (_Oracle,), self.oracle)
        separation = type("Cuts", (_Cuts,), self.separation)
        parts = {"pricing": lambda self: oracle(self), "separation": lambda self: [separation()], "items": items}
        problem: Problem = type("Cover", (_Cover,), parts | self.problem)()
        return problem


class _Cover(Problem):
    items = 3

    def master(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        m.missed = artificial(range(self.items))
        m.item = pyo.Constraint(range(self.items), rule=lambda m, i: m.missed[i] == 1)
        m.cost = pyo.Objective(expr=0)
        return m

    def branching(self) -> list[OnOriginalVariable]:
        return [OnOriginalVariable(lambda column: {column.structure: 1.0})]


class _Oracle(OraclePricing):
    def best(self, duals: Any, context: Any) -> Any:
        n = self.problem.items
        sets = [(i,) for i in range(n)] + [(i, i + 1) for i in range(n - 1)]
        allowed = [s for s in sets if context.allows(self.encode(s))]
        costs = {s: self.reduced_cost(s, duals, context) for s in allowed}
        best = min(costs, key=costs.__getitem__)
        return Best(best, costs[best])

    def reduced_cost(self, items: tuple[int, ...], duals: Any, context: Any) -> float:
        cut = sum(value for _, value in duals.items("many")) + duals.get(("branch", items))
        return float(context.cost_weight * len(items) ** 0.5 - sum(duals["item", i] for i in items) - cut)

    def encode(self, items: tuple[int, ...]) -> Column:
        return Column(len(items) ** 0.5, {("item", i): 1.0 for i in items}, items)


class _Cuts(Separation):
    """A valid row that the first solution violates: at least one column is used."""

    def separate(self, solution: Any, context: Any) -> Any:
        return [Row(("many", 1), lower=1.0, coefficient=lambda column: 1.0)] if not solution.columns else []


# --- errors ----------------------------------------------------------------------------------------------------------


def draw(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """Return a description of the error, and a function that runs the program and describes a wrong reaction."""
    kinds = (
        _oracle_attribute,
        _changing_attribute,
        _problem_attribute,
        _hook,
        _missing_return,
        _missing_return,
        _column,
        _row,
        _setting,
        _no_column,
    )
    return kinds[int(rng.integers(len(kinds)))](rng)


def _choose(rng: Rng, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _draw_attribute(rng: Rng) -> tuple[str, Any]:
    if rng.integers(2):
        return "multiplicity", _choose(rng, *_NO_NUMBERS, *_NOT_POSITIVE)
    return "cost_bound", _choose(rng, *(value for value in _NO_NUMBERS if value is not None), *_INFINITE)


def _oracle_attribute(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    name, value = _draw_attribute(rng)
    return f"{name} = {value!r}", _expect_refusal(Program(oracle={name: value}), rng, name)


def _changing_attribute(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """Change an attribute of the oracle in one of its first calls."""
    (name, value), calls = _draw_attribute(rng), [int(rng.integers(1, 3))]

    def best(self: Any, duals: Any, context: Any) -> Any:
        calls[0] -= 1
        if not calls[0]:
            setattr(self, name, value)
        return _Oracle.best(self, duals, context)

    return f"{name} = {value!r} in a call", _expect_refusal(Program(oracle={"best": best}), rng, name)


def _problem_attribute(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    name = _choose(rng, "objective_step", "scale")
    value = _choose(rng, *(value for value in _NO_NUMBERS if value is not None), *_NOT_POSITIVE, math.inf)
    return f"{name} = {value!r}", _expect_refusal(Program(problem={name: value}), rng, name)


def _hook(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """Misspell a hook: omit or double a letter, or add an s."""
    where = _choose(rng, *_HOOKS)
    hook, member = _choose(rng, *_HOOKS[where])
    k = int(rng.integers(1, len(hook) - 1))
    name = _choose(rng, hook[:k] + hook[k + 1 :], hook[:k] + hook[k] + hook[k:], hook + "s")
    return f"{where}.{name}", _expect_refusal(Program(**{where: {name: member}}), rng, f"did you mean {hook}")


def _missing_return(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    where = _choose(rng, *_METHODS)
    name = _choose(rng, *_METHODS[where])
    program = Program(**{where: {name: lambda self, *arguments: None}})
    return f"{where}.{name} without return", _expect_refusal(program, rng, "did you forget `return`?")


def _column(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    name = _choose(rng, "cost", "coefficient", "lower", "upper")
    value = _choose(rng, "1", None, math.nan, [1.0], 1j, *((math.inf,) if name in ("cost", "coefficient") else ()))

    def encode(self: Any, items: tuple[int, ...]) -> Column:
        column = _Oracle.encode(self, items)
        if name == "coefficient":
            return dataclasses.replace(column, coefficients={("item", items[0]): value})
        return dataclasses.replace(column, **{name: value})

    return f"a column's {name} {value!r}", _expect_refusal(Program(oracle={"encode": encode}), rng, "")


def _row(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """Make a side or a coefficient of a separated row invalid."""
    name, value = _choose(rng, "lower", "upper", "coefficient"), _choose(rng, "1", None, math.nan, 1j)
    row: dict[str, Any] = {"lower": 99.0, "coefficient": lambda column: 1.0}
    row |= {"coefficient": lambda column: value} if name == "coefficient" else {name: value}

    def separate(self: Any, solution: Any, context: Any) -> Any:
        return [Row(("many", 1), **row)]

    return f"a row's {name} {value!r}", _expect_refusal(Program(separation={"separate": separate}), rng, "")


def _setting(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    value = _choose(rng, *_NO_NUMBERS, -1, -math.inf)
    return f"time_limit={value!r}", _expect_refusal(Program(), rng, "time_limit", time_limit=value)


def _no_column(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """Return no column at all; the result must be infeasible with a note."""
    items = int(rng.integers(2, 5))
    empty: dict[str, Program] = {
        "best() without a structure": Program(oracle={"best": lambda self, duals, context: NO_STRUCTURE}),
        "no pricing problem": Program(problem={"pricing": lambda self: _choose(rng, (), [])}),
    }
    words = _choose(rng, *empty)

    def run() -> str | None:
        result = solve(empty[words].build(items), time_limit=_SECONDS)
        if result.termination is not Termination.INFEASIBLE:
            return f"ended with {result.termination.name}"
        return None if any("No column was generated" in note for note in result.notes) else "no note"

    return words, run


def _expect_refusal(program: Program, rng: Rng, named: str, **settings: Any) -> Callable[[], str | None]:
    """Return a function that runs a program, whose error message must contain ``named``."""
    items = int(rng.integers(2, 5))

    def run() -> str | None:
        try:
            result = solve(program.build(items), **{"time_limit": _SECONDS} | settings)
        except ColgenError as error:
            message = str(error)
            if named not in message:
                return f"{named!r} is not in {message[:200]!r}"
            clear = message.isprintable() and len(message) <= 400
            return None if clear else f"not one clear message: {message[:200]!r}"
        except Exception as error:  # an internal error
            return f"{type(error).__name__}: {error}"
        return f"ended with {result.termination.name}, objective {result.objective:g}"

    return run
