"""Neighbourhoods of known solutions in the compact model, which HiGHS searches for better ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.run import Run
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.splitting import Splitting
from colgen.heuristics import Heuristic, HeuristicContext, fair
from colgen.solvers.linear.highs import LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from colgen.solvers.work import SECOND, work

_SHARE, _LEAST_SHARE = 0.4, 0.1
"""Share of the work of a run for neighbourhoods.  Each turn in which all fail halves it, down to the least share."""

_KINDS = 4
"""Number of neighbourhoods of an incumbent.  After so many failures the entire model is searched."""

_LEAST = 0.1
"""Work that must be left before a neighbourhood is searched."""

_ROOT, _BRIEF = 2.0, 1.0
"""Work before the first neighbourhood at the root, where dives come first, and of an incumbent: most runs are brief."""

_ROUNDS, _SLOW = 10, 8.0
"""Rounds before the first neighbourhood at the root, and the work after which it does not wait for them."""

_NODES = 200
"""Node limit of HiGHS per neighbourhood.  The limit of the entire model doubles each time."""

_SECONDS, _CALL = 1.0, 0.1
"""Time limit of HiGHS: seconds, or a share of the time since the run began.  It is reached only if one node is slow."""

_GROWTH = 3.0
"""Growth of the work for the entire model."""

_CHEAP = 0.1
"""Work up to which a neighbourhood that has been solved is searched again at once, with more free variables."""

_FREE, _FEWEST, _MOST, _RESIZE = 0.3, 30, 600, 1.6
"""Initial share, least number and initial largest number of free integer variables, and the factor that changes it."""

_MOST_FREE = 0.8
"""Largest share of free integer variables."""

_ALL = _ROUNDED, _WHOLE, _AGREEING, _BLOCKS, _ROWS, _CROSSED = (
    "rounded",
    "whole",
    "agreeing",
    "blocks",
    "rows",
    "crossed",
)


class LargeNeighbourhoods(Heuristic):
    """Searches neighbourhoods in the compact model, between rounds of column generation, with a share of the work.

    Some integer variables are fixed, and HiGHS solves the rest.  Without an incumbent these are the variables whose
    value in the relaxation is integer (RENS), in turn with none.  With an incumbent the fixed variables have its
    values: where the relaxation agrees (RINS), in some blocks, in some linking rows, or where the incumbent before
    agrees (crossover).  A neighbourhood grows once it is solved and shrinks after a limit.  If all fail, the entire
    model is searched, with three times the work of the last time, and the share is halved.

    Work (:mod:`colgen.solvers.work`) does not depend on the machine.

    Parameters
    ----------
    others
        Search the neighbourhood of the relaxation at the root too, and run these heuristics until one succeeds if it
        has no solution.  None: not at the root.

    References
    ----------
    T. Berthold, *RENS: the optimal rounding*, Mathematical Programming Computation 6 (2014); E. Danna, E. Rothberg,
    C. Le Pape, *Exploring relaxation induced neighborhoods to improve MIP solutions*, Mathematical Programming 102
    (2005).
    """

    joins = True

    def __init__(self, splitting: Splitting, others: Sequence[Heuristic] | None = None, *, seed: int = 0) -> None:
        self._splitting, self._others, self.seed = splitting, others, seed
        self._run_began = math.nan

    def _reset(self, run: Run) -> None:
        """Begin anew if this is another run."""
        if self._run_began == run.budget.started:
            return
        self._run_began, self._work_began, self._spent = run.budget.started, work(), 0.0
        self._rng = np.random.default_rng(self.seed)
        count = int(self._splitting.compact.formulation.integer.sum())
        self._sizes = dict.fromkeys(_ALL, min(max(_FREE * count, _FEWEST), _MOST))
        self._tried, self._failed, self._whole, self._last = 0, 0, 1.0, ""
        self._share = _SHARE

    def applies(self, depth: int) -> bool:
        return depth == 0 and self._others is not None

    def is_due(self, run: Run) -> bool:
        if not self._splitting.compact.formulation.integer.any():
            return False
        self._reset(run)
        total = (work() - self._work_began) / SECOND
        left = self._share * total - self._spent
        least = self._whole if self._failed >= _KINDS else _LEAST
        at_root = not run.iterations or run.iterations[-1].node == 0
        wait = 0.0 if run.incumbent is None else _BRIEF
        if at_root:
            wait = _ROOT if len(run.iterations) >= _ROUNDS else _SLOW
        return left >= least and total >= wait and not run.expired

    def search(self, context: HeuristicContext) -> Solution | None:
        run, best = context.run, None
        if math.isnan(context.bound):
            while best is None and self.is_due(run):
                best = self._search_one(self._choose(context), context)
            return best
        self._reset(run)
        best = self._search_one(_ROUNDED, context)
        for heuristic in self._others or ():
            if best is not None or run.expired:
                break
            best = heuristic.search(context)
        return best

    def _search_one(self, kind: str, context: HeuristicContext) -> Solution | None:
        """Search one neighbourhood; return a better solution, or None."""
        f, run, began = self._splitting.compact.formulation, context.run, work()
        known = None if run.incumbent is None else self._splitting.values(run.incumbent)
        fixed, values = self._fix(kind, context, known)
        lower, upper = np.where(fixed, values, f.lower), np.where(fixed, values, f.upper)
        program = Program(
            f.sense is Sense.MAXIMIZE, f.matrix, f.costs, lower, upper, f.row_lower, f.row_upper, f.offset
        )
        seconds = fair(max(_SECONDS, self._whole if kind == _WHOLE else _CALL * run.seconds), run)
        start = None if kind == _ROUNDED else known
        nodes = int(_NODES * self._whole) if kind == _WHOLE else _NODES
        found = solve_mip(program, f.integer, seconds, lambda: run.expired, nodes, start)
        better = None
        if found.values is not None and not run.prunes(found.objective):
            solution = self._splitting.solution(found.values, found.objective)
            # HiGHS tolerates larger violations of rows than a solution may have; such a guess is dropped.
            rows = context.master.rows
            if (rows is None or rows.violation(solution) is None) and run.accepts(solution):
                better = solution
        spent, limited = (work() - began) / SECOND, found.status is LPStatus.LIMIT
        self._spent += spent
        if better is not None:
            self._failed, self._share = 0, _SHARE
        else:
            self._sizes[kind] *= 1.0 / _RESIZE if limited else _RESIZE
            most = _MOST_FREE * f.integer.sum()
            if limited or spent > _CHEAP or self._sizes[kind] > most:
                self._last, self._sizes[kind] = "", min(self._sizes[kind], most)
                self._failed += 1
        return better

    def _choose(self, context: HeuristicContext) -> str:
        """Return the next neighbourhood in turn, or the last one again if it was successful or cheap."""
        known = context.run.known
        if self._failed >= _KINDS:
            # HiGHS begins anew each time, so that it needs much more time than before.
            self._failed, self._whole, self._share = 0, _GROWTH * self._whole, max(self._share / 2.0, _LEAST_SHARE)
            self._last = ""
            return _WHOLE
        kinds = [_BLOCKS, _ROWS] if known else [_WHOLE]
        if context.relaxation.columns:
            kinds.insert(0, _AGREEING if known else _ROUNDED)
        if len(known) > 1:
            kinds.append(_CROSSED)
        if self._last not in kinds:
            self._last = kinds[self._tried % len(kinds)]
            self._tried += 1
        return self._last

    def _fix(self, kind: str, context: HeuristicContext, known: Floats | None) -> tuple[NDArray[np.bool_], Floats]:
        """Return which variables to fix, and their values."""
        integer = self._splitting.compact.formulation.integer
        if kind == _WHOLE:
            return np.zeros(len(integer), dtype=np.bool_), np.zeros(len(integer))
        if kind == _ROUNDED or known is None:
            values = self._rounded(context.relaxation)
            return integer & (values == np.rint(values)), values
        if kind == _BLOCKS:
            blocks = self._splitting.partition.of_column
            order = self._rng.random(blocks.max(initial=0) + 2)
            distance = np.where(blocks >= 0, order[blocks], np.inf)
        elif kind == _ROWS:
            distance = self._order_of_rows()
        else:
            other = context.relaxation if kind == _AGREEING else context.run.known[-2]
            distance = self._distance(other, known) + 1e-3 * np.minimum(self._order_of_rows(), 1.0)
        # Of equally distant variables all or none are free; some are fixed.
        distances = np.sort(distance[integer])[::-1]
        size = min(int(self._sizes[kind]), len(distances))
        fixed = integer & (distance < distances[size - 1]) if size else integer
        return fixed if fixed.any() else integer & (distance <= distances[size - 1]), known

    def _order_of_rows(self) -> Floats:
        """Return a random number of one linking row of each variable; infinity for variables in none."""
        rows = self._splitting.compact.rows[self._splitting.linking, :].tocsc()
        order = self._rng.random(rows.shape[0])
        result = np.full(rows.shape[1], np.inf)
        np.minimum.at(result, np.repeat(np.arange(rows.shape[1]), np.diff(rows.indptr)), order[rows.indices])
        return result

    def _rounded(self, relaxation: Solution) -> Floats:
        """Return a relaxation's values, where identical blocks receive the integer part of each point's amount.

        Variables of the other identical blocks have the value 0.5, which fixes none.
        """
        x = self._splitting.values(relaxation)
        for members, used in self._of_copies(relaxation):
            whole = [(values, math.floor(amount + 1e-6)) for values, amount in used]
            given = [values for values, count in whole for _ in range(count)][: len(members)]
            x[members] = 0.5
            for columns, values in zip(members, given, strict=False):
                x[columns] = values
        return x

    def _distance(self, other: Solution, known: Floats) -> Floats:
        """Return how far a solution is from the values of the incumbent, at most 1 for each variable.

        A point of an identical block is at distance 0 as often as the other solution uses the point.
        """
        distance = np.minimum(np.abs(self._splitting.values(other) - known), 1.0)
        for members, used in self._of_copies(other):
            left = {values.tobytes(): amount for values, amount in used}
            for columns in members:
                key = (known[columns] + 0.0).tobytes()
                amount = left.get(key, 0.0)
                distance[columns] = 1.0 - min(max(amount, 0.0), 1.0)
                left[key] = amount - 1.0
        return distance

    def _of_copies(self, solution: Solution) -> list[tuple[Ints, list[tuple[Floats, float]]]]:
        """Return the variables of identical blocks with the points in use, the most frequent first."""
        points: defaultdict[int, list[tuple[Floats, float]]] = defaultdict(list)
        for column, amount in solution.columns:
            points[column.structure.number].append((column.structure.values, amount))
        return [
            (sub.columns, sorted(points[sub.number], key=lambda pair: -pair[1]))
            for sub in self._splitting.subproblems
            if sub.count > 1 and not sub.unbounded  # amounts of rays are no numbers of blocks
        ]
