"""The restricted master problem: best labellings within restricted domains, by dynamic programming."""

from __future__ import annotations

import dataclasses
import math
import time
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
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingResult
from problems.chain_map.instance import Instance
from problems.chain_map.kernels.tree_labels import best_flips, best_labels, greedy_labels, runner_up, score_labels
from problems.chain_map.kernels.tree_prices import reduced_costs, root_shares, roots_beyond
from problems.chain_map.labellings import LabelledSolution, Labellings, UsedPairs, pair_column
from problems.chain_map.pieces import Pieces
from problems.chain_map.pruning import NormalForm
from solvers.chains.forest import NONE
from solvers.chains.tree_domains import Domains, Sweep, count_pairs
from solvers.chains.tree_messages import Messages, forget, grow, no_messages, pass_messages

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

_DOUBTFUL = 4
"""Where single precision leaves more than one label in doubt for so many nodes, double precision is asked."""

_GRACE, _HURRY = 0.03, 2**20
"""Seconds for labelling greedily what there was no time for, and how many scores are looked at between two looks."""


class Pairs(Sequence[Column]):
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
    def __getitem__(self, index: slice) -> Pairs: ...

    def __getitem__(self, index: int | slice) -> Column | Pairs:
        if isinstance(index, slice):
            return Pairs(self.nodes[index], self.lower[index], self.upper[index])
        return pair_column(int(self.nodes[index]), int(self.lower[index]), int(self.upper[index]))

    def where(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Some of them."""
        return Pairs(self.nodes[chosen], self.lower[chosen], self.upper[chosen])


@dataclass(frozen=True, eq=False)
class MessageDuals:
    """Dual values: the messages of the trees that are not finished, and what pricing needs with them.

    The arrays are the master's own, which goes on from them.

    Attributes
    ----------
    instance
        Whose messages they are.
    active
        Numbers of the trees that are not finished.
    values, bounds
        Of all trees: scores of the best labellings within their domains, and dual bounds, which pricing lowers.
    scores
        What those labellings score in the instance that the model stands for.
    size
        The largest magnitude among the model's scores.
    member
        Shape (nodes, labels): whether a label is in a domain.
    messages
        Up and down every edge.
    best_on
        Best reduced cost on the edge above each node when it was last priced.
    shares, beyond
        See :func:`problems.chain_map.kernels.tree_prices.root_shares` and
        :func:`problems.chain_map.kernels.tree_prices.roots_beyond`.
    waiting
        Trees that pricing has not come to yet, which it writes.
    finished
        Whether there was time for the messages of all trees.
    """

    instance: Instance
    active: Offsets
    values: Floats
    bounds: Floats
    scores: Floats
    size: float
    member: NDArray[np.uint8]
    messages: Messages
    best_on: Floats
    shares: Floats
    beyond: Floats
    waiting: NDArray[np.bool_]
    finished: bool


@dataclass(frozen=True, slots=True)
class SweepDuals:
    """Dual values of a sweep, which nobody needs any more.

    Attributes
    ----------
    finished
        Whether the sweep came to its end: then no label that was left out has a pair of positive reduced cost.
    """

    finished: bool


class ChainMaster(RestrictedMaster):
    """Many chains or trees at once, each with a restricted domain of labels at every node.

    A solve is one call for all trees that are not finished; a tree is finished when pricing finds nothing for it, and
    is not looked at again.  What takes long is done in pieces, between which there is a look at the budget.

    Parameters
    ----------
    instance
        What to label.
    start
        None: domains from :func:`solvers.chains.tree_domains.sweep`, which are final.  A number k: the k labels of best
        local score; an array: the one label of each node that it holds.  Pricing makes these grow.
    both_ways
        Whether dual values are messages in both directions.
    margin
        With final domains: also find second best labellings that lose no more than this, inf: whatever they lose.
    prepare
        For domains that grow: makes the model that is searched, which has the instance's best labellings, and in which
        no score is -inf except of labels that no domain will hold; by default the instance itself.
    """

    sense = Sense.MAXIMIZE

    def __init__(
        self,
        instance: Instance,
        start: int | Ints | None = None,
        both_ways: bool = True,
        margin: float | None = None,
        prepare: Callable[[Budget], NormalForm] | None = None,
    ) -> None:
        if margin is not None and start is not None:
            raise FormulationError("second best labellings need the domains of a sweep: leave start as None")
        self.instance = instance
        self.scale = instance.scale
        self.both_ways = both_ways
        self.labels = np.full(instance.forest.num_nodes, NONE, dtype=np.int32)
        self.values = np.full(instance.num_trees, -np.inf)
        self.bounds = np.full(instance.num_trees, np.inf)
        self.active = np.arange(instance.num_trees)
        self.messages: Messages | None = None
        self.rounds = np.zeros(instance.num_trees, dtype=np.int64)
        self.domains = Domains(np.zeros(instance.forest.num_nodes + 1, dtype=np.int64), self.labels[:0], np.empty(0))
        self._start = start
        self._prepare = prepare
        self._margin = margin
        self._second: Labellings | None = None
        self._scores = self.values  # of the labellings in the instance; `values` are those in the model
        self._offsets = np.zeros(instance.num_trees)
        self._is_finished = False

    def _begin(self, budget: Budget) -> None:
        """Set up domains that grow; raises OutOfBudget if there is no time for it."""
        start, instance = self._start, self.instance
        normal = NormalForm(instance, self._offsets, None) if self._prepare is None else self._prepare(budget)
        self.model, self._offsets = normal.instance, normal.offsets
        model = self.model
        if self._prepare is not None:
            self.bounds[:] = 0.0  # no score is positive
        if normal.feasible is not None:
            self.active = np.flatnonzero(normal.feasible)
            self.bounds[~normal.feasible] = -np.inf
        self.domains = _best_local(model, start) if isinstance(start, int) else _single(model, np.asarray(start))
        self.member = np.zeros(model.scores.shape, dtype=np.uint8)
        sizes = np.diff(self.domains.starts)
        self.member[np.repeat(np.arange(len(sizes)), sizes), self.domains.labels] = 1
        budget.require()
        self.messages = no_messages(model.scores)
        self._best_on = np.zeros(model.forest.num_nodes)
        self._waiting = np.zeros(model.num_trees, dtype=np.bool_)
        self._scores = self.values.copy()

    @cached_property
    def shares(self) -> Floats:
        """Shares of the roots that messages flow to, see :func:`problems.chain_map.kernels.tree_prices.root_shares`."""
        return root_shares(self.instance.forest, self.both_ways)

    @cached_property
    def beyond(self) -> Floats:
        """Share of the roots beyond the edge of each node to its parent."""
        return roots_beyond(self.instance.forest, self.shares)

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        pieces = Pieces(lambda: budget is not None and budget.expired)
        duals: SweepDuals | MessageDuals
        if self._start is None:
            duals = self._sweep(pieces)
        else:
            try:
                if self.messages is None:
                    self._begin(Budget() if budget is None else budget)
                duals = self._pass_messages(pieces)
            except OutOfBudget:
                self.model, self._offsets = self.instance, np.zeros(self.instance.num_trees)
                self._label_greedily(0)
                duals = SweepDuals(False)
        found = self.labellings()
        if not (found.bounds > -np.inf).any():
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        if isinstance(duals, SweepDuals) and not _is_whole(found):
            return MasterSolution(MasterStatus.LIMIT, phase=1)  # some trees are neither labelled nor proved infeasible
        # A tree whose labelling so far has a forbidden pair counts with that pair's score in the model.
        missing = ~found.feasible & (found.bounds > -np.inf)
        objective = found.objective + float((self.values + self._offsets)[missing].sum())
        return MasterSolution(MasterStatus.OPTIMAL, objective, found, duals)

    # --- domains of a sweep ------------------------------------------------------------------------------------------

    def _sweep(self, pieces: Pieces) -> SweepDuals:
        """Label all trees, or those that there is time for; what is left is labelled greedily."""
        if not self._is_finished:
            instance = self.instance
            self.rounds += 1
            slack = None
            if self._margin is not None and math.isfinite(self._margin):
                slack = np.full(instance.num_trees, float(self._margin))
            done = self._swept(pieces, slack)
            scores, rows = instance.scores, instance.pairwise.rows
            best_labels(instance.forest, scores, rows, self.domains, np.arange(done), self.labels, self.values)
            self.bounds[:done] = self.values[:done]
            self._is_finished = done == instance.num_trees
            if not self._is_finished:
                self._label_greedily(done)
            elif self._margin is not None:
                self._find_runner_up(pieces)
        return SweepDuals(self._is_finished)

    def _swept(self, pieces: Pieces, slack: Floats | None) -> int:
        """Set the domains; returns how many trees were finished."""
        instance, pairwise = self.instance, self.instance.pairwise
        arrays = (instance.scores, pairwise.rows, pairwise.exchanges)
        found = Sweep(instance.forest, *arrays, slack, pairwise.size)
        pieces.run(found.advance, instance.forest.num_nodes, instance.num_labels**2)
        if instance.scores.dtype == np.float32 and found.doubtful > instance.forest.num_nodes // _DOUBTFUL:
            # Single precision does not tell the labels apart: a constant or penalties are large beside the rest.
            double = pairwise.double
            scores = instance.scores.astype(float)
            again = Sweep(instance.forest, scores, double.rows, double.exchanges, slack, double.size)
            pieces.run(again.advance, instance.forest.num_nodes, instance.num_labels**2)
            found = again if again.trees >= found.trees else found
        self.domains = found.domains
        return found.trees

    def _label_greedily(self, done: int) -> None:
        """Label the trees from ``done`` on in a hurry, with a bound that looks at every score once."""
        instance = self.instance
        forest, scores, pairwise = instance.forest, instance.scores, instance.pairwise
        deadline = time.monotonic() + _GRACE
        pieces = Pieces(lambda: time.monotonic() >= deadline)
        first, num = done, instance.num_trees
        while first < num and not pieces.stopped:
            end = int(np.searchsorted(forest.starts, forest.starts[first] + _HURRY // instance.num_labels))
            end = min(max(end, first + 1), num)
            greedy_labels(forest, scores, pairwise.rows, first, end, self.labels)
            a, b = int(forest.starts[first]), int(forest.starts[end])
            most = scores[a:b].max(axis=1).astype(float)
            inner = forest.parent[a:b] != NONE
            most[inner] += pairwise.highest[forest.table[a:b][inner]]
            self.bounds[first:end] = np.add.reduceat(most, forest.starts[first:end] - a)
            first = end
        # The rest has any label at all, and a bound of the numbers' size.
        self.labels[forest.starts[first] :] = 0
        lengths = np.diff(forest.starts[first:])
        self.bounds[first:] = lengths * instance.size + (lengths - 1) * pairwise.size
        score_labels(forest, scores, pairwise.rows, self.labels, self._scores)
        impossible = np.repeat(self._scores == -np.inf, np.diff(forest.starts))
        self.labels[impossible] = NONE
        self.values[done:] = self._scores[done:]
        # Sums of the bounds and of a labelling that attains them may differ by rounding.
        self.bounds[done:] = np.maximum(self.bounds[done:], self.values[done:])

    def _find_runner_up(self, pieces: Pieces) -> None:
        instance = self.instance
        rows = instance.pairwise.rows
        best, self._is_finished = self.domains, False
        try:
            if self._margin == math.inf:
                # The second best loses no more than the best change of one label, if any change is allowed.
                slack = np.empty(instance.num_trees)
                found = (self.labels, self.values, slack)
                best_flips(instance.forest, instance.scores, rows, *found, pieces.require)
                if self._swept(pieces, slack) < instance.num_trees:
                    return  # there is no time for them
            arrays = (instance.forest, instance.scores, rows)
            labels, values = runner_up(*arrays, self.domains, pieces.require)
        except OutOfBudget:
            return
        finally:
            self.domains = best
        self._is_finished = True
        self._second = Labellings(instance.forest.starts, labels, values, values)

    # --- domains that grow -------------------------------------------------------------------------------------------

    def _pass_messages(self, pieces: Pieces) -> MessageDuals:
        assert self.messages is not None
        model, messages = self.model, self.messages
        pairwise, forest = model.pairwise, model.forest
        self.rounds[self.active] += 1

        # Trees that still wait for pricing have their messages, and pricing must see what has changed in them.
        waiting = self._waiting[self.active]
        stale = self.active[~waiting]
        rows, transposed = pairwise.rows, pairwise.transposed_rows

        def bring(position: Offsets, work: float) -> None:
            arrays = (model.scores, rows, transposed)
            pass_messages(forest, *arrays, self.domains, messages, stale, self.both_ways, position, work)

        passed = pieces.run_trees(bring, len(stale))
        best_labels(forest, model.scores, rows, self.domains, stale[:passed], self.labels, self.values)
        late = stale[passed:]
        if len(late):
            forget(forest, messages, int(late[0]))  # which may be half done
        unlabelled = late[self.labels[forest.starts[late]] == NONE]
        if len(unlabelled):
            # Domains have their first label; it is worth what it is worth.
            where = np.isin(forest.trees_of(np.arange(forest.num_nodes)), unlabelled)
            self.labels[where] = self.domains.labels[self.domains.starts[:-1][where]]
            values = np.empty(model.num_trees)
            score_labels(forest, model.scores, pairwise.rows, self.labels, values)
            self.values[unlabelled] = values[unlabelled]
        score_labels(forest, self.instance.scores, self.instance.pairwise.rows, self.labels, self._scores)
        return MessageDuals(
            model,
            np.sort(np.concatenate([stale[:passed], self.active[waiting]])),
            self.values,
            self.bounds,
            self._scores,
            max(model.size, model.pairwise.size),
            self.member,
            messages,
            self._best_on,
            self.shares,
            self.beyond,
            self._waiting,
            passed == len(stale),
        )

    # --- what was found ----------------------------------------------------------------------------------------------

    def labellings(self, found: Labellings | None = None) -> Labellings:
        """Labellings that a solve found, by default the last, and what is proved by now."""
        starts = self.instance.forest.starts
        if self._start is None:
            return found or Labellings(starts, self.labels, self.values, self.bounds, self._second)
        bounds = self.proved()
        if found is not None:
            return dataclasses.replace(found, bounds=np.minimum(found.bounds, bounds))  # pricing comes after a solve
        impossible = np.repeat(self._scores == -np.inf, np.diff(starts))
        return Labellings(starts, np.where(impossible, NONE, self.labels), self._scores.copy(), bounds)

    def proved(self) -> Floats:
        """Bounds on the trees' labellings."""
        if self._start is None:
            return self.bounds
        # Where the model's bound is met so is the instance's; elsewhere both are the model's and an offset.
        bounds: Floats = np.where(self.bounds == self.values, self._scores, self.bounds + self._offsets)
        bounds = np.maximum(bounds, self._scores)
        return bounds

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origin: int = -1) -> int:
        if rows:
            raise FormulationError("ChainMaster takes no rows")
        if not len(columns):
            return 0
        pairs = columns if isinstance(columns, Pairs) else _as_pairs(columns)
        if self.messages is None:
            raise FormulationError("the domains of a sweep are final: give start a number to let them grow")
        inner = pairs.upper != NONE
        nodes = np.concatenate([pairs.nodes, self.instance.forest.parent[pairs.nodes[inner]]])
        labels = np.concatenate([pairs.lower, pairs.upper[inner]])
        self.domains = Domains(*grow(self.domains, self.member, self.messages.grown, nodes, labels))
        # Trees whose domains have not grown are finished.
        grown = self._waiting.copy()
        grown[self.instance.forest.trees_of(pairs.nodes)] = True
        self.active = np.flatnonzero(grown)
        return len(pairs)

    def improving(
        self, oracle: Pricing, columns: Sequence[Column], reduced_costs: Floats, tolerance: float
    ) -> Sequence[Column]:
        # The oracle leaves out what the domains hold and what rounding explains.
        return columns

    def reduced_costs(self, columns: Sequence[Column], duals: MessageDuals | SweepDuals) -> Floats:
        if not len(columns) or isinstance(duals, SweepDuals):
            return np.empty(0)
        pairs = columns if isinstance(columns, Pairs) else _as_pairs(columns)
        forest = self.instance.forest
        values = np.zeros(forest.num_nodes)
        values[pairs.nodes] = duals.values[forest.trees_of(pairs.nodes)]
        return reduced_costs(
            forest,
            duals.instance.scores,
            duals.instance.pairwise.rows,
            duals.messages,
            values,
            duals.shares,
            duals.beyond,
            pairs.nodes,
            pairs.lower,
            pairs.upper,
        )

    def dual_bound(self, duals: Any, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        return self.labellings().dual_bound

    def solution(self, solved: MasterSolution) -> Solution:
        found = self.labellings(solved.values)
        return LabelledSolution(found.objective, UsedPairs(self.instance.forest, found.labels), labellings=found)

    def is_whole(self, solved: MasterSolution) -> bool:
        return _is_whole(solved.values)

    def made_whole(self, solution: Solution) -> Solution:
        return solution

    @property
    def num_columns(self) -> int:
        """Pairs of labels in the domains at the two ends of an edge."""
        return count_pairs(self.instance.forest, self.domains.starts)

    @property
    def num_rows(self) -> int:
        """Labels in domains: one row each."""
        return len(self.domains.labels)


def _is_whole(found: Labellings) -> bool:
    """Whether every tree is labelled, or proved to have no labelling."""
    return bool((found.feasible | (found.bounds == -np.inf)).all())


def _best_local(instance: Instance, count: int) -> Domains:
    """Domains of the labels that have the best local scores."""
    num, scores = instance.num_labels, instance.scores
    count = min(count, num)
    if count == 1:
        labels = scores.argmax(axis=1).astype(np.int32)
    else:
        labels = np.argpartition(scores, num - count, axis=1)[:, num - count :].ravel().astype(np.int32)
    starts = np.arange(0, len(labels) + 1, count)
    return Domains(starts, labels, np.empty(len(labels), dtype=scores.dtype))


def _single(instance: Instance, labels: Ints) -> Domains:
    """Domains of one label each."""
    starts = np.arange(len(labels) + 1)
    # A label that rule (14) forbids could leave a tree without a labelling: the best one of its node takes its place.
    forbidden = instance.scores[np.arange(len(labels)), labels] == -np.inf
    labels = np.where(forbidden, instance.scores.argmax(axis=1), labels)
    return Domains(starts, labels.astype(np.int32), np.empty(len(labels), dtype=instance.scores.dtype))


def _as_pairs(columns: Sequence[Column]) -> Pairs:
    """Pairs from single columns."""
    structures = np.array([column.structure for column in columns], dtype=np.int64).reshape(-1, 3)
    return Pairs(structures[:, 0], structures[:, 1].astype(np.int32), structures[:, 2].astype(np.int32))
