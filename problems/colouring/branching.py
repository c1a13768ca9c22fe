"""Branching on pairs of vertices: same colour or different colours."""

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
    """Ryan and Foster's rule for rows ``≥ 1`` whose columns may lose vertices.

    Subsets of a stable set are stable.  They are allowed if they contain all or none of each merged group.  Every
    solution can therefore be reduced to one that covers each vertex once, and this one lies in one of the children.  A
    pair qualifies if the solution of the relaxation uses a column with both vertices, and for each of them a column
    without the other.  Both children then cut this solution off.  If no pair qualifies, columns that share a vertex are
    equal, and an optimal solution of the relaxation is integral.

    Parameters
    ----------
    block
        Block of the rows.
    members
        Function that returns the indices of the rows that a column covers.
    """

    def __init__(
        self, block: str = VERTEX, members: Callable[[Column], Iterable[int]] = lambda column: column.structure
    ) -> None:
        super().__init__(block)
        self.members = members

    def suit(self, master: RestrictedMaster) -> None:
        pass  # the parent rejects rows that may be covered twice; this rule supports them

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
        # Fractionality of the weight of columns that contain both vertices.
        found = [
            (min(value, 1.0 - value) if value < 1.0 else 0.0, pair)
            for pair, value in both.items()
            if all(alone[v] - value > TOLERANCES.pruning for v in pair)
        ]
        return [_candidate(self.block, pair, both[pair]) for _, pair in sorted(found, reverse=True)]


def _candidate(block: str, pair: tuple[int, int], value: float) -> Candidate:
    """Return the children of a pair; ``value`` is the total value of columns that contain both vertices."""
    first, second = (block, pair[0]), (block, pair[1])
    children: list[Sequence[Decision]] = [(Together(first, second),), (Apart(first, second),)]
    moves = [(UP, 1.0 - value), (DOWN, value)] if value < 1.0 else []
    order = 1 if value >= 0.5 else -1
    return Candidate(children[::order], pair, moves[::order], max(min(value, 1.0 - value), 0.0))
