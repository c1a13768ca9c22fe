"""The oracle: a knapsack for each machine, all of them in one call of a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Duals, Pricing, PricingContext, PricingResult, Solution
from colgen.core.columns import Key
from colgen.core.terms import Count
from colgen.core.workers import shares
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.assignment.decisions import ASSIGN, TAKES, USE, closed_by
from colgen.problems.assignment.instance import AssignmentInstance
from colgen.solvers.packing.counted import best_counted
from colgen.solvers.packing.zero_one import best_sets, best_with_each

_SHARES = 2
"""So many shares of the machines a worker, so that one that was held up holds the others up little."""

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class KnapsackOracle(Pricing):
    """The best set of tasks for each machine: knapsacks without copies.

    The machines' pricing problems are different ones, and a machine has one set: the sum of their best reduced costs,
    where those are negative, bounds the total of an answer.  Where a set pays for cuts, labels find the best one.
    """

    prices = frozenset({Count})

    def __init__(self, instance: AssignmentInstance) -> None:
        self.instance = instance
        self.multiplicity = float(instance.num_machines)
        self._sizes, self._room = instance.in_units
        self._closed: tuple[object, Mask | None] = (None, None)

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        gains, own = self.gains(duals, context), np.asarray(duals.array(USE))
        values, chosen, most = self._best(gains, own, duals, context)
        reduced, least = -values - own, np.minimum(-most - own, 0.0)
        total = float(least.sum())

        def marginals() -> PricedMarginals:
            return self._marginals(gains, own, least, context)

        def attained() -> tuple[Columns, Floats]:
            used = np.flatnonzero(reduced < 0.0)
            return self.batch(used, chosen[used], duals), np.ones(len(used))

        improving = np.flatnonzero(reduced < 0.0)
        return PricingResult(
            self.batch(improving, chosen[improving], duals),
            float((-most - own).min()),
            reduced[improving],
            total,
            attained=attained,
            marginals=marginals,
        )

    def _best(self, gains: Floats, own: Floats, duals: Duals, context: PricingContext) -> tuple[Floats, Mask, Floats]:
        """What the best sets gain, the sets, and what no set gains more than, unless that is too little to matter."""
        look, cuts = context.budget.require, duals.terms(Count)
        if not cuts:
            values, chosen = self._by_machines(best_sets, gains, context)
            return values, chosen, values
        terms = cuts.arrays({task: task for task in range(self.instance.num_tasks)})
        weights = np.zeros((len(cuts), self.instance.num_tasks), dtype=np.int64)
        weights[np.repeat(np.arange(len(cuts)), np.diff(terms.starts)), terms.members] = terms.weights
        charges, worth = np.maximum(-terms.values, 0.0), np.maximum(-own, 0.0)
        found = best_counted(gains, self._sizes, self._room, weights, terms.divisors, charges, worth, look=look)
        return found.values, found.chosen, found.bounds

    def _by_machines(self, solve: Callable[..., Any], gains: Floats, context: PricingContext) -> tuple[Any, ...]:
        """What a solver of knapsacks says of all machines, which the run's workers share."""
        workers, look = context.budget.workers, context.budget.require

        def some(machines: slice) -> tuple[Any, ...]:
            found: tuple[Any, ...] = solve(gains[machines], self._sizes[machines], self._room[machines], look=look)
            return found

        found = workers.each(some, shares(len(gains), _SHARES * workers.count if workers.count > 1 else 1))
        return found[0] if len(found) == 1 else tuple(map(np.concatenate, zip(*found, strict=True)))

    def best(self, duals: Floats, closed: Mask) -> tuple[Floats, Mask]:
        """What the best sets gain at dual values of the tasks, and the sets."""
        return best_sets(np.where(closed, -np.inf, duals[None, :] - self.instance.costs), self._sizes, self._room)

    def gains(self, duals: Duals, context: PricingContext) -> Floats:
        """What each machine gains by each task, -inf where it may not have it; shape (machines, tasks)."""
        gains = duals.array(ASSIGN)[None, :] - context.cost_weight * self.instance.costs
        for pair, dual in duals.items(TAKES):
            gains[cast(tuple[int, int], pair)] += dual
        gains[self.closed(context)] = -np.inf
        return np.asarray(gains)

    def closed(self, context: PricingContext) -> Mask:
        """What the node forbids, kept for the next call."""
        known, mask = self._closed
        if mask is None or known is not context.decisions:
            mask = closed_by(context, self.instance.costs.shape, TAKES)
            self._closed = context.decisions, mask
        return mask

    def open_lately(self) -> Mask:
        """What the node allows that was priced last: where to look for answers."""
        mask = self._closed[1]
        fits = self.instance.fits()
        return fits if mask is None else fits & ~mask

    def _marginals(self, gains: Floats, own: Floats, least: Floats, context: PricingContext) -> PricedMarginals:
        """The best total with a task on a machine, and therefore on no other; cuts are paid for by ``least`` alone."""
        _, inside, outside = self._by_machines(best_with_each, gains, context)
        without = np.maximum(np.minimum(-outside - own[:, None], 0.0), least[:, None])
        # Of each task: the total if no machine has it, less what the one would be worth that does.
        nowhere = least.sum() + (without - least[:, None]).sum(axis=0)
        totals = nowhere[None, :] - without + np.maximum(-inside - own[:, None], least[:, None])
        return PricedMarginals(totals.ravel(), _Pairs(*gains.shape))

    # --- columns -----------------------------------------------------------------------------------------------------

    def batch(self, machines: Sequence[int] | NDArray[np.intp], chosen: Mask, duals: Duals) -> Columns:
        """The columns of sets of tasks, one a row of the mask, each on its machine."""
        machines = np.asarray(machines, dtype=np.int64)
        tasks = np.nonzero(chosen)[1]
        sizes = chosen.sum(axis=1) + 1
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.empty(starts[-1], dtype=np.int64)
        last = np.zeros(starts[-1], dtype=np.bool_)
        last[starts[1:] - 1] = True
        rows[last], rows[~last] = duals.rows(USE)[machines], duals.rows(ASSIGN)[tasks]
        costs = np.where(chosen, self.instance.costs[machines], 0.0).sum(axis=1)

        def structure(k: int) -> tuple[int, tuple[int, ...]]:
            return int(machines[k]), tuple(np.flatnonzero(chosen[k]).tolist())

        return Columns(costs, starts, rows, np.ones(len(rows)), structure)

    def encode(self, machine: int, tasks: Sequence[int]) -> Column:
        """The column of a set of tasks on a machine."""
        chosen = np.zeros((1, self.instance.num_tasks), dtype=np.bool_)
        chosen[0, list(tasks)] = True
        return self.encoded(np.array([machine]), chosen)[0]

    def encoded(self, machines: NDArray[np.int64], chosen: Mask) -> list[Column]:
        """The columns of sets of tasks, one a row of the mask, each on its machine."""
        # Summed up as in a batch, so that the same column has the same cost to the last bit.
        costs = np.where(chosen, self.instance.costs[machines], 0.0).sum(axis=1).tolist()
        ends = np.cumsum(chosen.sum(axis=1)).tolist()
        tasks, begin, found = np.nonzero(chosen)[1].tolist(), 0, []
        for machine, cost, end in zip(machines.tolist(), costs, ends, strict=True):
            mine = tasks[begin:end]
            rows: dict[Key, float] = {(ASSIGN, task): 1.0 for task in mine}
            rows[USE, machine] = 1.0
            found.append(Column(cost, rows, (machine, tuple(mine))))
            begin = end
        return found

    def columns(self, sets: Mask) -> list[Column]:
        """The columns of sets of tasks, shape (sets, machines, tasks), each once; an idle machine has the empty set."""
        each = [np.unique(sets[:, machine], axis=0) for machine in range(self.instance.num_machines)]
        return self.encoded(np.repeat(np.arange(len(each)), list(map(len, each))), np.concatenate(each))

    def as_solution(self, machines: NDArray[np.int64]) -> Solution:
        """An answer, the machine of each task, as a solution of the master."""
        columns = self.columns((np.arange(self.instance.num_machines)[:, None] == machines[None, :])[None])
        return Solution(math.fsum(column.cost for column in columns), tuple((column, 1.0) for column in columns))


class _Pairs(Sequence[Hashable]):
    """The names of all assignments, machine by machine, each made when it is asked for."""

    def __init__(self, machines: int, tasks: int) -> None:
        self._machines, self._tasks = machines, tasks

    def __len__(self) -> int:
        return self._machines * self._tasks

    def __getitem__(self, k: int) -> tuple[int, int]:  # type: ignore[override]
        return divmod(int(k), self._tasks)


def takes(column: Column) -> Mapping[Hashable, float]:
    """Which machine takes which tasks in a column: the original variables."""
    machine, tasks = column.structure
    return {(machine, task): 1.0 for task in tasks}
