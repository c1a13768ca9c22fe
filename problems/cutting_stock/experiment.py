"""What is measured: the engine's speed against loops written by hand, and hard instances against HiGHS."""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from statistics import geometric_mean, median
from typing import Any, cast

from colgen import (
    Duals,
    Formulation,
    InputError,
    LinearMaster,
    PricingContext,
    PricingResult,
    Result,
    compile_model,
    solve,
)
from colgen.cli.template import BenchOptions, Figure
from colgen.core.stop import TimeLimit
from problems.cutting_stock.baseline import solve_full
from problems.cutting_stock.instance import Instance, critical, near_integer, triplets, uniform
from problems.cutting_stock.loops import highs_loop, scip_loop
from problems.cutting_stock.pricing import PatternOracle
from problems.cutting_stock.template import CuttingStock
from solvers.linear.lp import LinearProgram, LPStatus, MIPSolution

# --- the engine ------------------------------------------------------------------------------------------------------


class _Uncached(CuttingStock):
    """Builds and compiles its Pyomo model every time, as the first instance of a shape does."""

    def formulation(self) -> Formulation:
        return compile_model(self.master())


@dataclass
class _Clock:
    """Seconds spent in the calls of one kind, and when the first of them began."""

    total: float = 0.0
    first: float = math.inf

    def time(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            started = time.perf_counter()
            self.first = min(self.first, started)
            try:
                return function(*arguments)
            finally:
                self.total += time.perf_counter() - started

        return timed


class _TimedProgram:
    """A linear program whose solves, and whose changes, are timed."""

    def __init__(self, lp: LinearProgram, clock: _Clock) -> None:
        self._lp = lp
        self.solve = clock.time(lp.solve)
        self.add_columns = clock.time(lp.add_columns)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lp, name)


class _TimedOracle(PatternOracle):
    """The oracle with a clock."""

    clock: _Clock

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        return cast(PricingResult, self.clock.time(super().price)(duals, context))


