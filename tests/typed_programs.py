"""Programs as users write them, for the type checker alone (`make check`): what an editor knows of a result.

Lines that are wrong are marked ``type: ignore``: the checker complains as soon as it no longer finds the mistake.
"""

from typing import Any, TypeAlias, assert_type

import pyomo.environ as pyo

from colgen import Best, Column, Duals, OraclePricing, PricingContext, Problem, Result, Solution, solve
from colgen.pricing.oracles import NoStructure

Pattern: TypeAlias = tuple[int, ...]


class Rolls(Problem[list[Pattern]]):
    """A problem whose answers have a type."""

    def master(self) -> pyo.ConcreteModel:
        return pyo.ConcreteModel()

    def answer(self, solution: Solution) -> list[Pattern]:
        return [column.structure for column, _ in solution.columns]

    def check(self, answer: list[Pattern]) -> float:
        return float(len(answer))


class Knapsack(OraclePricing[Pattern]):
    """An oracle that finds what it encodes."""

    def best(self, duals: Duals, context: PricingContext) -> Pattern | NoStructure:
        return (1, 2)

    def encode(self, structure: Pattern) -> Column:
        return Column(1.0, {("demand", i): float(n) for i, n in enumerate(structure)}, structure)


class Stating(Knapsack):
    """One that states the reduced cost as well."""

    def best(self, duals: Duals, context: PricingContext) -> Best[Pattern]:  # type: ignore[override]
        return Best((1, 2), 0.5)


class WrongEncoding(OraclePricing[Pattern]):
    """An oracle that encodes something else, as a dictionary."""

    def best(self, duals: Duals, context: PricingContext) -> str:  # type: ignore[override]
        return "pattern"

    def encode(self, structure: Pattern) -> dict[str, float]:  # type: ignore[override]
        return {"demand": 1.0}


class WrongAnswer(Problem[list[Pattern]]):
    """A problem that answers with something else."""

    def answer(self, solution: Solution) -> float:  # type: ignore[override]
        return solution.objective


class Untyped(Problem):
    """A first program says nothing of types, and is left alone."""

    def answer(self, solution: Solution) -> Any:
        return solution.columns


def results() -> None:
    assert_type(solve(Rolls()), Result[list[Pattern]])
    assert_type(solve(Rolls()).answer, list[Pattern])
    assert_type(solve(Untyped()).answer, Any)
    solve(Rolls)  # type: ignore[arg-type]
    solve(Rolls(), stop=10)  # type: ignore[arg-type]
