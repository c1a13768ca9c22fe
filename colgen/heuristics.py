"""Primal heuristics: integer solutions from a fractional relaxation. They prove nothing."""

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
from colgen.core.columns import Column, Key
from colgen.core.solution import Solution
from colgen.core.text import Described
from colgen.core.tolerances import TOLERANCES, fractionality
from colgen.master.protocol import RestrictedMaster
from colgen.solvers.stopping import Expired, after


@dataclass(frozen=True, repr=False)
class HeuristicContext(Described):
    """What a heuristic may use at a node.

    Attributes
    ----------
    master
        The restricted master, solved at the node. A heuristic that fixes columns must release them.
    relaxation
        The node's fractional solution.
    run
        Clock, incumbent and pruning.
    regenerate
        Runs column generation with raised lower bounds: ``regenerate({column identity: lower bound}, proper)``, with
        ``proper`` as in :class:`Diving`. A last argument limits the rounds; 0 solves the linear program only.
    vary
        Prices once at randomly perturbed dual values; the second argument is the largest relative perturbation. The
        columns join the master.
    attempt
        Number of earlier calls of the heuristic at this node.
    bound
        The node's dual bound.
    work
        Limit on the work of this call, see :mod:`colgen.solvers.work`.

    Examples
    --------
    >>> class Printing(Heuristic):
    ...     def search(self, context):
    ...         print(context.depth, context.relaxation.objective)
    >>> result = solve(problem, method=Method(heuristics=[Printing()]))
    0 452.25
    """

    master: RestrictedMaster
    relaxation: Solution
    run: Run
    depth: int
    regenerate: Callable[..., Bounded]
    vary: Callable[[np.random.Generator, float], None] = lambda rng, noise: None
    attempt: int = 0
    bound: float = math.nan
    work: float = math.inf


class Heuristic(Described, ABC):
    """Searches for a feasible solution at a node. Subclasses implement :meth:`search`.

    Attributes
    ----------
    every
        Run at the root and at each ``every``-th level; 0: at the root only.
    quick
        Cheap enough to run before reduced-cost fixing, which removes more with a better incumbent. Others run after it.
    again
        Run again at a node that no other method can decide, as long as it finds new columns.
    joins
        Whether the columns of a new incumbent join the master, because it does not hold them.
    by_need
        Run also where ``every`` does not apply, and before the first rows of separations, each time the work of the run
        has doubled: for a better solution within its share of all work, see :class:`colgen.core.allotment.Allotment`.

    Examples
    --------
    >>> class RoundUp(Heuristic):
    ...     def search(self, context):
    ...         columns = [(column, math.ceil(value)) for column, value in context.relaxation.columns]
    ...         return Solution(sum(n * column.cost for column, n in columns), columns)
    >>> result = solve(problem, method=Method(heuristics=[RoundUp()]))
    """

    every: int = 0
    quick: bool = False
    again: bool = False
    joins: bool = False
    by_need: bool = False

    @property
    def name(self) -> str:
        """The name of this heuristic in diagnostics."""
        return type(self).__name__

    def applies(self, depth: int) -> bool:
        """Whether to run at this depth."""
        return depth == 0 or (self.every > 0 and depth % self.every == 0)

    def is_due(self, run: Run) -> bool:
        """Whether to run now, between two rounds of column generation. By default never.

        The relaxation is then the restricted master's solution, and empty in phase 1.
        """
        return False

    @abstractmethod
    def search(self, context: HeuristicContext) -> Solution | None:
        """Return an integer solution of the master, or None. The engine checks it."""


class RestrictedMIP(Heuristic):
    """Solve the restricted master as a mixed-integer program: the best combination of the available columns.

    Parameters
    ----------
    seconds
        Time limit per call at the depths where it applies; other calls have a limit on their work.  A call takes at
        most 25% of the remaining time, to leave time for the proof.

    Examples
    --------
    >>> solve(problem, method=Method(heuristics=[RestrictedMIP(seconds=5.0)])).objective
    453.0
    """

    by_need = True

    def __init__(self, seconds: float = 10.0, every: int = 0) -> None:
        self.seconds = seconds
        self.every = every

    def search(self, context: HeuristicContext) -> Solution | None:
        run, integer = context.run, context.master.integer
        if integer is None:
            return None
        work = context.work if run.incumbent is None else min(context.work, run.budget.allotment.remaining)
        seconds = self.seconds if math.isinf(context.work) else math.inf
        return integer.solve(fair(seconds, run), run.incumbent, lambda: run.expired, work)[0]


_SHARE = 0.25
"""Largest share of the remaining time for a heuristic; the rest is for the proof."""


def fair(seconds: float, run: Run) -> float:
    """Return ``seconds``, but at most a heuristic's share of the remaining time."""
    return min(seconds, _SHARE * run.seconds_left)


