"""The oracle: a knapsack for each machine, all solved in one kernel call."""

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
from colgen.problems.assignment.decisions import ASSIGN, TAKES, USE, forbidden_assignments
from colgen.problems.assignment.instance import AssignmentInstance
from colgen.solvers.packing.counted import best_counted
from colgen.solvers.packing.zero_one import best_sets, best_with_each

_SHARES = 2
"""Shares of the machines per worker: more than one balances delays."""

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class KnapsackOracle(Pricing):
    """Oracle that finds the best set of tasks of each machine by zero-one knapsacks.

    Each machine uses at most one set, so the sum of the machines' least reduced costs, if negative, gives a bound.
    With rank-1 cuts, a labelling algorithm finds the best sets.
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
        """Return the best gains, their sets, and upper bounds on the gains.  Unprofitable sets may be missed."""
        look, cuts = context.budget.require, duals.terms(Count)
        if not cuts:
            values, chosen = self._solve_all(best_sets, gains, context)
            return values, chosen, values
        terms = cuts.arrays({task: task for task in range(self.instance.num_tasks)})
        weights = np.zeros((len(cuts), self.instance.num_tasks), dtype=np.int64)
        weights[np.repeat(np.arange(len(cuts)), np.diff(terms.starts)), terms.members] = terms.weights
        charges, worth = np.maximum(-terms.values, 0.0), np.maximum(-own, 0.0)
        found = best_counted(gains, self._sizes, self._room, weights, terms.divisors, charges, worth, look=look)
        return found.values, found.chosen, found.bounds

    def _solve_all(self, solve: Callable[..., Any], gains: Floats, context: PricingContext) -> tuple[Any, ...]:
        """Solve the knapsacks of all machines, shared among the run's workers."""
        workers, look = context.budget.workers, context.budget.require

        def some(machines: slice) -> tuple[Any, ...]:
            found: tuple[Any, ...] = solve(gains[machines], self._sizes[machines], self._room[machines], look=look)
            return found

        found = workers.each(some, shares(len(gains), _SHARES * workers.count if workers.count > 1 else 1))
        return found[0] if len(found) == 1 else tuple(map(np.concatenate, zip(*found, strict=True)))

    def best(self, duals: Floats, closed: Mask) -> tuple[Floats, Mask]:
        """Return each machine's largest gain Σ_t (π_t - c_jt) over a set of tasks at ``duals`` π, and that set."""
        return best_sets(np.where(closed, -np.inf, duals[None, :] - self.instance.costs), self._sizes, self._room)

    def gains(self, duals: Duals, context: PricingContext) -> Floats:
        """Return the dual values minus the cost of each assignment, -inf if forbidden, shape (machines, tasks)."""
        gains = duals.array(ASSIGN)[None, :] - context.cost_weight * self.instance.costs
        for pair, dual in duals.items(TAKES):
            gains[cast(tuple[int, int], pair)] += dual
        gains[self.closed(context)] = -np.inf
        return np.asarray(gains)

    def closed(self, context: PricingContext) -> Mask:
        """Return the mask of assignments that the node forbids; it is cached for the next call."""
        known, mask = self._closed
        if mask is None or known is not context.decisions:
            mask = forbidden_assignments(context, self.instance.costs.shape, TAKES)
            self._closed = context.decisions, mask
        return mask

    def last_allowed(self) -> Mask:
        """Return the mask of assignments that the node priced last allows."""
        mask = self._closed[1]
        fits = self.instance.fits()
        return fits if mask is None else fits & ~mask

    def _marginals(self, gains: Floats, own: Floats, least: Floats, context: PricingContext) -> PricedMarginals:
        """Return the least total reduced cost if a machine performs a task, for each machine and task.

        ``least`` has the least reduced costs of the machines.  Charges of cuts are included only there.
        """
        _, inside, outside = self._solve_all(best_with_each, gains, context)
        without = np.maximum(np.minimum(-outside - own[:, None], 0.0), least[:, None])
        # For each task: the total if no machine has it; then exchange one machine's term.
        nowhere = least.sum() + (without - least[:, None]).sum(axis=0)
        totals = nowhere[None, :] - without + np.maximum(-inside - own[:, None], least[:, None])
        return PricedMarginals(totals.ravel(), _Pairs(*gains.shape))

    # --- columns -----------------------------------------------------------------------------------------------------

    def batch(self, machines: Sequence[int] | NDArray[np.intp], chosen: Mask, duals: Duals) -> Columns:
        """Return the batch of columns of sets of tasks; row k of ``chosen`` is the set of ``machines[k]``."""
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
        """Return the column of a set of tasks on a machine."""
        chosen = np.zeros((1, self.instance.num_tasks), dtype=np.bool_)
        chosen[0, list(tasks)] = True
        return self.encode_sets(np.array([machine]), chosen)[0]

    def encode_sets(self, machines: NDArray[np.int64], chosen: Mask) -> list[Column]:
        """Return the columns of sets of tasks; row k of ``chosen`` is the set of ``machines[k]``."""
        # Sum as in ``batch``: the same column must have exactly the same cost.
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
        """Return the distinct columns of sets, given as a mask of shape (sets, machines, tasks); sets may be empty."""
        each = [np.unique(sets[:, machine], axis=0) for machine in range(self.instance.num_machines)]
        return self.encode_sets(np.repeat(np.arange(len(each)), list(map(len, each))), np.concatenate(each))

    def as_solution(self, machines: NDArray[np.int64]) -> Solution:
        """Return an assignment as a solution of the master."""
        columns = self.columns((np.arange(self.instance.num_machines)[:, None] == machines[None, :])[None])
        return Solution(math.fsum(column.cost for column in columns), tuple((column, 1.0) for column in columns))


class _Pairs(Sequence[Hashable]):
    """The pairs ``(machine, task)`` in order, without storing them."""

    def __init__(self, machines: int, tasks: int) -> None:
        self._machines, self._tasks = machines, tasks

    def __len__(self) -> int:
        return self._machines * self._tasks

    def __getitem__(self, k: int) -> tuple[int, int]:  # type: ignore[override]
        return divmod(int(k), self._tasks)


def takes(column: Column) -> Mapping[Hashable, float]:
    """Return the original variables of a column: the assignments it makes."""
    machine, tasks = column.structure
    return {(machine, task): 1.0 for task in tasks}
