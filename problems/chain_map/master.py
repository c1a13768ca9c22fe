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
from colgen.problems.chain_map.fallback import label_in_a_hurry
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernel_calls import KernelCalls
from colgen.problems.chain_map.kernels.exchange_bounds import Exchanges
from colgen.problems.chain_map.kernels.pair_prices import reduced_costs
from colgen.problems.chain_map.kernels.roots import root_shares, roots_beyond
from colgen.problems.chain_map.kernels.tree_labels import score_trees
from colgen.problems.chain_map.labellings import Labellings, labelled, pair_column
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.pruning import NormalForm, as_it_is, exchanges_for
from colgen.solvers.chains.forest import NONE, Forest
from colgen.solvers.chains.tree_domains import Domains, count_pairs
from colgen.solvers.chains.tree_messages import Duals, Model, grow, no_messages, pass_messages

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Scores = NDArray[Any]

_VISIBLE = 2.0**-44
"""By this share of an objective a bound differs from it visibly: by more than a sum of many trees is rounded."""


class LabelPairs(Sequence[Column]):
    """Columns of pricing: pairs of labels, as arrays; single columns are made only if somebody looks at them.

    Attributes
    ----------
    nodes, lower, upper
        The edge's lower node, its label, and its parent's label, ``NONE`` for the label of an end of a tree.
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
        """Some of them."""
        return LabelPairs(self.nodes[chosen], self.lower[chosen], self.upper[chosen])


@dataclass(frozen=True, eq=False)
class MessageDuals:
    """Dual values: the messages of the trees that are not finished, and what pricing needs with them.

    The arrays are the master's own, which goes on from them.

    Attributes
    ----------
    model, size
        Whose messages they are, and the largest magnitude among its scores.
    pairwise
        Its tables, with their maxima.
    active
        Numbers of the trees that are not finished.
    values, bounds
        Of all trees: scores of the best labellings within their domains, and dual bounds, which pricing lowers.
    scores
        What those labellings score in the instance that the model stands for.
    messages
        Up and down every edge, known on the domains.
    shares, beyond
        See :func:`colgen.problems.chain_map.kernels.roots.root_shares` and
        :func:`colgen.problems.chain_map.kernels.roots.roots_beyond`.
    exchanges
        What bounds reduced costs by exchanges of labels, None: maxima of the tables do.
    waiting
        Trees that pricing has not come to yet, which it writes.
    finished
        Whether there was time for the messages of all trees.
    """

    model: Model
    size: float
    pairwise: Pairwise
    active: Offsets
    values: Floats
    bounds: Floats
    scores: Floats
    messages: Duals
    shares: Floats
    beyond: Floats
    exchanges: Exchanges | None
    waiting: NDArray[np.bool_]
    finished: bool


class ChainMaster(RestrictedMaster):
    """Many chains or trees at once, each with a restricted domain of labels at every node, which pricing makes grow.

    A solve is one call for all trees that are not finished; a tree is finished when pricing finds nothing for it, and
    is not looked at again.  What takes long is done in pieces, between which there is a look at the budget.

    Parameters
    ----------
    instance
        What to label.
    start
        A number k: the k labels of best local score; an array: the one label of each node that it holds.
    both_ways
        Whether dual values are messages in both directions.
    prepare
        Makes the model that is searched, which has the instance's best labellings, and in which no score is -inf except
        of labels that no domain will hold; by default the instance itself.
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
        self._scores = self.values  # of the labellings in the instance; `values` are those in the model
        self._offsets = np.zeros(instance.num_trees)

    def _begin(self, budget: Budget) -> NormalForm:
        """Set up domains that grow; raises OutOfBudget if there is no time for it."""
        start, instance = self._start, self.instance
        normal = as_it_is(instance) if self._prepare is None else self._prepare(budget)
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
        """Take best labellings of these trees as they are."""
        instance, trees = self.instance, np.flatnonzero(settled)
        self.active = self.active[~settled[self.active]]
        self.labels = np.where(np.repeat(settled, np.diff(instance.forest.starts)), labels, self.labels)
        score_trees(instance.forest, instance.scores, instance.pairwise.rows, self.labels, trees, self._scores)
        self.bounds[trees] = self.values[trees] = self._scores[trees] - self._offsets[trees]

    @cached_property
    def shares(self) -> Floats:
        """Shares of the roots of messages, see :func:`colgen.problems.chain_map.kernels.roots.root_shares`."""
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
            label_in_a_hurry(self.instance, 0, self.labels, self.values, self.bounds)
            self._scores, self._offsets, duals = self.values, np.zeros(self.instance.num_trees), None
        found = self.labellings()
        if not (found.bounds > -np.inf).any():
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        if duals is None and not found.is_whole:
            return MasterSolution(MasterStatus.LIMIT, phase=1)  # some trees are neither labelled nor proved infeasible
        # A tree whose labelling so far has a forbidden pair counts with that pair's score in the model.
        missing = ~found.feasible & (found.bounds > -np.inf)
        objective = found.objective + float((self.values + self._offsets)[missing].sum())
        return MasterSolution(MasterStatus.OPTIMAL, objective, found, duals, integral=found.is_whole)

    def _pass_messages(self, normal: NormalForm, pieces: KernelCalls) -> MessageDuals:
        forest, instance, model = self.instance.forest, self.instance, normal.model
        self.rounds[self.active] += 1
        messages, active = no_messages(forest, self.domains), self.active

        def bring(position: Offsets, work: float) -> None:
            pass_messages(forest, model, messages, active, self.both_ways, self.labels, self.values, position, work)

        passed = pieces.run_trees(bring, len(active))
        late = active[passed:]
        late = late[self.labels[forest.starts[late]] == NONE]
        if len(late):
            # Domains have their first label; it is worth what it is worth.
            where = np.isin(forest.trees_of(np.arange(forest.num_nodes)), late)
            self.labels[where] = self.domains.labels[self.domains.starts[:-1][where]]
            self.values[late] = _values_in(forest, model, self.labels)[late]
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

    # --- what was found ----------------------------------------------------------------------------------------------

    def labellings(self, found: Labellings | None = None) -> Labellings:
        """Labellings that a solve found, by default the last, and what is proved by now."""
        starts, bounds = self.instance.forest.starts, self.proved()
        if found is not None:
            return dataclasses.replace(found, bounds=np.minimum(found.bounds, bounds))  # pricing comes after a solve
        labels, impossible = self.labels.copy(), self._scores == -np.inf
        if impossible.any():
            labels[np.repeat(impossible, np.diff(starts))] = NONE
        return Labellings(starts, labels, self._scores.copy(), bounds)

    def proved(self) -> Floats:
        """Bounds on the trees' labellings."""
        # Where the model's bound is met so is the instance's; elsewhere both are the model's and an offset.
        bounds: Floats = np.where(self.bounds == self.values, self._scores, self.bounds + self._offsets)
        bounds = np.maximum(bounds, self._scores)
        return bounds

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        if rows:
            raise FormulationError("ChainMaster takes no rows")
        if not len(columns):
            return 0
        pairs = columns if isinstance(columns, LabelPairs) else _as_pairs(columns)
        inner = pairs.upper != NONE
        nodes = np.concatenate([pairs.nodes, self.instance.forest.parent[pairs.nodes[inner]]])
        labels = np.concatenate([pairs.lower, pairs.upper[inner]])
        self.domains = Domains(*grow(self.domains, self.instance.num_labels, nodes, labels))
        # Trees whose domains have not grown are finished.
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
            # Trees are searched each for itself: what one of them may gain is not lost in the rounding of their sum.
            bound = max(bound, found.objective + _VISIBLE * abs(found.objective))
        return bound

    def solution(self, solved: MasterSolution) -> Solution:
        return labelled(self.instance.forest, self.labellings(solved.values))

    @property
    def num_columns(self) -> int:
        """Pairs of labels in the domains at the two ends of an edge."""
        return count_pairs(self.instance.forest, self.domains.starts)

    @property
    def num_rows(self) -> int:
        """Labels in domains: one row each."""
        return len(self.domains.labels)


