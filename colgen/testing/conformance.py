"""Conformance checks for a new problem.

:func:`check_problem` solves the problem in several ways, prices at many dual points, and keeps every column that it
sees. Then it prices all columns at all points: if an oracle is exact at a point, no column that it returned elsewhere
can be better there. This test reveals most mistakes in an oracle or in the encoding of its structures. To identify the
mistake, it looks for the one wrong formula of the reduced cost under which the oracle's choices would have been right.
"""

from __future__ import annotations

import time

import numpy as np

from colgen.core.budget import Budget
from colgen.core.hooks import check_hooks
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.pricing.derived import merge_identical
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem
from colgen.stabilization import NoStabilization
from colgen.testing.answer_checks import check_answers, check_costs, check_rows, complete_answers
from colgen.testing.branching_checks import check_branching
from colgen.testing.evidence import Evidence
from colgen.testing.findings import ConformanceError as ConformanceError
from colgen.testing.findings import Report as Report
from colgen.testing.pricing_checks import cross_price, price_at_points, take_rows
from colgen.testing.run_checks import WatchedRuns, bounds_its_nodes, check_guess, check_own_bounding
from colgen.testing.side_effects import changed, public_data


def check_problem(problem: Problem, *, seconds: float = 10.0, seed: int = 0) -> Report:
    """Check that a problem meets the requirements of the engine.

    Use small instances: more points fit into the time, and rare branches of an oracle are reached.

    Parameters
    ----------
    seconds
        Approximate limit; a call of an oracle is not interrupted.
    seed
        Seed of the random dual points and of trial solutions for branching rules.

    Returns
    -------
    Report
        What is wrong with the problem. Nothing is raised; ``report.raise_if_any()`` does that.

    Notes
    -----
    A problem that bounds its nodes itself is solved with several queues, and no run's bound may be worse than another's
    answer. A run from guessed dual values is compared with runs without them.

    An empty report is no proof. A mistake that ``best`` and ``encode`` share (both omit a cost) is not detected: also
    compare answers with an enumeration on tiny instances.
    """
    evidence = Evidence(problem, np.random.default_rng(seed), seconds)
    _check(evidence)
    return Report(
        evidence.name,
        evidence.findings.list(),
        tuple(evidence.notes),
        evidence.seen.calls,
        sum(len(pool) for pool in evidence.seen.pools),
        time.monotonic() - evidence.started,
    )


def _check(evidence: Evidence) -> None:
    """Run all checks, from complete runs to single columns."""
    problem, findings = evidence.problem, evidence.findings
    own_bounding = False
    with findings.guard("parts", f"{evidence.name}.method()"):
        own_bounding = bounds_its_nodes(problem)
    if own_bounding:
        check_own_bounding(problem, findings, evidence.left)
        evidence.notes.append("the problem bounds its nodes itself: only complete runs were checked")
        return
    before = public_data(problem)
    warm = _check_parts(evidence)
    if findings:
        return
    runs = WatchedRuns(evidence)
    relaxed = runs.solve(
        "solve(relaxation=True)", "the master's duals in round {}", NoStabilization(), relaxation=True, share=0.2
    )
    full = runs.solve("solve()", "smoothed duals in round {}", None, relaxation=False, share=0.45)
    if full is not None and full.solution is not None and full.solution not in evidence.answers:
        evidence.answers.append(full.solution)
    if warm.duals is not None:
        check_guess(problem, findings, evidence.left(0.55), (("the relaxation", relaxed), ("solve()", full)))
    if evidence.sessions and evidence.oracles:
        session = evidence.sessions[0]
        take_rows(evidence, session.master)
        with findings.guard("dual points", evidence.name):
            price_at_points(evidence, session)
        with findings.guard("branching", evidence.name):
            check_branching(evidence, session, relaxed)
        cross_price(evidence)
    complete_answers(evidence)
    if runs.foreign is not None:
        evidence.notes.append(f"{runs.foreign} is not a LinearMaster: only complete runs were checked")
    check_costs(evidence)
    check_rows(evidence)
    check_answers(evidence)
    evidence.seen.check_unchanged()
    for name in changed(before, public_data(problem)):
        findings.add(
            "mutation",
            evidence.name,
            f"the attribute {name!r} of the problem changed while it was solved and priced: an oracle writes into "
            "its input instead of a copy",
        )


def _check_parts(evidence: Evidence) -> WarmStart:
    """Call the methods that return the problem's parts, guesses first, as the engine does."""
    problem, findings, name = evidence.problem, evidence.findings, evidence.name
    warm = NOTHING
    with findings.guard("parts", name):
        check_hooks(problem)
    with findings.guard("parts", f"{name}.warm_start()"):
        warm = problem.warm_start(Budget())
    for method in ("master", "separation", "branching", "method"):
        with findings.guard("parts", f"{name}.{method}()"):
            getattr(problem, method)()
    with findings.guard("parts", f"{name}.pricing()"):
        oracles = problem.pricing()
        evidence.watch((oracles,) if isinstance(oracles, Pricing) else merge_identical(tuple(oracles)))
    return warm
