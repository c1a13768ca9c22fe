"""Plans without waste: full rolls only, and cuts over them.

Suppose the total width of the rolls of the next better plan equals the total width of the demanded pieces.  Then all
its rolls are full, and it cuts each item exactly as often as demanded.  Most packing instances with a difficult proof
are like this.  The relaxation attains the material bound, and so do fractional combinations of full rolls nearly
everywhere in the tree.  Branching makes no progress, but a few rank-1 cuts over full rolls raise the bound at the root.
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
"""Minimum violation of a cut.  It is small, because the bound need not rise far."""


class FullRolls(Reduction):
    """Allow only full rolls if the next better plan has no waste."""

    makes: Sequence[type[Decision]] = (Full,)

    def __init__(self, layout: PatternLayout) -> None:
        self.layout = layout

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        if not wastes_nothing(self.layout, context.target):
            return ()
        return () if any(isinstance(decision, Full) for decision in context.decisions) else (Full(self.layout),)


class DivingFirst(Diving):
    """Dive before cuts if the next better plan has no waste: some plans are found at once, or not at all."""

    quick = True

    def __init__(self, layout: PatternLayout, tries: int, polish: Heuristic) -> None:
        super().__init__(tries, proper="demand", polish=polish)
        self.layout = layout

    def search(self, context: HeuristicContext) -> Solution | None:
        return super().search(context) if wastes_nothing(self.layout, context.run.target) else None


def wastes_nothing(layout: PatternLayout, rolls: float) -> bool:
    """Return whether this number of rolls holds exactly the material."""
    return round(rolls) * layout.roll == sum(width * demand for width, demand in zip(*layout.pieces, strict=True))


class FullRollCuts(RankOne):
    """Rank-1 cuts of three to five items, separated where only full rolls are allowed.

    A plan without waste cuts each item exactly as often as demanded; the cuts need only "at most as often".
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
        # Columns with integer values are left out: a violated cut is also violated without them.
        fractional = [(column, value) for column, value in solution.columns if fractionality(value)]
        return super().separate(replace(solution, columns=tuple(fractional)), context)
