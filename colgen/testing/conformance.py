"""Conformance checks for a new problem: run them before believing what it computes.

:func:`check_problem` solves the problem in several ways, prices at many dual points, keeps every column that it sees,
and then prices all of them at all points: an oracle that is exact at a point cannot be beaten there by a column that it
returned elsewhere.  That one law catches most mistakes in an oracle or in the encoding of its structures; which
mistake it was is told by looking for the one wrong formula under which the oracle's choices would have been right.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.bounds.stabilization import NoStabilization, Stabilization
from colgen.core.activity import activity
from colgen.core.budget import Budget
from colgen.core.columns import Column, Row
from colgen.core.decision import Decision, admits
from colgen.core.duals import Duals
from colgen.core.errors import ColgenError
from colgen.core.proof import Proof
from colgen.core.result import Result, Termination
from colgen.core.solution import Solution
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.separation import SeparationContext, violated_rows
from colgen.master.accounts import contributions
from colgen.master.linear import LinearMaster, as_linear
from colgen.master.protocol import RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.problem import Problem
from colgen.solving import solve
from colgen.testing.crosspricing import NOT_EXACT, PricedColumns, beaten, forgetful, misstated, products
from colgen.testing.dual_points import DualPoints
from colgen.testing.observing import Finding, Findings, Observer, Session, WatchedPricing, WatchedSeparation
from colgen.testing.whole_runs import check_own_relaxation, check_proof
from colgen.tree.branching import BranchingRule

Floats = NDArray[np.float64]


class ConformanceError(ColgenError):
    """A problem broke the contract that the engine relies on."""


@dataclass(frozen=True)
class Report:
    """What :func:`check_problem` saw.

    Attributes
    ----------
    findings
        What is wrong; empty for a problem that keeps the contract.
    notes
        What could not be checked, and why.
    points, columns
        How many times an oracle was asked, and how many different columns it returned.
    """

    problem: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    points: int
    columns: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def raise_if_any(self) -> None:
        """Raise a :class:`ConformanceError` that holds the whole report, if anything was found."""
        if self.findings:
            raise ConformanceError(str(self))

    def __str__(self) -> str:
        verdict = f"{len(self.findings)} findings" if len(self.findings) != 1 else "1 finding"
        lines = [
            f"{self.problem}: {verdict if self.findings else 'nothing found'} ({self.points} priced points, "
            f"{self.columns} columns, {self.seconds:.1f} s)"
        ]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def check_problem(problem: Problem, *, seconds: float = 10.0, seed: int = 0) -> Report:
    """Check that a problem keeps the contract that the engine relies on.

    Small instances are checked best: more points fit into the time, and an oracle's rarer branches are reached.

    Parameters
    ----------
    seconds
        Roughly; a call of an oracle is not cut short.
    seed
        Of the random dual points and of the trial solutions for branching rules.

    Returns
    -------
    Report
        Nothing is raised for what is wrong with the problem: ``report.raise_if_any()`` does that.

    Notes
    -----
    A problem that bounds its nodes itself is run with several queues, and no run's bound may be beaten by another's
    answer.  What ``initial_proof`` states is held against runs that do without it.

    Silence is no proof.  A mistake that ``best`` and ``encode`` of an oracle share (both forget a cost) leaves it
    consistent with itself; compare answers with an enumeration on tiny instances as well.
    """
    started = time.monotonic()
    check = _Check(problem, started, seconds, np.random.default_rng(seed))
    check.run()
    findings = check.findings.list()
    columns = sum(len(pool) for pool in check.seen.pools)
    return Report(
        type(problem).__name__, findings, tuple(check.notes), check.seen.asked, columns, time.monotonic() - started
    )


# --- the check -------------------------------------------------------------------------------------------------------


class _Check:
    def __init__(self, problem: Problem, started: float, seconds: float, rng: np.random.Generator) -> None:
        self.problem = problem
        self.started, self.seconds = started, seconds
        self.rng = rng
        self.findings = Findings()
        self.oracles: tuple[Pricing, ...] = ()
        self.seen = Observer(self.findings, rng, 0)
        self.notes: list[str] = []
        self.sessions: list[Session] = []
        self.proof: Proof | None = None
        self.answers: list[Solution] = []
        self.rows: list[tuple[str, Row]] = []
        self._master: RestrictedMaster | None = None
        self._label = "a round"

    def left(self, share: float = 1.0) -> float:
        """Seconds until this share of the time is used up."""
        return max(self.started + share * self.seconds - time.monotonic(), 0.0)

    def run(self) -> None:
        if self.problem.sense is not None:
            check_own_relaxation(self.problem, self.findings, self.left)
            self.notes.append("the problem bounds its nodes itself: only whole runs were checked")
            return
        before = _public_data(self.problem)
        if not self._parts():
            return
        relaxation: Result | None = None
        self._label = "the master's duals in round {}"
        relaxation = self._solve("solve(relaxation=True)", NoStabilization(), relaxation=True, share=0.2)
        self._label = "smoothed duals in round {}"
        whole = self._solve("solve()", None, relaxation=False, share=0.45)
        self._collect_answers(whole)
        if self.proof is not None:
            runs = (("the relaxation", relaxation), ("solve()", whole))
            check_proof(self.proof, self.findings, f"{type(self.problem).__name__}.initial_proof()", runs)
        if self.sessions and self.oracles:
            session = self.sessions[0]
            self._take_rows(session.master)
            with self.findings.guard("dual points", type(self.problem).__name__):
                self._price_at_points(session)
            with self.findings.guard("branching", type(self.problem).__name__):
                self._branch(session, relaxation)
            self._cross_price()
        self._complete_answers()
        self._check_costs()
        self._check_rows()
        self._check_answers()
        self.seen.check_unchanged()
        for name in _changed(before, _public_data(self.problem)):
            self.findings.add(
                "mutation",
                type(self.problem).__name__,
                f"the attribute {name!r} of the problem changed while it was solved and priced: an oracle writes into "
                "its input instead of into a copy",
            )

    def _parts(self) -> bool:
        """Ask the problem for its parts; False if it does not give them."""
        name = type(self.problem).__name__
        with self.findings.guard("parts", f"{name}.initial_proof()"):
            self.proof = self.problem.initial_proof(Budget())  # asked first, as the engine does
        for method in ("restricted_master", "separation", "branching", "heuristics", "initial_columns"):
            with self.findings.guard("parts", f"{name}.{method}()"):
                getattr(self.problem, method)()
        with self.findings.guard("parts", f"{name}.pricing()"):
            oracles = self.problem.pricing()
            self.oracles = (oracles,) if isinstance(oracles, Pricing) else tuple(oracles)
            self.seen = Observer(self.findings, self.rng, len(self.oracles))
        return not self.findings

    # --- running the engine ------------------------------------------------------------------------------------------

    def _solve(self, what: str, stabilization: Stabilization | None, relaxation: bool, share: float) -> Result | None:
        """Run the engine over the problem with its parts watched."""

        def master() -> RestrictedMaster:
            self._master = self.problem.restricted_master()
            linear = as_linear(self._master)
            if linear is not None:
                self.sessions.append(Session(linear, [[] for _ in self.oracles]))
            return self._master

        def answer(solution: Solution) -> Any:
            self.answers.append(solution)
            with self.findings.guard("answer", f"{type(self.problem).__name__}.answer()"):
                return self.problem.answer(solution)
            return None

        parts = {
            "restricted_master": master,
            "pricing": lambda: [WatchedPricing(oracle, k, self._told) for k, oracle in enumerate(self.oracles)],
            "separation": lambda: [WatchedSeparation(s, self.rows) for s in self.problem.separation()],
            "answer": answer,
            "initial_proof": lambda budget: None,  # which could leave nothing for the engine to do
        }
        # A stand-in, so that the problem's own methods still get the problem's own oracles from each other.
        problem: Problem = type(type(self.problem).__name__, (Problem,), {})()
        for name in dir(Problem):
            if not name.startswith("_"):
                setattr(problem, name, parts.get(name) or getattr(self.problem, name))
        self._round = 0
        try:
            result = solve(
                problem,
                relaxation=relaxation,
                stabilization=stabilization,
                stop=TimeLimit(self.left(share)),
            )
        except Exception as error:
            self.findings.add(
                "diagnostic" if isinstance(error, ColgenError) else "exception",
                f"{type(self.problem).__name__}, {what}",
                f"raised {type(error).__name__}: {error}",
            )
            return getattr(error, "result", None)
        if result.termination is Termination.NO_BOUND:
            silent = not any(c.bound is not None for s in self.sessions for claims in s.claims for c in claims)
            why = "no oracle stated a bound" if silent else "the bounds that were stated do not meet the objective"
            self.notes.append(f"{what} proved nothing: {why}")
        return result

    def _told(self, number: int, oracle: Pricing, duals: Any, context: PricingContext) -> PricingResult:
        """A price call of the engine."""
        result = oracle.price(duals, context)
        self._round += 1
        label = self._label.format(self._round)
        if as_linear(self._master) is not None:
            self.seen.keep(self.sessions[-1], number, oracle, duals, context, result, label, legal=True)
        else:
            self.seen.asked += 1
        if self.rng.random() < 0.2:
            self.seen.again(oracle, duals, context, result, label)
        return result

    # --- dual points -------------------------------------------------------------------------------------------------

    def _take_rows(self, master: LinearMaster) -> None:
        """Put all separated rows into the master, whichever run separated them: their dual values must be priced."""
        with self.findings.guard("separation", "the separated rows"):
            master.apply(())
            master.add((), [row for _, row in self.rows])
        if not self.rows and self.problem.separation():
            self.notes.append(
                "no row was separated: what the oracles make of dual values of such rows was not checked (an instance "
                "whose relaxation is cut shows it)"
            )

    def _price_at_points(self, session: Session) -> None:
        """Price at many dual points besides the engine's own."""
        columns = [column for pool in self.seen.pools for column in pool.values()]
        points = DualPoints(session.master, columns, self.rng)
        weights = (1.0, 0.0) if self._has_phase_1(session.master) else (1.0,)
        for label, values, legal in points.all([c for claims in session.claims for c in claims]):
            if self.left(0.7) == 0.0:
                break
            for weight in weights:
                at = points.legal(values, weight) if legal else values.copy()
                self._ask_all(session, Duals(at, session.master.names), weight, (), label, legal)

    def _ask_all(
        self,
        session: Session,
        duals: Duals,
        weight: float,
        decisions: tuple[Decision, ...],
        label: str,
        legal: bool,
    ) -> None:
        """Price at one point, with every oracle."""
        master = session.master

        def reduced_costs(columns: Sequence[Column], at: Duals) -> list[float]:
            return [weight * c.cost - products(master.known_entries(c), at.values) for c in columns]

        if weight == 0.0:
            label += ", costs counting zero as in phase 1"
        context = PricingContext(master.sense, cost_weight=weight, decisions=decisions, pricing_out=reduced_costs)
        for number, oracle in enumerate(self.oracles):
            try:
                result = oracle.price(duals, context)
            except Exception as error:
                if legal:  # dual values of impossible signs may be refused
                    self.findings.add("exception", oracle.name, f"raised {type(error).__name__}: {error}, at {label}")
                continue
            self.seen.keep(session, number, oracle, duals, context, result, label, legal)
            if legal and self.rng.random() < 0.3:
                self.seen.again(oracle, duals, context, result, label)

    def _has_phase_1(self, master: LinearMaster) -> bool:
        """Whether the engine can come to price with costs counting zero: rows added later bring artificials as well."""
        return bool(master.formulation.artificial.any() or self.problem.separation() or self.problem.branching())

    # --- branching ---------------------------------------------------------------------------------------------------

    def _branch(self, session: Session, relaxation: Result | None) -> None:
        """Price under the decisions of the problem's branching rules."""
        rules = tuple(self.problem.branching())
        if not rules:
            return
        master = session.master
        reached = False
        start = None if relaxation is None else relaxation.relaxation
        for trial in range(8):
            if self.left(0.9) == 0.0:
                break
            decisions: tuple[Decision, ...] = ()
            for depth in range(3):
                solution, real = self._to_branch_on(master, start if trial == 0 and depth == 0 else None, decisions)
                children = self._children(rules, solution, decisions, real)
                if not children:
                    break
                reached = True
                for child in children:
                    self._price_under(session, (*decisions, *child), trial)
                decisions = (*decisions, *children[int(self.rng.integers(len(children)))])
        master.apply(())
        if not reached:
            self.notes.append("no branching rule split any of the trial solutions: decisions were not checked")

    def _to_branch_on(
        self, master: LinearMaster, relaxed: Solution | None, decisions: tuple[Decision, ...]
    ) -> tuple[Solution, bool]:
        """A fractional solution: the relaxation's, or one put together at random from columns that are allowed."""
        if relaxed is not None:
            return relaxed, True
        columns = [c for pool in self.seen.pools for c in pool.values() if all(d.allows(c) for d in decisions)]
        picked = [columns[k] for k in self.rng.permutation(len(columns))[:8]]
        values = self.rng.choice([0.25, 0.5, 0.75], size=len(picked)).tolist()
        formulation = master.formulation
        integer = [key for key, whole in zip(formulation.column_keys, formulation.integer, strict=True) if whole]
        variables = dict.fromkeys(integer, 0.5)
        return Solution(0.0, tuple(zip(picked, values, strict=True)), variables), False

    def _children(
        self, rules: Sequence[BranchingRule], solution: Solution, decisions: tuple[Decision, ...], real: bool
    ) -> Sequence[Sequence[Decision]]:
        for rule in rules:
            name = type(rule).__name__
            try:
                children = rule.branch(solution)
            except Exception as error:
                if real:  # a rule may expect more of a solution than columns put together at random
                    self.findings.add("branching", name, f"branch() raised {type(error).__name__}: {error}")
                continue
            if not children:
                continue
            if real:
                for child in children:
                    if admits(child, solution):
                        self.findings.add(
                            "branching",
                            name,
                            f"the child {[str(d) for d in child]} keeps the fractional solution that it should cut off",
                        )
            for answer in self.answers:
                inside = admits(decisions, answer)
                if inside and not any(admits(child, answer) for child in children):
                    self.findings.add(
                        "branching",
                        name,
                        f"an answer of objective {answer.objective:g} lies in none of the children "
                        f"{[[str(d) for d in child] for child in children]}: together they must keep every answer",
                    )
            return children
        return ()

    def _price_under(self, session: Session, decisions: tuple[Decision, ...], trial: int) -> None:
        master = session.master
        rows = [row for decision in decisions if (row := decision.row()) is not None]
        for key in {row.key for row in rows}:
            same = [row for row in rows if row.key == key]
            if max(row.lower for row in same) > min(row.upper for row in same):
                return  # a rule asked about solutions put together at random can come to contradict itself
        with self.findings.guard("branching", "the master under " + ", ".join(map(str, decisions))):
            master.apply(decisions)
        points = DualPoints(master, [column for pool in self.seen.pools for column in pool.values()], self.rng)
        seen = [c for claims in session.claims for c in claims if c.legal and c.weight and not c.decisions]
        for k in range(4):
            values = np.zeros(master.num_rows)
            if seen:
                drawn = seen[int(self.rng.integers(len(seen)))].duals.values
                values[: len(drawn)] = drawn
            for row in rows:
                where = master.names.position[row.key]
                size = max(points.sizes[where], float(np.abs(values).max(initial=0.0)))
                values[where] = self.rng.uniform(0.2, 1.5) * size * (1.0 if k % 2 else -1.0)
            label = f"duals of an earlier point under {', '.join(map(str, decisions))}"
            at = Duals(points.legal(values, 1.0), master.names)
            self._ask_all(session, at, 1.0, decisions, label, legal=True)

    # --- every column at every point ---------------------------------------------------------------------------------

    def _cross_price(self) -> None:
        """Hold what each oracle said, at all masters' duals, against all columns that it returned."""
        for number, oracle in enumerate(self.oracles):
            faults = []
            for session in self.sessions:
                claims, pool = session.claims[number], self.seen.pools[number].values()
                if claims and pool:
                    table = PricedColumns(session.master, pool, self.seen.doubtful[number])
                    found = [fault for fault in (misstated(table, claims), beaten(table, claims)) if fault]
                    faults += found or [fault for fault in (forgetful(table, claims),) if fault]
            explained = any(fault.kind not in (NOT_EXACT, "reduced cost") for fault in faults)
            for fault in faults:
                if not (explained and fault.kind == NOT_EXACT):  # the same mistake, seen at too few points to be named
                    self.findings.add(fault.kind, oracle.name, fault.message, fault.count)

    # --- answers, costs, rows ----------------------------------------------------------------------------------------

    def _collect_answers(self, whole: Result | None) -> None:
        if whole is not None and whole.solution is not None and whole.solution not in self.answers:
            self.answers.append(whole.solution)

    def _complete_answers(self) -> None:
        """Where no run found an answer, one of all columns seen."""
        if not self.answers and self.sessions:
            answer = self._answer_with(self.sessions[0].master, None)
            self.answers += [] if answer is None else [answer]
        if not self.answers:
            name = type(self.problem).__name__
            self.notes.append(f"no answer was found in time: {name}.answer() and the separated rows were not checked")
        if self._master is not None and as_linear(self._master) is None:
            self.notes.append(f"{type(self._master).__name__} is not a LinearMaster: only whole runs were checked")

    def _check_costs(self) -> None:
        """Answers that use a column of suspicious cost must still have the objective that objective_step promises."""
        step = self.problem.objective_step
        if step is None or not self.sessions:
            return
        where = f"{type(self.problem).__name__}.objective_step"
        if not step > 0:
            self.findings.add("objective step", where, f"is {step}, expected a positive number or None")
            return
        master = self.sessions[0].master
        columns = [c for pool in self.seen.pools for c in pool.values()]
        odd = [c for c in columns if c.integer and _off_grid(c.cost, step)]
        used: list[tuple[Solution, str]] = [(answer, "an answer") for answer in self.answers]
        for column in odd[:5]:
            answer = self._answer_with(master, column)
            if answer is not None:
                used.append((answer, f"an answer with the column of {column.structure!r}, of cost {column.cost:g},"))
        for answer, words in used:
            if _off_grid(answer.objective, step):
                self.findings.add(
                    "objective step",
                    where,
                    f"is {step:g}, but {words} has the objective {answer.objective:g}, which is not a multiple of it: "
                    "bounds would be rounded too far and better answers cut off",
                )
                return
        if odd:
            self.notes.append(
                f"{where} is {step:g}, but the column of {odd[0].structure!r} costs {odd[0].cost:g}: that is right "
                "only if such costs always add up to a multiple"
            )

    def _answer_with(self, master: LinearMaster, column: Column | None) -> Solution | None:
        """A whole solution of the columns at hand, one that uses a given one; no separation may object to it."""
        answer: Solution | None = None
        with self.findings.guard("answer", "the restricted master with integer columns"):
            master.apply(())
            for pool_number, pool in enumerate(self.seen.pools):
                master.add(list(pool.values()), (), pool_number)
            master.fix({} if column is None else {column.identity: 1.0})
            solved = master.solve(Budget(2.0))
            if solved.duals is not None and solved.phase == 2:
                answer = master.solve_integer(2.0)[0]
            master.fix({})
        asked = SeparationContext(master.sense, whole=True)
        separation = () if answer is None else self.problem.separation()
        if answer is not None and any(violated_rows(each, answer, asked) for each in separation):
            return None  # it breaks rows that come when they are broken
        return answer

    def _check_rows(self) -> None:
        """Separated rows hold for every answer."""
        for name, row in self.rows:
            for answer in self.answers:
                found = activity(row, answer)
                if found.violation > TOLERANCES.diagnostic:
                    self.findings.add(
                        "separation",
                        name,
                        f"the row {row.key!r} cuts off an answer of objective {answer.objective:g}: its activity there "
                        f"is {found.value:g}, outside [{row.lower:g}, {row.upper:g}]",
                    )

    def _check_answers(self) -> None:
        """Answers keep to what oracles say of all their columns in an answer: the multiplicity, and stated totals."""
        for answer in self.answers:
            owners = [[k for k, pool in enumerate(self.seen.pools) if c.identity in pool] for c, _ in answer.columns]
            if any(len(found) != 1 for found in owners):
                continue  # a column of none, or of several: nobody can say whose limit it counts against
            for number, oracle in enumerate(self.oracles):
                used = [pair for pair, (k,) in zip(answer.columns, owners, strict=True) if k == number]
                self._check_multiplicity(oracle, answer, used)
                with self.findings.guard("total", oracle.name):
                    self._check_totals(number, oracle, answer, used)

    def _check_multiplicity(self, oracle: Pricing, answer: Solution, used: Sequence[tuple[Column, float]]) -> None:
        count = sum(value for column, value in used if math.isinf(column.upper))
        if count > oracle.multiplicity + TOLERANCES.diagnostic * max(1.0, count):
            self.findings.add(
                "multiplicity",
                oracle.name,
                f"says that an answer uses at most {oracle.multiplicity:g} of its columns, but the answer of objective "
                f"{answer.objective:g} uses {count:g}: dual bounds would not be valid",
            )

    def _check_totals(
        self, number: int, oracle: Pricing, answer: Solution, used: Sequence[tuple[Column, float]]
    ) -> None:
        for session in self.sessions:
            pairs = [(column, value, session.master.known_entries(column)) for column, value in used]
            for claim in session.claims[number]:
                if claim.total is None or not claim.legal or not admits(claim.decisions, answer):
                    continue
                found, size = 0.0, abs(claim.total)
                for column, value, pair in pairs:
                    parts = contributions(column, pair, claim.duals, claim.weight).values()
                    found, size = found + value * sum(parts), size + abs(value) * sum(map(abs, parts))
                if session.master.sense.is_better(found, claim.total, TOLERANCES.diagnostic * size):
                    self.findings.add(
                        "total",
                        oracle.name,
                        f"says that the reduced costs of its columns in an answer sum to nothing better than "
                        f"{claim.total:g}, but in the answer of objective {answer.objective:g} they sum to {found:g}, "
                        f"at {claim.label}",
                    )


