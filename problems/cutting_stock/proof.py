"""Certificates of cutting plans: each item is cut exactly as often as demanded, and branching counts its positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from colgen import Decision, Duals, Sense, Solution
from colgen.branching.rules import Bound
from colgen.certificate.certifier import Record
from colgen.certificate.theorems import KnapsackCertifier, Place, Rounded
from colgen.core.terms import Count
from colgen.problems.cutting_stock.layout import PatternArcsForbidden, PatternLayout, as_arc
from colgen.problems.cutting_stock.pricing import ARC


class PlanCertifier(KnapsackCertifier):
    """Certificates over equations, because superfluous pieces can be removed; pieces are laid out widest first."""

    def __init__(self, layout: PatternLayout, demands: Sequence[int], widths: Sequence[int], name: str) -> None:
        super().__init__(Sense.MINIMIZE, name, self._program_of, "positions")
        self._layout, self._demands, self._widths = layout, list(demands), list(widths)

    def instance(self) -> Record:
        return {
            "kind": "cutting_stock",
            "name": self.name,
            "roll": self._layout.roll,
            "widths": self._widths,
            "demands": self._demands,
        }

    def _program_of(self) -> Record:
        layout = self._layout
        roll = {
            "kind": "knapsack",
            "uses": [0, None],
            "capacity": layout.roll,
            "sizes": layout.widths.tolist(),
            "copies": layout.demands.tolist(),
            "rows": layout.item_of_rank.tolist(),
            "cost": 1,
            "costs": [],
        }
        rows = [[demand, demand] for demand in self._demands]
        return {"sense": "minimize", "step": 1, "rows": rows, "pricing": [roll]}

    def columns(self, solution: Solution) -> list[Any]:
        """Return the rolls of a solution without superfluous pieces."""
        left, plan = dict(enumerate(self._demands)), dict[tuple[tuple[int, int], ...], int]()
        for column, value in solution.columns:
            rolls = round(value)
            pieces = dict(column.structure[1])
            while rolls:
                cut = {item: min(copies, left[item]) for item, copies in pieces.items() if left[item]}
                # The number of equal rolls before some item is complete.
                alike = min([rolls, *(left[item] // copies for item, copies in cut.items())])
                for item, copies in cut.items():
                    left[item] -= alike * copies
                ranked = tuple(sorted((int(self._layout.rank_of_item[item]), copies) for item, copies in cut.items()))
                plan[ranked] = plan.get(ranked, 0) + alike
                rolls -= alike
        return [[0, rolls, [list(piece) for piece in pattern]] for pattern, rolls in plan.items()]

    def objective(self, solution: Solution) -> Fraction:
        return Fraction(sum(round(value) for _, value in solution.columns))

    def values(self, duals: Duals) -> tuple[NDArray[np.float64], dict[Place, float]] | None:
        counts = {}
        for arc, dual in duals.items(ARC):
            rank, position = as_arc(arc)
            if dual:
                counts[0, rank, position, position] = dual
        return np.asarray(duals["demand"]), counts

    def cuts(self, duals: Duals) -> Sequence[tuple[int, Mapping[int, int], float]]:
        terms = duals.terms(Count)
        pairs = zip(terms.terms, terms.values.tolist(), strict=True)
        return [
            (term.divisor, dict(zip(cast("tuple[int, ...]", term.members), term.weights, strict=True)), dual)
            for term, dual in pairs
        ]

    def lift(self, rounded: Rounded, goal: Fraction | None) -> Rounded | None:
        """Add a value per unit of width, so that rolls with waste earn less than full ones.

        If the goal is one roll more than the material needs, the full rolls earn exactly as much more as their number
        allows.  Nothing is lost, and the restriction to full rolls need not be stated.
        """
        layout = self._layout
        material = sum(width * demand for width, demand in zip(self._widths, self._demands, strict=True))
        if goal is None or material != (goal - 1) * layout.roll:
            return None
        # This rate exceeds what any roll earns: a roll with one unit of waste then loses more than it can earn.
        each = 2 * rounded.scale
        duals = [dual + each * width for dual, width in zip(rounded.duals, self._widths, strict=True)]
        return replace(rounded, duals=duals, scale=rounded.scale + each * layout.roll)

    def pieces(self, children: Sequence[Sequence[Decision]]) -> tuple[Place, int, Sequence[int]] | None:
        decisions = [child[0] for child in children if len(child) == 1]
        if len(decisions) != len(children) or len(children) > 2:
            return None
        for k, decision in enumerate(decisions):
            if isinstance(decision, Bound):
                rank, position = as_arc(decision.key[1])
                other = [j for j in range(len(children)) if j != k]
                if decision.upper < np.inf:
                    return (0, rank, position, position), int(decision.upper), [k, *other]
                return (0, rank, position, position), int(decision.lower) - 1, [*other, k]
        net = self._layout.network
        for k, decision in enumerate(decisions):
            if not isinstance(decision, PatternArcsForbidden) or not decision.exhaustive:
                return None
            shut = np.flatnonzero(~decision.open_arcs)
            if len(shut) and shut[-1] - shut[0] == len(shut) - 1:  # consecutive arcs
                rank = int(net.items[shut[0]])
                first, last = (int(net.positions[arc]) for arc in (shut[0], shut[-1]))
                return (0, rank, first, last), 0, [k, *(j for j in range(len(children)) if j != k)]
        return None
