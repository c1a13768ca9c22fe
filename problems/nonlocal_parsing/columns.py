"""The same problem by column generation: a column a tree, priced by the dynamic program.

    max Σ_t s_t λ_t + Σ_c φ_c y_c
    subject to  Σ_t λ_t = 1                                                  [σ]
                y_c - Σ_t z_te λ_t ≤ 0            φ_c > 0, each arc e of c    [α_ce ≥ 0]
                y_c - Σ_t Σ_{e in c} z_te λ_t ≥ 1 - r_c    φ_c < 0            [β_c ≤ 0]
                λ ≥ 0 whole,  0 ≤ y ≤ 1.

A tree's reduced cost is s_t + Σ_c Σ_e z_te (α_ce + β_c) - σ: the dynamic program with other arc scores.  The relaxation
is the best bound min_p max_z ψ(p, z), so that both ways branch on the same nodes; p_ce = α_ce / φ_c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from colgen import (
    BranchingRule,
    Column,
    Decision,
    Duals,
    Key,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Solution,
)
from colgen.core.decision import fractionality
from problems.dependency.decisions import ArcDecision
from problems.dependency.sentence import Heads
from problems.nonlocal_parsing.checking import checked
from problems.nonlocal_parsing.instance import Instance
from problems.nonlocal_parsing.losses import Losses, Relative, backbone_of
from problems.nonlocal_parsing.model import master
from solvers.trees.backbone import OutOfTimeError
from solvers.trees.eisner import Parts
from solvers.trees.eisner_first import NEG


class ParsingByColumns(Problem):
    """The best tree by branch and price.  The answer is the head of each word."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.objective_step = instance.step

    @cached_property
    def relative(self) -> Relative:
        """The scores that the program is stated with: what they lose against what no tree exceeds."""
        return Losses(self.instance).relative()

    def master(self) -> pyo.ConcreteModel:
        self.scale = self.relative.unit
        return master(self.relative.instance, self.relative.constant)

    def pricing(self) -> Pricing:
        return BestTree(self.relative.instance)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnArcs(),)

    def initial_answers(self) -> Iterable[Solution]:
        # What scores too little for any better tree is clipped: with this tree in hand, none with such a part is taken.
        instance, heads = self.relative.instance, self.relative.known
        if heads is None:
            return ()
        used = set(zip(heads, range(1, len(heads) + 1), strict=True))
        factors = [arcs for arcs, score in instance.nonlocal_factors if score]
        held: dict[Key, float] = {("y", c): 1.0 for c, arcs in enumerate(factors) if used.issuperset(arcs)}
        objective = self.instance.objective(heads)
        return (Solution(objective, ((tree_column(instance, heads), 1.0),), held),)

    def answer(self, solution: Solution) -> Heads:
        heads: Heads = solution.columns[0][0].structure
        return heads

    def check(self, answer: Heads) -> float:
        return checked(self.instance, answer)


class BestTree(Pricing):
    """The tree of best reduced cost, by the dynamic program: exact."""

    multiplicity = 1.0

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        factors = [(arcs, score) for arcs, score in instance.nonlocal_factors if score]
        self._positive = np.array(
            [arc for arcs, score in factors if score > 0.0 for arc in arcs], dtype=np.int64
        ).reshape(-1, 2)
        members = [arcs for arcs, score in factors if score < 0.0]
        self._negative = np.array([arc for arcs in members for arc in arcs], dtype=np.int64).reshape(-1, 2)
        self._lengths = np.array([len(arcs) for arcs in members], dtype=np.int64)

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        instance = self.instance
        tilted = np.zeros((instance.parts.size,) * 2)
        if len(self._positive):
            np.add.at(tilted, tuple(self._positive.T), duals["at_most"])
        if len(self._lengths):
            np.add.at(tilted, tuple(self._negative.T), np.repeat(duals["at_least"], self._lengths))
        parts = instance.parts.rescored(instance.parts.arcs + tilted) if context.cost_weight else Parts(tilted)
        allowed = instance.usable.copy()
        for decision in context.decisions:
            if isinstance(decision, ArcDecision):
                h, m = decision.head, decision.modifier
                if decision.required:
                    allowed[:, m] &= np.arange(len(allowed)) == h
                else:
                    allowed[h, m] = False
        try:
            found = best(instance, parts, allowed, lambda: context.seconds_left() <= 0.0)
        except OutOfTimeError:
            return PricingResult()
        if found is None:
            return PricingResult(bound=context.sense.hopeless)
        reduced_cost = found[0] - float(duals["one_tree"])
        return PricingResult((tree_column(instance, found[1]),), reduced_cost, [reduced_cost])


def best(
    instance: Instance,
    parts: Parts,
    allowed: NDArray[np.bool_],
    expired: Callable[[], bool] = lambda: False,
) -> tuple[float, Heads] | None:
    """The best tree of these parts and arcs, of the kind that the instance wants; None if there is none.

    Raises
    ------
    OutOfTimeError
        If ``expired()`` before it was found.
    """
    backbone = backbone_of(instance, parts, expired)
    heads = np.empty(parts.size, dtype=np.int64)
    value = backbone.best(np.where(allowed, parts.arcs, NEG), heads)
    return None if value <= NEG / 2 else (value, tuple(heads[1:].tolist()))


class OnArcs(BranchingRule):
    """An arc is in the tree or is not: the one whose value is nearest to one half."""

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        values: dict[tuple[int, int], float] = {}
        for column, value in solution.columns:
            for m, h in enumerate(column.structure, 1):
                values[h, m] = values.get((h, m), 0.0) + value
        arc = max(values, key=lambda arc: (fractionality(values[arc]), arc), default=None)
        if arc is None or not fractionality(values[arc]):
            return ()
        children = [[ArcDecision(*arc, required)] for required in (True, False)]
        return children if values[arc] >= 0.5 else children[::-1]


def tree_column(instance: Instance, heads: Heads) -> Column:
    """The column of a tree."""
    coefficients: dict[Key, float] = {("one_tree", None): 1.0}
    used = set(zip(heads, range(1, len(heads) + 1), strict=True))
    factors = [(arcs, score) for arcs, score in instance.nonlocal_factors if score]
    for c, (arcs, score) in enumerate(factors):
        held = [arc for arc in arcs if arc in used]
        if score > 0.0:
            coefficients.update({("at_most", (c, *arc)): -1.0 for arc in held})
        elif held:
            coefficients["at_least", c] = -float(len(held))
    return Column(
        cost=instance.parts.score([-1, *heads]),
        coefficients=coefficients,
        structure=heads,
        key=("tree", heads),
    )