def _best_local(scores: Scores, count: int, best: Ints) -> Domains:
    """Domains of the labels that have the best local scores."""
    num = scores.shape[1]
    count = min(count, num)
    if count == 1:
        labels = best
    else:
        labels = np.argpartition(scores, num - count, axis=1)[:, num - count :].ravel().astype(np.int32)
    starts = np.arange(0, len(labels) + 1, count)
    return Domains(starts, labels, np.empty(len(labels)))


def _single(scores: Scores, labels: Ints, best: Ints) -> Domains:
    """Domains of one label each."""
    starts = np.arange(len(labels) + 1)
    # A label that rule (14) forbids could leave a tree without a labelling: the best one of its node takes its place.
    forbidden = scores[np.arange(len(labels)), labels] == -np.inf
    labels = np.where(forbidden, best, labels)
    return Domains(starts, labels.astype(np.int32), np.empty(len(labels)))


def _as_pairs(columns: Sequence[Column]) -> LabelPairs:
    """Pairs from single columns."""
    structures = np.array([column.structure for column in columns], dtype=np.int64).reshape(-1, 3)
    return LabelPairs(structures[:, 0], structures[:, 1].astype(np.int32), structures[:, 2].astype(np.int32))


def _values_in(forest: Forest, model: Model, labels: Ints) -> Floats:
    """What labellings of all trees score in a model."""
    inner, num = np.flatnonzero(forest.parent != NONE), model.scores.shape[1]
    scores = np.maximum(model.scores[np.arange(len(labels)), labels] - model.tops, model.low)
    scores[inner] += model.tables[forest.table[inner] * num + labels[inner], labels[forest.parent[inner]]]
    values: Floats = np.add.reduceat(scores, forest.starts[:-1])
    return values
