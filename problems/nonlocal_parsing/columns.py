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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colgen import (
    BranchingRule,
    Column,
    Decision,
    Duals,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Rows,
    Sense,
    Solution,
    TimeLimit,
    solve,
)
from colgen.core.budget import Budget
from colgen.core.columns import Key
from colgen.core.tolerances import fractionality
from colgen.core.warm_start import WarmStart
from colgen.problems.dependency.decisions import ArcDecision
from colgen.problems.dependency.sentence import Heads
from colgen.problems.nonlocal_parsing.checking import checked
from colgen.problems.nonlocal_parsing.factors import Floats, Ints
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.losses import Losses, Relative, backbone_of
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.backbone import TreeTimeError
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import NEG

if TYPE_CHECKING:
    pass

Bools = NDArray[np.bool_]

_GUESSING = 1.0
"""Seconds for a first tree by branch and bound, where penalties hide what else there is."""


class ParsingByColumns(Problem):
    """The best tree by branch and price.  The answer is the head of each word."""

    def __init__(self, instance: NonlocalInstance) -> None:
        self.instance = instance
        self.objective_step = instance.step

    @cached_property
    def relative(self) -> Relative:
        """The scores that the program is stated with: what they lose against what no tree exceeds."""
        losses = Losses(self.instance)
        relative = losses.relative()
        if relative.blurred:  # a tree without the penalty, if there is one: with it in hand, penalties are clipped
            search = solve(NonlocalParsing(self.instance), stop=TimeLimit(_GUESSING))
            relative = losses.relative(search.answer)
        return relative

    @cached_property
    def products(self) -> ProductRows:
        """The factors' rows."""
        return ProductRows.of(self.relative.instance)

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The size of the scores."""
        return self.relative.unit

    def master(self) -> Rows:
        return self.products.master(self.relative.constant)

    def pricing(self) -> Pricing:
        return TreeOracle(self.relative.instance, self.products)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTreeArcs(),)

    def warm_start(self, budget: Budget) -> WarmStart:
        # What scores too little for any better tree is clipped: with this tree in hand, none with such a part is taken.
        instance, heads = self.relative.instance, self.relative.known
        if heads is None:
            return WarmStart()
        held: dict[Key, float] = {("y", c): 1.0 for c in self.products.held_by(heads)}
        column = tree_column(instance, self.products, heads)
        return WarmStart(answers=(Solution(self.instance.objective(heads), ((column, 1.0),), held),))

    def answer(self, solution: Solution) -> Heads:
        heads: Heads = solution.columns[0][0].structure
        return heads

    def check(self, answer: Heads) -> float:
        return checked(self.instance, answer)


class TreeOracle(Pricing):
    """The tree of best reduced cost, by the dynamic program: exact."""

    multiplicity = 1.0

    def __init__(self, instance: NonlocalInstance, products: ProductRows) -> None:
        self.instance, self.products = instance, products

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        instance = self.instance
        tilted = np.zeros((instance.parts.size,) * 2)
        products = self.products
        if len(products.positive):
            np.add.at(tilted, tuple(products.positive.T), duals["at_most"])
        if len(products.lengths):
            np.add.at(tilted, tuple(products.negative.T), np.repeat(duals["at_least"], products.lengths))
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
            found = best(instance, parts, allowed, context.expired)
        except TreeTimeError:
            return PricingResult()
        if found is None:
            return PricingResult(bound=context.sense.hopeless)
        reduced_cost = found[0] - float(duals["one_tree"])
        return PricingResult((tree_column(instance, products, found[1]),), reduced_cost, [reduced_cost])


def best(
    instance: NonlocalInstance,
    parts: Parts,
    allowed: NDArray[np.bool_],
    expired: Expired = never,
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


class OnTreeArcs(BranchingRule):
    """An arc is in the tree or is not: the one whose value is nearest to one half."""

    makes: Sequence[type[Decision]] = (ArcDecision,)

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


@dataclass(frozen=True, eq=False)
class ProductRows:
    """The factors that count, as rows of the master.

    Attributes
    ----------
    scores
        Of each factor that is worth anything.
    positive, owners
        Arcs (head, modifier) of factors with positive scores, one a row ``at_most``, and whose they are.
    negative, members, lengths
        Arcs of the others one after the other; which factors these are, one a row ``at_least``, and how many arcs each
        has.
    at_most, at_least
        Keys of the rows.
    """

    scores: Floats
    positive: Ints
    owners: Ints
    negative: Ints
    members: Ints
    lengths: Ints
    at_most: list[Key]
    at_least: list[Key]

    @staticmethod
    def of(instance: NonlocalInstance) -> ProductRows:
        """The rows of an instance's factors."""
        factors = instance.nonlocal_factors
        lengths = np.diff(factors.start)
        numbers = np.cumsum(factors.scores != 0.0) - 1  # of those that are worth anything
        arcs = np.stack(np.divmod(factors.arcs, factors.size), axis=1)
        above, below = np.repeat(factors.scores > 0.0, lengths), np.repeat(factors.scores < 0.0, lengths)
        positive, owners = arcs[above], np.repeat(numbers, lengths)[above]
        members = numbers[factors.scores < 0.0]
        pairs = map(tuple, np.column_stack([owners, positive]).tolist())
        return ProductRows(
            factors.scores[factors.scores != 0.0],
            positive,
            owners,
            arcs[below],
            members,
            lengths[factors.scores < 0.0],
            [("at_most", pair) for pair in pairs],
            [("at_least", c) for c in members.tolist()],
        )

    def master(self, constant: float = 0.0) -> Rows:
        """Return the rows of the program by trees; ``constant`` is what every tree scores on top."""
        rows = Rows(Sense.MAXIMIZE, objective="score", offset=constant)
        worth = rows.add_variables("y", range(len(self.scores)), cost=self.scores, upper=1.0)
        missing = rows.add_variables("missing", artificial=True)
        rows.add_entries(rows.add_rows("one_tree", lower=1.0, upper=1.0), missing, 1.0)
        at_most = rows.add_rows("at_most", [index for _, index in self.at_most], upper=0.0)
        rows.add_entries(at_most, worth[self.owners], 1.0)
        at_least = rows.add_rows("at_least", [index for _, index in self.at_least], lower=1.0 - self.lengths)
        rows.add_entries(at_least, worth[self.members], 1.0)
        return rows

    def counted(self, heads: Heads) -> tuple[Bools, Ints]:
        """Which arcs of ``positive`` a tree has, and how many arcs of each factor with a negative score."""
        tree = np.array([-1, *heads])
        has = tree[self.negative[:, 1]] == self.negative[:, 0]
        totals = np.bincount(np.repeat(np.arange(len(self.lengths)), self.lengths), has, len(self.lengths))
        return tree[self.positive[:, 1]] == self.positive[:, 0], totals.astype(np.int64)

    def held_by(self, heads: Heads) -> list[int]:
        """The factors all of whose arcs a tree has."""
        has, totals = self.counted(heads)
        missing = np.bincount(self.owners, ~has, len(self.scores))
        whole = (self.scores > 0.0) & (missing == 0)
        whole[self.members] = totals == self.lengths
        return np.flatnonzero(whole).tolist()


def tree_column(instance: NonlocalInstance, products: ProductRows, heads: Heads) -> Column:
    """The column of a tree."""
    has, totals = products.counted(heads)
    coefficients: dict[Key, float] = {("one_tree", None): 1.0}
    coefficients.update(dict.fromkeys((products.at_most[k] for k in np.flatnonzero(has).tolist()), -1.0))
    coefficients.update({products.at_least[k]: -float(totals[k]) for k in np.flatnonzero(totals).tolist()})
    return Column(
        cost=instance.parts.score([-1, *heads]),
        coefficients=coefficients,
        structure=heads,
        key=("tree", heads),
    )
