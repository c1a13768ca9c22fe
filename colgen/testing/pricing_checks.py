"""Calls of oracles at many dual values, and comparison of their claims with all their columns."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.core.budget import OutOfBudget
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.master.linear_master import LinearMaster
from colgen.pricing.oracles import PricingContext, call_oracle
from colgen.testing.column_checks import NOT_EXACT, Claim, PricedColumns, beaten, forgetful, misstated, products
from colgen.testing.dual_points import DualPoints
from colgen.testing.evidence import Evidence
from colgen.testing.observers import Session, named

_MOST_STATED = 5_000
"""Approximate number of columns, over all priced points, whose stated reduced costs are checked."""


def take_rows(evidence: Evidence, master: LinearMaster) -> None:
    """Add the separated rows of all runs to the master, so that their dual values are priced."""
    with evidence.findings.guard("separation", "the separated rows"):
        master.node.apply(())
        master.add((), [row for _, row in evidence.rows])
    if not evidence.rows and evidence.problem.separation():
        evidence.notes.append(
            "no row was separated, so pricing with dual values of such rows was not checked: try an instance whose "
            "relaxation is cut"
        )


def price_at_points(evidence: Evidence, session: Session) -> None:
    """Price at many dual points besides the engine's own, at least at one even if no time is left."""
    columns = [column for pool in evidence.seen.pools for column in pool.values()]
    points = DualPoints(session.master, columns, evidence.rng)
    weights = (1.0, 0.0) if _has_phase_1(evidence, session.master) else (1.0,)
    for label, values in points.all([c for claims in session.claims for c in claims]):
        if evidence.seen.calls and evidence.left(0.7) == 0.0:
            break
        for weight in weights:
            at = points.legal(values, weight)
            ask_all(evidence, session, Duals(at, session.master.rows.names), weight, (), label)


def ask_all(
    evidence: Evidence,
    session: Session,
    duals: Duals,
    weight: float,
    decisions: tuple[Decision, ...],
    label: str,
) -> None:
    """Price at one point with every oracle."""
    master = session.master

    def reduced_costs(columns: Sequence[Column], at: Duals) -> list[float]:
        return [weight * c.cost - products(master.rows.entries(c), at.values) for c in named(columns, master)]

    if weight == 0.0:
        label += ", costs counting zero as in phase 1"
    context = PricingContext(master.sense, cost_weight=weight, decisions=decisions, price=reduced_costs)
    for number, oracle in enumerate(evidence.oracles):
        try:
            result = call_oracle(oracle, duals, context)
        except OutOfBudget:  # the limit of the check, not a fault of the oracle
            continue
        except Exception as error:
            evidence.findings.add("exception", oracle.name, f"raised {type(error).__name__}: {error}, at {label}")
            continue
        evidence.seen.keep(session, number, oracle, duals, context, result, label)
        if evidence.rng.random() < 0.3:
            evidence.seen.again(master, oracle, duals, context, result, label)


def _has_phase_1(evidence: Evidence, master: LinearMaster) -> bool:
    """Whether the engine may price with zero costs; rows added later have artificial variables as well."""
    return bool(master.formulation.artificial.any() or evidence.problem.separation() or evidence.problem.branching())


def _sampled(evidence: Evidence, name: str, claims: Sequence[Claim]) -> Sequence[Claim]:
    """Return a random sample of claims that can be checked in time."""
    if sum(len(claim.columns) for claim in claims) <= _MOST_STATED:
        return claims
    chosen: list[int] = []
    columns = 0
    for k in evidence.rng.permutation(len(claims)).tolist():
        columns += len(claims[k].columns)
        if chosen and columns > _MOST_STATED:
            break
        chosen.append(k)
    evidence.notes.append(
        f"{name} was compared with all columns at {len(chosen)} of {len(claims)} priced points, drawn at random to "
        "save time: a smaller instance allows all"
    )
    return [claims[k] for k in sorted(chosen)]


def cross_price(evidence: Evidence) -> None:
    """Compare each oracle's claims, at all masters' duals, with all columns that it returned."""
    for number, oracle in enumerate(evidence.oracles):
        faults = []
        for session in evidence.sessions:
            claims = _sampled(evidence, oracle.name, session.claims[number])
            pool = evidence.seen.pools[number].values()
            if claims and pool:
                table = PricedColumns(session.master, pool)
                found = [fault for fault in (misstated(table, claims), beaten(table, claims)) if fault]
                faults += found or [fault for fault in (forgetful(table, claims),) if fault]
        explained = any(fault.kind not in (NOT_EXACT, "reduced cost") for fault in faults)
        for fault in faults:
            if not (explained and fault.kind == NOT_EXACT):  # the same mistake at too few points to identify it
                evidence.findings.add(fault.kind, oracle.name, fault.message, fault.count)
