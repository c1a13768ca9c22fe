"""Branching on arcs, and fixing arcs that no better tree contains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from colgen import BranchingRule, Column, Decision, Duals, LinearMaster, Solution
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.fixing import Reduction, ReductionContext
from colgen.problems.grandparent_parsing.instance import Mask
from colgen.problems.grandparent_parsing.separation import arc_values

Arc = tuple[int, int]

_WORTH = 0.2
"""Arcs are fixed only if they are at least this share of the remaining arcs, because the relaxation is re-solved."""


@dataclass(frozen=True)
class Without(Decision):
    """Decision that forbids arcs (head, modifier); ``template`` lists those that are variables of the template."""

    arcs: frozenset[Arc]
    template: frozenset[Arc] = field(compare=False, repr=False)

    def allows(self, column: Column) -> bool:
        return column.key is None or column.key[0] != "z" or column.key[1] not in self.arcs

    def bounds(self) -> Mapping[Key, tuple[float, float]]:
        return {("z", arc): (0.0, 0.0) for arc in self.template}


@dataclass(frozen=True)
class Worse(Without):
    """Decision that forbids arcs that no tree better than the incumbent contains."""

    exhaustive = False


class OnArc(BranchingRule):
    """Branch on the most fractional arc: forbid the other arcs into its modifier, or forbid the arc.

    ``template()`` returns the mask of arcs that are variables of the template, by head and modifier.
    """

    makes: Sequence[type[Decision]] = (Without,)

    def __init__(self, template: Callable[[], Mask]) -> None:
        self._template = template

    @property
    def template(self) -> Mask:
        return self._template()

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        z = arc_values(solution, len(self.template) - 1)
        fractional = [(fractionality(z[h, m]), (h, m)) for h, m in np.argwhere(z > 0.0).tolist()]
        distance, arc = max(fractional, default=(0.0, (0, 0)))
        if not distance:
            return ()
        h, m = arc
        others = [(other, m) for other in range(len(z)) if other not in (h, m)]
        inside: Sequence[Decision] = (self.without(others),)
        outside: Sequence[Decision] = (self.without([arc]),)
        return (inside, outside) if z[h, m] >= 0.5 else (outside, inside)

    def without(self, arcs: Sequence[Arc], kind: type[Without] = Without) -> Without:
        return kind(frozenset(arcs), frozenset(arc for arc in arcs if self.template[arc]))


class TreeArcFixing(Reduction):
    """Forbids arcs whose reduced cost proves that no tree better than the incumbent contains them.

    At the bound's dual values, a tree with an arc of reduced cost r < 0 scores at most the bound plus r.  This holds
    for trees only: a fractional solution may use such an arc, so the relaxation's optimum may fall, but not below the
    incumbent.
    """

    makes: Sequence[type[Decision]] = (Worse,)

    def __init__(self, master: LinearMaster, rule: OnArc) -> None:
        self.master = master
        self.rule = rule

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        if not isinstance(context.duals, Duals):  # dual values of trees do not price the master's columns
            return ()
        table = self.master.table
        reduced = self.master.objective.reduced_costs(context.duals)
        gone, left = [], 0
        for key, column in table.position.items():
            if isinstance(key, tuple) and key[0] == "z" and table.upper_now[column] > 0.0:
                left += 1
                if -reduced[column] > context.slack + TOLERANCES.optimality * context.scale:
                    gone.append(key[1])
        return () if len(gone) <= _WORTH * left else (self.rule.without(gone, Worse),)
