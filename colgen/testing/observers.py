"""Observers of a problem's parts, which record columns, rows and claims."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Row
from colgen.core.duals import Duals, OwnDuals
from colgen.core.solution import Solution
from colgen.core.terms import Term
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.separation import Separation, SeparationContext, violated_rows
from colgen.master.linear_master import LinearMaster
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.testing.column_checks import Claim
from colgen.testing.findings import Findings

_MOST_CLAIMS = 400
"""Priced points kept per oracle, to limit memory."""

_MOST_COLUMNS = 2000
"""Columns kept per oracle."""


@dataclass
class Session:
    """A master and the claims at its duals; duals are comparable only within one master."""

    master: LinearMaster
    claims: list[list[Claim]] = field(default_factory=list)


class WatchedPricing(Pricing):
    """An oracle whose calls are passed on and reported to the check."""

    def __init__(self, oracle: Pricing, number: int, tell: Callable[..., PricingResult]) -> None:
        self._oracle, self._number, self._tell = oracle, number, tell

    @property
    def name(self) -> str:
        return self._oracle.name

    @property
    def multiplicity(self) -> float:  # type: ignore[override]
        return self._oracle.multiplicity

    @property
    def cost_bound(self) -> float | None:  # type: ignore[override]
        return self._oracle.cost_bound

    @property
    def prices(self) -> frozenset[type[Term]]:  # type: ignore[override]
        return self._oracle.prices

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        return self._tell(self._number, self._oracle, duals, context)


class WatchedSeparation(Separation):
    """A separation whose rows are recorded."""

    def __init__(self, separation: Separation, rows: list[tuple[str, Row]]) -> None:
        self._separation, self._rows = separation, rows
        self.every, self.limit = separation.every, separation.limit

    @property
    def name(self) -> str:
        return self._separation.name

    def applies(self, depth: int) -> bool:
        return self._separation.applies(depth)

    def suit(self, master: Any) -> None:
        self._separation.suit(master)

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        rows = violated_rows(self._separation, solution, context)
        self._rows += [(self.name, row) for row in rows]
        return rows


class Observer:
    """Checks results of the oracles; ``pools`` keeps each oracle's columns by identity, ``calls`` counts results."""

    def __init__(self, findings: Findings, rng: np.random.Generator, num_oracles: int) -> None:
        self.findings, self.rng = findings, rng
        self.pools: list[dict[Hashable, Column]] = [{} for _ in range(num_oracles)]
        self.calls = 0
        self._first_seen: list[tuple[str, Column, Hashable]] = []

    def keep(
        self,
        session: Session,
        number: int,
        oracle: Pricing,
        duals: Duals,
        context: PricingContext,
        result: PricingResult,
        label: str,
    ) -> None:
        """Check a result and keep its columns and claims."""
        self.calls += 1
        if not isinstance(duals, Duals):
            return  # a problem's own duals: the engine itself compares what they prove with answers
        master = session.master
        known: list[Column] = []
        stated: list[float | None] = []
        every = () if result.reduced_costs is None else result.reduced_costs
        if len(every) > len(result.columns):
            self.findings.add(
                "reduced cost", oracle.name, f"states {len(every)} reduced costs for {len(result.columns)} columns"
            )
        for k, column in enumerate(named(result.columns, master)):
            fault = self._fault(master, oracle, column, context)
            if fault is not None:
                self.findings.add(fault[0], oracle.name, f"{fault[1]}, at {label}")
                continue
            known.append(column)
            stated.append(float(every[k]) if k < len(every) else None)
            self._pool(number, oracle, column)
        bound = None if result.bound is None else float(result.bound)
        if bound is not None and math.isnan(bound):
            self.findings.add("bound", oracle.name, f"stated a bound that is not a number, at {label}")
            bound = None
        claims = session.claims[number]
        nonzero = {key[0] for key, value in zip(duals.keys, duals.values.tolist(), strict=True) if value}
        claim = Claim(
            label,
            duals,
            context.cost_weight,
            tuple(context.decisions),
            frozenset(nonzero),
            tuple(known),
            bound,
            tuple(stated),
            None if result.total is None else float(result.total),
        )
        if len(claims) < _MOST_CLAIMS:
            claims.append(claim)
        else:
            claims[int(self.rng.integers(_MOST_CLAIMS))] = claim

    def _pool(self, number: int, oracle: Pricing, column: Column) -> None:
        pool, identity = self.pools[number], column.identity
        known = pool.get(identity)
        if known is None:
            if len(pool) < _MOST_COLUMNS:
                pool[identity] = column
                self._first_seen.append((oracle.name, column, _content(column)))
            return
        if _content(known) != _content(column) and known is not column:
            self.findings.add(
                "key",
                oracle.name,
                f"two different columns {_shared(column)}, those of {known.structure!r} and of {column.structure!r}: "
                "the key must distinguish structures, and encode must depend only on the structure",
            )

    def _fault(
        self, master: LinearMaster, oracle: Pricing, column: Column, context: PricingContext
    ) -> tuple[str, str] | None:
        """Return kind and message of a fault of a single column, or None."""
        brought = {row.key for row in column.rows}
        for key, value in column.coefficients.items():
            if key not in master.rows.names.position and key not in brought:
                blocks = ", ".join(sorted({str(name) for name, _ in master.rows.names.keys})) or "none"
                return (
                    "unknown row",
                    f"the column of {column.structure!r} has a coefficient in row {key!r}, which neither the master "
                    f"has (its blocks are: {blocks}) nor the column adds by Column.rows",
                )
            if not math.isfinite(value):
                return "not finite", f"the column of {column.structure!r} has {value} in row {key!r}"
        if column.key is not None and column.key in master.formulation.column_keys:
            return (
                "key",
                f"the column of {column.structure!r} has the key {column.key!r} of a variable of the template: "
                "the master would treat it as that variable",
            )
        bound = oracle.cost_bound
        if bound is not None and master.sense.is_better(
            column.cost, bound, TOLERANCES.diagnostic * max(abs(bound), abs(column.cost))
        ):
            return (
                "cost bound",
                f"the column of {column.structure!r} costs {column.cost:g}, beyond cost_bound = {bound:g}: "
                "Farley's bound would be wrong",
            )
        forbidding = [decision for decision in context.decisions if not decision.allows(column)]
        if forbidding:
            return (
                "decisions",
                f"returned the column of {column.structure!r}, which the branching decision {forbidding[0]} forbids: "
                "best() must respect context.decisions",
            )
        return None

    def again(
        self,
        master: LinearMaster | None,
        oracle: Pricing,
        duals: OwnDuals,
        context: PricingContext,
        result: PricingResult,
        label: str,
    ) -> None:
        """Check that a repeated call returns the same result, unless time is up."""
        if context.seconds_left() == 0.0:
            return
        before = copy.deepcopy(duals)
        with self.findings.guard("exception", oracle.name):
            again = oracle.price(duals, context)
            if context.seconds_left() == 0.0:
                return
            if isinstance(duals, Duals) and not np.array_equal(before.values, duals.values):
                self.findings.add("mutation", oracle.name, f"changed the dual values that it was passed, at {label}")
            first, second = (_contents(each.columns, master) for each in (result, again))
            if first != second or not _same(result.bound, again.bound, before):
                self.findings.add(
                    "not deterministic",
                    oracle.name,
                    f"called twice at {label}, it returned {_structures(result)} with the bound {result.bound}, then "
                    f"{_structures(again)} with the bound {again.bound}: check for random numbers, the order of a set, "
                    "or data that the first call changed",
                )

    def check_unchanged(self) -> None:
        """Check that no column changed after it was returned."""
        for where, column, content in self._first_seen:
            if _content(column) != content:
                self.findings.add(
                    "mutation",
                    where,
                    f"the column of {column.structure!r} changed after it was returned: give each column its own "
                    "dictionary of coefficients",
                )
                return


