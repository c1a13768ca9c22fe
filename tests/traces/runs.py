"""The runs whose traces are kept: toys, and instances of every template with and without guesses and heuristics.

Each run is deterministic: fixed seeds, one process, no limit of time or memory.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from colgen import Method, Problem, WarmStart, solve
from colgen.core.result import Result
from colgen.problems.assignment import Assignment
from colgen.problems.assignment.instance import random as random_machines
from colgen.problems.chain_map import ChainMAP
from colgen.problems.chain_map.instance import random as random_chains
from colgen.problems.colouring import Colouring
from colgen.problems.colouring.instance import queens
from colgen.problems.colouring.instance import random as random_graph
from colgen.problems.coreference import Coreference
from colgen.problems.coreference.instance import communities, random_signs
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.grandparent_parsing import GrandparentParsing
from colgen.problems.grandparent_parsing.instance import random as random_trees
from colgen.problems.nonlocal_parsing import NonlocalParsing, ParsingByColumns
from colgen.problems.nonlocal_parsing.instance import random as random_parsing
from colgen.problems.title_path import LazyPath, TitlePath
from colgen.problems.title_path.instance import random as random_titles
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random as random_customers
from colgen.tree.queues import BestBound
from tests import toys

Run = Callable[[], Result[Any]]


def runs() -> dict[str, Run]:
    """Return the runs by name."""
    return dict(_runs())


def _runs() -> Iterator[tuple[str, Run]]:
    for name, problem in _problems():
        yield name, partial(_solve, problem)
    for seed in range(3):
        for name, problem in _small_problems(seed):
            yield f"{name}/bare/{seed}", partial(_solve, problem, bare=True)


def _solve(problem: Callable[[], Problem], *, bare: bool = False) -> Result[Any]:
    """Solve with the template's own options; ``bare`` without guesses and heuristics, so that it branches."""
    if not bare:
        return solve(problem())
    return solve(problem(), start=WarmStart(), method=Method(heuristics=(), queue=BestBound))


def _problems() -> Iterator[tuple[str, Callable[[], Problem]]]:
    yield "toys/cutting_stock", toys.CuttingStock
    for seed in range(3):
        yield f"cutting_stock/plain/{seed}", partial(CuttingStock, _rolls(40, 50, seed))
        yield f"cutting_stock/conflicts/{seed}", partial(_with_conflicts, seed)
        yield f"cutting_stock/patterns/{seed}", partial(_few_patterns, seed)
        yield f"assignment/{seed}", partial(Assignment, random_machines(5, 25, seed))
        yield f"assignment/cuts/{seed}", partial(Assignment, random_machines(4, 16, seed), cuts=True)
        yield f"colouring/{seed}", partial(Colouring, random_graph(45, seed))
        yield f"colouring/cuts/{seed}", partial(Colouring, random_graph(35, seed, density=0.6), cuts=True)
        yield f"coreference/{seed}", partial(Coreference, communities(22, seed, noise=0.3))
        yield f"coreference/signs/{seed}", partial(Coreference, random_signs(16, seed))
        yield f"chain_map/{seed}", partial(ChainMAP, random_chains(seed, chains=3, length=10, labels=12))
        yield f"chain_map/published/{seed}", partial(ChainMAP, random_chains(seed, evidence=0.5, labels=12), start=1)
        yield f"title_path/{seed}", partial(TitlePath, random_titles(24, 5, seed, attraction=1.0))
        yield f"title_path/lazy/{seed}", partial(LazyPath, random_titles(12, 5, seed))
        yield f"vehicle_routing/{seed}", partial(VehicleRouting, random_customers(seed, customers=24))
        yield (
            f"vehicle_routing/no_windows/{seed}",
            partial(VehicleRouting, random_customers(seed, customers=15, windows=False)),
        )
        yield f"nonlocal_parsing/{seed}", partial(NonlocalParsing, random_parsing(12, seed, strength=2.0))
        yield f"nonlocal_parsing/columns/{seed}", partial(ParsingByColumns, random_parsing(7, seed, strength=2.0))
        yield (
            f"grandparent_parsing/{seed}",
            partial(GrandparentParsing, random_trees(12, seed, siblings=True, strength=1.0)),
        )
        yield (
            f"grandparent_parsing/flow/{seed}",
            partial(GrandparentParsing, random_trees(8, seed, strength=1.5), connectivity="flow"),
        )
    yield "colouring/queens", partial(Colouring, queens(6))


def _small_problems(seed: int) -> Iterator[tuple[str, Callable[[], Problem]]]:
    yield "cutting_stock", partial(CuttingStock, _rolls(12, 3, seed))
    yield "assignment", partial(Assignment, random_machines(3, 12, seed))
    yield "colouring", partial(Colouring, random_graph(18, seed))
    yield "coreference", partial(Coreference, communities(12, seed, noise=0.3))
    yield "chain_map", partial(ChainMAP, random_chains(seed, evidence=0.2, length=6, labels=6), start=1)
    yield "title_path", partial(TitlePath, random_titles(12, 5, seed))
    yield "vehicle_routing", partial(VehicleRouting, random_customers(seed, customers=14))
    yield "nonlocal_parsing", partial(NonlocalParsing, random_parsing(7, seed, strength=3.0))
    yield "grandparent_parsing", partial(GrandparentParsing, random_trees(8, seed, strength=2.0))


def _with_conflicts(seed: int) -> CuttingStock:
    rng = np.random.default_rng(seed)
    pairs = tuple((i, j) for i in range(14) for j in range(i) if rng.random() < 0.15)
    return CuttingStock(replace(_rolls(14, 6, seed), conflicts=pairs))


def _few_patterns(seed: int) -> CuttingStock:
    return CuttingStock(replace(_rolls(8, 6, seed), patterns=6))


def _rolls(widths: int, most: int, seed: int) -> CuttingStockInstance:
    rng = np.random.default_rng(seed)
    sizes = rng.choice(np.arange(60, 400), widths, replace=False)
    return CuttingStockInstance(1000, sizes.tolist(), rng.integers(1, most + 1, widths).tolist())
