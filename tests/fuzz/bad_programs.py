"""Programs that cannot be meant: each must end in one clear sentence, before its answer can be believed.

A small program in which all is right is drawn, and one thing in it is put wrong: an attribute out of its domain, a
misspelt hook, a method without ``return``, a text in place of a number, an oracle that finds nothing.
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
"""Time limit of a program; all of them take next to no time."""

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
"""Methods that must return something."""

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
"""Hooks that the program leaves alone, and what a misspelt one would be."""


@dataclasses.dataclass
class Program:
    """The parts of a program: classes, of which objects are made, and one thing that is changed in them."""

    problem: dict[str, Any] = dataclasses.field(default_factory=dict)
    oracle: dict[str, Any] = dataclasses.field(default_factory=dict)
    separation: dict[str, Any] = dataclasses.field(default_factory=dict)

    def made(self, items: int) -> Problem:
        """The problem: some items are each covered once by intervals of two at most."""
        oracle = type("Oracle", (_Oracle,), self.oracle)
        separation = type("Cuts", (_Cuts,), self.separation)
        parts = {"pricing": lambda self: oracle(self), "separation": lambda self: [separation()], "items": items}
        made: Problem = type("Cover", (_Cover,), parts | self.problem)()
        return made


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
    """A valid row that every solution violates at first: there is one column or more."""

    def separate(self, solution: Any, context: Any) -> Any:
        return [Row(("many", 1), lower=1.0, coefficient=lambda column: 1.0)] if not solution.columns else []


# --- what is put wrong -----------------------------------------------------------------------------------------------


def draw(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """What is put wrong in words, and what runs the program and says what is wrong with how it ends."""
    kinds = (_attribute, _changed, _stated, _hook, _forgotten, _forgotten, _column, _row, _setting, _nothing)
    return kinds[int(rng.integers(len(kinds)))](rng)


def _one(rng: Rng, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _drawn_attribute(rng: Rng) -> tuple[str, Any]:
    if rng.integers(2):
        return "multiplicity", _one(rng, *_NO_NUMBERS, *_NOT_POSITIVE)
    return "cost_bound", _one(rng, *(value for value in _NO_NUMBERS if value is not None), *_INFINITE)


def _attribute(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    name, value = _drawn_attribute(rng)
    return f"{name} = {value!r}", _refused(Program(oracle={name: value}), rng, name)


def _changed(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """An attribute that an oracle changes in one of its first calls."""
    (name, value), calls = _drawn_attribute(rng), [int(rng.integers(1, 3))]

    def best(self: Any, duals: Any, context: Any) -> Any:
        calls[0] -= 1
        if not calls[0]:
            setattr(self, name, value)
        return _Oracle.best(self, duals, context)

    return f"{name} = {value!r} in a call", _refused(Program(oracle={"best": best}), rng, name)


def _stated(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    name = _one(rng, "objective_step", "scale")
    value = _one(rng, *(value for value in _NO_NUMBERS if value is not None), *_NOT_POSITIVE, math.inf)
    return f"{name} = {value!r}", _refused(Program(problem={name: value}), rng, name)


def _hook(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """A hook one letter of which is left out, doubled, or exchanged with the next."""
    where = _one(rng, *_HOOKS)
    hook, member = _one(rng, *_HOOKS[where])
    k = int(rng.integers(1, len(hook) - 1))
    name = _one(rng, hook[:k] + hook[k + 1 :], hook[:k] + hook[k] + hook[k:], hook + "s")
    return f"{where}.{name}", _refused(Program(**{where: {name: member}}), rng, f"did you mean {hook}")


def _forgotten(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    where = _one(rng, *_METHODS)
    name = _one(rng, *_METHODS[where])
    program = Program(**{where: {name: lambda self, *asked: None}})
    return f"{where}.{name} without return", _refused(program, rng, "did you forget `return`?")


def _column(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    name = _one(rng, "cost", "coefficient", "lower", "upper")
    value = _one(rng, "1", None, math.nan, [1.0], 1j, *((math.inf,) if name in ("cost", "coefficient") else ()))

    def encode(self: Any, items: tuple[int, ...]) -> Column:
        column = _Oracle.encode(self, items)
        if name == "coefficient":
            return dataclasses.replace(column, coefficients={("item", items[0]): value})
        return dataclasses.replace(column, **{name: value})

    return f"a column's {name} {value!r}", _refused(Program(oracle={"encode": encode}), rng, "")


def _row(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """A side or a coefficient of a separated row."""
    name, value = _one(rng, "lower", "upper", "coefficient"), _one(rng, "1", None, math.nan, 1j)
    row: dict[str, Any] = {"lower": 99.0, "coefficient": lambda column: 1.0}
    row |= {"coefficient": lambda column: value} if name == "coefficient" else {name: value}

    def separate(self: Any, solution: Any, context: Any) -> Any:
        return [Row(("many", 1), **row)]

    return f"a row's {name} {value!r}", _refused(Program(separation={"separate": separate}), rng, "")


def _setting(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    value = _one(rng, *_NO_NUMBERS, -1, -math.inf)
    return f"time_limit={value!r}", _refused(Program(), rng, "time_limit", time_limit=value)


def _nothing(rng: Rng) -> tuple[str, Callable[[], str | None]]:
    """No column at all: infeasible, with a note that says so."""
    items = int(rng.integers(2, 5))
    empty: dict[str, Program] = {
        "best() without a structure": Program(oracle={"best": lambda self, duals, context: NO_STRUCTURE}),
        "no pricing problem": Program(problem={"pricing": lambda self: _one(rng, (), [])}),
    }
    words = _one(rng, *empty)

    def run() -> str | None:
        result = solve(empty[words].made(items), time_limit=_SECONDS)
        if result.termination is not Termination.INFEASIBLE:
            return f"ended with {result.termination.name}"
        return None if any("No column was generated" in note for note in result.notes) else "no note"

    return words, run


def _refused(program: Program, rng: Rng, named: str, **settings: Any) -> Callable[[], str | None]:
    """Runs a program that must be refused with a sentence in which ``named`` occurs."""
    items = int(rng.integers(2, 5))

    def run() -> str | None:
        try:
            result = solve(program.made(items), **{"time_limit": _SECONDS} | settings)
        except ColgenError as error:
            said = str(error)
            if named not in said:
                return f"{named!r} is not in {said[:200]!r}"
            fine = said.isprintable() and len(said) <= 400
            return None if fine else f"not one clear sentence: {said[:200]!r}"
        except Exception as error:  # what no user should see
            return f"{type(error).__name__}: {error}"
        return f"ended with {result.termination.name}, objective {result.objective:g}"

    return run