# --- small things ----------------------------------------------------------------------------------------------------


def _same(first: float | None, second: float | None, duals: OwnDuals) -> bool:
    if first is None or second is None or first == second:
        return first == second
    # Oracles may sum dual values in any order: terms that cancel leave rounding errors.
    largest = float(np.abs(duals.values).max(initial=0.0)) if isinstance(duals, Duals) else 1.0
    return abs(first - second) <= TOLERANCES.diagnostic * max(abs(first), abs(second), 1e-3 * largest)


def named(columns: Sequence[Column], master: LinearMaster) -> Sequence[Column]:
    """Return columns with row keys; those of a batch get them from the master."""
    return columns.over(master.rows.names.keys, master.rows.names.position) if isinstance(columns, Columns) else columns


def _shared(column: Column) -> str:
    """Describe why two columns count as the same."""
    return f"share the key {column.key!r}" if column.key is not None else "without a key share cost and coefficients"


def _contents(columns: Sequence[Column], master: LinearMaster | None) -> set[Hashable]:
    """Return the contents of a result's columns as a set."""
    if master is not None:
        columns = named(columns, master)
    elif isinstance(columns, Columns):  # row keys are unknown
        return set(columns.signatures.tolist())
    return {_content(column) for column in columns}


def _content(column: Column) -> Hashable:
    """Return everything of a column that the master uses."""
    return (column.key, column.cost, frozenset(column.coefficients.items()), column.lower, column.upper, column.integer)


def _structures(result: PricingResult) -> str:
    few = result.columns[:3]
    meant = [few.meanings.of(k) for k in range(len(few))] if isinstance(few, Columns) else [c.structure for c in few]
    shown = ", ".join(map(repr, meant))
    return shown + (", ..." if len(result.columns) > 3 else "") if shown else "no column"
