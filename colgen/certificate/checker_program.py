"""The program of a certificate: rows, pricing problems, solutions, and splits of nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_blocks import BlockPricing
from colgen.certificate.checker_chains import Labellings
from colgen.certificate.checker_clusters import Clusterings
from colgen.certificate.checker_derivations import DERIVED
from colgen.certificate.checker_graphs import StableSets
from colgen.certificate.checker_matchings import Matchings
from colgen.certificate.checker_networks import NetworkPaths
from colgen.certificate.checker_paths import Paths
from colgen.certificate.checker_pricing import (
    CheckerState,
    KnapsackPricing,
    Place,
    Trusted,
    WrongError,
    exact,
    fields,
    holds,
    integer,
    sides,
)
from colgen.certificate.checker_trees import TreePricing

KINDS: dict[str, Any] = {
    "knapsack": KnapsackPricing,
    "stable sets": StableSets,
    "labellings": Labellings,
    "trees": TreePricing,
    "paths": Paths,
    "network": NetworkPaths,
    "clusterings": Clusterings,
    **DERIVED,
    "matchings": Matchings,
    "block": BlockPricing,
    "trusted": Trusted,
}
"""The pricing problems by kind."""


@dataclass
class Claims:
    """Numbers of checked and trusted claims.

    With ``refuses``, trusted claims are an error, because the checker formulates the instance itself.
    """

    checked: int = 0
    trusted: int = 0
    refuses: bool = False

    def trust(self, what: str) -> None:
        """Count a claim without a reason."""
        if self.refuses:
            raise WrongError(f"{what} without a reason is refused, because the checker formulates this instance itself")
        self.trusted += 1


class Program:
    """Minimize the costs of columns subject to rows. For maximization the objective is negated."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        fields(data, ("sense", "step", "rows", "pricing"))
        if data["sense"] not in ("minimize", "maximize"):
            raise WrongError("expected the sense minimize or maximize")
        self.sign = 1 if data["sense"] == "minimize" else -1
        self.step = None if data["step"] is None else exact(data["step"])
        self.rows = [sides(row) for row in data["rows"]]
        self.uses = [sides(problem["uses"]) for problem in data["pricing"]]
        self.pricing = [KINDS[problem["kind"]](k, problem, len(self.rows)) for k, problem in enumerate(data["pricing"])]
        if any(low is None or low < 0 for low, _ in self.uses):
            raise WrongError("expected pricing problems to be used a nonnegative number of times")
        if any(side is not None and side.denominator != 1 for use in self.uses for side in use):
            raise WrongError("expected pricing problems to be used an integer number of times")
        self._check_step()

    def _check_step(self) -> None:
        """Check that every cost, and thus every objective, is a multiple of the step."""
        if self.step is None:
            return
        costs = (price for problem in self.pricing for price in problem.prices())
        if self.step <= 0 or any((cost / self.step).denominator != 1 for cost in costs):
            raise WrongError("the costs are not multiples of the step")

    def round_up(self, bound: Fraction) -> Fraction:
        """Round a bound up to a multiple of the step."""
        return bound if self.step is None else math.ceil(bound / self.step) * self.step

    def split(self, state: CheckerState, split: Any, count: int, claims: Claims) -> list[CheckerState]:
        """Return the states of the children of a node, which cover it."""
        if split == "trusted":
            claims.trust("a split")
            if not count:
                raise WrongError("expected children")
            below = state.copy()
            below.trusted = True
            return [below.copy() for _ in range(count)]
        if state.trusted:
            raise WrongError("a split proves nothing under trusted decisions")
        claims.checked += 1
        if "pair" in split:
            fields(split, ("pair",))
            return self._split_pair(state, split, count)
        if "arc" in split:
            fields(split, ("arc",))
            return self._split_arc(state, split, count)
        if "within" in split:
            fields(split, ("within", "at_most"))
            return self._split_within(state, split, count)
        fields(split, ("pieces", "at_most"))
        return self._split_pieces(state, split, count)

    def _split_pieces(self, state: CheckerState, split: Mapping[str, Any], count: int) -> list[CheckerState]:
        """Split on an integer quantity: at most t, or at least t + 1. An impossible second child may be missing."""
        k, item, first, last = (integer(x) for x in split["pieces"])
        most = integer(split["at_most"])
        problem: Any = self.pricing[k] if 0 <= k < len(self.pricing) else None
        if (
            problem is None
            or not hasattr(problem, "copies")
            or not 0 <= item < len(problem.rows)
            or not (most >= 0 and 0 <= first <= last <= problem.capacity)
        ):
            raise WrongError("the split refers to parts that do not exist")
        row = problem.rows[item]
        demanded = self.rows[row][1]
        if any(each.subtracts(row) for each in self.pricing):
            demanded = None  # negative entries allow more pieces than demanded
        if count not in (1, 2) or (count == 1 and (demanded is None or most < demanded)):
            raise WrongError("the children do not cover the node: more pieces are possible")
        at_most, at_least = state.copy(), state.copy()
        if most == 0:
            problem.close(at_most, item, range(first, last + 1))
        else:
            self._count(at_most, (k, item, first, last), 0, most)
        if demanded is not None and most + 1 >= demanded:  # all pieces are there, and none elsewhere
            everywhere = range(problem.capacity + 1)
            problem.close(at_least, item, set(everywhere).difference(range(first, last + 1)))
            for other in self.pricing:
                if other is not problem and isinstance(other, KnapsackPricing) and row in other.rows:
                    other.close(at_least, other.rows.index(row), range(other.capacity + 1))
        self._count(at_least, (k, item, first, last), most + 1, None)
        return [at_most, at_least][:count]

    def _split_arc(self, state: CheckerState, split: Mapping[str, Any], count: int) -> list[CheckerState]:
        """Split on an arc: trees with it, where other arcs into its modifier are closed, and trees without it."""
        h, m = (integer(x) for x in split["arc"])
        if len(self.pricing) != 1 or not isinstance(self.pricing[0], TreePricing) or count != 2:
            raise WrongError("the split refers to parts that do not exist")
        if not (0 <= h < self.pricing[0].size and 1 <= m < self.pricing[0].size):
            raise WrongError("the split refers to an arc that does not exist")
        if self.uses[0][1] != 1:
            raise WrongError("the children do not cover the node: only some of several trees may have the arc")
        others = {(g, m) for g in range(self.pricing[0].size) if g != h}
        return [replace(state.copy(), closed=state.closed | gone) for gone in (others, {(h, m)})]

    def _split_within(self, state: CheckerState, split: Mapping[str, Any], count: int) -> list[CheckerState]:
        """Split on the number of points of identical blocks within bounds: at most t, or at least t + 1."""
        (k, bounds), most = split["within"], integer(split["at_most"])
        problem: Any = self.pricing[k] if 0 <= integer(k) < len(self.pricing) else None
        if not isinstance(problem, BlockPricing) or most < 0 or count != 2:
            raise WrongError("the split refers to parts that do not exist")
        box = problem.box(bounds)
        at_most, at_least = state.copy(), state.copy()
        ((v, low, high), *others), uses = box, self.uses[k][1]
        if most:
            self._count(at_most, (k, box), 0, most)
        else:  # no point is there, so counts are not needed
            at_most.counts.pop((k, box), None)
            if others or None not in (low, high):
                at_most.without = (*state.without, (k, box))
            else:
                at_most.narrow(k, v, None if high is None else high + 1, None if low is None else low - 1)
        if uses is None or most + 1 < uses:
            self._count(at_least, (k, box), most + 1, None)
        else:  # all points are there
            at_least.counts.pop((k, box), None)
            for each in box:
                at_least.narrow(k, *each)
        return [at_most, at_least]

    def _count(self, state: CheckerState, place: Place, low: int, high: int | None) -> None:
        before = state.counts.get(place, (0, None))
        least = before[1] if high is None or (before[1] is not None and before[1] < high) else high
        state.counts[place] = (max(before[0], low), least)

    def _split_pair(self, state: CheckerState, split: Mapping[str, Any], count: int) -> list[CheckerState]:
        """Split on whether two rows that are covered once, or two items, are in one set or cluster, or in two."""
        u, v = (integer(x) for x in split["pair"])
        clusters = len(self.pricing) == 1 and isinstance(self.pricing[0], Clusterings)
        stable = len(self.pricing) == 1 and isinstance(self.pricing[0], StableSets)
        if not (clusters or stable or state.listed is not None):
            raise WrongError("the split refers to parts that do not exist")
        if clusters and self.uses[0][1] != 1:
            raise WrongError("the children do not cover the node: several clusterings may differ")
        once = range(self.pricing[0].size if clusters else len(self.rows))
        if (
            count != 2
            or u == v
            or any(w not in once or not (clusters or self.rows[w] == (Fraction(1), Fraction(1))) for w in (u, v))
        ):
            raise WrongError("the children do not cover the node")
        together, apart = state.copy(), state.copy()
        if state.listed is not None:
            both = 1 << u | 1 << v
            together.listed = tuple({r: c for r, c in each.items() if r & both in (0, both)} for each in state.listed)
            apart.listed = tuple({r: c for r, c in each.items() if r & both != both} for each in state.listed)
        together.pairs, apart.pairs = (*state.pairs, (u, v, True)), (*state.pairs, (u, v, False))
        return [together, apart]


