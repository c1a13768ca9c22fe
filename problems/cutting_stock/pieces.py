r"""Sets of pieces, each an item of its own, on rolls of one width or several: bin packing with conflicts.

    min Σ_k Σ_S c_k x_kS
    subject to  Σ_k Σ_{S with i} x_kS ≥ 1   for each piece i            [π_i ≥ 0]
                Σ_S x_kS ≤ s_k              for each limited kind k     [σ_k ≤ 0]
                x_kS ≥ 0 integer,

where the sets S of kind k fit into its width C_k and contain no conflicting pair.  An item with demand d is d pieces.
The reduced cost is c_k - σ_k - Σ_{i in S} π_i.  The pricing problem of each kind is a knapsack with conflicts
(:mod:`colgen.solvers.packing.conflicts`).

Branching is on the number of rolls of each kind, if there are several, and then on pairs of pieces (Ryan and Foster).
A pair is together on one roll, or apart.  Pieces together become one wider piece with the conflicts of both.  Pieces
apart become a conflict.  The structure of the pricing problem does not change.

Sources: M. Gendreau, G. Laporte, F. Semet, *Heuristics and lower bounds for the bin packing problem with conflicts*,
Computers & Operations Research 31 (2004); R. Sadykov, F. Vanderbeck, *Bin packing with conflicts: a generic
branch-and-price algorithm*, INFORMS Journal on Computing 25 (2013).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import BranchingRule, Column, Directional, Diving, Heuristic, HeuristicContext, Method, Solution
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.problems.colouring.branching import OnPairs
from colgen.problems.cutting_stock.columns import ColumnModel
from colgen.problems.cutting_stock.dual_feasible import material_duals
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern, Use
from colgen.problems.cutting_stock.piece_pricing import DEMAND, ConflictOracle, MergedPieces, Packed, Pieces
from colgen.problems.cutting_stock.plans import cheapest_plan, fill_greedily, move_to_cheapest
from colgen.problems.cutting_stock.rolls import SUPPLY, OnRollsUsed, assign
from colgen.solvers.packing.conflicts import first_fit, maximal_compatible

_MIXES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""Weights of the width in the order of pieces for first plans, against the number of conflicts."""


