"""Checks of an oracle's claims against all columns that it ever returned, at all dual points.

If an oracle is exact at a point, no column that it returned elsewhere can be better there. The reduced cost that it
states for a column must follow from the column's cost and coefficients. If one of these fails, the usual wrong formulas
are tried: one that explains all results of the oracle is reported as the cause.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES
from colgen.master.answer_check import contributions, itemised
from colgen.master.linear_master import LinearMaster

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-3
"""Share of a point's largest terms in the tolerance of a small reduced cost, for the rounding errors of oracles."""

NOT_EXACT = "not exact"
"""The kind of a violated claim whose cause is unknown."""


@dataclass(frozen=True)
class Claim:
    """What an oracle stated at one dual point, described by ``label``, with ``weight`` as the factor on costs.

    ``blocks`` are the blocks of rows with nonzero dual values. ``bound`` is the stated bound on all reduced costs,
    ``stated`` the oracle's own reduced costs of ``columns``, and ``total`` the stated bound on the sum of the reduced
    costs of an answer's columns; each may be None.
    """

    label: str
    duals: Duals
    weight: float
    decisions: tuple[Decision, ...]
    blocks: frozenset[str]
    columns: tuple[Column, ...]
    bound: float | None
    stated: tuple[float | None, ...]
    total: float | None = None


@dataclass(frozen=True)
class Fault:
    """A violated claim, and the number of such claims."""

    kind: str
    message: str
    count: int


class PricedColumns:
    """An oracle's columns as a matrix over a master's rows."""

    def __init__(self, master: LinearMaster, columns: Iterable[Column]) -> None:
        self.master, self.sense = master, master.sense
        self.columns = [c for c in columns if math.isinf(c.upper)]  # an oracle may ignore bounded ones
        self.position = {c.identity: k for k, c in enumerate(self.columns)}
        self._costs = np.array([c.cost for c in self.columns], dtype=float)
        pairs = [master.rows.entries(c) for c in self.columns]
        self._columns = np.repeat(np.arange(len(pairs)), [len(rows) for rows, _ in pairs])
        self._rows = np.array([row for rows, _ in pairs for row in rows], dtype=np.int64)
        self._values = np.array([value for _, values in pairs for value in values], dtype=float)
        self._allowed: dict[Decision, Mask] = {}
        self._slacks: dict[int, Floats] = {}  # by id of the claim, since claims outlive the table

    def reduced_costs(self, claim: Claim, formula: Formula | None = None) -> Floats:
        """Return the reduced cost of every column at a claim's point, by the right or a wrong formula."""
        pi, weight = _padded(claim, self.master), claim.weight
        if formula is not None:
            pi, weight = pi * formula.factors, formula.weight(weight)
        sums = np.bincount(self._columns, self._values * pi[self._rows], minlength=len(self.columns))
        return np.asarray(weight * self._costs - sums)

    def slacks(self, claim: Claim) -> Floats:
        """Return the tolerance of each column's reduced cost at a claim's point, relative to the summed terms."""
        if id(claim) not in self._slacks:
            pi = np.abs(_padded(claim, self.master))
            sums = np.bincount(self._columns, np.abs(self._values) * pi[self._rows], minlength=len(self.columns))
            terms = np.abs(claim.weight * self._costs) + sums
            slacks = TOLERANCES.diagnostic * (terms + _ROUNDING * float(terms.max(initial=0.0)))
            self._slacks[id(claim)] = np.asarray(slacks)
        return self._slacks[id(claim)]

    def allowed(self, decisions: Sequence[Decision]) -> Mask:
        """Return which columns decisions allow."""
        mask = np.ones(len(self.columns), dtype=bool)
        for decision in decisions:
            if decision not in self._allowed:
                self._allowed[decision] = np.array([decision.allows(c) for c in self.columns], dtype=bool)
            mask &= self._allowed[decision]
        return mask


def products(pair: tuple[list[int], list[float]], values: Floats) -> float:
    """Return πᵀa_j from a column's entries; rows added after the duals count as zero."""
    return float(sum(a * values[row] for row, a in zip(*pair, strict=True) if row < len(values)))


