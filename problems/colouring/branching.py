"""Branching on two vertices: one colour, or two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from colgen import Column, Decision, RyanFoster, Solution
from colgen.branching.rules import DOWN, UP, Candidate
from colgen.core.decision import Apart, Together
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import RestrictedMaster
from colgen.problems.colouring.zykov import VERTEX


class OnPairs(RyanFoster):
    """Ryan and Foster's rule on rows ``≥ 1`` whose columns may lose vertices.

    Every part of a stable set is one, and is allowed if the set is and merged vertices are lost together; so every
    answer has one of the same number of colours that covers each vertex once, and that one lies in one of the children.
    The pair is chosen among those that some column of the relaxation has in common and some column has one of alone, so
    that both children cut it off.  Where there is none, columns that share a vertex are the same, and the best
    relaxation is whole.

    Parameters
    ----------
    block
        Of the rows.
    members
        The indices of the rows that a column covers.
    """

    def __init__(
        self, block: str = VERTEX, members: Callable[[Column], Iterable[int]] = lambda column: column.structure
    ) -> None:
        super().__init__(block)
        self.members = members

    def suit(self, master: RestrictedMaster) -> None:
        pass  # what the parent refuses, rows that may be covered twice, is what this one is for

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        found = self.candidates(solution)
        return found[0].children if found else ()

    def candidates(self, solution: Solution) -> Sequence[Candidate]:
        both: dict[tuple[int, int], float] = defaultdict(float)
        alone: dict[int, float] = defaultdict(float)
        for column, value in solution.columns:
            rows = sorted(self.members(column))
            for k, u in enumerate(rows):
                alone[u] += value
                for v in rows[k + 1 :]:
                    both[u, v] += value
        # Of what covers u or v: how much holds both, as a share of what has to.
        found = [
            (min(value, 1.0 - value) if value < 1.0 else 0.0, pair)
            for pair, value in both.items()
            if all(alone[v] - value > TOLERANCES.pruning for v in pair)
        ]
        return [_split(self.block, pair, both[pair]) for _, pair in sorted(found, reverse=True)]


def _split(block: str, pair: tuple[int, int], value: float) -> Candidate:
    """The ways to split a node by a pair, of which columns of this value in all hold both."""
    first, second = (block, pair[0]), (block, pair[1])
    children: list[Sequence[Decision]] = [(Together(first, second),), (Apart(first, second),)]
    moves = [(UP, 1.0 - value), (DOWN, value)] if value < 1.0 else []
    order = 1 if value >= 0.5 else -1
    return Candidate(children[::order], pair, moves[::order], max(min(value, 1.0 - value), 0.0))
