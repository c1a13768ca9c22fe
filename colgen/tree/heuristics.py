"""Primal heuristics: whole answers from a fractional relaxation.  None of them proves anything."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from colgen.bounds.bounding import Bounded, Outcome
from colgen.bounds.run import Run
from colgen.core.decision import fractionality
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import RestrictedMaster


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
        Run column generation again with some lower bounds raised: ``regenerate({column identity: lower bound},
        proper)``, where ``proper`` is as in :class:`Diving`.
    """

    master: RestrictedMaster
    relaxation: Solution
    run: Run
    depth: int
    regenerate: Callable[[Mapping[Hashable, float], str | None], Bounded]


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
        run = context.run
        return context.master.solve_integer(min(self.seconds, run.seconds_left), run.incumbent, lambda: run.expired)[0]


_STEPS = 4
"""A dive gives up after so many steps for each row: a relaxation has no more fractional columns than rows, and what is
rounded up seldom becomes fractional again unless columns of opposite signs outbid each other for ever."""

_FEW_ROWS = 25


class Diving(Heuristic):
    """Fix what the relaxation has decided, round one more column up, generate columns again, until all is whole.

    Fixing means raising lower bounds, which leaves the pricing problem as it is.  The first dive rounds up the column
    nearest to its next whole number; the following ones are perturbed at random.

    Parameters
    ----------
    tries
        Number of dives, until one succeeds.
    proper
        Name of a block of rows of which no column may cover more than the fixed columns leave over, such as the demands
        of a covering problem: in a dive, columns that do would be good for nothing but their surplus.  None if columns
        that do not fit are excluded by the rows themselves, or welcome.
    polish
        A quick heuristic that is run on the relaxation of each step.
    seed
        Of the perturbation.

    References
    ----------
    R. Sadykov, F. Vanderbeck, A. Pessoa, I. Tahiri, E. Uchoa, *Primal heuristics for branch and price: the assets of
    diving methods*, INFORMS Journal on Computing 31 (2019).
    """

    def __init__(
        self,
        tries: int = 3,
        *,
        proper: str | None = None,
        polish: Heuristic | None = None,
        seed: int = 0,
        every: int = 0,
    ) -> None:
        self.tries = tries
        self.proper = proper
        self.polish = polish
        self.seed = seed
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        rng = np.random.default_rng(self.seed)
        for attempt in range(self.tries):
            try:
                found = self._dive(context, rng, noise=0.3 if attempt else 0.0)
            finally:
                context.master.fix({})
            if found is not None or context.run.expired:
                return found
        return None

    def _dive(self, context: HeuristicContext, rng: np.random.Generator, noise: float) -> Solution | None:
        fixed: dict[Hashable, float] = {}
        solution = context.relaxation
        for _ in range(_STEPS * max(context.master.num_rows, _FEW_ROWS)):
            if context.run.expired or context.run.reason is not None:
                return None
            more = self._fix(solution, fixed, rng, noise)
            if more == fixed:
                return None
            fixed = more
            relaxed = context.regenerate(fixed, self.proper)
            # An oracle that limits itself to what is left to do proves nothing, so the outcome may be "not proved".
            if relaxed.outcome not in (Outcome.SOLVED, Outcome.UNPROVED) or relaxed.solved is None:
                return None
            if relaxed.solved.phase == 1 or context.run.prunes(relaxed.solved.objective):
                return None
            solution = context.master.solution(relaxed.solved)
            if not _fractional(solution):
                return solution
            if self.polish is not None:
                polished = self.polish.search(dataclasses.replace(context, relaxation=solution))
                if polished is not None and not context.run.prunes(polished.objective):
                    return polished
        return None

    def _fix(
        self, solution: Solution, fixed: Mapping[Hashable, float], rng: np.random.Generator, noise: float
    ) -> dict[Hashable, float]:
        """Lower bounds for the next step: all whole parts, and one column rounded up."""
        more = dict(fixed)
        best, up = -math.inf, None
        for column, value in solution.columns:
            if not column.integer:
                continue
            whole = math.floor(value + TOLERANCES.integrality)
            if whole > more.get(column.identity, 0.0):
                more[column.identity] = float(whole)
            if fractionality(value):
                score = value - whole + noise * rng.random()
                if score > best:
                    best, up = score, (column.identity, whole + 1.0)
        if up is not None:
            more[up[0]] = up[1]
        return more


def _fractional(solution: Solution) -> bool:
    return any(column.integer and fractionality(x) for column, x in solution.columns) or any(
        fractionality(solution.variables[key]) for key in solution.integer
    )