# --- wrong formulas --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """A wrong reduced cost: w'·c_j - Σ_i f_i π_i a_ij, with a wrong weight w' or wrong factors f.

    ``kind`` names the mistake in a report, ``words`` is advice for the author, and ``weight`` maps the right weight to
    the wrong one.
    """

    kind: str
    words: str
    factors: Floats
    weight: Callable[[float], float]


def wrong_formulas(master: LinearMaster) -> list[Formula]:
    """Return the formulas of reduced costs that common mistakes lead to."""
    ones = np.ones(master.num_rows)
    right = "the reduced cost is c_j - πᵀa_j when minimising and when maximising"
    formulas = [
        Formula("sign", f"that would be right for duals of the opposite sign: {right}", -ones, lambda w: w),
        Formula(
            "cost weight",
            "that would be right if costs counted fully: in phase 1 they count zero, so multiply costs by "
            "context.cost_weight",
            ones,
            lambda w: 1.0,
        ),
        Formula(
            "cost",
            "that would be right if columns cost nothing: the reduced cost begins with context.cost_weight times the "
            "column's own cost",
            ones,
            lambda w: 0.0,
        ),
        Formula("cost", f"that would be right if costs had the opposite sign: {right}", ones, lambda w: -w),
    ]
    for block in dict.fromkeys(key[0] for key in master.rows.names.keys):
        for kind, factor, state in (("sign", -1.0, "had the opposite sign"), ("row left out", 0.0, "were zero")):
            factors = ones.copy()
            factors[master.rows.names.block(block)] = factor
            words = (
                f"that would be right if the dual values of block {block!r} {state}: check how the oracle reads them, "
                "and the coefficients of its columns there"
            )
            formulas.append(Formula(kind, words, factors, lambda w: w))
    return formulas


# --- reduced costs that an oracle states -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stated:
    """A stated reduced cost, and the one computed from the column's cost and coefficients."""

    claim: Claim
    column: Column
    stated: float
    computed: float
    slack: float

    @property
    def wrong(self) -> bool:
        return not abs(self.stated - self.computed) <= self.slack  # also for NaN


def misstated(table: PricedColumns, claims: Sequence[Claim]) -> Fault | None:
    """Return a fault if stated reduced costs differ from those of the columns."""
    master = table.master
    known: dict[Hashable, tuple[list[int], list[float]]] = {}
    every: list[_Stated] = []
    for claim in claims:
        if all(stated is None for stated in claim.stated):
            continue
        least = _ROUNDING * float(table.slacks(claim).max(initial=0.0))
        for column, stated in zip(claim.columns, claim.stated, strict=True):
            if stated is None:
                continue
            if column.identity not in known:
                known[column.identity] = master.rows.entries(column)
            pair = known[column.identity]
            parts = contributions(column, pair, claim.duals, claim.weight)
            terms = sum(map(abs, parts.values()))
            every.append(_Stated(claim, column, stated, sum(parts.values()), TOLERANCES.diagnostic * terms + least))
    wrong = [s for s in every if s.wrong]
    if not wrong:
        return None
    example = min(wrong, key=lambda s: _plainness(s.claim))
    cause = _formula_of_stated(master, every, known) or _entry_of_stated(master, every)
    parts = contributions(
        example.column, master.rows.entries(example.column), example.claim.duals, example.claim.weight
    )
    message = (
        f"states the reduced cost {example.stated:g} for the column of {example.column.structure!r}, whose cost and "
        f"coefficients give {example.computed:g}, at {example.claim.label}: "
        f"{cause or 'compare what encode() writes into the column with what best() optimises'}; "
        f"{itemised(example.stated, parts)}"
    )
    return Fault("reduced cost", message, len(wrong))


def _formula_of_stated(
    master: LinearMaster, every: Sequence[_Stated], known: Mapping[Hashable, tuple[list[int], list[float]]]
) -> str | None:
    """Return the advice for a wrong formula that gives all stated reduced costs; ``known``: the columns' entries."""

    def gives(formula: Formula, s: _Stated) -> bool:
        values = s.claim.duals.values
        changed = values * formula.factors[: len(values)]
        value = formula.weight(s.claim.weight) * s.column.cost - products(known[s.column.identity], changed)
        return abs(value - s.stated) <= s.slack

    return next((f.words for f in wrong_formulas(master) if all(gives(f, s) for s in every)), None)


