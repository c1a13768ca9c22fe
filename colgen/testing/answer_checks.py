"""Checks of answers against rows, oracles and the objective's step."""

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
    """If no run found an answer, combine one from all columns seen."""
    if not evidence.answers and evidence.sessions:
        answer = _answer_with(evidence, evidence.sessions[0].master, None)
        evidence.answers += [] if answer is None else [answer]
    if not evidence.answers:
        evidence.notes.append(
            f"no answer was found in time: {evidence.name}.answer() and the separated rows were not checked"
        )


def check_costs(evidence: Evidence) -> None:
    """Check that answers with a column of suspicious cost have an objective that is a multiple of objective_step."""
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
    """Return an integer solution of the seen columns that uses a given one and violates no separated row, or None."""
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
    context = SeparationContext(master.sense, whole=True)
    separation = () if answer is None else evidence.problem.separation()
    if answer is not None and any(violated_rows(each, answer, context) for each in separation):
        return None  # it violates rows that are separated on demand
    return answer


def check_rows(evidence: Evidence) -> None:
    """Check that separated rows hold for every answer."""
    for name, row in evidence.rows:
        for answer in evidence.answers:
            at = activity(row, answer)
            if at.violation > TOLERANCES.diagnostic:
                evidence.findings.add(
                    "separation",
                    name,
                    f"the row {row.key!r} cuts off an answer of objective {answer.objective:g}: its activity there "
                    f"is {at.value:g}, outside [{row.lower:g}, {row.upper:g}]",
                )


def check_answers(evidence: Evidence) -> None:
    """Check answers against the multiplicities and totals that oracles state for their columns."""
    for answer in evidence.answers:
        owners = [[k for k, pool in enumerate(evidence.seen.pools) if c.identity in pool] for c, _ in answer.columns]
        if any(len(numbers) != 1 for numbers in owners):
            continue  # a column of no oracle or several: it is unclear whose limit applies
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
            f"states that an answer uses at most {oracle.multiplicity:g} of its columns, but the answer of objective "
            f"{answer.objective:g} uses {count:g}: dual bounds would be invalid",
        )


def _check_totals(
    evidence: Evidence, number: int, oracle: Pricing, answer: Solution, used: Sequence[tuple[Column, float]]
) -> None:
    for session in evidence.sessions:
        # An oracle may ignore bounded columns in the master, as the dual bound does.
        free = [(column, value) for column, value in used if math.isinf(column.upper)]
        pairs = [(column, value, session.master.rows.entries(column)) for column, value in free]
        for claim in session.claims[number]:
            if claim.total is None or not admits(claim.decisions, answer):
                continue
            total, size = 0.0, abs(claim.total)
            for column, value, pair in pairs:
                parts = contributions(column, pair, claim.duals, claim.weight).values()
                total, size = total + value * sum(parts), size + abs(value) * sum(map(abs, parts))
            if session.master.sense.is_better(total, claim.total, TOLERANCES.diagnostic * size):
                evidence.findings.add(
                    "total",
                    oracle.name,
                    f"states that the reduced costs of its columns in an answer sum to at best "
                    f"{claim.total:g}, but in the answer of objective {answer.objective:g} they sum to {total:g}, "
                    f"at {claim.label}",
                )


def _off_grid(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) > TOLERANCES.diagnostic * max(1.0, abs(value / step))
