"""Checks of branching rules: children keep every answer, and oracles respect their decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen.branching.rules import BranchingRule
from colgen.core.decision import Decision, admits
from colgen.core.duals import Duals
from colgen.core.result import Result
from colgen.core.solution import Solution
from colgen.master.linear_master import LinearMaster
from colgen.master.statement import restricted_master
from colgen.testing.dual_points import DualPoints
from colgen.testing.evidence import Evidence
from colgen.testing.observers import Session
from colgen.testing.pricing_checks import ask_all


def check_branching(evidence: Evidence, session: Session, relaxation: Result | None) -> None:
    """Branch on trial solutions and price under the decisions."""
    rules = tuple(evidence.problem.branching())
    if not rules:
        return
    master = session.master
    initial = restricted_master(evidence.problem.master())  # without separated rows, as at the start of a run
    for rule in rules:
        with evidence.findings.guard("branching", f"{type(rule).__name__}.suit()"):
            rule.suit(initial)
    reached = False
    start = None if relaxation is None else relaxation.relaxation
    for trial in range(8):
        if evidence.left(0.9) == 0.0:
            break
        decisions: tuple[Decision, ...] = ()
        for depth in range(3):
            solution, real = _trial_solution(evidence, master, start if trial == 0 and depth == 0 else None, decisions)
            children = _children(evidence, rules, solution, decisions, real)
            if not children:
                break
            reached = True
            for child in children:
                if evidence.left(0.9) > 0.0 or trial == depth == 0:  # at least once
                    _price_under(evidence, session, (*decisions, *child), trial)
            decisions = (*decisions, *children[int(evidence.rng.integers(len(children)))])
    master.node.apply(())
    if not reached:
        evidence.notes.append("no branching rule split any of the trial solutions: decisions were not checked")


def _trial_solution(
    evidence: Evidence, master: LinearMaster, relaxed: Solution | None, decisions: tuple[Decision, ...]
) -> tuple[Solution, bool]:
    """Return a fractional solution, the relaxation's or a random one, and whether it is the relaxation's."""
    if relaxed is not None:
        return relaxed, True
    columns = [c for pool in evidence.seen.pools for c in pool.values() if all(d.allows(c) for d in decisions)]
    drawn = [columns[k] for k in evidence.rng.permutation(len(columns))[:8]]
    values = evidence.rng.choice([0.25, 0.5, 0.75], size=len(drawn)).tolist()
    formulation = master.formulation
    integer = [key for key, is_int in zip(formulation.column_keys, formulation.integer, strict=True) if is_int]
    variables = dict.fromkeys(integer, 0.5)
    return Solution(0.0, tuple(zip(drawn, values, strict=True)), variables), False


def _children(
    evidence: Evidence, rules: Sequence[BranchingRule], solution: Solution, decisions: tuple[Decision, ...], real: bool
) -> Sequence[Sequence[Decision]]:
    for rule in rules:
        name = type(rule).__name__
        try:
            children = rule.branch(solution)
        except Exception as error:
            if real:  # rules need not accept random solutions
                evidence.findings.add("branching", name, f"branch() raised {type(error).__name__}: {error}")
            continue
        if not children:
            continue
        if real:
            for child in children:
                if admits(child, solution):
                    evidence.findings.add(
                        "branching",
                        name,
                        f"the child {[str(d) for d in child]} keeps the fractional solution that it should cut off",
                    )
        for answer in evidence.answers:
            inside = admits(decisions, answer)
            if inside and not any(admits(child, answer) for child in children):
                evidence.findings.add(
                    "branching",
                    name,
                    f"an answer of objective {answer.objective:g} lies in none of the children "
                    f"{[[str(d) for d in child] for child in children]}: together they must keep every answer",
                )
        return children
    return ()


def _price_under(evidence: Evidence, session: Session, decisions: tuple[Decision, ...], trial: int) -> None:
    master = session.master
    rows = [row for decision in decisions if (row := decision.row()) is not None]
    for key in {row.key for row in rows}:
        same = [row for row in rows if row.key == key]
        if max(row.lower for row in same) > min(row.upper for row in same):
            return  # decisions on random solutions may contradict each other
    with evidence.findings.guard("branching", "the master under " + ", ".join(map(str, decisions))):
        master.node.apply(decisions)
    points = DualPoints(master, [column for pool in evidence.seen.pools for column in pool.values()], evidence.rng)
    seen = [c for claims in session.claims for c in claims if c.weight and not c.decisions]
    for k in range(4):
        if k and evidence.left(0.9) == 0.0:
            break
        values = np.zeros(master.num_rows)
        if seen:
            drawn = seen[int(evidence.rng.integers(len(seen)))].duals.values
            values[: len(drawn)] = drawn
        for row in rows:
            where = master.rows.names.position[row.key]
            size = max(points.sizes[where], float(np.abs(values).max(initial=0.0)))
            values[where] = evidence.rng.uniform(0.2, 1.5) * size * (1.0 if k % 2 else -1.0)
        label = f"duals of an earlier point under {', '.join(map(str, decisions))}"
        at = Duals(points.legal(values, 1.0), master.rows.names)
        ask_all(evidence, session, at, 1.0, decisions, label)
