"""The restricted master problem: best labellings within restricted domains, by dynamic programming."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from colgen.budget import Budget
from colgen.columns import Column, Row
from colgen.errors import FormulationError
from colgen.master import MasterSolution, MasterStatus, RestrictedMaster
from colgen.pricing import Pricing, PricingResult
from colgen.sense import Sense
from colgen.solution import Solution
from problems.chain_map.instance import Instance
from problems.chain_map.labellings import LabelledSolution, Labellings, UsedPairs, pair_column
from solvers.forest import NONE
from solvers.tree_domains import Domains, count_pairs, sweep
from solvers.tree_labels import best_flips, best_labels, runner_up
from solvers.tree_messages import Messages, grow, no_messages, pass_messages
from solvers.tree_prices import reduced_costs, root_shares, roots_beyond

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


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
    member
        Shape (nodes, labels): whether a label is in a domain.
    messages
        Up and down every edge.
    best_on
        Best reduced cost on the edge above each node when it was last priced.
    shares, beyond
        See :func:`solvers.tree_prices.root_shares` and :func:`solvers.tree_prices.roots_beyond`.
    """

    instance: Instance
    active: Offsets
    values: Floats
    bounds: Floats
    member: NDArray[np.uint8]
    messages: Messages
    best_on: Floats
    shares: Floats
    beyond: Floats


