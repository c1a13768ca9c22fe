"""Answers held against what rows, oracles and the objective's step promise of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from colgen.core.activity import activity
from colgen.core.budget import Budget
from colgen.core.columns import Column
from colgen.core.decision import admits
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.separation import SeparationContext, violated_rows
from colgen.master.answer_check import contributions
from colgen.master.linear_master import LinearMaster
from colgen.pricing.oracles import Pricing
from colgen.testing.evidence import Evidence


def complete_answers(evidence: Evidence) -> None:
    """Where no run found an answer, one of all columns seen."""
    if not evidence.answers and evidence.sessions:
        answer = _answer_with(evidence, evidence.sessions[0].master, None)
        evidence.answers += [] if answer is None else [answer]
    if not evidence.answers:
        evidence.notes.append(
            f"no answer was found in time: {evidence.name}.answer() and the separated rows were not checked"
        )


def check_costs(evidence: Evidence) -> None:
    """Answers that use a column of suspicious cost must still have the objective that objective_step promises."""
    step = evidence.problem.objective_step
    if step is None or not evidence.sessions:
        return
    where = f"{evidence.name}.objective_step"
    if not step > 0:
        evidence.findings.add("objective step", where, f"is {step}, expected a positive number or None")
        return
    master = evidence.sessions[0].master
    columns = [c for pool in evidence.seen.pools for c in pool.values()]
    odd = [c for c in columns if c.integer and _off_grid(c.cost, step)]
    used: list[tuple[Solution, str]] = [(answer, "an answer") for answer in evidence.answers]
    for column in odd[:5]:
        answer = _answer_with(evidence, master, column)
        if answer is not None:
            used.append((answer, f"an answer with the column of {column.structure!r}, of cost {column.cost:g},"))
    for answer, words in used:
        if _off_grid(answer.objective, step):
            evidence.findings.add(
                "objective step",
                where,
                f"is {step:g}, but {words} has the objective {answer.objective:g}, which is not a multiple of it: "
                "bounds would be rounded too far and better answers cut off",
            )
            return
    if odd:
        evidence.notes.append(
            f"{where} is {step:g}, but the column of {odd[0].structure!r} costs {odd[0].cost:g}: that is right "
            "only if such costs always add up to a multiple"
        )


def _answer_with(evidence: Evidence, master: LinearMaster, column: Column | None) -> Solution | None:
    """A whole solution of the columns at hand, one that uses a given one; no separation may object to it."""
    answer: Solution | None = None
    with evidence.findings.guard("answer", "the restricted master with integer columns"):
        master.node.apply(())
        for pool_number, pool in enumerate(evidence.seen.pools):
            master.add(list(pool.values()), (), pool_number)
        master.node.fix({} if column is None else {column.identity: 1.0})
        solved = master.solve(Budget(2.0))
        if solved.duals is not None and solved.phase == 2:
            answer = master.integer.solve(2.0)[0]
        master.node.fix({})
    asked = SeparationContext(master.sense, whole=True)
    separation = () if answer is None else evidence.problem.separation()
    if answer is not None and any(violated_rows(each, answer, asked) for each in separation):
        return None  # it breaks rows that come when they are broken
    return answer


def check_rows(evidence: Evidence) -> None:
    """Separated rows hold for every answer."""
    for name, row in evidence.rows:
        for answer in evidence.answers:
            found = activity(row, answer)
            if found.violation > TOLERANCES.diagnostic:
                evidence.findings.add(
                    "separation",
                    name,
                    f"the row {row.key!r} cuts off an answer of objective {answer.objective:g}: its activity there "
                    f"is {found.value:g}, outside [{row.lower:g}, {row.upper:g}]",
                )


def check_answers(evidence: Evidence) -> None:
    """Answers keep to what oracles say of all their columns in an answer: the multiplicity, and stated totals."""
    for answer in evidence.answers:
        owners = [[k for k, pool in enumerate(evidence.seen.pools) if c.identity in pool] for c, _ in answer.columns]
        if any(len(found) != 1 for found in owners):
            continue  # a column of none, or of several: nobody can say whose limit it counts against
        for number, oracle in enumerate(evidence.oracles):
            used = [pair for pair, (k,) in zip(answer.columns, owners, strict=True) if k == number]
            _check_multiplicity(evidence, oracle, answer, used)
            with evidence.findings.guard("total", oracle.name):
                _check_totals(evidence, number, oracle, answer, used)


def _check_multiplicity(
    evidence: Evidence, oracle: Pricing, answer: Solution, used: Sequence[tuple[Column, float]]
) -> None:
    count = sum(value for column, value in used if math.isinf(column.upper))
    if count > oracle.multiplicity + TOLERANCES.diagnostic * max(1.0, count):
        evidence.findings.add(
            "multiplicity",
            oracle.name,
            f"says that an answer uses at most {oracle.multiplicity:g} of its columns, but the answer of objective "
            f"{answer.objective:g} uses {count:g}: dual bounds would not be valid",
        )


def _check_totals(
    evidence: Evidence, number: int, oracle: Pricing, answer: Solution, used: Sequence[tuple[Column, float]]
) -> None:
    for session in evidence.sessions:
        # Bounded columns that the master holds an oracle may leave out of account, as the dual bound does.
        free = [(column, value) for column, value in used if math.isinf(column.upper)]
        pairs = [(column, value, session.master.rows.entries(column)) for column, value in free]
        for claim in session.claims[number]:
            if claim.total is None or not admits(claim.decisions, answer):
                continue
            found, size = 0.0, abs(claim.total)
            for column, value, pair in pairs:
                parts = contributions(column, pair, claim.duals, claim.weight).values()
                found, size = found + value * sum(parts), size + abs(value) * sum(map(abs, parts))
            if session.master.sense.is_better(found, claim.total, TOLERANCES.diagnostic * size):
                evidence.findings.add(
                    "total",
                    oracle.name,
                    f"says that the reduced costs of its columns in an answer sum to nothing better than "
                    f"{claim.total:g}, but in the answer of objective {answer.objective:g} they sum to {found:g}, "
                    f"at {claim.label}",
                )


def _off_grid(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) > TOLERANCES.diagnostic * max(1.0, abs(value / step))
