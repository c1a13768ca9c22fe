"""Every column at every dual point: holds what oracles claim against everything they ever returned.

An oracle that is exact at a point cannot be beaten there by a column that it returned elsewhere, and what it states as
a column's reduced cost is what the column's cost and coefficients give.  Where that fails, the cause is looked for
among the usual wrong formulas: one under which everything the oracle said would have been right.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.branching import Decision
from colgen.columns import Column
from colgen.duals import Duals
from colgen.linear_master import LinearMaster

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TOLERANCE = 1e-6
"""Relative; far above rounding, far below any real mistake."""

NOT_EXACT = "not exact"
"""The kind of a claim that is beaten for no cause that could be named."""


@dataclass(frozen=True)
class Claim:
    """What an oracle said at one dual point.

    Attributes
    ----------
    label
        The point, in words.
    weight
        The factor on costs.
    legal
        Whether the duals have the signs that the rows allow: an oracle may rely on them.
    blocks
        The blocks of rows with dual values that are not zero.
    bound
        No reduced cost is better than this, says the oracle; None if it says nothing.
    stated
        The oracle's own reduced costs of ``columns``; empty if it states none.
    """

    label: str
    duals: Duals
    weight: float
    decisions: tuple[Decision, ...]
    legal: bool
    blocks: frozenset[str]
    columns: tuple[Column, ...]
    bound: float | None
    stated: tuple[float, ...]


@dataclass(frozen=True)
class Fault:
    """A claim that is not true, in words, and how many are not."""

    kind: str
    message: str
    count: int


class PricedColumns:
    """An oracle's columns as a matrix over a master's rows.

    Parameters
    ----------
    doubtful
        Identities of columns that were returned only at dual values of signs that the rows do not allow.
    """

    def __init__(self, master: LinearMaster, columns: Iterable[Column], doubtful: Collection[Hashable] = ()) -> None:
        self.master, self.sense = master, master.sense
        self.columns = [c for c in columns if math.isinf(c.upper)]  # bounded ones an oracle may leave out of account
        self.position = {c.identity: k for k, c in enumerate(self.columns)}
        self.doubtful = np.array([c.identity in doubtful for c in self.columns], dtype=bool)
        self._costs = np.array([c.cost for c in self.columns], dtype=float)
        pairs = [entries(master, c) for c in self.columns]
        self._columns = np.repeat(np.arange(len(pairs)), [len(rows) for rows, _ in pairs])
        self._rows = np.array([row for rows, _ in pairs for row in rows], dtype=np.int64)
        self._values = np.array([value for _, values in pairs for value in values], dtype=float)
        self._allowed: dict[Decision, Mask] = {}

    def reduced_costs(self, claim: Claim, formula: Formula | None = None) -> Floats:
        """Of every column at a claim's point, by the right formula or by a wrong one."""
        pi, weight = _padded(claim, self.master), claim.weight
        if formula is not None:
            pi, weight = pi * formula.factors, formula.weight(weight)
        sums = np.bincount(self._columns, self._values * pi[self._rows], minlength=len(self.columns))
        return np.asarray(weight * self._costs - sums)

    def allowed(self, decisions: Sequence[Decision]) -> Mask:
        """Which columns decisions allow."""
        mask = np.ones(len(self.columns), dtype=bool)
        for decision in decisions:
            if decision not in self._allowed:
                self._allowed[decision] = np.array([decision.allows(c) for c in self.columns], dtype=bool)
            mask &= self._allowed[decision]
        return mask


def entries(master: LinearMaster, column: Column) -> tuple[list[int], list[float]]:
    """Rows and coefficients of a column; rows that it brings and the master has not got yet are left out."""
    own = {key: a for key, a in column.coefficients.items() if key in master.names.position}
    return master.entries(dataclasses.replace(column, coefficients=own))


def products(pair: tuple[list[int], list[float]], values: Floats) -> float:
    """πᵀa_j from a column's entries; rows younger than the duals count as zero."""
    return float(sum(a * values[row] for row, a in zip(*pair, strict=True) if row < len(values)))


def slack(*values: float) -> float:
    """How far apart numbers of this size may be and still count as equal."""
    return TOLERANCE * max(1.0, *(abs(v) for v in values if math.isfinite(v)))


