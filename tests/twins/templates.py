"""Twins of the templates: random tiny instances, and their optima by brute force.

A new template adds one :class:`Twin` to ``TWINS``; `test_every_problem.py` then checks the laws for it.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from colgen import Problem
from colgen.problems.assignment import Assignment
from colgen.problems.assignment import AssignmentInstance as Machines
from colgen.problems.chain_map import ChainInstance as Model
from colgen.problems.chain_map import ChainMAP
from colgen.problems.colouring import Colouring
from colgen.problems.colouring import ColouringInstance as Graph
from colgen.problems.coreference import Coreference
from colgen.problems.coreference import CoreferenceInstance as Scores
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from colgen.problems.grandparent_parsing import GrandparentParsing
from colgen.problems.nonlocal_parsing import NonlocalParsing, ParsingByColumns
from colgen.problems.title_path import LazyPath, TitlePath
from colgen.problems.title_path import PathInstance as Digraph
from colgen.problems.vehicle_routing import RoutingInstance as Customers
from colgen.problems.vehicle_routing import VehicleRouting
from tests.problems.grandparent_parsing.trees import instances as sentences_with_scores
from tests.problems.grandparent_parsing.trees import optimum as best_tree
from tests.problems.nonlocal_parsing.trees import instances as parsing
from tests.problems.nonlocal_parsing.trees import optimum as best_parse
from tests.twins.assignment import cheapest
from tests.twins.chain_map import best_scores
from tests.twins.chain_map import draw as draw_model
from tests.twins.colouring import fewest_colours
from tests.twins.coreference import optimum as best_clustering
from tests.twins.coreference import symmetric
from tests.twins.cutting_stock import optimum as fewest_rolls
from tests.twins.orders import cheapest as cheapest_order
from tests.twins.title_path import heaviest
from tests.twins.vehicle_routing import optimum as shortest_routes


@dataclass(frozen=True)
class Twin:
    """Functions of a template that the laws use.

    Attributes
    ----------
    instances
        Strategy for instances that brute force solves quickly.
    problem
        Function from an instance to its problem.
    optimum
        Function that returns the optimum by brute force, or None if infeasible.
    check
        Function that returns the objective of an answer from the instance alone; raises if it is infeasible.
    generates
        Whether the problem has a master with columns instead of a relaxation of its own.
    """

    name: str
    instances: st.SearchStrategy[Any]
    problem: Callable[[Any], Problem]
    optimum: Callable[[Any], float | None]
    check: Callable[[Any, Any], float]
    generates: bool = True

    def __repr__(self) -> str:
        return self.name


# --- cutting stock ---------------------------------------------------------------------------------------------------


@st.composite
def cutting_stock_instances(draw: st.DrawFn) -> CuttingStockInstance:
    roll = draw(st.integers(5, 30))
    # Widths near fractions of the roll yield relaxations that do not round up to the optimum.
    widths = draw(st.lists(st.integers(1 + roll // 6, roll), min_size=1, max_size=4, unique=True))
    demands = [draw(st.integers(1, 4)) for _ in widths]
    return CuttingStockInstance(roll, tuple(widths), tuple(demands))


@st.composite
def orders(
    draw: st.DrawFn, stock: bool = False, conflicts: bool = False, patterns: bool = False
) -> CuttingStockInstance:
    """Draw cutting stock with extensions: equal widths and costs, insufficient supplies, costs of any size."""
    roll = draw(st.integers(5, 20))
    wide = st.integers(1 + roll // 6, roll)
    widths = draw(st.lists(wide, min_size=1, max_size=3 if patterns or conflicts else 4))
    demands = [draw(st.integers(1, 2 if conflicts else 4)) for _ in widths]
    parts: dict[str, Any] = {}
    if stock:
        others = draw(st.lists(st.integers(1, roll), max_size=2))
        scale = draw(st.sampled_from([1.0, 1.0, 0.1, 1e-8, 1e8]))
        costs = [scale * draw(st.integers(0, 6)) for _ in [roll, *others]]
        supplies = [draw(st.sampled_from([None, None, 0, 1, 3])) for _ in costs]
        parts["stock"] = Stock((roll, *others), tuple(costs), tuple(supplies))
    if conflicts:
        every = list(itertools.combinations_with_replacement(range(len(widths)), 2))
        parts["conflicts"] = tuple(draw(st.lists(st.sampled_from(every), max_size=4)))
    if patterns:
        parts["patterns"] = draw(st.integers(1, 3))
    return CuttingStockInstance(roll, tuple(widths), tuple(demands), **parts)


def variant(name: str, **parts: bool) -> Twin:
    return Twin(name, orders(**parts), CuttingStock, cheapest_order, lambda i, answer: i.check(answer))


# --- assignment ------------------------------------------------------------------------------------------------------


@st.composite
def machines(draw: st.DrawFn) -> Machines:
    m, n = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    # Few distinct numbers yield ties; with fractions and other scales bounds cannot be rounded.
    integer, fraction = st.integers(-2, 4).map(float), st.floats(-2.0, 4.0).map(lambda cost: round(cost, 2))
    scale = draw(st.sampled_from([1.0, 1.0, 1e-8, 1e8]))
    cost = draw(st.sampled_from([integer, fraction])).map(lambda cost: scale * cost)
    costs = draw(arrays(np.float64, (m, n), elements=cost))
    sizes = draw(arrays(np.int64, (m, n), elements=st.integers(0, 6)))
    return Machines(costs, sizes, draw(arrays(np.int64, (m,), elements=st.integers(0, 12))))


# --- colouring -------------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 9))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return Graph(n, tuple(pair for pair, there in zip(pairs, chosen, strict=True) if there))


# --- coreference -----------------------------------------------------------------------------------------------------


@st.composite
def score_matrices(draw: st.DrawFn) -> Scores:
    n = draw(st.integers(1, 6))
    # Small integers yield ties and fractional relaxations; with fractions bounds cannot be rounded.
    integer, fraction = st.integers(-2, 2).map(float), st.floats(-2.0, 2.0).map(lambda score: round(score, 2))
    score = draw(st.sampled_from([integer, fraction, integer | fraction, st.sampled_from([-0.37, 0.37])]))
    pairs = n * (n - 1) // 2
    return Scores(symmetric(n, draw(st.lists(score, min_size=pairs, max_size=pairs))))


def coreference(name: str, **how: bool) -> Twin:
    return Twin(
        name,
        score_matrices(),
        lambda instance: Coreference(instance, smallest=2, **how),
        best_clustering,
        lambda instance, answer: instance.check(answer),
    )


# --- paths of k vertices ---------------------------------------------------------------------------------------------


@st.composite
def digraphs(draw: st.DrawFn) -> Digraph:
    n = draw(st.integers(1, 5))
    # Few distinct numbers yield ties; bonuses of vertices favour walks that return; some arcs are missing.
    weight = st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 1.0, 2.0]) | st.floats(-2.0, 2.0).map(lambda w: round(w, 2))
    weights = draw(arrays(np.float64, (n + 2, n), elements=weight))
    weights += draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 0.0, 5.0])))
    classes = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    return Digraph(weights[:n], weights[n], weights[n + 1], draw(st.integers(1, 4)), tuple(classes))


def title_path(name: str, problem: Callable[[Digraph], Problem]) -> Twin:
    return Twin(name, digraphs(), problem, heaviest, lambda instance, answer: instance.check(answer))


# --- vehicle routing -------------------------------------------------------------------------------------------------


@st.composite
def customers(draw: st.DrawFn) -> Customers:
    n = draw(st.integers(1, 5))
    # Few distinct distances yield ties; distances may be asymmetric.
    distances = draw(arrays(np.float64, (n + 1, n + 1), elements=st.integers(0, 5).map(float)))
    if draw(st.booleans()):
        distances = np.minimum(distances, distances.T)
    matrix, demands = tuple(map(tuple, distances.tolist())), [draw(st.integers(0, 5)) for _ in range(n)]
    capacity, most = draw(st.integers(5, 12)), draw(st.integers(1, n))
    if draw(st.booleans()):
        return Customers(matrix, (0, *demands), capacity, vehicles=most)
    ready = [draw(st.integers(0, 9)) for _ in range(n)]
    windows = [(r, max(r, distances[0, i]) + draw(st.integers(0, 6))) for i, r in enumerate(ready, 1)]
    service = (0.0, *[float(draw(st.integers(0, 2))) for _ in range(n)])
    return Customers(matrix, (0, *demands), capacity, ((0.0, 25.0), *windows), service, most)


def vehicle_routing(name: str, **how: Any) -> Twin:
    return Twin(
        name,
        customers(),
        lambda instance: VehicleRouting(instance, **how),
        shortest_routes,
        lambda instance, answer: instance.check(answer),
    )


# --- chains and trees ------------------------------------------------------------------------------------------------


def best_labelling(instance: Model) -> float | None:
    """Return the sum of the best scores of trees with a labelling, or None if there is no such tree."""
    best = best_scores(instance)
    return float(best[np.isfinite(best)].sum()) if np.isfinite(best).any() else None


def chain_map(name: str, **how: Any) -> Twin:
    return Twin(
        name,
        st.integers(0, 100_000).map(draw_model),
        lambda instance: ChainMAP(instance, **how),
        best_labelling,
        lambda instance, answer: float(instance.values(np.maximum(answer.labels, 0))[answer.feasible].sum()),
    )


# --- second-order parsing --------------------------------------------------------------------------------------------


class WithoutAscent(GrandparentParsing):
    """Second-order parsing with a single step of dual ascent, so that the linear program does the work."""

    plain, iterations = True, 1


def grandparent_parsing(name: str, kind: type[GrandparentParsing] = GrandparentParsing, **options: Any) -> Twin:
    sentences = sentences_with_scores(3)
    if kind is WithoutAscent:  # the combinatorial dual has no siblings
        sentences = sentences.map(lambda instance: replace(instance, sibling_scores=None))
    return Twin(
        name,
        sentences,
        lambda instance: kind(instance, **options),
        best_tree,
        lambda instance, answer: instance.check(answer),
    )


TWINS = [
    Twin("cutting_stock", cutting_stock_instances(), CuttingStock, fewest_rolls, lambda i, answer: i.check(answer)),
    variant("cutting_stock_of_several_rolls", stock=True),
    variant("cutting_stock_with_conflicts", conflicts=True),
    variant("cutting_stock_with_conflicts_of_several_rolls", stock=True, conflicts=True),
    variant("cutting_stock_by_few_patterns", patterns=True),
    Twin("colouring", graphs(), Colouring, fewest_colours, lambda i, answer: i.check(answer)),
    Twin("colouring_with_cuts", graphs(), partial(Colouring, cuts=True), fewest_colours, lambda i, a: i.check(a)),
    Twin("assignment", machines(), Assignment, cheapest, lambda i, answer: i.check(answer)),
    Twin("assignment_with_cuts", machines(), partial(Assignment, cuts=True), cheapest, lambda i, a: i.check(a)),
    coreference("coreference"),
    coreference("coreference_unsettled", settled=False),
    coreference("coreference_by_mentions", contracted=False),
    chain_map("chain_map"),
    chain_map("chain_map_published", start=1),
    title_path("title_path", TitlePath),
    title_path("title_path_lazy", LazyPath),
    vehicle_routing("vehicle_routing", neighbours=2),
    Twin("nonlocal_parsing", parsing(), NonlocalParsing, best_parse, lambda i, answer: i.check(answer), False),
    Twin("parsing_by_columns", parsing(), ParsingByColumns, best_parse, lambda i, answer: i.check(answer)),
    grandparent_parsing("grandparent_parsing"),
    grandparent_parsing("grandparent_parsing_with_flow", connectivity="flow"),
    grandparent_parsing("grandparent_parsing_by_arcs", WithoutAscent),
]
