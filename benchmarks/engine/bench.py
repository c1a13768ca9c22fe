"""Benchmark of the engine: comparison with handwritten loops, and costs of rounds, nodes and columns.

All figures are processor time, which other processes hardly influence.  First calls, which compile kernels and import
libraries, are not measured.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

from benchmarks.engine.columns import column_figures
from benchmarks.engine.loops import highs_loop, scip_loop
from benchmarks.engine.trees import Free, PoolOracle, PoolPartition
from benchmarks.harness import BenchOptions, check_agreement, measure, take_turns
from colgen import Method, NodeLimit, Sense, solve
from colgen.bounding.run import Run
from colgen.cli.template import Figure
from colgen.core.stop import AnyOf
from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.model import master
from colgen.problems.cutting_stock.pricing import PatternOracle
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.solvers.linear.lp import LinearProgram
from colgen.tree.queues import BestBound, DepthFirst, LevelWise, NodeQueue, Plunging
from colgen.tree.search import branch_and_bound

if TYPE_CHECKING:
    import pyomo.environ as pyo

_HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None

_MINUTES = 5.0
"""Approximate minutes for all repeats."""

_QUEUES = (BestBound, Plunging, DepthFirst, LevelWise)


def bench_engine(options: BenchOptions) -> list[Figure]:
    """Compare relaxations of random cutting stock with two handwritten loops, then measure rounds, nodes and columns.

    Every repeat solves every instance in all ways in turn, so that other load on the machine slows all of them.
    """
    if not _HAS_SCIP:
        options.say("PySCIPOpt is skipped because it is not installed: pip install colgen[benchmark]")
    share = options.share(_MINUTES)
    sizes, seeds, repeats = ((20,), 2, 1) if options.quick else ((50, 200), math.ceil(5 * share), math.ceil(3 * share))
    for size in sizes:  # first calls
        _measure_once(_EngineRuns(uniform(size, seeds)))
    runs = {size: [_EngineRuns(uniform(size, seed)) for seed in range(seeds)] for size in sizes}
    for repeat in range(repeats):
        for size, of_size in runs.items():
            for run in of_size:
                _measure_once(run)
            options.say(f"{size} widths, repeat {repeat + 1} of {repeats}: {_seconds_so_far(of_size)}")
    return [
        *_engine_overall(list(runs.values()), repeats),
        *(figure for size, of_size in runs.items() for figure in _engine_figures(size, of_size, repeats)),
        *_round_figures(options),
        *_node_figures(options),
        *column_figures(options),
    ]


# --- clocks ----------------------------------------------------------------------------------------------------------


@dataclass
class _Clock:
    """Seconds spent in a group of functions, and start of their first call."""

    total: float = 0.0
    first: float = math.inf

    def time(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.process_time()
            self.first = min(self.first, started)
            try:
                return function(*arguments, **named)
            finally:
                self.total += time.process_time() - started

        return timed


@contextmanager
def _time_calls(kind: type, *methods: str) -> Iterator[_Clock]:
    """Time methods of a class that do not call each other."""
    clock, own = _Clock(), {name: getattr(kind, name) for name in methods}
    for name, method in own.items():
        setattr(kind, name, clock.time(method))
    try:
        yield clock
    finally:
        for name, method in own.items():
            setattr(kind, name, method)


# --- comparison with handwritten loops -------------------------------------------------------------------------------


class _InPyomo(CuttingStock):
    """Cutting stock with a Pyomo model that is built and compiled, as in most user problems."""

    def master(self) -> pyo.ConcreteModel:
        return master(self.instance).pyomo()


@dataclass
class _EngineRuns:
    """Seconds of one instance by way, and shares by stage, one entry per repeat."""

    instance: CuttingStockInstance
    rounds: int = 0
    columns: int = 0
    taken: dict[str, list[float]] = field(default_factory=dict)

    def median_of(self, what: str) -> float:
        """Return the median over the repeats."""
        return median(self.taken[what])


def _measure_once(run: _EngineRuns) -> None:
    instance = run.instance
    ways: dict[str, Callable[[], Any]] = {
        "colgen": lambda: solve(_InPyomo(instance), relaxation=True),
        "highs": lambda: highs_loop(instance),
        "cached": lambda: solve(CuttingStock(instance), relaxation=True),
    }
    if _HAS_SCIP:
        ways["scip"] = lambda: scip_loop(instance)
    found, seconds = take_turns(ways)
    check_agreement(instance.name, {way: (one.objective, one.objective) for way, one in found.items()})
    run.rounds, run.columns = len(found["colgen"].iterations), found["colgen"].columns_generated
    for what, (value,) in {**seconds, **_shares(instance)}.items():
        run.taken.setdefault(what, []).append(value)


def _shares(instance: CuttingStockInstance) -> dict[str, list[float]]:
    """Return shares of time by stage in a separate run, because the clocks cost time."""
    with ExitStack() as clocks:
        lp = clocks.enter_context(_time_calls(LinearProgram, "__init__", "solve", "add_columns"))
        oracle = clocks.enter_context(_time_calls(PatternOracle, "price"))
        started = time.process_time()
        solve(_InPyomo(instance), relaxation=True)
        total = time.process_time() - started
    setup = min(lp.first, oracle.first) - started
    stages = {"lp": lp.total, "oracle": oracle.total, "setup": setup, "loop": total - setup - lp.total - oracle.total}
    shares = {f"{stage}_share": [spent / total] for stage, spent in stages.items()}
    return {**shares, "own_share": [(stages["setup"] + stages["loop"]) / total]}


def _ratio(runs: Sequence[_EngineRuns], slower: str, faster: str = "colgen") -> float:
    return float(median(run.median_of(slower) / run.median_of(faster) for run in runs))


def _median(runs: Sequence[_EngineRuns], what: str) -> float:
    return float(median(run.median_of(what) for run in runs))


def _seconds_so_far(runs: Sequence[_EngineRuns]) -> str:
    ways = (("colgen", "colgen"), ("HiGHS loop", "highs"), *((("PySCIPOpt", "scip"),) if _HAS_SCIP else ()))
    return ", ".join(f"{name} {_median(runs, way):.3f} s" for name, way in ways)


def _engine_overall(groups: Sequence[Sequence[_EngineRuns]], repeats: int) -> list[Figure]:
    n = sum(map(len, groups)) * repeats
    ways = {"speedup_vs_highspy_loop": "highs", **({"speedup_vs_pyscipopt": "scip"} if _HAS_SCIP else {})}
    own = [share for group in groups for run in group for share in run.taken["own_share"]]
    return [
        *(
            Figure(name, geometric_mean(_ratio(group, way) for group in groups), "ratio", n, "geometric mean of sizes")
            for name, way in ways.items()
        ),
        Figure("overhead_share", median(own), "share", n, "of the run, without LP and oracles"),
    ]


def _engine_figures(size: int, runs: Sequence[_EngineRuns], repeats: int) -> list[Figure]:
    n = len(runs) * repeats
    return [
        Figure(f"speedup_vs_highspy_loop_{size}", _ratio(runs, "highs"), "ratio", n, f"{size} widths"),
        *([Figure(f"speedup_vs_pyscipopt_{size}", _ratio(runs, "scip"), "ratio", n)] if _HAS_SCIP else ()),
        Figure(
            f"speedup_vs_highspy_loop_cached_{size}",
            _ratio(runs, "highs", "cached"),
            "ratio",
            n,
            "Pyomo model compiled",
        ),
        Figure(f"overhead_share_{size}", _median(runs, "own_share"), "share", n, "of the run, without LP and oracles"),
        Figure(f"setup_share_{size}", _median(runs, "setup_share"), "share", n, "Pyomo, first columns"),
        Figure(f"loop_share_{size}", _median(runs, "loop_share"), "share", n, "the engine's loop and checks"),
        Figure(f"lp_share_{size}", _median(runs, "lp_share"), "share", n),
        Figure(f"oracle_share_{size}", _median(runs, "oracle_share"), "share", n),
        Figure(f"seconds_{size}", _median(runs, "colgen"), "s", n),
        Figure(f"seconds_cached_{size}", _median(runs, "cached"), "s", n, "Pyomo model compiled before"),
        Figure(f"seconds_highspy_loop_{size}", _median(runs, "highs"), "s", n),
        *([Figure(f"seconds_pyscipopt_{size}", _median(runs, "scip"), "s", n)] if _HAS_SCIP else ()),
        Figure(f"rounds_{size}", median(run.rounds for run in runs), "rounds", len(runs)),
        Figure(f"columns_{size}", median(run.columns for run in runs), "columns", len(runs)),
    ]


# --- rounds and nodes ------------------------------------------------------------------------------------------------


def _round_figures(options: BenchOptions) -> list[Figure]:
    """Measure the engine's own Python per round of a tree with small linear programs and fast oracles."""
    nodes, repeats = (20, 1) if options.quick else (500, 3)
    figures = []
    for count in (1, 10):
        problem = PoolPartition(rows=40, columns=1500, oracles=count)
        solve(problem, stop=NodeLimit(5), method=Method(heuristics=()))  # first calls
        own, total, kernel = [], [], []
        for _ in range(repeats):
            with ExitStack() as clocks:
                lp = clocks.enter_context(_time_calls(LinearProgram, "__init__", "solve", "add_columns"))
                oracle = clocks.enter_context(_time_calls(PoolOracle, "best", "encode"))
                result, seconds = measure(partial(solve, problem, stop=NodeLimit(nodes), method=Method(heuristics=())))
            rounds = len(result.iterations)
            own.append(1000.0 * (seconds - lp.total - oracle.total) / rounds)
            total.append(1000.0 * seconds / rounds)
            kernel.append(1000.0 * oracle.total / rounds)
        problems = "one pricing problem" if count == 1 else f"{count} pricing problems"
        note = f"{problems}, {len(result.nodes)} nodes: the engine's share, without LP and oracles"
        options.say(f"{problems}: {min(own):.2f} ms per round in the engine, of {min(total):.2f} ms")
        figures += [
            Figure(f"milliseconds_per_round_{count}", min(own), "ms", repeats, note),
            Figure(f"milliseconds_per_round_in_all_{count}", min(total), "ms", repeats, "LP and oracles included"),
            Figure(f"milliseconds_of_oracles_{count}", min(kernel), "ms", repeats, "per round"),
        ]
    return figures


