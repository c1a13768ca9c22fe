"""Primal heuristics: whole answers from a fractional relaxation.  None of them proves anything."""

from __future__ import annotations

import dataclasses
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colgen.bounding.protocol import Bounded, Outcome
from colgen.bounding.run import Run
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.master.protocol import RestrictedMaster
from colgen.solvers.stopping import after


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
        proper)``, where ``proper`` is as in :class:`Diving`; a third argument limits the rounds, to 0 for the linear
        program alone.
    vary
        Price once at dual values that are perturbed at random, by a share of them at most; the columns join the master.
    attempt
        How often the heuristic has been run at this node before.
    bound
        The node's.
    """

    master: RestrictedMaster
    relaxation: Solution
    run: Run
    depth: int
    regenerate: Callable[..., Bounded]
    vary: Callable[[np.random.Generator, float], None] = lambda rng, noise: None
    attempt: int = 0
    bound: float = math.nan


class Heuristic(ABC):
    """Looks for an answer at a node.  Subclasses write :meth:`search`.

    Attributes
    ----------
    every
        Run at the root and then at each ``every``-th level; 0: at the root alone.
    quick
        Cheap enough to run before reduced-cost fixing, which is the stronger the better the incumbent; others run after
        it.
    again
        Worth another attempt at a node that nothing else would decide, as long as it brings new columns.
    """

    every: int = 0
    quick: bool = False
    again: bool = False

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
        For one call; at most a quarter of what is left, so that the proof is not starved.
    """

    def __init__(self, seconds: float = 10.0, every: int = 0) -> None:
        self.seconds = seconds
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        run, integer = context.run, context.master.integer
        if integer is None:
            return None
        return integer.solve(fair(self.seconds, run), run.incumbent, lambda: run.expired)[0]


_SHARE = 0.25
"""Of the time that is left, what a heuristic may take at most: the rest is the proof's."""


def fair(seconds: float, run: Run) -> float:
    """So many seconds, or the share of what is left that a heuristic may take."""
    return min(seconds, _SHARE * run.seconds_left)


_NOISE, _LOUDER = 0.03, 2.0
"""By what share dual values are perturbed at most, and by how many times more where that brings no new column: little
keeps columns near the optimum, more makes them differ."""

_FIRST_ROUNDS, _STEPS_A_COLUMN = 2, 300
"""Rounds of exchanges at the first attempt, and exchanges for each column at hand."""


class Exchanging(Heuristic):
    """Generate columns at perturbed dual values, and exchange columns one at a time until they make an answer.

    Where many columns are worth the same an oracle returns few of them, and answers need the others.  What they make is
    found by local search over all columns at hand (:mod:`colgen.solvers.columns.exchanges`), where each answer that is
    found must be better than the one before.  Any oracle will do; columns have to be whole, and so have the template's
    variables.

    Parameters
    ----------
    rounds
        How often columns are generated and exchanged, two times at the first attempt; fewer if no new columns come.
    share
        Oracles are called this often for each row, in a round.
    steps
        Exchanges in a round, at most; few columns need fewer, and each attempt at a node has as many more.
    seconds
        For one call; at the first attempt at most a quarter of what is left.
    """

    again = True

    def __init__(
        self,
        rounds: int = 12,
        *,
        share: float = 2.0,
        steps: int = 150_000,
        seed: int = 0,
        every: int = 0,
        seconds: float = math.inf,
    ) -> None:
        self.rounds, self.share, self.steps = rounds, share, steps
        self.seed, self.every, self.seconds = seed, every, seconds

    def search(self, context: HeuristicContext) -> Solution | None:
        run, master, best = context.run, context.master, None
        if master.integer is None:
            return None
        # At another attempt nothing else would decide the node: no time has to be left for a proof.
        seconds = min(self.seconds, run.seconds_left) if context.attempt else fair(self.seconds, run)
        stopped = after(seconds, lambda: run.expired)
        rng = np.random.default_rng([self.seed, context.attempt])
        noise = _NOISE
        calls = int(self.share * max(master.num_rows, _FEW_ROWS))
        for number in range(self.rounds if context.attempt else min(self.rounds, _FIRST_ROUNDS)):
            known = master.num_columns
            if number or context.attempt:
                for _ in range(calls):
                    if stopped():
                        return best
                    context.vary(rng, noise)
                if master.num_columns == known:
                    noise *= _LOUDER
                    if noise > 1.0:
                        break
                    continue
            target = run.target if best is None else best.objective - run.sense.sign * (run.step or 0.0)
            seed, bound = int(rng.integers(1 << 30)), run.round_bound(context.bound)
            steps = min(self.steps, _STEPS_A_COLUMN * master.num_columns) * max(context.attempt, 1)
            found = master.integer.exchange(context.relaxation, target, bound, run.step, steps, seed, stopped)
            if found is not None and (best is None or run.sense.is_better(found.objective, best.objective)):
                best = found
            if stopped() or (best is not None and run.meets(bound, best.objective)):
                break
        return best


