"""Claims of leaves: bounds by dual values, and what they rule out."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from colgen.proof.checker_pricing import Knapsack, Place, State, Trusted, WrongError, exact, whole
from colgen.proof.checker_program import Claims, Program


@dataclass(frozen=True)
class _Point:
    """Dual values of rows and counts as whole numbers over a common denominator; costs are multiplied by ``unit``."""

    unit: Fraction
    duals: list[int]
    counts: dict[Place, int]
    total: Fraction  # of the rows, times the denominator


def _point(program: Program, state: State, claim: Mapping[str, Any], unit: int) -> _Point:
    duals = [whole(dual) for dual in claim["duals"]]
    if len(duals) != len(program.rows):
        raise WrongError(f"expected {len(program.rows)} dual values, not {len(duals)}")
    total = Fraction(0)
    for k, (dual, sides) in enumerate(zip(duals, program.rows, strict=True)):
        side = sides[dual < 0]
        if dual and side is None:
            raise WrongError(f"the dual value of row {k} speaks of a side that it does not have")
        total += dual * (side or 0)
    counts = dict[Place, int]()
    for *numbers, dual in claim["counts"]:
        k, item, first, last = (whole(x) for x in numbers)
        place = (k, item, first, last)
        if place not in state.counts or place in counts:
            raise WrongError(f"nothing is decided of the pieces of item {item} from {first} to {last}, or said twice")
        limit = state.counts[place][whole(dual) < 0]
        if dual and limit is None:
            raise WrongError(f"the dual value of the pieces of item {item} speaks of a side that they do not have")
        counts[place] = dual
        total += dual * (limit or 0)
    return _Point(Fraction(unit) * program.sign, duals, counts, total)


def _used(program: Program, k: int, least: Fraction) -> Fraction:
    """What columns of a pricing problem add at least, if none of them has a smaller reduced cost."""
    low, high = program.uses[k]
    side = low if least >= 0 else high
    if side is None:
        raise WrongError(f"columns of pricing problem {k} have negative reduced costs, and may be used without limit")
    return least * side


def bound_of(program: Program, state: State, claim: Any, claims: Claims) -> Fraction | None:
    """The bound of a leaf; None: it holds no answer.

    By weak duality: an answer costs what its rows are worth at the dual values and what the reduced costs of its
    columns add.
    """
    if "trusted" in claim:
        claims.trusted += 1
        return None if claim["trusted"] is None else program.sign * exact(claim["trusted"])
    if state.trusted:
        raise WrongError("dual values prove nothing where decisions are trusted")
    unit, weight = whole(claim["unit"]), whole(claim["weight"])
    if unit < 1 or weight not in (0, 1):
        raise WrongError("expected a denominator of at least 1, and costs that count or do not")
    point = _point(program, state, claim, unit * weight)
    total = point.total
    for k, (problem, stated) in enumerate(zip(program.pricing, claim["least"], strict=True)):
        least = exact(stated)
        if isinstance(problem, Trusted):
            claims.trusted += 1
        else:
            found = problem.least(point.duals, point.unit, point.counts, state)
            if found != least:
                raise WrongError(f"the least reduced cost of pricing problem {k} is {found}, not {least}")
            claims.checked += 1
        total += _used(program, k, least)
    claims.checked += 1
    if not weight:
        if total <= 0 or claim["bound"] is not None:
            raise WrongError(f"the rows are worth {total}, which does not show that no answer satisfies them")
        return None
    bound = total / unit
    if claim["bound"] is None or program.sign * exact(claim["bound"]) != bound:
        raise WrongError(f"the bound is {program.sign * bound}, not {claim['bound']}")
    return bound


def fixed(program: Program, state: State, fix: Any, objective: Fraction | None, claims: Claims) -> int:
    """Close positions, or whole items, that no answer uses which is better than the one at hand; how many.

    An answer that uses one has a column with it, and is bounded by the dual values with that column's reduced cost.
    """
    if objective is None or state.trusted:
        raise WrongError("there is nothing to compare with")
    unit = whole(fix["unit"])
    if unit < 1 or fix["what"] not in ("positions", "items"):
        raise WrongError("expected a denominator of at least 1, and positions or items")
    point = _point(program, state, fix, unit)
    found = []
    for problem in program.pricing:
        if not isinstance(problem, Knapsack):
            raise WrongError("nothing can be fixed in this pricing problem")
        found.append((problem, *problem.through(point.duals, point.unit, point.counts, state)))
    if [least for _, least, _ in found] != [exact(least) for least in fix["least"]]:
        raise WrongError("the least reduced costs are other ones")
    total = point.total + sum(_used(program, problem.number, least) for problem, least, _ in found)
    if total != unit * program.sign * exact(fix["bound"]):
        raise WrongError(f"the bound is {program.sign * total / unit}, not {fix['bound']}")
    count = 0
    # A bound of more than this, or without a step of as much, is no better than the objective.
    enough = unit * (objective - (program.step or 0))
    for problem, least, items in found:
        needed = point.unit * problem.cost - (enough - total + min(least, Fraction(0)))
        # A column that earns less does not, nor one that earns as much if there is no step.
        earns = operator.gt if program.step is None else operator.ge
        for item, values in items:
            kept = [p for p, earned in values if earns(earned * needed.denominator, needed.numerator)]
            if fix["what"] == "positions":
                problem.keep(state, item, kept)
                count += len(values) - len(kept)
            elif values and not kept:
                problem.keep(state, item, kept)
                count += 1
    claims.checked += 1
    if whole(fix["closed"]) != count:
        raise WrongError(f"{count} are closed by these dual values, not {fix['closed']}")
    return count
