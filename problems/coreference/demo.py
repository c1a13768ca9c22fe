"""Small clusterings solved twice: by brute force, a complete integer program in HiGHS, and by column generation."""

from __future__ import annotations

import networkx as nx

from colgen.cli.demonstration import beside
from colgen.cli.template import DemoLine
from colgen.core.budget import Budget
from colgen.core.warm_start import WarmStart
from colgen.problems.coreference.baseline import all_link_in_highs
from colgen.problems.coreference.instance import CoreferenceInstance, from_graph, modularity, random
from colgen.problems.coreference.template import Coreference


def five_cycle() -> list[DemoLine]:
    """The smallest graph whose relaxation is not whole."""
    graph = nx.complete_graph(5)
    for i, j in graph.edges:
        graph.edges[i, j]["weight"] = 1.0 if (j - i) % 5 in (1, 4) else -1.0
    return [_compare(from_graph(graph, name="pentagon, sides +1, diagonals -1"))]


def karate_club() -> list[DemoLine]:
    """Modularity of Zachary's karate club."""
    return [_compare(modularity(nx.karate_club_graph(), name="karate club, 34 nodes: modularity without its constant"))]


def random_text() -> list[DemoLine]:
    """Scores as a pairwise classifier gives them."""
    instance = random(24, 1)
    return [_compare(CoreferenceInstance(instance.scores, "random scores, 24 mentions"))]


class _FromScratch(Coreference):
    """Starts without any answer and without contraction, so that every column shown is a generated one."""

    def __init__(self, instance: CoreferenceInstance) -> None:
        super().__init__(instance, contracted=False)

    def warm_start(self, budget: Budget) -> WarmStart:
        super().warm_start(budget)  # finds the items
        return WarmStart(columns=[self.items.column((k,)) for k in range(len(self.items))])


def _compare(instance: CoreferenceInstance) -> DemoLine:
    return beside(
        _FromScratch(instance),
        instance.check,
        lambda: all_link_in_highs(instance, 30.0),
        "all-link program in HiGHS",
        name=instance.name,
        possible=2**instance.num_mentions - 1,
        small=_FromScratch(random(4, 0)),
    )
