"""Claims of leaves: bounds by dual values, and fixings."""

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
    integer,
)
from colgen.certificate.checker_program import Claims, Program


@dataclass(frozen=True)
class CheckedPoint:
    """Dual values of rows and counts as integers over a common denominator. Costs are multiplied by ``unit``."""

    unit: Fraction
    duals: list[int]
    counts: dict[Place, int]
    cuts: list[tuple[int, dict[int, int], int]]  # divisor, weights by rows, dual value
    total: Fraction  # of the rows, times the denominator


def point_of(program: Program, state: CheckerState, claim: Mapping[str, Any], unit: int) -> CheckedPoint:
    """Return the dual values of a claim after checking that each row has the side that its dual value refers to."""
    duals = [integer(dual) for dual in claim["duals"]]
    if len(duals) != len(program.rows):
        raise WrongError(f"expected {len(program.rows)} dual values, not {len(duals)}")
    total = Fraction(0)
    for k, (dual, sides) in enumerate(zip(duals, program.rows, strict=True)):
        side = sides[dual < 0]
        if dual and side is None:
            raise WrongError(f"the dual value of row {k} is for a side that it does not have")
        total += dual * (side or 0)
    counts = dict[Place, int]()
    for *what, dual in claim["counts"]:
        place = _frozen(what)
        if place not in state.counts or place in counts:
            raise WrongError(f"the number of {what} was not branched on, or has two dual values")
        limit = state.counts[place][integer(dual) < 0]
        if dual and limit is None:
            raise WrongError(f"the dual value of the number of {what} is for a side that it does not have")
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
    return tuple(map(_frozen, record)) if isinstance(record, list) else None if record is None else integer(record)


def _cut(program: Program, dual: Any, divisor: Any, rows: list[Any]) -> tuple[int, dict[int, int], int]:
    """Return a rank-1 cut Σ_j ⌊Σ_i w_i a_ij / divisor⌋ x_j ≤ ⌊Σ_i w_i b_i / divisor⌋.

    The weight w_i counts row i in ``rows``. The cut is valid for nonnegative integer entries, integer sides b_i and
    integer numbers of columns (Chvátal and Gomory).
    """
    if integer(divisor) < 2 or integer(dual) > 0:
        raise WrongError("expected a divisor of at least 2, and a dual value of an upper side")
    weights = dict[int, int]()
    for row in rows:
        if not 0 <= integer(row) < len(program.rows) or (program.rows[row][1] or Fraction(1, 2)).denominator != 1:
            raise WrongError("expected rows with an integer upper side")
        weights[row] = weights.get(row, 0) + 1
    return divisor, weights, dual


