"""Non-local parsing by column generation: one column per tree, priced by the dynamic program.

    max Σ_t s_t λ_t + Σ_c φ_c y_c
    subject to  Σ_t λ_t = 1                                                  [σ]
                y_c - Σ_t z_te λ_t ≤ 0            φ_c > 0, each arc e of c    [α_ce ≥ 0]
                y_c - Σ_t Σ_{e in c} z_te λ_t ≥ 1 - r_c    φ_c < 0            [β_c ≤ 0]
                λ ≥ 0 integer,  0 ≤ y ≤ 1.

The reduced cost of a tree is s_t + Σ_c Σ_e z_te (α_ce + β_c) - σ: the dynamic program with modified arc scores. The
relaxation has the value min_p max_z ψ(p, z) with p_ce = α_ce / φ_c, so both methods branch on the same nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
from colgen.problems.nonlocal_parsing.checking import check_answer
from colgen.problems.nonlocal_parsing.factors import Floats, Ints
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.losses import Losses, RelativeInstance, backbone_of
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.solvers.stopping import Expired, never
from colgen.solvers.trees.backbone import TreeTimeError
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import NEG

Bools = NDArray[np.bool_]

_GUESSING = 1.0
"""Seconds for a first tree by branch and bound, if penalties hide smaller scores."""


class ParsingByColumns(Problem):
    """Find the best tree by branch and price. The answer is a tuple with the head of each word."""

    def __init__(self, instance: NonlocalInstance) -> None:
        self.instance = instance
        self.objective_step = instance.step

    @cached_property
    def relative(self) -> RelativeInstance:
        """The scores of the program: losses relative to an upper bound on all trees."""
        losses = Losses(self.instance)
        relative = losses.relative()
        if relative.blurred:  # a tree without the penalty, if there is one, allows penalties to be clipped
            search = solve(NonlocalParsing(self.instance), stop=TimeLimit(_GUESSING))
            relative = losses.relative(search.answer)
        return relative

    @cached_property
    def products(self) -> ProductRows:
        """The rows of the factors."""
        return ProductRows.of(self.relative.instance)

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The scale of the scores."""
        return self.relative.unit

    def master(self) -> Rows:
        return self.products.master(self.relative.constant)

    def pricing(self) -> Pricing:
        return TreeOracle(self.relative.instance, self.products)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTreeArcs(),)

    def warm_start(self, budget: Budget) -> WarmStart:
        # Scores too low for any better tree are clipped. With this tree as incumbent, no tree with such a part is
        # accepted.
        instance, heads = self.relative.instance, self.relative.known
        if heads is None:
            return WarmStart()
        held: dict[Key, float] = {("y", c): 1.0 for c in self.products.satisfied_factors(heads)}
        column = tree_column(instance, self.products, heads)
        return WarmStart(answers=(Solution(self.instance.objective(heads), ((column, 1.0),), held),))

    def answer(self, solution: Solution) -> Heads:
        heads: Heads = solution.columns[0][0].structure
        return heads

    def check(self, answer: Heads) -> float:
        return check_answer(self.instance, answer)


class TreeOracle(Pricing):
    """Exact oracle: the tree of best reduced cost, by the dynamic program."""

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
    """Return the best tree of these parts and arcs, of the kind that the instance requires, or None.

    Raises
    ------
    OutOfTimeError
        If ``expired()`` returns true before it is found.
    """
    backbone = backbone_of(instance, parts, expired)
    heads = np.empty(parts.size, dtype=np.int64)
    value = backbone.best(np.where(allowed, parts.arcs, NEG), heads)
    return None if value <= NEG / 2 else (value, tuple(heads[1:].tolist()))


class OnTreeArcs(BranchingRule):
    """Branch on whether an arc is in the tree: the one whose value is closest to 1/2."""

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
    """The factors with non-zero scores, as rows of the master."""

    scores: Floats  # of each factor
    positive: Ints  # arcs (head, modifier) of factors with positive scores, one per row `at_most`
    owners: Ints  # their factors
    negative: Ints  # arcs of the other factors, concatenated
    members: Ints  # these factors, one per row `at_least`
    lengths: Ints  # their numbers of arcs
    at_most: list[Key]  # keys of the rows
    at_least: list[Key]

    @staticmethod
    def of(instance: NonlocalInstance) -> ProductRows:
        """Return the rows of an instance's factors."""
        factors = instance.nonlocal_factors
        lengths = np.diff(factors.start)
        numbers = np.cumsum(factors.scores != 0.0) - 1  # numbers among factors with non-zero scores
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
        """Return the rows of the program over trees; ``constant`` is added to every tree's score."""
        rows = Rows(Sense.MAXIMIZE, objective="score", offset=constant)
        worth = rows.add_variables("y", range(len(self.scores)), cost=self.scores, upper=1.0)
        missing = rows.add_variables("missing", artificial=True)
        rows.add_entries(rows.add_rows("one_tree", lower=1.0, upper=1.0), missing, 1.0)
        at_most = rows.add_rows("at_most", [index for _, index in self.at_most], upper=0.0)
        rows.add_entries(at_most, worth[self.owners], 1.0)
        at_least = rows.add_rows("at_least", [index for _, index in self.at_least], lower=1.0 - self.lengths)
        rows.add_entries(at_least, worth[self.members], 1.0)
        return rows

    def count_arcs(self, heads: Heads) -> tuple[Bools, Ints]:
        """Return which arcs of ``positive`` a tree has, and the number of arcs of each factor with a negative score."""
        tree = np.array([-1, *heads])
        has = tree[self.negative[:, 1]] == self.negative[:, 0]
        totals = np.bincount(np.repeat(np.arange(len(self.lengths)), self.lengths), has, len(self.lengths))
        return tree[self.positive[:, 1]] == self.positive[:, 0], totals.astype(np.int64)

    def satisfied_factors(self, heads: Heads) -> list[int]:
        """Return the factors whose arcs are all in a tree."""
        has, totals = self.count_arcs(heads)
        missing = np.bincount(self.owners, ~has, len(self.scores))
        whole = (self.scores > 0.0) & (missing == 0)
        whole[self.members] = totals == self.lengths
        return np.flatnonzero(whole).tolist()


def tree_column(instance: NonlocalInstance, products: ProductRows, heads: Heads) -> Column:
    """Return the column of a tree."""
    has, totals = products.count_arcs(heads)
    coefficients: dict[Key, float] = {("one_tree", None): 1.0}
    coefficients.update(dict.fromkeys((products.at_most[k] for k in np.flatnonzero(has).tolist()), -1.0))
    coefficients.update({products.at_least[k]: -float(totals[k]) for k in np.flatnonzero(totals).tolist()})
    return Column(
        cost=instance.parts.score([-1, *heads]),
        coefficients=coefficients,
        structure=heads,
        key=("tree", heads),
    )
