r"""All-link clustering by row generation, a baseline for column generation.

    max Σ_{i<j} s_ij x_ij
    subject to  x_ik + x_kj - x_ij ≤ 1   for each pair i < j and each other k    [separated]
                x_ij ∈ {0, 1}

There is no pricing problem: all variables are in the template, and violated rows are separated. Two-partition
inequalities strengthen the relaxation if transitivity leaves it fractional.

Sources: M. Grötschel and Y. Wakabayashi, *A cutting plane algorithm for a clustering problem*, Mathematical Programming
45 (1989); K.-W. Chang, R. Samdani, A. Rozovskaya, N. Rizzolo, M. Sammons, D. Roth, *Inference protocols for coreference
resolution*, CoNLL shared task (2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from colgen import (
    BranchingRule,
    Heuristic,
    HeuristicContext,
    Method,
    NoStabilization,
    OnTemplateVariable,
    Problem,
    Rows,
    Separation,
    Solution,
)
from colgen.claims import is_plain
from colgen.core.budget import Budget
from colgen.core.columns import Key
from colgen.core.warm_start import WarmStart
from colgen.problems.coreference.baseline import clusters_of, greedy_joining
from colgen.problems.coreference.document import Cluster, as_clusters
from colgen.problems.coreference.instance import CoreferenceInstance
from colgen.problems.coreference.model import pair_variables
from colgen.problems.coreference.separation import Transitivity, TwoPartition, values
from colgen.solvers.clusters.clustering import local_search
from colgen.solvers.stopping import Expired, never


class LazyAllLink(Problem):
    """Coreference clustering by row generation and branch and bound on pairs.

    The answer is a list of clusters, each a tuple of mentions. Pairs that a reward keeps together are fixed together. A
    subclass may solve another problem, so this applies to it only if it declares ``plain = True`` in its own body.
    With ``strengthen``, two-partition inequalities are separated too.
    """

    plain: ClassVar[bool] = True
    """Whether this class solves plain clustering; each subclass declares it for itself."""

    def __init__(self, instance: CoreferenceInstance, *, strengthen: bool = True) -> None:
        self.instance = instance
        self.strengthen = strengthen

    @cached_property
    def objective_step(self) -> float | None:  # type: ignore[override]
        """The step of the instance's scores, :attr:`CoreferenceInstance.step`."""
        return self.instance.step

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """The scale of the instance, or of its units for plain clustering."""
        return self.instance.contracted.scale if is_plain(self) else self.instance.scale

    def master(self) -> Rows:
        return pair_variables(self.instance, joined=is_plain(self))

    def separation(self) -> Sequence[Separation]:
        n = self.instance.num_mentions
        return (Transitivity(n), TwoPartition(n)) if self.strengthen else (Transitivity(n),)

    def method(self) -> Method:
        # There is no pricing to stabilize.
        return Method(stabilization=NoStabilization(), heuristics=(GreedyJoining(self.instance),))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(),)

    def warm_start(self, budget: Budget) -> WarmStart:
        first = improve(self.instance, greedy_joining(self.instance), expired=lambda: budget.expired)
        return WarmStart(answers=(first,))

    def check(self, answer: Iterable[Sequence[int]]) -> float | None:
        return self.instance.check(answer)

    def answer(self, solution: Solution) -> list[Cluster]:
        n = self.instance.num_mentions
        return clusters_of(values(solution, n)[np.triu_indices(n, 1)], n)


class GreedyJoining(Heuristic):
    """Greedy joining of mentions by variables above 1/2, improved by local search on the scores."""

    every = 1

    def __init__(self, instance: CoreferenceInstance) -> None:
        self.instance = instance

    def search(self, context: HeuristicContext) -> Solution | None:
        x = values(context.relaxation, self.instance.num_mentions)
        kicks = self.instance.num_mentions if context.depth == 0 else 0
        return improve(self.instance, greedy_joining(CoreferenceInstance(x - 0.5)), kicks, lambda: context.run.expired)


def improve(
    instance: CoreferenceInstance, clusters: Sequence[Cluster], kicks: int = 0, expired: Expired = never
) -> Solution:
    """Return a clustering after local search, as a solution of the all-link model."""
    entity = np.empty(instance.num_mentions, dtype=np.int64)
    for number, cluster in enumerate(clusters):
        entity[list(cluster)] = number
    entity, _ = local_search(instance.lowered.clipped, entity, kicks=kicks, expired=expired)
    for number, unit in enumerate(instance.units):
        if len(set(entity[list(unit)].tolist())) > 1:  # split, by an interrupted search
            entity[list(unit)] = instance.num_mentions + number
    return as_solution(instance, as_clusters(entity))


def as_solution(instance: CoreferenceInstance, clusters: Iterable[Cluster]) -> Solution:
    """Return a clustering as a solution of the all-link model."""
    clusters = list(clusters)
    together: dict[Key, float] = {
        ("x", (i, j)): 1.0 for cluster in clusters for k, i in enumerate(cluster) for j in cluster[k + 1 :]
    }
    return Solution(instance.objective(clusters), variables=together, integer=frozenset(together))