def _limit(context: HeuristicContext) -> Expired:
    """Return a function that returns whether the run must end, or a call that begins now has done its work."""
    run, allotment = context.run, context.run.budget.allotment
    last = allotment.total + context.work
    return lambda: run.expired or allotment.total >= last


_NOISE, _LOUDER = 0.03, 2.0
"""Largest relative perturbation of dual values, and its factor after a round without new columns. Small perturbations
keep columns near the optimum; large ones make them differ."""

_FIRST_ROUNDS, _STEPS_A_COLUMN = 2, 300
"""Rounds of exchanges at the first attempt, and exchanges per available column."""


class Exchanging(Heuristic):
    """Generate columns at perturbed dual values and combine them by local search.

    If many columns have equal reduced costs, an oracle returns few of them, and a solution may need the others. A local
    search over all available columns (:mod:`colgen.solvers.columns.exchanges`) exchanges one at a time; each solution
    must be better than the last. Any oracle works. Columns and the template's variables must be integer.

    Parameters
    ----------
    rounds
        Rounds of generation and exchanges; 2 at the first attempt, fewer if no new columns appear.
    share
        Calls of each oracle per row and round.
    steps
        Maximum number of exchanges per round, times the number of the attempt. It is smaller if there are few columns.
    seconds
        Time limit per call; at the first attempt at most 25% of the remaining time.
    """

    again = True
    by_need = True

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
        # At later attempts no other method can decide the node: no time is reserved for a proof.
        seconds = min(self.seconds, run.seconds_left) if context.attempt else fair(self.seconds, run)
        stopped = after(seconds, _limit(context))
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
            solution = master.integer.exchange(context.relaxation, target, bound, run.step, steps, seed, stopped)
            if solution is not None and (best is None or run.sense.is_better(solution.objective, best.objective)):
                best = solution
            if stopped() or (best is not None and run.meets(bound, best.objective)):
                break
        return best


_STEPS = 4
"""Steps per row after which a dive gives up. A relaxation has at most as many fractional columns as rows. A column that
was rounded up rarely becomes fractional again, but columns of opposite signs may outbid each other forever."""

_FEW_ROWS = 25

_LARGE, _ONE_OF, _ROUNDS = 100, 10, 25
"""With so many fractional columns, a dive rounds up to one of ten of them at once, and ends a step after so many rounds
of pricing: steps of large relaxations are long, and the next step changes the dual values anyway."""


class _Start(NamedTuple):
    """Start of a dive: raised lower bounds, their relaxation, columns not to round up, and the number rounded up."""

    fixed: dict[Hashable, float]
    solution: Solution
    tabu: frozenset[Hashable] = frozenset()
    level: int = 0


