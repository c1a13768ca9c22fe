"""Coreference clustering on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from colgen import (
    BranchingRule,
    Column,
    Formulation,
    Heuristic,
    LinearMaster,
    Pricing,
    Problem,
    RestrictedMIP,
    RyanFoster,
    Sense,
    Solution,
    Stages,
)
from colgen.formulation import Block
from problems.coreference.instance import Cluster, Floats, Instance
from problems.coreference.items import COVER, SMALL, Items
from problems.coreference.model import master
from problems.coreference.pricing import ClusterSearch, GrowingClusters


class Coreference(Problem):
    """Clustering by column generation; where the relaxation is fractional, by branching on pairs of mentions.

    The answer is a list of clusters, each a tuple of mentions.

    Parameters
    ----------
    contracted
        Let the rows of the master be groups of mentions that provably belong together; False: a row a mention.
    settled
        Leave components of the graph of positive scores out of the master that dual values alone prove, if contracted.
    smallest
        Only components with so many mentions are worth contracting.
    """

    def __init__(
        self, instance: Instance, *, contracted: bool = True, settled: bool = True, smallest: int = SMALL
    ) -> None:
        self.instance = instance
        self.items = Items.of(instance, contracted=contracted, settled=settled, smallest=smallest)
        self.objective_step = instance.step

    def master(self) -> pyo.ConcreteModel:
        return master(len(self.items), self.items.constant)

    def formulation(self) -> Formulation:
        # What compiling the model gives, without Pyomo: every document has its own number of items, and building the
        # model takes longer than solving it.
        n = len(self.items)
        ones, indices = np.ones(n), tuple(range(n))
        return Formulation(
            sense=Sense.MAXIMIZE,
            matrix=sparse.csc_array((ones, (indices, indices)), shape=(n, n)),
            costs=np.zeros(n),
            lower=np.zeros(n),
            upper=np.full(n, np.inf),
            integer=np.zeros(n, dtype=bool),
            artificial=np.ones(n, dtype=bool),
            row_lower=ones,
            row_upper=ones,
            offset=self.items.constant,
            column_keys=tuple(("uncovered", i) for i in indices),
            row_keys=tuple((COVER, i) for i in indices),
            row_blocks={COVER: Block(COVER, indices, np.arange(n))} if n else {},
            column_blocks={"uncovered": Block("uncovered", indices, np.arange(n))} if n else {},
        )

    def restricted_master(self) -> LinearMaster:
        return LinearMaster(self.formulation(), central=True)

    def pricing(self) -> Pricing:
        return Stages(GrowingClusters(self.items), ClusterSearch(self.items))

    def branching(self) -> Sequence[BranchingRule]:
        return (RyanFoster(COVER),)

    def heuristics(self) -> Sequence[Heuristic]:
        return (RestrictedMIP(5.0),)

    def initial_columns(self) -> Iterable[Column]:
        # An item can always be left alone.  The clusters of the first answer with one item more or one less tie its
        # dual value down: between what it would score in another cluster and what it scores in its own.  Without
        # them the first dual solutions heap the value of a cluster on a few of its items.
        items = self.items
        columns = [items.column((k,)) for k in range(len(items))]
        for cluster in items.clustering():
            members = cluster.tolist()
            if len(members) > 2:
                columns += [items.column([k for k in members if k != left_out]) for left_out in members]
            attracted = items.scores[:, cluster].max(axis=1)
            attracted[cluster] = 0.0
            columns += [items.column([*members, k]) for k in np.flatnonzero(attracted > 0.0).tolist()]
        return columns

    def initial_duals(self) -> Mapping[str, Floats]:
        # Half of what an item scores in its cluster: then no part of a cluster that is best as a whole prices in.
        items = self.items
        same = items.start[:, None] == items.start
        return {COVER: items.within + 0.5 * np.where(same, items.scores, 0.0).sum(axis=1)}

    def initial_answers(self) -> Iterable[Solution]:
        columns = [self.items.column(cluster.tolist()) for cluster in self.items.clustering()]
        score = self.items.constant + sum(column.cost for column in columns)
        yield Solution(score, tuple((column, 1.0) for column in columns))

    def answer(self, solution: Solution) -> list[Cluster]:
        return sorted([*self.items.settled, *(column.structure for column, _ in solution.columns)])
