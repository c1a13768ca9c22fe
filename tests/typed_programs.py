"""User programs for the type checker (`make check`), which test the types that editors infer.

Wrong lines are marked ``type: ignore``; the checker reports a mark without an error.
"""

from typing import Any, TypeAlias, assert_type

import pyomo.environ as pyo

from colgen import Best, Column, Duals, OraclePricing, PricingContext, Problem, Result, Solution, solve
from colgen.pricing.oracles import NoStructure

Pattern: TypeAlias = tuple[int, ...]


class Rolls(Problem[list[Pattern]]):
    """A problem with typed answers."""

    def master(self) -> pyo.ConcreteModel:
        return pyo.ConcreteModel()

    def answer(self, solution: Solution) -> list[Pattern]:
        return [column.structure for column, _ in solution.columns]

    def check(self, answer: list[Pattern]) -> float:
        return float(len(answer))


class Knapsack(OraclePricing[Pattern]):
    """An oracle whose structures match its encoding."""

    def best(self, duals: Duals, context: PricingContext) -> Pattern | NoStructure:
        return (1, 2)

    def encode(self, structure: Pattern) -> Column:
        return Column(1.0, {("demand", i): float(n) for i, n in enumerate(structure)}, structure)


class WithReducedCost(Knapsack):
    """An oracle that also returns the reduced cost."""

    def best(self, duals: Duals, context: PricingContext) -> Best[Pattern]:  # type: ignore[override]
        return Best((1, 2), 0.5)


class WrongEncoding(OraclePricing[Pattern]):
    """An oracle that encodes another type of structure as a dictionary."""

    def best(self, duals: Duals, context: PricingContext) -> str:  # type: ignore[override]
        return "pattern"

    def encode(self, structure: Pattern) -> dict[str, float]:  # type: ignore[override]
        return {"demand": 1.0}


class WrongAnswer(Problem[list[Pattern]]):
    """A problem with an answer of another type."""

    def answer(self, solution: Solution) -> float:  # type: ignore[override]
        return solution.objective


class Untyped(Problem):
    """A program without types passes."""

    def answer(self, solution: Solution) -> Any:
        return solution.columns


def results() -> None:
    assert_type(solve(Rolls()), Result[list[Pattern]])
    assert_type(solve(Rolls()).answer, list[Pattern])
    assert_type(solve(Untyped()).answer, Any)
    solve(Rolls)  # type: ignore[arg-type]
    solve(Rolls(), stop=10)  # type: ignore[arg-type]