def check_answer(program: Program, answer: Mapping[str, Any], claims: Claims) -> Fraction:
    """Return the objective of a solution, for minimization, after checking every row."""
    activity = [Fraction(0)] * len(program.rows)
    used = [Fraction(0)] * len(program.pricing)
    total = Fraction(0)
    fields(answer, ("objective", "columns"))
    if answer["columns"] == "trusted":
        claims.trust("an answer")
        return program.sign * exact(answer["objective"])
    for k, value, structure in answer["columns"]:
        if integer(value) < 1 or not 0 <= integer(k) < len(program.pricing):
            raise WrongError("expected a pricing problem and a positive number of uses for each column of the answer")
        cost, entries = program.pricing[k].column(structure)
        if isinstance(program.pricing[k], Trusted):
            claims.trust("a column")
        total += program.sign * cost * value
        used[k] += value
        for row, entry in entries.items():
            activity[row] += entry * value
    for what, values, limits in (("row", activity, program.rows), ("the use of problem", used, program.uses)):
        for k, (value, each) in enumerate(zip(values, limits, strict=True)):
            if not holds(value, each):
                raise WrongError(f"{what} {k} of the answer is {value}")
    if total != program.sign * exact(answer["objective"]):
        raise WrongError(f"the objective of the answer is {program.sign * total}")
    return total