# --- wrong formulas --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """A wrong reduced cost: w'·c_j - Σ_i f_i π_i a_ij, with a wrong weight w' or wrong factors f.

    Attributes
    ----------
    kind
        What the mistake is called in a report.
    words
        What to tell the author.
    weight
        From the right weight to the wrong one.
    """

    kind: str
    words: str
    factors: Floats
    weight: Callable[[float], float]


def wrong_formulas(master: LinearMaster) -> list[Formula]:
    """The usual mistakes."""
    ones = np.ones(master.num_rows)
    right = "the reduced cost is c_j - πᵀa_j when minimising and when maximising"
    found = [
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
    for block in dict.fromkeys(key[0] for key in master.names.keys):
        for kind, factor, said in (("sign", -1.0, "had the opposite sign"), ("row left out", 0.0, "were zero")):
            factors = ones.copy()
            factors[master.names.block(block)] = factor
            words = (
                f"that would be right if the dual values of block {block!r} {said}: look at how the oracle reads them, "
                "and at the coefficients of its columns there"
            )
            found.append(Formula(kind, words, factors, lambda w: w))
    return found


# --- reduced costs that an oracle states -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stated:
    """One stated reduced cost, beside the one that the column's cost and coefficients give."""

    claim: Claim
    column: Column
    stated: float
    computed: float

    @property
    def wrong(self) -> bool:
        return abs(self.stated - self.computed) > slack(self.stated, self.computed, self.column.cost)


def misstated(master: LinearMaster, claims: Sequence[Claim]) -> Fault | None:
    """Stated reduced costs that are not those of the columns."""
    known: dict[Hashable, tuple[list[int], list[float]]] = {}
    every: list[_Stated] = []
    for claim in claims:
        for column, stated in zip(claim.columns, claim.stated, strict=False):
            pair = known.get(column.identity) or known.setdefault(column.identity, entries(master, column))
            computed = claim.weight * column.cost - products(pair, claim.duals.values)
            every.append(_Stated(claim, column, stated, computed))
    wrong = [s for s in every if s.wrong]
    if not wrong:
        return None
    example = min(wrong, key=lambda s: _plainness(s.claim))
    cause = _formula_of_stated(master, every) or _entry_of_stated(master, every)
    message = (
        f"states the reduced cost {example.stated:g} for the column of {example.column.structure!r}, whose cost and "
        f"coefficients give {example.computed:g}, at {example.claim.label}: "
        f"{cause or 'compare what encode() writes into the column with what best() optimises'}"
    )
    return Fault("reduced cost", message, len(wrong))


def _formula_of_stated(master: LinearMaster, every: Sequence[_Stated]) -> str | None:
    """A wrong formula that gives all stated reduced costs."""

    def gives(formula: Formula, s: _Stated) -> bool:
        values = s.claim.duals.values
        changed = values * formula.factors[: len(values)]
        value = formula.weight(s.claim.weight) * s.column.cost - products(entries(master, s.column), changed)
        return abs(value - s.stated) <= slack(value, s.stated, s.column.cost)

    return next((f.words for f in wrong_formulas(master) if all(gives(f, s) for s in every)), None)


def _entry_of_stated(master: LinearMaster, every: Sequence[_Stated]) -> str | None:
    """The one number of a column, its cost or a coefficient, that accounts for all that was stated of it."""
    groups: dict[Hashable, list[_Stated]] = defaultdict(list)
    for s in every:
        groups[s.column.identity].append(s)
    for group in sorted(groups.values(), key=len, reverse=True):
        if len(group) < 2 or not any(s.wrong for s in group):
            continue
        column = group[0].column
        missing = np.array([s.stated - s.computed for s in group])
        size = slack(*(s.stated for s in group), *(s.computed for s in group))
        amount = _multiple(missing, np.array([s.claim.weight for s in group]), size)
        if amount is not None:
            return (
                f"the cost alone accounts for it: the column of {column.structure!r} says {column.cost:g}, the oracle "
                f"counts {column.cost + amount:g}"
            )
        points = np.array([_padded(s.claim, master) for s in group])
        rows, values = entries(master, column)
        written = dict(zip(rows, values, strict=True))
        for row in [*rows, *(r for r in range(master.num_rows) if r not in written)]:
            amount = _multiple(missing, -points[:, row], size)
            if amount is not None:
                return (
                    f"one coefficient accounts for it: in row {master.names.keys[row]!r} the column of "
                    f"{column.structure!r} says {written.get(row, 0.0):g}, the oracle counts "
                    f"{written.get(row, 0.0) + amount:g}"
                )
    return None