def _entry_of_stated(master: LinearMaster, every: Sequence[_Stated]) -> str | None:
    """Return advice on the one cost or coefficient of a column that explains all its stated reduced costs."""
    groups: dict[Hashable, list[_Stated]] = defaultdict(list)
    for s in every:
        groups[s.column.identity].append(s)
    for group in sorted(groups.values(), key=len, reverse=True):
        if len(group) < 2 or not any(s.wrong for s in group):
            continue
        column = group[0].column
        missing = np.array([s.stated - s.computed for s in group])
        slack = max(s.slack for s in group)
        amount = _multiple(missing, np.array([s.claim.weight for s in group]), slack)
        if amount is not None:
            return (
                f"the cost alone explains it: the column of {column.structure!r} has {column.cost:g}, the oracle "
                f"uses {column.cost + amount:g}"
            )
        points = np.array([_padded(s.claim, master) for s in group])
        rows, values = master.rows.entries(column)
        written = dict(zip(rows, values, strict=True))
        for row in [*rows, *(r for r in range(master.num_rows) if r not in written)]:
            amount = _multiple(missing, -points[:, row], slack)
            if amount is not None:
                return (
                    f"one coefficient explains it: in row {master.rows.names.keys[row]!r} the column of "
                    f"{column.structure!r} has {written.get(row, 0.0):g}, the oracle uses "
                    f"{written.get(row, 0.0) + amount:g}"
                )
    return None


def _multiple(values: Floats, of: Floats, tolerance: float) -> float | None:
    """Return the nonzero factor k with ``values = k·of``, or None."""
    square = float(of @ of)
    factor = float(of @ values) / square if square else 0.0
    return factor if factor and float(np.abs(values - factor * of).max()) <= 10 * tolerance else None


# --- bounds that an oracle states ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Beaten:
    """A claimed bound, and a column that is better."""

    claim: Claim
    column: Column
    reduced_cost: float


def beaten(table: PricedColumns, claims: Sequence[Claim]) -> Fault | None:
    """Return a fault if another of the oracle's columns is better than a claimed bound."""
    cases = [b for claim in claims if (b := _best_against(table, claim)) is not None]
    if not cases:
        return None
    example = min(cases, key=lambda b: _plainness(b.claim))
    claim = example.claim
    kind, words = _cause(table, claims, cases) or (NOT_EXACT, _hints(cases))
    chosen = f"returned the column of {claim.columns[0].structure!r} and " if claim.columns else ""
    message = (
        f"at {claim.label} it {chosen}claims that no reduced cost is better than {claim.bound:g}, but the column of "
        f"{example.column.structure!r}, which it returned at another point, has {example.reduced_cost:g}: {words}"
    )
    return Fault(kind, message, len(cases))


def _best_against(table: PricedColumns, claim: Claim) -> _Beaten | None:
    """Return the best column if it is better than the claimed bound."""
    sense, reduced = table.sense, table.reduced_costs(claim)
    where = np.flatnonzero(table.allowed(claim.decisions))
    if not len(where) or claim.bound is None:
        return None
    best = int(where[(sense.sign * reduced[where]).argmin()])
    value = float(reduced[best])
    beats = sense.is_better(value, claim.bound, float(table.slacks(claim)[best]))
    return _Beaten(claim, table.columns[best], value) if beats else None


def _cause(table: PricedColumns, claims: Sequence[Claim], cases: Sequence[_Beaten]) -> tuple[str, str] | None:
    """Return kind and advice of a mistake that explains everything the oracle did, or None."""
    if all(b.claim.decisions for b in cases):
        rows = {row.key for b in cases for d in b.claim.decisions if (row := d.row()) is not None}
        about = f", and subtract the dual values of its rows ({_listed(rows)})" if rows else ""
        return (
            "decisions",
            "this happens only under branching decisions: best() must find the best column that context.decisions "
            f"allow{about}",
        )
    wrong = {id(b.claim) for b in cases}
    trusted = [c for c in claims if c.bound is not None and c.columns]
    for formula in wrong_formulas(table.master):
        if all(_chosen_by(table, claim, formula) for claim in trusted) and any(
            id(c) in wrong and _tells_apart(table, c, formula) for c in trusted
        ):
            return formula.kind, formula.words
    return None