class ChainMaster(RestrictedMaster):
    """Many chains or trees at once, each with a restricted domain of labels at every node.

    A solve is one call for all trees that are not finished; a tree is finished when pricing finds nothing for it, and
    is not looked at again.

    Parameters
    ----------
    instance
        What to label.  For domains that grow, no score may be -inf, except of labels that no domain will hold.
    start
        None: domains from :func:`solvers.tree_domains.sweep`, which are final, with their messages.  A number k: the k
        labels of best local score; an array: the one label of each node that it holds.  Pricing makes these grow.
    both_ways
        Whether dual values are messages in both directions.
    margin
        With final domains: also find second best labellings that lose no more than this, inf: whatever they lose.
    feasible
        Which trees have a labelling at all; without it, all that the domains of a sweep show to have one.
    """

    sense = Sense.MAXIMIZE

    def __init__(
        self,
        instance: Instance,
        start: int | Ints | None = None,
        both_ways: bool = True,
        margin: float | None = None,
        feasible: NDArray[np.bool_] | None = None,
    ) -> None:
        if margin is not None and start is not None:
            raise FormulationError("second best labellings need the domains of a sweep: leave start as None")
        self.instance = instance
        self.both_ways = both_ways
        self.active = np.arange(instance.num_trees) if feasible is None else np.flatnonzero(feasible)
        self.labels = np.full(instance.forest.num_nodes, NONE, dtype=np.int32)
        self.values = np.full(instance.num_trees, -np.inf)
        self.bounds = np.full(instance.num_trees, np.inf)
        if feasible is not None:
            self.bounds[~feasible] = -np.inf
        self.messages: Messages | None = None
        self.rounds = np.zeros(instance.num_trees, dtype=np.int64)
        self._margin = margin
        self._second: Labellings | None = None
        if start is None:
            self.domains = self._swept()
        else:
            self.domains = _best_local(instance, start) if isinstance(start, int) else _single(instance, start)
            self.member = np.zeros(instance.scores.shape, dtype=np.uint8)
            sizes = np.diff(self.domains.starts)
            self.member[np.repeat(np.arange(len(sizes)), sizes), self.domains.labels] = 1
            self.messages = no_messages(instance.scores)
            self._best_on = np.zeros(instance.forest.num_nodes)

    @cached_property
    def shares(self) -> Floats:
        """Shares of the roots that messages flow to, see :func:`solvers.tree_prices.root_shares`."""
        return root_shares(self.instance.forest, self.both_ways)

    @cached_property
    def beyond(self) -> Floats:
        """Share of the roots beyond the edge of each node to its parent."""
        return roots_beyond(self.instance.forest, self.shares)

    def _swept(self, slack: Floats | None = None) -> Domains:
        pairwise = self.instance.pairwise
        if slack is None and self._margin is not None and math.isfinite(self._margin):
            slack = np.full(self.instance.num_trees, float(self._margin))
        return sweep(self.instance.forest, self.instance.scores, pairwise.rows, pairwise.exchanges, slack)

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        forest, scores, pairwise = self.instance.forest, self.instance.scores, self.instance.pairwise
        self.rounds[self.active] += 1
        if self.messages is not None:
            pass_messages(
                forest,
                scores,
                pairwise.rows,
                pairwise.transposed_rows,
                self.domains,
                self.messages,
                self.active,
                self.both_ways,
            )
        best_labels(forest, scores, pairwise.rows, self.domains, self.active, self.labels, self.values)
        if self.messages is None:
            self.bounds[:] = self.values
            if self._margin is not None:
                self._find_runner_up()
        found = self.labellings()
        if not found.feasible.any():
            return MasterSolution(MasterStatus.INFEASIBLE, phase=1)
        return MasterSolution(MasterStatus.OPTIMAL, found.objective, found, self._duals())

    def _duals(self) -> MessageDuals | None:
        """None where there is nothing to price."""
        if self.messages is None:
            return None
        return MessageDuals(
            self.instance,
            self.active,
            self.values,
            self.bounds,
            self.member,
            self.messages,
            self._best_on,
            self.shares,
            self.beyond,
        )

    def _find_runner_up(self) -> None:
        instance = self.instance
        rows = instance.pairwise.rows
        domains = self.domains
        if self._margin == math.inf:
            # The second best loses no more than the best change of one label, if any change is allowed.
            slack = np.empty(instance.num_trees)
            best_flips(instance.forest, instance.scores, rows, self.labels, self.values, slack)
            rounding = 16 * np.finfo(instance.scores.dtype).eps * (1.0 + np.abs(np.maximum(self.values, -1e30)))
            domains = self._swept(slack + rounding)
        labels, values = runner_up(instance.forest, instance.scores, rows, domains)
        self._second = Labellings(instance.forest.starts, labels, values, values)

    def labellings(self, found: Labellings | None = None) -> Labellings:
        """Labellings that a solve found, by default the last, and what is proved by now."""
        if found is None:
            starts = self.instance.forest.starts
            found = Labellings(starts, self.labels.copy(), self.values.copy(), self.bounds.copy(), self._second)
        return dataclasses.replace(found, bounds=np.minimum(found.bounds, self.bounds))  # pricing comes after a solve

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
        self.active = np.unique(self.instance.forest.trees_of(pairs.nodes))
        return len(pairs)

    def improving(
        self, oracle: Pricing, columns: Sequence[Column], reduced_costs: Floats, tolerance: float
    ) -> Sequence[Column]:
        # The oracle leaves out what the domains hold and what rounding explains.
        return columns

    def reduced_costs(self, columns: Sequence[Column], duals: MessageDuals | None) -> Floats:
        if not len(columns) or duals is None:
            return np.empty(0)
        pairs = columns if isinstance(columns, Pairs) else _as_pairs(columns)
        forest = self.instance.forest
        values = np.zeros(forest.num_nodes)
        values[pairs.nodes] = duals.values[forest.trees_of(pairs.nodes)]
        return reduced_costs(
            forest,
            self.instance.scores,
            self.instance.pairwise.rows,
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
        return True

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
    return Domains(starts, labels.astype(np.int32), np.empty(len(labels), dtype=instance.scores.dtype))


def _as_pairs(columns: Sequence[Column]) -> Pairs:
    """Pairs from single columns."""
    structures = np.array([column.structure for column in columns], dtype=np.int64).reshape(-1, 3)
    return Pairs(structures[:, 0], structures[:, 1].astype(np.int32), structures[:, 2].astype(np.int32))