def _multiple(values: Floats, of: Floats, tolerance: float) -> float | None:
    """The factor k with ``values = k·of``; None if there is none, or if it is zero."""
    square = float(of @ of)
    factor = float(of @ values) / square if square else 0.0
    return factor if factor and float(np.abs(values - factor * of).max()) <= 10 * tolerance else None


# --- bounds that an oracle states ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Beaten:
    """A claim, and a column that is better than it says any column can be."""

    claim: Claim
    column: Column
    reduced_cost: float
    doubtful: bool


def beaten(table: PricedColumns, claims: Sequence[Claim]) -> Fault | None:
    """Claims of exactness that another of the oracle's columns contradicts."""
    found = [
        b
        for claim in claims
        if claim.bound is not None and claim.legal and (b := _best_against(table, claim)) is not None
    ]
    sure = [b for b in found if not b.doubtful]
    cause = _cause(table, claims, found) if found else None
    # Columns returned only at impossible dual values count as evidence for a wrong sign, and for nothing else.
    if not sure and (cause is None or cause[0] != "sign"):
        return None
    example = min(sure or found, key=lambda b: _plainness(b.claim))
    claim = example.claim
    kind, words = cause or (NOT_EXACT, _hints(sure))
    chosen = f"returned the column of {claim.columns[0].structure!r} and " if claim.columns else ""
    message = (
        f"at {claim.label} it {chosen}claims that no reduced cost is better than {claim.bound:g}, but the column of "
        f"{example.column.structure!r}, which it returned at another point, has {example.reduced_cost:g}: {words}"
    )
    return Fault(kind, message, len(found))


def _best_against(table: PricedColumns, claim: Claim) -> _Beaten | None:
    """The best column that beats a claim, one that is not doubtful if possible."""
    sense, reduced, mine = table.sense, table.reduced_costs(claim), table.allowed(claim.decisions)
    for doubtful in (False, True):
        where = np.flatnonzero(mine if doubtful else mine & ~table.doubtful)
        if not len(where) or claim.bound is None:
            continue
        best = int(where[(sense.sign * reduced[where]).argmin()])
        value = float(reduced[best])
        if sense.is_better(value, claim.bound, slack(value, claim.bound, table.columns[best].cost)):
            return _Beaten(claim, table.columns[best], value, doubtful)
    return None


def _cause(table: PricedColumns, claims: Sequence[Claim], found: Sequence[_Beaten]) -> tuple[str, str] | None:
    """Kind and words of the mistake, where one mistake explains everything that the oracle did."""
    if all(b.claim.decisions for b in found):
        rows = {row.key for b in found for d in b.claim.decisions if (row := d.row()) is not None}
        about = f", and subtract the dual values of its rows ({_listed(rows)})" if rows else ""
        return (
            "decisions",
            "this happens under branching decisions only: best() must look for the best column that context.decisions "
            f"allow{about}",
        )
    wrong = {id(b.claim) for b in found}
    trusted = [c for c in claims if c.bound is not None and c.columns and c.legal]
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
    chosen = float(reduced[places].min())
    best = float(np.where(table.allowed(claim.decisions), reduced, math.inf).min())
    return chosen <= best + slack(chosen, best)


def _tells_apart(table: PricedColumns, claim: Claim, formula: Formula) -> bool:
    """Whether not all columns are alike by a formula: where they are, any choice agrees with it."""
    reduced = table.reduced_costs(claim, formula)[table.allowed(claim.decisions)]
    return bool(np.ptp(reduced) > slack(float(reduced.max()), float(reduced.min())))


def _hints(found: Sequence[_Beaten]) -> str:
    words = (
        "either best() is not exact (then set exact = False, or return None for the bound), or encode() does not write "
        "down what best() optimises: compare cost and coefficients of both columns with their structures"
    )
    single = {next(iter(b.claim.blocks)) for b in found if len(b.claim.blocks) == 1}
    if any(not b.claim.blocks and b.claim.weight for b in found):
        return f"{words}; it happens with all duals zero, where the cost alone counts"
    return f"{words}; it happens where only dual values of {_listed(single)} are not zero" if single else words


def _plainness(claim: Claim) -> tuple[bool, int, int]:
    """The plainest example comes first: signs as they should be, no branching, few dual values."""
    return (not claim.legal, len(claim.decisions), int(np.count_nonzero(claim.duals.values)))


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(repr, names)))


def _padded(claim: Claim, master: LinearMaster) -> Floats:
    """A claim's dual values, with zeros for rows that came later."""
    values = claim.duals.values
    return np.append(values, np.zeros(master.num_rows - len(values)))
