"""The restricted master problem: best labellings within restricted domains, by dynamic programming."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Column, Row
from colgen.core.errors import FormulationError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.master.column_pool import Origins
from colgen.master.protocol import MasterSolution, MasterStatus, Precision, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingResult
from colgen.problems.chain_map.fallback import label_greedily
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernel_calls import KernelCalls
from colgen.problems.chain_map.kernels.exchange_bounds import Exchanges
from colgen.problems.chain_map.kernels.pair_prices import reduced_costs
from colgen.problems.chain_map.kernels.roots import root_shares, roots_beyond
from colgen.problems.chain_map.kernels.tree_labels import score_trees
from colgen.problems.chain_map.labellings import Labellings, as_solution, pair_column
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.pruning import NormalForm, exchanges_for, unchanged_form
from colgen.solvers.chains.forest import NONE, Forest
from colgen.solvers.chains.tree_domains import Domains, count_pairs
from colgen.solvers.chains.tree_messages import Duals, Model, grow, no_messages, pass_messages

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Scores = NDArray[Any]

_MIN_RELATIVE_GAP = 2.0**-44
"""Relative difference that is visible in an objective: larger than the rounding error of a sum over many trees."""


class LabelPairs(Sequence[Column]):
    """Pairs of labels as arrays; single columns are created on access.

    A pair is the edge's lower node, its label, and its parent's label, or ``NONE`` for a label of an end of a tree.
    """

    def __init__(self, nodes: Offsets, lower: Ints, upper: Ints) -> None:
        self.nodes, self.lower, self.upper = nodes, lower, upper

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int) -> Column: ...

    @overload
    def __getitem__(self, index: slice) -> LabelPairs: ...

    def __getitem__(self, index: int | slice) -> Column | LabelPairs:
        if isinstance(index, slice):
            return LabelPairs(self.nodes[index], self.lower[index], self.upper[index])
        return pair_column(int(self.nodes[index]), int(self.lower[index]), int(self.upper[index]))

    def where(self, chosen: NDArray[np.bool_]) -> LabelPairs:
        """Return a selection of the pairs."""
        return LabelPairs(self.nodes[chosen], self.lower[chosen], self.upper[chosen])


@dataclass(frozen=True, eq=False)
class MessageDuals:
    """Dual values: the messages of unfinished trees, with further inputs of pricing.

    The arrays are shared with the master, which continues from them.
    """

    model: Model  # the model of the messages
    size: float  # largest magnitude of its scores
    pairwise: Pairwise  # its tables, with their maxima
    active: Offsets  # numbers of the unfinished trees
    values: Floats  # per tree: score of the best labelling within the domains
    bounds: Floats  # per tree: dual bound, which pricing lowers
    scores: Floats  # scores of the best labellings in the original instance
    messages: Duals  # up and down every edge, stored on the domains
    shares: Floats  # of the roots, as `beyond`: see `kernels.roots`
    beyond: Floats
    exchanges: Exchanges | None  # None to bound reduced costs by maxima of the tables
    waiting: NDArray[np.bool_]  # trees that are not priced yet; updated by pricing
    finished: bool  # whether the messages of all trees were computed in time


class ChainMaster(RestrictedMaster):
    """Restricted master problem of many chains or trees, each node with a domain of labels that pricing extends.

    A solve is one call for all unfinished trees. A tree is finished when pricing finds nothing for it; it is then
    skipped. Long calls are split into pieces with a check of the budget between them.

    Parameters
    ----------
    start
        A number k: begin with the k labels of best local score. An array: begin with this label at each node.
    both_ways
        Whether dual values are messages in both directions.
    prepare
        Return the model to search; by default the instance itself. It must have the same best labellings, and scores of
        -inf only for labels that no domain will contain.
    """

    sense = Sense.MAXIMIZE

    def __init__(
        self,
        instance: ChainInstance,
        start: int | Ints = 1,
        both_ways: bool = True,
        prepare: Callable[[Budget], NormalForm] | None = None,
    ) -> None:
        self.instance = instance
        self.precision = Precision(instance.scale, rounding=instance.rounding, cost_rounding=instance.rounding)
        self.both_ways = both_ways
        self.labels = np.full(instance.forest.num_nodes, NONE, dtype=np.int32)
        self.values = np.full(instance.num_trees, -np.inf)
        self.bounds = np.full(instance.num_trees, np.inf)
        self.active = np.arange(instance.num_trees)
        self.rounds = np.zeros(instance.num_trees, dtype=np.int64)
        self.domains = Domains(np.zeros(instance.forest.num_nodes + 1, dtype=np.int64), self.labels[:0], np.empty(0))
        self._start = start
        self._prepare = prepare
        self._normal: NormalForm | None = None
        self._exchanges: Exchanges | None = None
        self._scores = self.values  # scores in the instance; `values` are those in the model
        self._offsets = np.zeros(instance.num_trees)

    def _begin(self, budget: Budget) -> NormalForm:
        """Set up the first domains; raise OutOfBudget if the time is used up."""
        start, instance = self._start, self.instance
        normal = unchanged_form(instance) if self._prepare is None else self._prepare(budget)
        self._offsets = normal.offsets
        if self._prepare is not None:
            self.bounds[:] = 0.0  # no score is positive
            if self.both_ways:
                self._exchanges = exchanges_for(instance, normal, budget)
        if normal.feasible is not None:
            self.active = np.flatnonzero(normal.feasible)
            self.bounds[~normal.feasible] = -np.inf
        scores, best = normal.model.scores, normal.best
        self.domains = _best_local(scores, start, best) if isinstance(start, int) else _single(scores, start, best)
        budget.require()
        self._waiting = np.zeros(instance.num_trees, dtype=np.bool_)
        self._scores = self.values.copy()
        if normal.settled is not None and normal.labels is not None:
            self._settle(normal.settled, normal.labels)
        return normal

    def _settle(self, settled: NDArray[np.bool_], labels: Ints) -> None:
        """Store the given best labellings of these trees and finish them."""
        instance, trees = self.instance, np.flatnonzero(settled)
        self.active = self.active[~settled[self.active]]
        self.labels = np.where(np.repeat(settled, np.diff(instance.forest.starts)), labels, self.labels)
        score_trees(instance.forest, instance.scores, instance.pairwise.rows, self.labels, trees, self._scores)
        self.bounds[trees] = self.values[trees] = self._scores[trees] - self._offsets[trees]

    @cached_property
    def shares(self) -> Floats:
        """Share of each node as a root of messages, see :func:`colgen.problems.chain_map.kernels.roots.root_shares`."""
        return root_shares(self.instance.forest, self.both_ways)

    @cached_property
    def beyond(self) -> Floats:
        """Share of the roots beyond the edge of each node to its parent."""
        return roots_beyond(self.instance.forest, self.shares)

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        budget = Budget() if budget is None else budget
        duals: MessageDuals | None
        try:
            if self._normal is None:
                self._normal = self._begin(budget)
            duals = self._pass_messages(self._normal, KernelCalls(lambda: budget.expired))
        except OutOfBudget:
            label_greedily(self.instance, 0, self.labels, self.values, self.bounds)
            self._scores, self._offsets, duals = self.values, np.zeros(self.instance.num_trees), None
        found = self.labellings()
        if not (found.bounds > -np.inf).any():
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        if duals is None and not found.is_complete:
            return MasterSolution(MasterStatus.LIMIT, phase=1)  # some trees are neither labelled nor proved infeasible
        # A tree whose current labelling has a forbidden pair counts with its score in the model.
        missing = ~found.feasible & (found.bounds > -np.inf)
        objective = found.objective + float((self.values + self._offsets)[missing].sum())
        return MasterSolution(MasterStatus.OPTIMAL, objective, found, duals, integral=found.is_complete)

    def _pass_messages(self, normal: NormalForm, pieces: KernelCalls) -> MessageDuals:
        forest, instance, model = self.instance.forest, self.instance, normal.model
        self.rounds[self.active] += 1
        messages, active = no_messages(forest, self.domains), self.active

        def advance(position: Offsets, work: float) -> None:
            pass_messages(forest, model, messages, active, self.both_ways, self.labels, self.values, position, work)

        passed = pieces.run_trees(advance, len(active))
        unreached = active[passed:]
        unreached = unreached[self.labels[forest.starts[unreached]] == NONE]
        if len(unreached):
            # Domains begin with their first label, whatever its score.
            where = np.isin(forest.trees_of(np.arange(forest.num_nodes)), unreached)
            self.labels[where] = self.domains.labels[self.domains.starts[:-1][where]]
            self.values[unreached] = _values_in(forest, model, self.labels)[unreached]
        score_trees(forest, instance.scores, instance.pairwise.rows, self.labels, active, self._scores)
        self._waiting[active] = True
        return MessageDuals(
            model,
            normal.size,
            normal.pairwise,
            active[:passed],
            self.values,
            self.bounds,
            self._scores,
            messages,
            self.shares,
            self.beyond,
            self._exchanges,
            self._waiting,
            passed == len(active),
        )

    # --- results -----------------------------------------------------------------------------------------------------

    def labellings(self, found: Labellings | None = None) -> Labellings:
        """Return the labellings of a solve, by default the last, with the bounds proved so far."""
        starts, bounds = self.instance.forest.starts, self.proved()
        if found is not None:
            return dataclasses.replace(found, bounds=np.minimum(found.bounds, bounds))  # pricing comes after a solve
        labels, impossible = self.labels.copy(), self._scores == -np.inf
        if impossible.any():
            labels[np.repeat(impossible, np.diff(starts))] = NONE
        return Labellings(starts, labels, self._scores.copy(), bounds)

    def proved(self) -> Floats:
        """Return upper bounds on the scores of the trees' labellings."""
        # If the model's bound is attained, so is the instance's. Otherwise add the offset to the model's bound.
        bounds: Floats = np.where(self.bounds == self.values, self._scores, self.bounds + self._offsets)
        bounds = np.maximum(bounds, self._scores)
        return bounds

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        if rows:
            raise FormulationError("ChainMaster does not support additional rows; pass columns only")
        if not len(columns):
            return 0
        pairs = columns if isinstance(columns, LabelPairs) else _as_pairs(columns)
        inner = pairs.upper != NONE
        nodes = np.concatenate([pairs.nodes, self.instance.forest.parent[pairs.nodes[inner]]])
        labels = np.concatenate([pairs.lower, pairs.upper[inner]])
        self.domains = Domains(*grow(self.domains, self.instance.num_labels, nodes, labels))
        # A tree whose domains have not grown is finished.
        grown = self._waiting.copy()
        grown[self.instance.forest.trees_of(pairs.nodes)] = True
        self.active = np.flatnonzero(grown)
        return len(pairs)

    def price(self, columns: Sequence[Column], duals: MessageDuals | None) -> Floats:
        if not len(columns) or duals is None:
            return np.empty(0)
        pairs = columns if isinstance(columns, LabelPairs) else _as_pairs(columns)
        forest = self.instance.forest
        values = np.repeat(duals.values, np.diff(forest.starts))
        return reduced_costs(
            forest,
            duals.model,
            duals.messages,
            values,
            duals.shares,
            duals.beyond,
            pairs.nodes,
            pairs.lower,
            pairs.upper,
        )

    def bound(self, duals: Any, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        found = self.labellings()
        bound = found.dual_bound
        if any(len(result.columns) for result in results):
            # Each tree is searched separately, so a possible gain in one of them must not vanish in the rounding of the
            # sum.
            bound = max(bound, found.objective + _MIN_RELATIVE_GAP * abs(found.objective))
        return bound

    def solution(self, solved: MasterSolution) -> Solution:
        return as_solution(self.instance.forest, self.labellings(solved.values))

    @property
    def num_columns(self) -> int:
        """Pairs of labels in the domains at the two ends of an edge."""
        return count_pairs(self.instance.forest, self.domains.starts)

    @property
    def num_rows(self) -> int:
        """Labels in domains: one row each."""
        return len(self.domains.labels)


def _best_local(scores: Scores, count: int, best: Ints) -> Domains:
    """Return domains of the ``count`` labels of best local score."""
    num = scores.shape[1]
    count = min(count, num)
    if count == 1:
        labels = best
    else:
        labels = np.argpartition(scores, num - count, axis=1)[:, num - count :].ravel().astype(np.int32)
    starts = np.arange(0, len(labels) + 1, count)
    return Domains(starts, labels, np.empty(len(labels)))


def _single(scores: Scores, labels: Ints, best: Ints) -> Domains:
    """Return domains with one label each: the given one, or the node's best one if that is forbidden."""
    starts = np.arange(len(labels) + 1)
    # A label that rule (14) forbids could leave a tree without a labelling, so the node's best label replaces it.
    forbidden = scores[np.arange(len(labels)), labels] == -np.inf
    labels = np.where(forbidden, best, labels)
    return Domains(starts, labels.astype(np.int32), np.empty(len(labels)))


def _as_pairs(columns: Sequence[Column]) -> LabelPairs:
    """Convert single columns to pairs."""
    structures = np.array([column.structure for column in columns], dtype=np.int64).reshape(-1, 3)
    return LabelPairs(structures[:, 0], structures[:, 1].astype(np.int32), structures[:, 2].astype(np.int32))


def _values_in(forest: Forest, model: Model, labels: Ints) -> Floats:
    """Return the scores of labellings of all trees in a model."""
    inner, num = np.flatnonzero(forest.parent != NONE), model.scores.shape[1]
    scores = np.maximum(model.scores[np.arange(len(labels)), labels] - model.tops, model.low)
    scores[inner] += model.tables[forest.table[inner] * num + labels[inner], labels[forest.parent[inner]]]
    values: Floats = np.add.reduceat(scores, forest.starts[:-1])
    return values
