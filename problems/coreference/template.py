"""Coreference clustering on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyomo.environ as pyo

from colgen import (
    BranchingRule,
    Column,
    Formulation,
    FormulationCache,
    Heuristic,
    LinearMaster,
    Pricing,
    Problem,
    RestrictedMIP,
    RyanFoster,
    Solution,
    Stages,
)
from problems.coreference.instance import Cluster, Floats, Instance
from problems.coreference.items import COVER, SMALL, Items
from problems.coreference.model import master
from problems.coreference.pricing import ClusterSearch, GrowingClusters

_SHAPES = FormulationCache()


class Coreference(Problem):
    """Clustering by column generation; where the relaxation is fractional, by branching on pairs of mentions.

    The answer is a list of clusters, each a tuple of mentions.

    Parameters
    ----------
    contracted
        Let the rows of the master be groups of mentions that provably belong together; False: a row a mention.
    smallest
        Only components of the graph of positive scores with so many mentions are worth it.
    """

    def __init__(self, instance: Instance, *, contracted: bool = True, smallest: int = SMALL) -> None:
        self.instance = instance
        self.items = Items.of(instance, contracted=contracted, smallest=smallest)
        self.objective_step = instance.step

    def master(self) -> pyo.ConcreteModel:
        return master(len(self.items))

    def formulation(self) -> Formulation:
        return _SHAPES.get(len(self.items), self.master)

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
            attracted = np.flatnonzero((items.scores[:, cluster] > 0.0).any(axis=1))
            columns += [items.column([*members, k]) for k in np.setdiff1d(attracted, cluster).tolist()]
        return columns

    def initial_duals(self) -> Mapping[str, Floats]:
        # Half of what an item scores in its cluster: then no part of a cluster that is best as a whole prices in.
        duals = self.items.within.copy()
        for cluster in self.items.clustering():
            duals[cluster] += 0.5 * self.items.scores[np.ix_(cluster, cluster)].sum(axis=1)
        return {COVER: duals}

    def initial_answers(self) -> Iterable[Solution]:
        columns = [self.items.column(cluster.tolist()) for cluster in self.items.clustering()]
        yield Solution(sum(column.cost for column in columns), tuple((column, 1.0) for column in columns))

    def answer(self, solution: Solution) -> list[Cluster]:
        return sorted(column.structure for column, _ in solution.columns)
