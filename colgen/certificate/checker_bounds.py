"""Claims of leaves: bounds by dual values, and what they rule out."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_pricing import (
    CheckerState,
    KnapsackPricing,
    Place,
    Trusted,
    WrongError,
    exact,
    fields,
    whole,
)
from colgen.certificate.checker_program import Claims, Program


@dataclass(frozen=True)
class CheckedPoint:
    """Dual values of rows and counts as whole numbers over a common denominator; costs are multiplied by ``unit``."""

    unit: Fraction
    duals: list[int]
    counts: dict[Place, int]
    cuts: list[tuple[int, dict[int, int], int]]  # divisor, weights by rows, dual value
    total: Fraction  # of the rows, times the denominator


def point_of(program: Program, state: CheckerState, claim: Mapping[str, Any], unit: int) -> CheckedPoint:
    """The dual values of a claim, each of a side that its row has."""
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
    for *what, dual in claim["counts"]:
        place = _frozen(what)
        if place not in state.counts or place in counts:
            raise WrongError(f"nothing is decided of the number of {what}, or said twice")
        limit = state.counts[place][whole(dual) < 0]
        if dual and limit is None:
            raise WrongError(f"the dual value of the number of {what} speaks of a side that it does not have")
        counts[place] = dual
        total += dual * (limit or 0)
    cuts = []
    for each in claim.get("cuts", ()):
        fields(each, ("cut", "dual"))
        cuts.append(_cut(program, each["dual"], *each["cut"]))
    for divisor, weights, dual in cuts:
        most = sum((weight * (program.rows[row][1] or Fraction(0)) for row, weight in weights.items()), Fraction(0))
        total += dual * (most // divisor)
    return CheckedPoint(Fraction(unit) * program.sign, duals, counts, cuts, total)


def _frozen(record: Any) -> Any:
    return tuple(map(_frozen, record)) if isinstance(record, list) else None if record is None else whole(record)


def _cut(program: Program, dual: Any, divisor: Any, rows: list[Any]) -> tuple[int, dict[int, int], int]:
    """A rank-1 cut: Σ_j ⌊Σ_i w_i a_ij / divisor⌋ x_j ≤ ⌊Σ_i w_i b_i / divisor⌋, w_i being how often row i is named.

    Columns have whole entries from 0, rows whole sides b_i, and columns are used a whole number of times (Chvátal and
    Gomory).
    """
    if whole(divisor) < 2 or whole(dual) > 0:
        raise WrongError("expected a divisor of 2 or more, and a dual value of an upper side")
    weights = dict[int, int]()
    for row in rows:
        if not 0 <= whole(row) < len(program.rows) or (program.rows[row][1] or Fraction(1, 2)).denominator != 1:
            raise WrongError("expected rows with a whole upper side")
        weights[row] = weights.get(row, 0) + 1
    return divisor, weights, dual


def _least(problem: Any, point: CheckedPoint, state: CheckerState, stated: Fraction) -> Fraction:
    """The least reduced cost of a pricing problem's columns, times the duals' denominator.

    Under cuts on packings it is ``stated`` if none is less: whether one is so is all that is looked for.
    """
    if state.listed is None:
        if point.cuts:
            if not isinstance(problem, KnapsackPricing):
                raise WrongError("cuts speak of packings, or of columns that have been listed")
            return problem.at_least(point.duals, point.unit, point.counts, state, point.cuts, stated)
        return problem.least(point.duals, point.unit, point.counts, state)  # type: ignore[no-any-return]
    least = []
    bits = [(divisor, sum(1 << row for row in weights), dual) for divisor, weights, dual in point.cuts]
    if any(weight > 1 for _, weights, _ in point.cuts for weight in weights.values()):
        raise WrongError("cuts over listed columns name a row once")
    for rows, cost in state.listed.items():
        earned = sum(dual for row, dual in enumerate(point.duals) if rows >> row & 1)
        earned += sum(dual * ((rows & some).bit_count() // divisor) for divisor, some, dual in bits)
        least.append(point.unit * cost - earned)
    return min(least, default=Fraction(0))


def used(program: Program, k: int, least: Fraction) -> Fraction:
    """What columns of a pricing problem add at least, if none of them has a smaller reduced cost."""
    low, high = program.uses[k]
    side = low if least >= 0 else high
    if side is None:
        raise WrongError(f"columns of pricing problem {k} have negative reduced costs, and may be used without limit")
    return least * side


def bound_of(program: Program, state: CheckerState, claim: Any, claims: Claims) -> Fraction | None:
    """The bound of a leaf, as if minimising; None: it holds no answer.

    By weak duality: an answer costs what its rows are worth at the dual values and what the reduced costs of its
    columns add.
    """
    if "trusted" in claim:
        fields(claim, ("trusted",))
        claims.trust("a bound")
        return None if claim["trusted"] is None else program.sign * exact(claim["trusted"])
    if state.trusted:
        raise WrongError("dual values prove nothing where decisions are trusted")
    needed = ("weight", "unit", "duals", "counts", "least", "bound")
    fields(claim, needed if claim["weight"] else (*needed, "worth"), ("cuts", "potentials"))
    unit, weight = whole(claim["unit"]), whole(claim["weight"])
    if unit < 1 or weight not in (0, 1) or unit > 1 > weight:
        raise WrongError("expected costs that count, over a denominator of at least 1, or do not")
    if "potentials" in claim and not any(getattr(problem, "with_potentials", False) for problem in program.pricing):
        raise WrongError("no pricing problem has potentials")
    point, state = point_of(program, state, claim, unit * weight), replace(state, given=claim.get("potentials"))
    total = point.total
    for k, (problem, stated) in enumerate(zip(program.pricing, claim["least"], strict=True)):
        least = exact(stated)
        if isinstance(problem, Trusted):
            claims.trust("a reduced cost")
        else:
            found = _least(problem, point, state, least)
            if found != least:
                raise WrongError(f"the least reduced cost of pricing problem {k} is {found}, not {least}")
            claims.checked += 1
        total += used(program, k, least)
    claims.checked += 1
    if not weight:
        if total <= 0 or claim["bound"] is not None or exact(claim["worth"]) != total:
            raise WrongError(f"the rows are worth {total}, not {claim['worth']}, or show nothing")
        return None
    bound = total / unit
    if claim["bound"] is None or program.sign * exact(claim["bound"]) != bound:
        raise WrongError(f"the bound is {program.sign * bound}, not {claim['bound']}")
    return bound


def fixed(program: Program, state: CheckerState, fix: Any, objective: Fraction | None, claims: Claims) -> int:
    """Close positions, or whole items, that no answer uses which is better than the one at hand; how many.

    An answer that uses one has a column with it, and is bounded by the dual values with that column's reduced cost in
    place of what one column has added to the bound: the least, but nothing where that is positive and none is needed.
    """
    if objective is None or state.trusted:
        raise WrongError("there is nothing to compare with")
    unit, what = whole(fix["unit"]), fix["what"]
    needed = ("what", "unit", "duals", "counts", "least", "bound", "left" if what == "columns" else "closed")
    fields(fix, needed, ("cuts",))
    if unit < 1 or what not in ("positions", "items", "columns"):
        raise WrongError("expected a denominator of at least 1, and positions, items or columns")
    point = point_of(program, state, fix, unit)
    told = [_through(program, problem, state, what, point) for problem in program.pricing]
    if point.cuts:  # what columns through a position earn is taken before they pay, and so for no less than it is
        stated = [exact(least) for least in fix["least"]]
        told = [
            (_least(problem, point, state, least), items)
            for problem, least, (_, items) in zip(program.pricing, stated, told, strict=True)
        ]
    total = point.total + sum(used(program, k, least) for k, (least, _) in enumerate(told))
    if [least for least, _ in told] != [exact(least) for least in fix["least"]]:
        raise WrongError("the least reduced costs are other ones")
    if total != unit * program.sign * exact(fix["bound"]):
        raise WrongError(f"the bound is {program.sign * total / unit}, not {fix['bound']}")
    claims.checked += 1
    # A bound of more than this, or without a step of as much, is no better than the objective.
    enough, count = unit * (objective - (program.step or 0)), 0
    if what == "columns":
        state.listed = program.pricing[0].within(point.duals, point.unit, enough - total + told[0][0])
        if whole(fix["left"]) != len(state.listed):
            raise WrongError(f"{len(state.listed)} columns are left, not {fix['left']}")
        return 0
    for problem, (least, items) in zip(program.pricing, told, strict=True):
        own = least if least < 0 else least * min(program.uses[problem.number][0] or 0, 1)
        needed = point.unit * problem.cost - (enough - total + own)
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
    if whole(fix["closed"]) != count:
        raise WrongError(f"{count} are closed by these dual values, not {fix['closed']}")
    return count


def _through(
    program: Program, problem: Any, state: CheckerState, what: str, point: CheckedPoint
) -> tuple[Fraction, Any]:
    """The least reduced cost; and of knapsacks, where something is to be closed, what columns through it earn.

    Columns can be listed of a program that has one pricing problem, of which any answer uses a column.
    """
    if what != "columns" and isinstance(problem, KnapsackPricing):
        return problem.through(point.duals, point.unit, point.counts, state)
    listed = what == "columns" and hasattr(problem, "within") and len(program.pricing) == 1
    if not listed or (program.uses[0][0] or 0) < 1 or state.listed is not None or point.cuts:
        raise WrongError(f"{what} cannot be fixed in this pricing problem")
    return problem.least(point.duals, point.unit, point.counts, state), ()
