"""Plans that waste nothing: full rolls alone, and cuts over them.

Where the next better plan has exactly as much roll as there is material, every roll of it is full and every item is cut
exactly as often as demanded.  Most of the packing instances that are hard to prove are of this kind: the material bound
is met by the relaxation, and by fractions of full rolls nearly everywhere in the tree.  Branching gets nowhere there,
while a few rank-1 cuts over full rolls lift the bound at the root.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from colgen import Decision, Diving, Heuristic, HeuristicContext, RankOne, SeparationContext, Solution
from colgen.core.columns import Row
from colgen.core.tolerances import fractionality
from colgen.fixing import Reduction, ReductionContext
from colgen.problems.cutting_stock.layout import Full, PatternLayout
from colgen.problems.cutting_stock.pricing import PatternOracle

_LEAST = 0.01
"""Violation of cuts that are worth it: smaller ones lift the bound as well, for it need not be lifted far."""


class FullRolls(Reduction):
    """Leaves full rolls alone where the next better plan has no roll to waste."""

    makes: Sequence[type[Decision]] = (Full,)

    def __init__(self, layout: PatternLayout) -> None:
        self.layout = layout

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        if not wastes_nothing(self.layout, context.target):
            return ()
        return () if any(isinstance(decision, Full) for decision in context.decisions) else (Full(self.layout),)


class DivingFirst(Diving):
    """Dives before cuts where the next better plan wastes nothing: at times a plan is found at once, and none later."""

    quick = True

    def __init__(self, layout: PatternLayout, tries: int, polish: Heuristic) -> None:
        super().__init__(tries, proper="demand", polish=polish)
        self.layout = layout

    def search(self, context: HeuristicContext) -> Solution | None:
        return super().search(context) if wastes_nothing(self.layout, context.run.target) else None


def wastes_nothing(layout: PatternLayout, rolls: float) -> bool:
    """Whether so many rolls are as much as there is material."""
    return round(rolls) * layout.roll == sum(width * demand for width, demand in zip(*layout.pieces, strict=True))


class FullRollCuts(RankOne):
    """Rank-1 cuts of three to five items, where full rolls alone are left.

    Every plan that wastes nothing cuts each item exactly as often as demanded: no more often is all that the cuts need.
    """

    exhaustive = False

    def __init__(self, oracle: PatternOracle) -> None:
        layout = oracle.layout
        sides: dict[Hashable, int] = dict(enumerate(layout.demands[layout.rank_of_item].tolist()))
        super().__init__("demand", sizes=(3, 4, 5), sides=sides, progress=-1.0, least=_LEAST)
        self.oracle = oracle

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        if not self.oracle.fills or self.oracle.overflowed or context.whole:
            return ()
        # Of what is whole no cut is made: a cut that is violated is so without it.
        fractional = [(column, value) for column, value in solution.columns if fractionality(value)]
        return super().separate(replace(solution, columns=tuple(fractional)), context)