# --- small things ----------------------------------------------------------------------------------------------------


def _off_grid(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) > TOLERANCES.diagnostic * max(1.0, abs(value / step))


def _public_data(problem: Problem) -> dict[str, Any]:
    """The problem's public containers of data; what begins with an underscore may be a cache, a number may count."""
    found = {}
    for name, value in getattr(problem, "__dict__", {}).items():
        if not name.startswith("_") and isinstance(value, np.ndarray | list | dict | tuple | set):
            try:
                found[name] = copy.deepcopy(value)
            except Exception:  # not plain data after all
                continue
    return found


def _changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name, value in before.items() if name in after and not _equal(value, after[name])]


def _equal(first: Any, second: Any) -> bool:
    try:
        if isinstance(first, np.ndarray):
            same = first.shape == second.shape and first.dtype == second.dtype
            return same and bool(((first == second) | ((first != first) & (second != second))).all())
        if isinstance(first, dict):
            # One that only grows is a memory of what was worked out.
            return first.keys() <= second.keys() and all(_equal(v, second[k]) for k, v in first.items())
        if isinstance(first, set):
            return bool(first <= second)
        if isinstance(first, list | tuple):
            return len(first) == len(second) and all(map(_equal, first, second))
        return bool(first == second) or not isinstance(first, int | float | str | set)
    except Exception:  # objects that refuse to be compared say nothing
        return True