class PieceModel(ColumnModel):
    """Columns are sets of pieces on a kind of roll; their structure is ``(kind, pieces)``."""

    oracles: tuple[ConflictOracle, ...]

    def __init__(self, instance: CuttingStockInstance) -> None:
        super().__init__(instance)
        self.pieces = Pieces.of(instance)
        self.demands = (1,) * len(self.pieces.items)
        self.nodes = MergedPieces(self.pieces, instance.roll)
        self.oracles = tuple(ConflictOracle(self.nodes, self.stock, k) for k in range(len(self.kinds)))

    def branching(self) -> Sequence[BranchingRule]:
        pairs = OnPiecePairs(self)
        return (OnRollsUsed(), pairs) if len(self.kinds) > 1 else (pairs,)

    def method(self) -> Method:
        filling = Filling(self)
        return Method(
            stabilization=Directional(0.3, beta=0.1),
            heuristics=(filling, Diving(4, proper=DEMAND, polish=filling)),
            enumeration=SetEnumeration(self),
        )

    def warm_start(self, budget: Budget) -> WarmStart:
        items, supplies = material_duals(self.instance, self.stock)
        duals: dict[Key, float] = {(DEMAND, k): items[item] for k, item in enumerate(self.pieces.items.tolist())}
        duals |= {(SUPPLY, kind): dual for kind, dual in supplies.items()}
        plan = cheapest_plan(self._plans(), self.stock, lambda: budget.expired)
        return WarmStart(duals, () if plan is None else (self.solution(plan),))

    def _plans(self) -> Iterator[list[Use] | None]:
        """Yield first plans, with pieces ordered by mixes of width and number of conflicts."""
        widths, degrees = self.pieces.widths, self.pieces.conflicts.sum(axis=1)
        for share in _MIXES:
            weight = share * widths / widths.mean() + (1.0 - share) * degrees / max(degrees.mean(), 1.0)
            yield self.fill([], np.argsort(-weight, kind="stable"))

    def fill(self, sets: Sequence[Packed], order: NDArray[np.int64] | None = None) -> list[Use] | None:
        """Return a plan that contains the given sets, or None if the supplies do not suffice.

        Its patterns consist of pieces, ``(piece, 1)``.
        """
        widths, conflicts = self.pieces.widths, self.pieces.conflicts
        turn = np.argsort(-widths, kind="stable") if order is None else order
        left = np.ones(len(widths), dtype=np.int64)
        for _, packed in sets:
            left[list(packed)] = 0
        uses: list[Use] = [(tuple((piece, 1) for piece in packed), 1, kind) for kind, packed in sets]
        open_turn = turn[left[turn] > 0]
        if max(self.stock.widths) < widths.max():
            return None
        if len(self.kinds) == 1 and math.isinf(self.stock.limits[0]):
            if sets:
                numbers = self._first_fit(sets, open_turn)
            else:
                numbers = first_fit(widths, self.stock.widths[0], conflicts, open_turn)
            together = [np.flatnonzero(numbers == n).tolist() for n in range(numbers.max() + 1)]
            return [(tuple((piece, 1) for piece in packed), 1, 0) for packed in together]
        rest = fill_greedily(
            widths.tolist(),
            left.tolist(),
            self.stock,
            conflicts,
            open_turn.tolist(),
            Counter(kind for kind, _ in sets),
        )
        return None if rest is None else move_to_cheapest(widths.tolist(), [*uses, *rest], self.stock)

    def _first_fit(self, sets: Sequence[Packed], turn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the roll of each piece by first fit into the rolls of the sets and new ones."""
        widths, conflicts, roll = self.pieces.widths, self.pieces.conflicts, self.stock.widths[0]
        numbers = np.full(len(widths), -1, dtype=np.int64)
        room, barred = list[int](), list[NDArray[np.bool_]]()
        for n, (_, packed) in enumerate(sets):
            numbers[list(packed)] = n
            room.append(roll - int(widths[list(packed)].sum()))
            barred.append(np.logical_or.reduce(conflicts[list(packed)], axis=0))
        for piece in turn.tolist():
            width = int(widths[piece])
            n = next((n for n in range(len(room)) if room[n] >= width and not barred[n][piece]), len(room))
            if n == len(room):
                room.append(roll)
                barred.append(np.zeros(len(widths), dtype=np.bool_))
            numbers[piece], room[n] = n, room[n] - width
            barred[n] = barred[n] | conflicts[piece]
        return numbers

    def solution(self, uses: Iterable[Use]) -> Solution:
        """Return a plan whose patterns consist of pieces as a solution of the master."""
        columns = tuple(
            (self.oracles[kind].encode([piece for piece, _ in pattern]), float(rolls)) for pattern, rolls, kind in uses
        )
        return Solution(math.fsum(column.cost * n for column, n in columns), columns)

    def uses(self, solution: Solution) -> list[Use]:
        # A piece that is covered twice is cut once.
        left, widths = set(range(len(self.pieces.items))), self.instance.widths
        uses: Counter[tuple[Pattern, int]] = Counter()
        for column, value in solution.columns:
            kind, packed = column.structure
            mine = Counter(int(self.pieces.items[piece]) for piece in packed if piece in left)
            left.difference_update(packed)
            pattern = tuple(sorted(mine.items(), key=lambda piece: (-widths[piece[0]], piece[0])))
            uses[pattern, self.kinds[kind]] += 1
            if round(value) > 1:  # further copies of the column cut nothing new, but still cost
                uses[(), self.kinds[kind]] += round(value) - 1
        return [(pattern, rolls, kind) for (pattern, kind), rolls in uses.items()]

    def as_data(self, structure: Any) -> Any:
        kind, packed = structure
        return self.kinds[kind], [int(self.pieces.items[piece]) for piece in packed]

    def column_of(self, written: Any) -> Column | None:
        kind, items = written
        if kind not in self.kinds or not items:
            return None
        number, packed = self.kinds.index(kind), list[int]()
        for item, copies in Counter(items).items():
            mine = np.flatnonzero(self.pieces.items == item)
            if copies > len(mine):
                return None
            packed += mine[:copies].tolist()
        inside = np.array(packed)
        if self.pieces.widths[inside].sum() > self.stock.widths[number]:
            return None
        apart = self.pieces.conflicts[np.ix_(inside, inside)].any()
        return None if apart else self.oracles[number].encode(packed)


class OnPiecePairs(OnPairs):
    """Branch on whether two pieces share a roll.

    When all pairs are decided, sets that share a piece are equal, perhaps on several kinds of rolls of which integer
    numbers are used.  :func:`~colgen.problems.cutting_stock.rolls.assign` assigns the sets to these rolls.
    """

    def __init__(self, model: PieceModel) -> None:
        super().__init__(DEMAND, lambda column: column.structure[1])
        self._model = model

    def recover(self, solution: Solution) -> Solution | None:
        widths = self._model.pieces.widths
        sets = {column.structure[1] for column, value in solution.columns if value > TOLERANCES.integrality}
        lengths = [(int(widths[list(packed)].sum()), tuple((piece, 1) for piece in packed), 1) for packed in sets]
        uses = assign(self._model.stock.widths, lengths, solution)
        return None if uses is None else self._model.solution(uses)


class Filling(Heuristic):
    """Keep disjoint sets of the relaxation, by value, and put the other pieces into gaps or new rolls."""

    quick = True
    every = 1

    def __init__(self, model: PieceModel) -> None:
        self.model = model

    def search(self, context: HeuristicContext) -> Solution | None:
        used = sorted(context.relaxation.columns, key=lambda pair: -pair[1])
        plans = (self._plan(used, least) for least in (0.9, 0.5, 0.2, 0.0))
        best = cheapest_plan(plans, self.model.stock, lambda: context.run.expired)
        return None if best is None else self.model.solution(best)

    def _plan(self, used: Sequence[tuple[Column, float]], least: float) -> list[Use] | None:
        taken: set[int] = set()
        left, sets = list(self.model.stock.limits), list[Packed]()
        for column, value in used:
            kind, packed = column.structure
            if value > least and left[kind] >= 1 and taken.isdisjoint(packed):
                taken.update(packed)
                left[kind] -= 1
                sets.append((kind, packed))
        return self.model.fill(sets)


class SetEnumeration(Enumeration):
    """Enumerate inclusion-maximal sets by reduced cost; as rows are ≥ 1, some optimal plan uses only such sets."""

    seconds = 20.0

    def __init__(self, model: PieceModel, limit: int = 20_000) -> None:
        self.model = model
        self.limit = limit

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        pricing, model = context.pricing, self.model
        node = model.nodes.at(pricing)
        prices = np.maximum(np.asarray(context.duals[DEMAND], dtype=np.float64), 0.0)
        earned = node.groups @ prices
        charged: list[tuple[ConflictOracle, float, float]] = []
        theta = 1.0
        for oracle in model.oracles:
            charge = oracle.kind.charge(context.duals, pricing)
            if math.isinf(charge):
                continue
            if not math.isinf(oracle.multiplicity):
                return None  # if a bound uses the multiplicity of a kind, too many of its columns remain
            beta = oracle.price(context.duals, pricing).bound
            if beta is None:
                return None
            charged.append((oracle, charge, beta))
            if beta < 0.0:
                theta = min(theta, oracle.kind.cost / (oracle.kind.cost - beta))
        columns: list[Column] = []
        try:
            for oracle, charge, _ in charged:
                listed = maximal_compatible(
                    earned,
                    node.widths,
                    oracle.kind.width,
                    node.conflicts,
                    least=oracle.kind.least_earnings(charge, theta, context),
                    limit=self.limit - len(columns),
                    look=context.budget.require,
                )
                if listed is None:
                    return None
                columns += [oracle.encode(np.flatnonzero(row @ node.groups).tolist()) for row in listed]
        except OutOfBudget:
            return None
        plain = all(math.isinf(limit) for limit in model.stock.limits)
        plain &= not any(d.row() is not None for d in context.decisions)
        values: Mapping[Key, float] = {(DEMAND, piece): value for piece, value in enumerate(prices.tolist())}
        return Enumerated(columns, values=values if plain else None)