class Diving(Heuristic):
    """Fix the integer part of the relaxation, round up one more column, generate columns, and repeat.

    Fixing raises lower bounds, which does not change the pricing problem. The first dive rounds up the column nearest
    to its next integer; later dives are perturbed at random. In large relaxations compatible columns are rounded up at
    once, and steps are not solved to the end. With discrepancies, further dives start from one of the first steps of an
    earlier dive, and the column that was rounded up there is tabu. This continues while the bound allows a better
    solution.

    Parameters
    ----------
    tries
        Number of dives until one succeeds, each with its discrepancies.
    proper
        Name of a block of rows, such as the demands of a covering problem. During a dive no column may cover more of it
        than the fixed columns leave, since the surplus would be worthless. None: the rows exclude such columns, or they
        are useful.
    polish
        A quick heuristic that is run on the relaxation of each step.
    seed
        Seed of the random perturbation.
    discrepancies
        Maximum number of tabu columns in one dive.
    levels
        Number of first steps at which another column may be rounded up.
    strong
        Strong diving: number of columns tried per step, by the linear program only. The column that worsens its
        objective least is rounded up. 0: none is tried.
    seconds
        Time limit per call; at most 25% of the remaining time, to leave time for the proof.
    least
        Dive only if the restricted master has this many columns, or at a later attempt. With fewer, its integer program
        is solved quickly.

    References
    ----------
    R. Sadykov, F. Vanderbeck, A. Pessoa, I. Tahiri, E. Uchoa, *Primal heuristics for branch and price: the assets of
    diving methods*, INFORMS Journal on Computing 31 (2019).

    Examples
    --------
    >>> solve(problem, method=Method(heuristics=[Diving(tries=2), RestrictedMIP()])).objective
    453.0
    """

    again = True
    by_need = True

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
                raise ValueError(f"Diving: {name} must be an integer ≥ 0, not {value}")
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
                # Few discrepancies first, then those near the top, where a choice matters most.
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
    """The dives of one search and the best solution that they found."""

    def __init__(self, rules: Diving, context: HeuristicContext) -> None:
        self._rules, self._context = rules, context
        self._rng = np.random.default_rng(rules.seed + context.attempt)
        seconds = fair(rules.seconds, context.run) if math.isfinite(rules.seconds) else math.inf
        run, limit = context.run, _limit(context)
        self._expired = after(
            seconds, lambda: limit() or (run.incumbent is not None and run.budget.allotment.remaining <= 0.0)
        )
        self.best: Solution | None = None
        self._sides: dict[str, Mapping[Key, float | None]] = {}

    @property
    def are_over(self) -> bool:
        """Whether the time is up or no better solution is possible."""
        best = self.best
        if best is not None and (not self._rules.discrepancies or not self._improves(self._context.relaxation)):
            return True
        return self._expired()

    def _improves(self, solution: Solution) -> bool:
        """Whether solutions below a relaxation can be better than the best one."""
        run = self._context.run
        return self.best is None or not run.meets(run.round_bound(solution.objective), self.best.objective)

    def dive(self, start: _Start, noise: float) -> list[_Start]:
        """Dive to a solution or a dead end; return other starts."""
        context, rules = self._context, self._rules
        fixed, solution, tabu, level = start
        others: list[_Start] = []
        for _ in range(_STEPS * max(context.master.num_rows, _FEW_ROWS)):
            if context.run.reason is not None or self._expired():
                break
            more, up, rounds = self._step(solution, fixed, tabu, noise)
            if more == fixed:
                break
            if up is not None and level < rules.levels and len(tabu) < rules.discrepancies:
                others.append(_Start(fixed, solution, tabu | {up}, level))
            fixed, level = more, level + 1
            relaxed = context.regenerate(fixed, rules.proper, rounds)
            # An oracle restricted by ``proper`` proves nothing, so the outcome may be "not proved".
            limited = rounds is not None and relaxed.outcome is Outcome.STOPPED and relaxed.termination is None
            solved = limited or relaxed.outcome in (Outcome.SOLVED, Outcome.UNPROVED)
            if not solved or relaxed.solved is None:
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
    ) -> tuple[dict[Hashable, float], Hashable | None, int | None]:
        """Return the next lower bounds: all integer parts, and the best column or several columns rounded up.

        Also return the best column, and the limit on rounds if there are several.
        """
        more = dict(fixed)
        candidates: list[tuple[float, int, Hashable, float]] = []
        others: list[tuple[float, int, Hashable, float]] = []
        for k, (column, value) in enumerate(solution.columns):
            if not column.integer:
                continue
            floor = math.floor(value + TOLERANCES.integrality)
            if floor > more.get(column.identity, 0.0):
                more[column.identity] = float(floor)
            if fractionality(value) and column.identity not in tabu:
                score = value - floor + noise * self._rng.random()
                fitting = candidates if self._fits(column, floor + 1.0) else others
                fitting.append((-score, k, column.identity, floor + 1.0))
        candidates = candidates or others
        if not candidates:
            return more, None, None
        candidates.sort(key=operator.itemgetter(0, 1))
        _, _, up, value = candidates[0] if self._rules.strong < 2 else self._strongest(more, candidates)
        several = self._compatible(solution, candidates) if len(candidates) >= _LARGE else {}
        more |= several | {up: value}
        return more, up, _ROUNDS if several else None

    def _compatible(
        self, solution: Solution, candidates: list[tuple[float, int, Hashable, float]]
    ) -> dict[Hashable, float]:
        """Return columns above one half that fill a packing row: no other column of the row is above one half."""
        found = {}
        for _, k, identity, above in candidates[: len(candidates) // _ONE_OF]:
            column, value = solution.columns[k]
            if value > above - 0.5 and not self._fits(column, above + 1.0):
                found[identity] = above
        return found

    def _fits(self, column: Column, value: float) -> bool:
        """Whether a column at a value exceeds no packing row; a path that visits a vertex twice may not be used."""
        rows = self._context.master.rows
        if rows is None:
            return True
        for key, amount in column.coefficients.items():
            if key[0] not in self._sides:
                self._sides[key[0]] = rows.packing_sides(key[0])
            side = self._sides[key[0]].get(key)
            if side is not None and amount * value > side + TOLERANCES.feasibility:
                return False
        return True

    def _strongest(
        self, fixed: Mapping[Hashable, float], candidates: list[tuple[float, int, Hashable, float]]
    ) -> tuple[float, int, Hashable, float]:
        """Return the candidate whose rounding up worsens the linear program least."""
        sense = self._context.run.sense
        best, worth = candidates[0], math.inf
        for candidate in candidates[: self._rules.strong]:
            if self._context.run.expired:
                break
            tried = self._context.regenerate({**fixed, candidate[2]: candidate[3]}, self._rules.proper, 0).solved
            if tried is not None and tried.phase == 2 and sense.sign * tried.objective < worth:
                best, worth = candidate, sense.sign * tried.objective
        return best