def _chosen_by(table: PricedColumns, claim: Claim, formula: Formula) -> bool:
    """Whether a claim's best column is the best of all by a formula."""
    places = [table.position[c.identity] for c in claim.columns if c.identity in table.position]
    if not places:
        return True
    reduced = table.sense.sign * table.reduced_costs(claim, formula)
    chosen = min(places, key=lambda place: float(reduced[place]))
    best = int(np.where(table.allowed(claim.decisions), reduced, math.inf).argmin())
    slacks = table.slacks(claim)
    return bool(reduced[chosen] <= reduced[best] + slacks[chosen] + slacks[best])


def _tells_apart(table: PricedColumns, claim: Claim, formula: Formula) -> bool:
    """Whether columns differ by a formula; if not, any choice agrees with it."""
    allowed = table.allowed(claim.decisions)
    reduced, slacks = table.reduced_costs(claim, formula)[allowed], table.slacks(claim)[allowed]
    return bool(np.ptp(reduced) > 2 * slacks.max())


# --- bounds that are true and too weak -------------------------------------------------------------------------------


def forgetful(table: PricedColumns, claims: Sequence[Claim]) -> Fault | None:
    """Return a fault if bounds are valid but follow a wrong formula, so that they never equal the master's objective.

    A bound may omit a dual value that only worsens reduced costs, such as a cut's, and stays valid. But no round then
    proves anything while that value is nonzero. Bounds from another relaxation are not reported.
    """
    stating = [claim for claim in claims if claim.bound is not None and claim.columns]
    stating = [claim for claim in stating if all(c.identity in table.position for c in claim.columns)]
    # A bound of zero is as good as any: it proves that no column improves.
    improving = [claim for claim in stating if claim.bound is not None and table.sense.is_better(claim.bound, 0.0)]
    weak = [claim for claim in improving if not _is_bound_by(table, claim, None)]
    if not weak:
        return None
    for formula in wrong_formulas(table.master):
        if all(_is_bound_by(table, claim, formula) for claim in stating):
            claim = min(weak, key=_plainness)
            own = _own_best(table, claim, None)
            return Fault(
                formula.kind,
                f"at {claim.label} it states the bound {claim.bound:g}, but the column of "
                f"{table.columns[own].structure!r} that it returned there has "
                f"{table.reduced_costs(claim)[own]:g}: {formula.words}; such a bound is valid but never equals the "
                "master's objective",
                len(weak),
            )
    return None


def _own_best(table: PricedColumns, claim: Claim, formula: Formula | None) -> int:
    """Return the place of the best of a claim's own columns by a formula."""
    reduced = table.sense.sign * table.reduced_costs(claim, formula)
    return min((table.position[c.identity] for c in claim.columns), key=lambda place: float(reduced[place]))


def _is_bound_by(table: PricedColumns, claim: Claim, formula: Formula | None) -> bool:
    """Whether a claim's bound is the reduced cost of its best column by a formula."""
    own = _own_best(table, claim, formula)
    value = table.reduced_costs(claim, formula)[own]
    return claim.bound is not None and bool(abs(value - claim.bound) <= table.slacks(claim)[own])


# --- words -----------------------------------------------------------------------------------------------------------


def _hints(cases: Sequence[_Beaten]) -> str:
    words = (
        "either best() is not exact (then set exact = False, or return None for the bound), or encode() does not match "
        "what best() optimises: compare cost and coefficients of both columns with their structures"
    )
    single = {next(iter(b.claim.blocks)) for b in cases if len(b.claim.blocks) == 1}
    if any(not b.claim.blocks and b.claim.weight for b in cases):
        return f"{words}; it happens with all duals zero, where only the cost counts"
    return f"{words}; it happens where only dual values of {_listed(single)} are nonzero" if single else words


def _plainness(claim: Claim) -> tuple[int, int]:
    """Return a sort key that prefers examples with few decisions and few dual values."""
    return (len(claim.decisions), int(np.count_nonzero(claim.duals.values)))


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(repr, names)))


def _padded(claim: Claim, master: LinearMaster) -> Floats:
    """Return a claim's dual values, with zeros for rows added later."""
    values = claim.duals.values
    return np.append(values, np.zeros(master.num_rows - len(values)))
