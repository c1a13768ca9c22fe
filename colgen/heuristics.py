"""Primal heuristics: whole answers from a fractional relaxation.  None of them proves anything."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from colgen.branching import fractionality
from colgen.engine import Outcome, Relaxed
from colgen.master import LinearMaster, RestrictedMaster
from colgen.run import Run
from colgen.solution import Solution


@dataclass(frozen=True)
class HeuristicContext:
    """What a heuristic may use at a node.

    Attributes
    ----------
    master
        Solved, at the node; to be left as it was found (a heuristic that fixes columns releases them).
    relaxation
        The node's fractional solution.
    run
        Clock, incumbent and pruning.
    regenerate
        Run column generation again under the fixings in force: ``regenerate({column identity: lower bound})``.
    """

    master: RestrictedMaster
    relaxation: Solution
    run: Run
    depth: int
    regenerate: Callable[[dict[Hashable, float]], Relaxed]


class Heuristic(ABC):
    """Looks for an answer at a node.  Subclasses write :meth:`search`.

    Attributes
    ----------
    every
        Run at the root and then at each ``every``-th level; 0: at the root alone.
    quick
        Cheap enough to run before reduced-cost fixing, which is the stronger the better the incumbent; others run after
        it.
    """

    every: int = 0
    quick: bool = False

    @property
    def name(self) -> str:
        """What diagnostics call this heuristic."""
        return type(self).__name__

    def applies(self, depth: int) -> bool:
        """Whether to run at this depth."""
        return depth == 0 or (self.every > 0 and depth % self.every == 0)

    @abstractmethod
    def search(self, context: HeuristicContext) -> Solution | None:
        """A whole solution of the master, or None.  The engine checks it before it counts."""


class RestrictedMIP(Heuristic):
    """The restricted master as a mixed-integer program: the best combination of the columns at hand.

    Parameters
    ----------
    seconds
        For one call.
    """

    def __init__(self, seconds: float = 10.0, every: int = 0) -> None:
        self.seconds = seconds
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        if not isinstance(context.master, LinearMaster):
            return None
        seconds = min(self.seconds, context.run.seconds_left)
        return context.master.solve_integer(seconds, context.run.incumbent)[0]


class Diving(Heuristic):
    """Fix the column nearest to its next whole number, generate columns again, repeat; step back where a dive ends.

    Fixing means raising lower bounds, which leaves the pricing problem as it is.  When a dive fails, its latest choices
    are undone and forbidden, at most ``backtracks`` of them on one dive (limited discrepancy search).

    References
    ----------
    R. Sadykov, F. Vanderbeck, A. Pessoa, I. Tahiri, E. Uchoa, *Primal heuristics for branch and price: the assets of
    diving methods*, INFORMS Journal on Computing 31 (2019).
    """

    def __init__(self, backtracks: int = 2, every: int = 0) -> None:
        self.backtracks = backtracks
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        tabu: set[Hashable] = set()
        fixed: dict[Hashable, float] = {}
        path: list[tuple[Hashable, dict[Hashable, float], Solution]] = []
        solution = context.relaxation
        tries = self.backtracks
        try:
            while not context.run.expired:
                choice = None if solution is None else self.choose(solution, fixed, tabu)
                if choice is not None:
                    path.append((choice[0], dict(fixed), solution))
                    fixed[choice[0]] = choice[1]
                    found = self._regenerate(context, fixed)
                    if found is not None and not _fractional(found):
                        return found
                    if found is not None:
                        solution = found
                        continue
                if not path or tries == 0:
                    return None
                tries -= 1
                column, fixed, solution = path.pop()
                tabu.add(column)
            return None
        finally:
            context.master.fix({})

    def choose(
        self, solution: Solution, fixed: dict[Hashable, float], tabu: set[Hashable]
    ) -> tuple[Hashable, float] | None:
        """The column to fix next, and its new lower bound: the one that rounding moves least, upwards if at all."""
        best: tuple[float, float, Hashable] | None = None
        for column, value in solution.columns:
            identity = column.identity
            if not column.integer or identity in tabu:
                continue
            down = math.floor(value + 1e-6)
            if down > fixed.get(identity, 0.0):
                candidate = (0.0, float(down), identity)  # its whole part costs nothing to fix
            elif fractionality(value):
                candidate = (math.ceil(value) - value, float(math.ceil(value)), identity)
            else:
                continue
            if best is None or candidate[0] < best[0]:
                best = candidate
        return None if best is None else (best[2], best[1])

    def _regenerate(self, context: HeuristicContext, fixed: dict[Hashable, float]) -> Solution | None:
        relaxed = context.regenerate(fixed)
        if relaxed.outcome is not Outcome.SOLVED or relaxed.solved is None:
            return None
        return context.master.solution(relaxed.solved)


def _fractional(solution: Solution) -> bool:
    return any(column.integer and fractionality(x) for column, x in solution.columns) or any(
        fractionality(solution.variables[key]) for key in solution.integer
    )