_STEPS = 4
"""A dive gives up after so many steps for each row: a relaxation has no more fractional columns than rows, and what is
rounded up seldom becomes fractional again unless columns of opposite signs outbid each other for ever."""

_FEW_ROWS = 25


class _Start(NamedTuple):
    """Where a dive begins.

    Attributes
    ----------
    fixed, solution
        The lower bounds that have been raised, and the relaxation under them.
    tabu
        Columns that are not rounded up: those that dives from here have rounded up before.
    level
        How many columns have been rounded up.
    """

    fixed: dict[Hashable, float]
    solution: Solution
    tabu: frozenset[Hashable] = frozenset()
    level: int = 0


class Diving(Heuristic):
    """Fix what the relaxation has decided, round one more column up, generate columns again, until all is whole.

    Fixing means raising lower bounds, which leaves the pricing problem as it is.  The first dive rounds up the column
    nearest to its next whole number; the following ones are perturbed at random.  With discrepancies, dives begin again
    from the first steps of those before, where the columns that were rounded up there are tabu, and go on as long as
    the bound leaves room for a better answer.

    Parameters
    ----------
    tries
        Number of dives, until one succeeds; each with its discrepancies.
    proper
        Name of a block of rows of which no column may cover more than the fixed columns leave over, such as the demands
        of a covering problem: in a dive, columns that do would be good for nothing but their surplus.  None if columns
        that do not fit are excluded by the rows themselves, or welcome.
    polish
        A quick heuristic that is run on the relaxation of each step.
    seed
        Of the perturbation.
    discrepancies
        How many columns may be tabu in one dive.
    levels
        In so many steps from the top another column may be rounded up.
    strong
        Strong diving: so many columns are tried at each step, by the linear program alone, and the one is rounded up
        that worsens it least; 0: none is tried.
    seconds
        For one call; at most a quarter of what is left, so that the proof is not starved.
    least
        Dive only where the restricted master has so many columns, or at another attempt; where it has fewer, its
        integer program is soon solved.

    References
    ----------
    R. Sadykov, F. Vanderbeck, A. Pessoa, I. Tahiri, E. Uchoa, *Primal heuristics for branch and price: the assets of
    diving methods*, INFORMS Journal on Computing 31 (2019).
    """

    again = True

    def __init__(
        self,
        tries: int = 3,
        *,
        proper: str | None = None,
        polish: Heuristic | None = None,
        seed: int = 0,
        every: int = 0,
        discrepancies: int = 0,
        levels: int = 3,
        strong: int = 0,
        seconds: float = math.inf,
        least: int = 0,
    ) -> None:
        for name, value in (("discrepancies", discrepancies), ("levels", levels), ("strong", strong)):
            if value < 0:
                raise ValueError(f"{name}: expected a whole number of 0 or more, not {value}")
        self.tries = tries
        self.proper = proper
        self.polish = polish
        self.seed = seed
        self.every = every
        self.discrepancies, self.levels, self.strong = discrepancies, levels, strong
        self.seconds, self.least = seconds, least

    def search(self, context: HeuristicContext) -> Solution | None:
        nodes = context.master.node
        if nodes is None:
            return None
        few = self.least and not (context.master.integer is not None and context.master.num_columns >= self.least)
        if few and not context.attempt:
            return None
        dives = _Dives(self, context)
        for attempt in range(self.tries):
            starts = [_Start({}, context.relaxation)]
            while starts and not dives.are_over:
                # Few discrepancies first, and near the top, where a choice decides most.
                start = min(starts, key=lambda each: (len(each.tabu), each.level))
                starts.remove(start)
                try:
                    starts += dives.dive(start, noise=0.3 if attempt or context.attempt > 1 else 0.0)
                finally:
                    nodes.fix({})
            if dives.best is not None or dives.are_over:
                break
        return dives.best