def _least(problem: Any, point: CheckedPoint, state: CheckerState, stated: Fraction) -> Fraction:
    """Return the least reduced cost of the columns of a pricing problem, times the denominator of the duals.

    Under cuts on packings the result is ``stated`` if no reduced cost is smaller.
    """
    if state.listed is None:
        if point.cuts:
            if not isinstance(problem, KnapsackPricing):
                raise WrongError("expected cuts over packings or listed columns")
            return problem.at_least(point.duals, point.unit, point.counts, state, point.cuts, stated)
        return problem.least(point.duals, point.unit, point.counts, state)  # type: ignore[no-any-return]
    least = []
    bits = [(divisor, sum(1 << row for row in weights), dual) for divisor, weights, dual in point.cuts]
    if any(weight > 1 for _, weights, _ in point.cuts for weight in weights.values()):
        raise WrongError("a cut over listed columns names a row twice")
    for rows, cost in state.listed[problem.number].items():
        earned = sum(dual for row, dual in enumerate(point.duals) if rows >> row & 1)
        earned += sum(dual * ((rows & some).bit_count() // divisor) for divisor, some, dual in bits)
        least.append(point.unit * cost - earned)
    return min(least, default=Fraction(0))


def bound_of_uses(program: Program, k: int, least: Fraction) -> Fraction:
    """Return a lower bound on the total reduced cost of a pricing problem's columns in use, given the least one."""
    low, high = program.uses[k]
    side = low if least >= 0 else high
    if side is None:
        raise WrongError(f"columns of pricing problem {k} have negative reduced costs, and may be used without limit")
    return least * side


def bound_of(program: Program, state: CheckerState, claim: Any, claims: Claims) -> Fraction | None:
    """Return the bound of a leaf, for minimization, or None if it is proved infeasible.

    By weak duality a solution costs at least the duals times the sides of the rows, plus the reduced costs of its
    columns.
    """
    if "trusted" in claim:
        fields(claim, ("trusted",))
        claims.trust("a bound")
        return None if claim["trusted"] is None else program.sign * exact(claim["trusted"])
    if state.trusted:
        raise WrongError("dual values prove nothing under trusted decisions")
    needed = ("weight", "unit", "duals", "counts", "least", "bound")
    fields(claim, needed if claim["weight"] else (*needed, "worth"), ("cuts", "potentials"))
    unit, weight = integer(claim["unit"]), integer(claim["weight"])
    if unit < 1 or weight not in (0, 1) or unit > 1 > weight:
        raise WrongError("expected a weight of 0 or 1, and a denominator of at least 1, which is 1 for weight 0")
    given = claim.get("potentials")
    readers = [getattr(problem, "with_potentials", False) for problem in program.pricing]
    if "potentials" in claim and not any(readers):
        raise WrongError("no pricing problem has potentials")
    if isinstance(given, list) and any(each is not None and not k for each, k in zip(given, readers, strict=True)):
        raise WrongError("a pricing problem without potentials has some")
    point, state = point_of(program, state, claim, unit * weight), replace(state, given=given)
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
        total += bound_of_uses(program, k, least)
    claims.checked += 1
    if not weight:
        if total <= 0 or claim["bound"] is not None or exact(claim["worth"]) != total:
            raise WrongError(f"the rows are worth {total}, not {claim['worth']}, or do not prove infeasibility")
        return None
    bound = total / unit
    if claim["bound"] is None or program.sign * exact(claim["bound"]) != bound:
        raise WrongError(f"the bound is {program.sign * bound}, not {claim['bound']}")
    return bound


def check_fixing(program: Program, state: CheckerState, fix: Any, objective: Fraction | None, claims: Claims) -> int:
    """Close positions or items that no better solution than the incumbent uses. Return their number.

    A solution that uses a position contains a column with it. To bound these solutions, take the bound of the dual
    values, and replace the share of one column by the reduced cost of this column. The share is the least reduced cost,
    or 0 if the least reduced cost is positive and no column has to be used.
    """
    if objective is None or state.trusted:
        raise WrongError("there is no answer to compare with")
    unit, what = integer(fix["unit"]), fix["what"]
    needed = ("what", "unit", "duals", "counts", "least", "bound", "left" if what == "columns" else "closed")
    fields(fix, needed, ("cuts",))
    if unit < 1 or what not in ("positions", "items", "columns"):
        raise WrongError("expected a denominator of at least 1, and positions, items or columns")
    point = point_of(program, state, fix, unit)
    results = [_through(program, problem, state, what, point) for problem in program.pricing]
    if point.cuts:  # earnings through a position ignore cuts, which overestimates them
        stated = [exact(least) for least in fix["least"]]
        results = [
            (_least(problem, point, state, least), items)
            for problem, least, (_, items) in zip(program.pricing, stated, results, strict=True)
        ]
    total = point.total + sum(bound_of_uses(program, k, least) for k, (least, _) in enumerate(results))
    if [least for least, _ in results] != [exact(least) for least in fix["least"]]:
        raise WrongError("the least reduced costs differ")
    if total != unit * program.sign * exact(fix["bound"]):
        raise WrongError(f"the bound is {program.sign * total / unit}, not {fix['bound']}")
    claims.checked += 1
    # A larger bound (without a step also an equal one) is no better than the objective.
    enough, count = unit * (objective - (program.step or 0)), 0
    if what == "columns":
        state.listed = tuple(
            problem.within(point.duals, point.unit, enough - total + _share(program, problem, least))
            for problem, (least, _) in zip(program.pricing, results, strict=True)
        )
        left = sum(map(len, state.listed))
        if integer(fix["left"]) != left:
            raise WrongError(f"{left} columns are left, not {fix['left']}")
        return 0
    for problem, (least, items) in zip(program.pricing, results, strict=True):
        own = _share(program, problem, least)
        needed = point.unit * problem.cost - (enough - total + own)
        # A column must earn at least this, and more without a step.
        earns = operator.gt if program.step is None else operator.ge
        for item, values in items:
            kept = [p for p, earned in values if earns(earned * needed.denominator, needed.numerator)]
            if fix["what"] == "positions":
                problem.keep(state, item, kept)
                count += len(values) - len(kept)
            elif values and not kept:
                problem.keep(state, item, kept)
                count += 1
    if integer(fix["closed"]) != count:
        raise WrongError(f"{count} are closed by these dual values, not {fix['closed']}")
    return count


def _share(program: Program, problem: Any, least: Fraction) -> Fraction:
    """Return the part of a bound that is due to one column in use."""
    return least if least < 0 else least * min(program.uses[problem.number][0] or 0, 1)


def _through(
    program: Program, problem: Any, state: CheckerState, what: str, point: CheckedPoint
) -> tuple[Fraction, Any]:
    """Return the least reduced cost and, for knapsacks, the maximum earnings of columns with a piece at each position.

    Columns can be listed only if no list or cut exists yet.
    """
    if what != "columns" and isinstance(problem, KnapsackPricing):
        return problem.through(point.duals, point.unit, point.counts, state)
    listed = what == "columns" and hasattr(problem, "within")
    if not listed or state.listed is not None or point.cuts:
        raise WrongError(f"{what} cannot be fixed in this pricing problem")
    return problem.least(point.duals, point.unit, point.counts, state), ()