def _node_figures(options: BenchOptions) -> list[Figure]:
    """Measure the cost per node in large trees over small ones, with a free relaxation."""
    small, large, repeats = (200, 800, 1) if options.quick else (2000, 8000, 5)
    growths = {queue.__name__: _growth(queue, small, large, repeats) for queue in _QUEUES}
    worst = max(growths, key=lambda name: growths[name])
    options.say(f"cost per node, {large} nodes over {small}: {', '.join(f'{n} {g:.2f}' for n, g in growths.items())}")
    note = f"{large} nodes over {small}, a free relaxation; the worst queue, {worst}"
    return [Figure("tree_growth", growths[worst], "ratio", repeats, note)]


def _growth(queue: type[NodeQueue], small: int, large: int, repeats: int) -> float:
    """Return the ratio of the shortest alternating runs on large and on small trees."""
    pairs = [(_seconds_per_node(queue, large), _seconds_per_node(queue, small)) for _ in range(repeats)]
    return min(seconds for seconds, _ in pairs) / min(seconds for _, seconds in pairs)


def _seconds_per_node(queue: type[NodeQueue], nodes: int) -> float:
    """Search a complete tree of about ``nodes`` nodes."""
    run, free, order = Run(Sense.MINIMIZE, AnyOf()), Free(nodes.bit_length() - 1), queue(Sense.MINIMIZE)
    result, seconds = measure(partial(branch_and_bound, free, run, queue=order, node_limit=nodes))
    return seconds / len(result.nodes)