class _Dives:
    """The dives of one search, and the best answer that they have found."""

    def __init__(self, rules: Diving, context: HeuristicContext) -> None:
        self._rules, self._context = rules, context
        self._rng = np.random.default_rng(rules.seed + context.attempt)
        seconds = fair(rules.seconds, context.run) if math.isfinite(rules.seconds) else math.inf
        self._expired = after(seconds, lambda: context.run.expired)
        self.best: Solution | None = None

    @property
    def are_over(self) -> bool:
        """Whether there is no time left, or no room for a better answer."""
        best = self.best
        if best is not None and (not self._rules.discrepancies or not self._improves(self._context.relaxation)):
            return True
        return self._expired()

    def _improves(self, solution: Solution) -> bool:
        """Whether answers under a relaxation may be better than the best one."""
        run = self._context.run
        return self.best is None or not run.meets(run.round_bound(solution.objective), self.best.objective)

    def dive(self, start: _Start, noise: float) -> list[_Start]:
        """Down to an answer or to where there is none; from where else to begin."""
        context, rules = self._context, self._rules
        fixed, solution, tabu, level = start
        others: list[_Start] = []
        for _ in range(_STEPS * max(context.master.num_rows, _FEW_ROWS)):
            if context.run.reason is not None or self._expired():
                break
            more, up = self._step(solution, fixed, tabu, noise)
            if more == fixed:
                break
            if up is not None and level < rules.levels and len(tabu) < rules.discrepancies:
                others.append(_Start(fixed, solution, tabu | {up}, level))
            fixed, level = more, level + 1
            relaxed = context.regenerate(fixed, rules.proper)
            # An oracle that limits itself to what is left to do proves nothing, so the outcome may be "not proved".
            if relaxed.outcome not in (Outcome.SOLVED, Outcome.UNPROVED) or relaxed.solved is None:
                break
            if relaxed.solved.phase == 1 or context.run.prunes(relaxed.solved.objective):
                break
            solution = context.master.solution(relaxed.solved)
            if not self._improves(solution):
                break
            if solution.is_integral:
                self.best = solution
                break
            if rules.polish is not None:
                polished = rules.polish.search(dataclasses.replace(context, relaxation=solution))
                if polished is not None and not context.run.prunes(polished.objective):
                    if self._improves(polished):
                        self.best = polished
                    break
        return others

    def _step(
        self, solution: Solution, fixed: Mapping[Hashable, float], tabu: frozenset[Hashable], noise: float
    ) -> tuple[dict[Hashable, float], Hashable | None]:
        """Lower bounds for the next step, all whole parts and one column rounded up, and which column that is."""
        more = dict(fixed)
        candidates: list[tuple[float, int, Hashable, float]] = []
        for k, (column, value) in enumerate(solution.columns):
            if not column.integer:
                continue
            whole = math.floor(value + TOLERANCES.integrality)
            if whole > more.get(column.identity, 0.0):
                more[column.identity] = float(whole)
            if fractionality(value) and column.identity not in tabu:
                score = value - whole + noise * self._rng.random()
                candidates.append((-score, k, column.identity, whole + 1.0))
        if not candidates:
            return more, None
        candidates.sort(key=operator.itemgetter(0, 1))
        _, _, up, value = candidates[0] if self._rules.strong < 2 else self._strongest(more, candidates)
        more[up] = value
        return more, up

    def _strongest(
        self, fixed: Mapping[Hashable, float], candidates: list[tuple[float, int, Hashable, float]]
    ) -> tuple[float, int, Hashable, float]:
        """The candidate whose rounding up worsens the linear program least."""
        sense = self._context.run.sense
        best, worth = candidates[0], math.inf
        for candidate in candidates[: self._rules.strong]:
            if self._context.run.expired:
                break
            tried = self._context.regenerate({**fixed, candidate[2]: candidate[3]}, self._rules.proper, 0).solved
            if tried is not None and tried.phase == 2 and sense.sign * tried.objective < worth:
                best, worth = candidate, sense.sign * tried.objective
        return best