class _Timed(_Uncached):
    """Says where the time of a run goes: ``lp`` and ``oracle``, the rest being the engine's own."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.lp, timed = _Clock(), _TimedOracle(self.layout)
        self.oracle = timed
        timed.clock = self.oracle_clock = _Clock()

    def restricted_master(self) -> LinearMaster:
        master = LinearMaster(self.formulation())
        master.lp = cast(LinearProgram, _TimedProgram(master.lp, self.lp))
        return master


@dataclass
class _EngineRuns:
    """Seconds of one instance, one entry a repeat."""

    instance: Instance
    rounds: int = 0
    columns: int = 0
    colgen: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)
    scip: list[float] = field(default_factory=list)
    lp_share: list[float] = field(default_factory=list)
    oracle_share: list[float] = field(default_factory=list)
    setup_share: list[float] = field(default_factory=list)
    loop_share: list[float] = field(default_factory=list)


def bench_engine(options: BenchOptions) -> list[Figure]:
    """The relaxation of random cutting stock: the engine against two loops of one column a round.

    Every repeat solves every instance in all ways, one after the other, so that a busy machine slows all of them down.
    """
    if importlib.util.find_spec("pyscipopt") is None:
        raise InputError("this benchmark needs PySCIPOpt: pip install colgen[benchmark]")
    sizes, seeds, repeats = ((20,), 2, 1) if options.quick else ((50, 200), 5, 3)
    for size in sizes:  # compiles the kernels and imports the libraries, which is nobody's speed
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
    ]


def _measure_once(run: _EngineRuns) -> None:
    result, seconds = _timed(lambda: solve(_Uncached(run.instance), relaxation=True))
    by_highs, highs_seconds = _timed(lambda: highs_loop(run.instance))
    by_scip, scip_seconds = _timed(lambda: scip_loop(run.instance))
    cached, cached_seconds = _timed(lambda: solve(CuttingStock(run.instance), relaxation=True))
    for name, value in (("HiGHS", by_highs.objective), ("SCIP", by_scip.objective), ("itself", cached.objective)):
        if not math.isclose(result.objective, value, rel_tol=1e-6):
            raise AssertionError(f"{run.instance.name}: the optimum is {result.objective}, by {name} {value}")
    run.colgen.append(seconds)
    run.highs.append(highs_seconds)
    run.scip.append(scip_seconds)
    run.cached.append(cached_seconds)
    run.rounds, run.columns = len(result.iterations), result.columns_generated
    _measure_shares(run)


def _measure_shares(run: _EngineRuns) -> None:
    """Where the time goes, in a run of its own: clocks cost time."""
    started = time.perf_counter()
    problem = _Timed(run.instance)
    solve(problem, relaxation=True)
    total = time.perf_counter() - started
    lp, oracle = problem.lp, problem.oracle_clock
    setup = min(lp.first, oracle.first) - started
    run.lp_share.append(lp.total / total)
    run.oracle_share.append(oracle.total / total)
    run.setup_share.append(setup / total)
    run.loop_share.append((total - setup - lp.total - oracle.total) / total)


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = function()
    return result, time.perf_counter() - started


def _ratio(runs: Sequence[_EngineRuns], slower: str, faster: str = "colgen") -> float:
    return float(median(median(getattr(run, slower)) / median(getattr(run, faster)) for run in runs))


def _middle(runs: Sequence[_EngineRuns], what: str) -> float:
    return float(median(median(getattr(run, what)) for run in runs))


def _seconds_so_far(runs: Sequence[_EngineRuns]) -> str:
    ways = (("colgen", "colgen"), ("HiGHS loop", "highs"), ("PySCIPOpt", "scip"))
    return ", ".join(f"{name} {_middle(runs, way):.3f} s" for name, way in ways)


def _engine_overall(groups: Sequence[Sequence[_EngineRuns]], repeats: int) -> list[Figure]:
    n = sum(map(len, groups)) * repeats
    highs = geometric_mean([_ratio(group, "highs") for group in groups])
    scip = geometric_mean([_ratio(group, "scip") for group in groups])
    own = [
        setup + loop
        for group in groups
        for run in group
        for setup, loop in zip(run.setup_share, run.loop_share, strict=True)
    ]
    return [
        Figure("speedup_vs_highspy_loop", highs, "ratio", n, "geometric mean over the sizes"),
        Figure("speedup_vs_pyscipopt", scip, "ratio", n, "geometric mean over the sizes"),
        Figure("overhead_share", median(own), "share", n, "of the run, neither LP nor oracle"),
    ]


def _engine_figures(size: int, runs: Sequence[_EngineRuns], repeats: int) -> list[Figure]:
    n = len(runs) * repeats
    own = median(median(map(sum, zip(run.setup_share, run.loop_share, strict=True))) for run in runs)
    return [
        Figure(f"speedup_vs_highspy_loop_{size}", _ratio(runs, "highs"), "ratio", n, f"{size} widths"),
        Figure(f"speedup_vs_pyscipopt_{size}", _ratio(runs, "scip"), "ratio", n),
        Figure(
            f"speedup_vs_highspy_loop_cached_{size}",
            _ratio(runs, "highs", "cached"),
            "ratio",
            n,
            "Pyomo model compiled",
        ),
        Figure(f"overhead_share_{size}", own, "share", n, "of the run, neither LP nor oracle"),
        Figure(f"setup_share_{size}", _middle(runs, "setup_share"), "share", n, "of it: Pyomo, first columns"),
        Figure(f"loop_share_{size}", _middle(runs, "loop_share"), "share", n, "of it: the engine's loop and checks"),
        Figure(f"lp_share_{size}", _middle(runs, "lp_share"), "share", n),
        Figure(f"oracle_share_{size}", _middle(runs, "oracle_share"), "share", n),
        Figure(f"seconds_{size}", _middle(runs, "colgen"), "s", n),
        Figure(f"seconds_cached_{size}", _middle(runs, "cached"), "s", n, "Pyomo model compiled before"),
        Figure(f"seconds_highspy_loop_{size}", _middle(runs, "highs"), "s", n),
        Figure(f"seconds_pyscipopt_{size}", _middle(runs, "scip"), "s", n),
        Figure(f"rounds_{size}", median(run.rounds for run in runs), "rounds", len(runs)),
        Figure(f"columns_{size}", median(run.columns for run in runs), "columns", len(runs)),
    ]


# --- hard instances --------------------------------------------------------------------------------------------------

# Found by screening many seeds.  (seed, width of the last piece, optimum): the optimum of the first list is the
# rounded-up relaxation plus one; in the second list it is the rounded-up relaxation, and hard to find.
NON_IRUP = (
    *((11, 304, 71), (21, 146, 83), (26, 179, 71), (33, 72, 83), (45, 277, 61), (51, 265, 65), (52, 132, 84)),
    *((75, 79, 82), (85, 245, 71), (88, 279, 70), (91, 207, 78)),
)
IRUP_HARD = (
    *((9, 58, 58), (14, 153, 78), (22, 104, 74), (30, 237, 66), (41, 279, 76), (50, 55, 54), (62, 236, 70)),
    (77, 50, 77),
)
NATURAL = (
    *((356, 74), (37, 75), (829, 69), (860, 66), (914, 74), (992, 60), (1009, 71), (1021, 81), (1080, 77)),
    (1139, 82),
)
"""(seed, optimum) of :func:`~problems.cutting_stock.instance.natural`: the rounded-up relaxation, hard to find."""
NEAR_INTEGER = ((0, 29), (2, 36), (11, 21), (13, 31), (14, 48), (15, 34), (16, 42), (19, 21), (23, 28))
"""(seed, optimum) of :func:`~problems.cutting_stock.instance.near_integer`."""

_CAP = 30.0
"""Seconds that HiGHS is given, and counted with where it needs more."""

_OWN_LIMIT = 120.0
"""Seconds that branch and price is given; an instance that needs more counts as not solved."""


@dataclass(frozen=True)
class Outcome:
    """One hard instance solved both ways."""

    family: str
    solved: bool
    seconds: float
    nodes: int
    highs_seconds: float
    highs_finished: bool


def hard_instances(quick: bool) -> Iterator[tuple[str, Instance, int]]:
    """Family, instance and known optimum."""
    if quick:
        yield "triplets", triplets(10, 0), 10
        yield "near_integer", near_integer(19), 21
        seed, width, optimum = NON_IRUP[3]
        yield "non_irup", critical(seed, width), optimum
        return
    for seed, width, optimum in (NON_IRUP[0], *NON_IRUP[3:5], *NON_IRUP[7:9]):
        yield "non_irup", critical(seed, width), optimum
    for seed, width, optimum in (*IRUP_HARD[:2], IRUP_HARD[3], IRUP_HARD[6]):
        yield "irup_hard", critical(seed, width), optimum
    for seed, optimum in (NEAR_INTEGER[0], *NEAR_INTEGER[3:5], NEAR_INTEGER[6]):
        yield "near_integer", near_integer(seed), optimum
    for rolls, seed in ((40, 0), (60, 0), (83, 1)):
        yield "triplets", triplets(rolls, seed), rolls


def bench_cutting_stock(options: BenchOptions) -> list[Figure]:
    """Hard instances to proved optimality, against HiGHS on the arc-flow model."""
    cap = 5.0 if options.quick else _CAP
    chosen = list(hard_instances(options.quick))
    options.say(
        f"{len(chosen)} instances; HiGHS is given at most {cap:g} s for each, {len(chosen) * cap / 60:.2g} minutes in "
        "all"
    )
    solve(CuttingStock(triplets(3, 0)))  # compiles the kernels
    outcomes = []
    for family, instance, optimum in chosen:
        outcome, line = _solve_both_ways(family, instance, optimum, cap)
        outcomes.append(outcome)
        options.say(line)
    families = list(dict.fromkeys(outcome.family for outcome in outcomes))
    capped = sum(not outcome.highs_finished for outcome in outcomes)
    speedup = geometric_mean([o.highs_seconds / o.seconds for o in outcomes])
    return [
        Figure("solved", sum(o.solved for o in outcomes), "instances", len(outcomes), "proved optimal"),
        Figure("seconds_worst", max(o.seconds for o in outcomes), "s", len(outcomes)),
        Figure(
            "speedup_vs_arc_flow",
            speedup,
            "ratio",
            len(outcomes),
            f"geometric mean; HiGHS hit its limit of {cap:g} s on {capped} and counts as that",
        ),
        Figure("arc_flow_solved", len(outcomes) - capped, "instances", len(outcomes), f"by HiGHS in {cap:g} s"),
        *(figure for name in families for figure in _family_figures(name, [o for o in outcomes if o.family == name])),
    ]


def _family_figures(name: str, outcomes: Sequence[Outcome]) -> list[Figure]:
    n = len(outcomes)
    seconds = [o.seconds for o in outcomes]
    return [
        Figure(f"solved_{name}", sum(o.solved for o in outcomes), "instances", n, f"proved optimal, of {n}"),
        Figure(f"seconds_median_{name}", median(seconds), "s", n),
        Figure(f"seconds_worst_{name}", max(seconds), "s", n),
        Figure(f"nodes_median_{name}", median(o.nodes for o in outcomes), "nodes", n),
    ]


def _solve_both_ways(family: str, instance: Instance, optimum: int, cap: float) -> tuple[Outcome, str]:
    result, seconds = _timed(lambda: solve(CuttingStock(instance), stop=TimeLimit(_OWN_LIMIT)))
    _cross_check(instance, result, optimum)
    complete, highs_seconds = _arc_flow_in_highs(instance, cap)
    finished = complete is not None and complete.status is LPStatus.OPTIMAL
    if complete is not None and finished and round(complete.objective) != optimum:
        raise AssertionError(f"{instance.name}: HiGHS finds {complete.objective:g} rolls, {optimum} are known")
    if complete is not None and complete.bound > optimum + 1e-6:
        raise AssertionError(f"{instance.name}: HiGHS proves more than {optimum} rolls: {complete.bound:g}")
    line = (
        f"{family:12} {instance.name:16} {result.objective:g} rolls, {result.termination.name}, {seconds:.2f} s, "
        f"{len(result.nodes)} nodes, {len(result.iterations)} rounds; HiGHS on the arc flow "
        f"{f'{highs_seconds:.1f} s' if finished else f'not in {cap:g} s'}"
    )
    return Outcome(family, result.is_optimal, seconds, len(result.nodes), highs_seconds, finished), line


def _arc_flow_in_highs(instance: Instance, cap: float) -> tuple[MIPSolution | None, float]:
    """HiGHS on the arc-flow model in a process of its own: its result (None if it needs longer) and its seconds.

    HiGHS looks at its clock too seldom on these models, by minutes, so the process is ended from outside.  Building the
    model counts, starting the process does not.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_solve_and_send, args=(theirs, instance, cap), daemon=True)
    process.start()
    try:
        ours.recv()  # it is ready
        started = time.perf_counter()
        if not ours.poll(cap):
            return None, cap
        result: MIPSolution = ours.recv()
        return result, min(time.perf_counter() - started, cap)
    finally:
        process.kill()
        process.join()


def _solve_and_send(pipe: Connection, instance: Instance, cap: float) -> None:
    pipe.send("ready")
    pipe.send(solve_full(instance, "arc_flow", cap))


def _cross_check(instance: Instance, result: Result, optimum: int) -> None:
    rolls = instance.check(result.answer)
    if rolls != result.objective:
        raise AssertionError(f"{instance.name}: the answer has {rolls} rolls, the result says {result.objective:g}")
    if rolls < optimum or (result.is_optimal and rolls != optimum) or result.dual_bound > optimum + 1e-6:
        raise AssertionError(
            f"{instance.name}: {rolls} rolls and the bound {result.dual_bound:g} contradict the known optimum {optimum}"
        )
