"""Methods for comparison, which return a :class:`~colgen.problems.title_path.outcome.PathResult` of an instance."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from colgen import InputError, Problem, Result, Termination, TimeLimit, solve
from colgen.parallel.executor import Executor, seeds_from
from colgen.problems.title_path.instance import Path, PathInstance
from colgen.problems.title_path.lazy import LazyPath
from colgen.problems.title_path.model import arcs, centred_program
from colgen.problems.title_path.outcome import PathResult
from colgen.problems.title_path.template import TitlePath
from colgen.reporting.compared import proved_by_engine, solve_complete
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.paths import colour_coding as kernels
from colgen.solvers.paths.path_beam import beam as beam_kernel
from colgen.solvers.paths.walks import ascend, completions

MEMORY = 1 << 30
"""Bytes for all tables of colour coding."""

_STEPS_PER_CHECK = 2e8
"""Approximate number of elementary steps of colour coding between two checks of the clock."""


def relaxation_bound(instance: PathInstance, lower: float = -math.inf) -> float:
    """Return an upper bound on all paths: that of penalised walks, or the weight of the known path if it is larger."""
    scaled = instance.scaled
    known = (lower - scaled.offset) / scaled.scale
    bound = ascend(scaled.graph, known).bound
    return lower if bound <= known else max(scaled.to_original_units(bound), lower)


# --- exact -----------------------------------------------------------------------------------------------------------


def exact(instance: PathInstance, *, time_limit: float = math.inf) -> PathResult:
    """Solve by the template's method: bounds from penalised walks, and states that remember the necessary classes."""
    return _solve_on_engine("exact", TitlePath(instance), time_limit)


def lazy_rows(instance: PathInstance, *, time_limit: float = math.inf) -> PathResult:
    """Solve the integer program with separated cycles on the engine."""
    return _solve_on_engine("lazy rows", LazyPath(instance), time_limit)


def _solve_on_engine(method: str, problem: Problem, time_limit: float) -> PathResult:
    started = time.perf_counter()
    result: Result = solve(problem, stop=TimeLimit(time_limit) if time_limit < math.inf else ())
    proved = result.termination in (Termination.OPTIMAL, Termination.INFEASIBLE)
    return PathResult(
        method,
        result.answer,
        result.objective,
        -math.inf
        if result.termination is Termination.INFEASIBLE
        else result.objective
        if proved
        else result.dual_bound,
        1.0 if proved else 0.0,
        proved,
        time.perf_counter() - started,
        len(result.nodes),
        priced=proved_by_engine(result),
    )


def ilp(instance: PathInstance, *, time_limit: float = math.inf) -> PathResult:
    """Solve the integer program with flow variables in HiGHS with presolve; the model is built without Pyomo."""
    started = time.perf_counter()
    reduced, scaled = instance.reduced, instance.scaled
    f = centred_program(reduced)
    f.change_variables("I", cost=f.costs[f.column_blocks["I"].positions] / scaled.scale)
    f.offset = 0.0
    left = time_limit - (time.perf_counter() - started)
    found = solve_complete(f, max(left, 0.0))
    path = None if found.values is None else _follow(reduced, found.values)
    proved = found.status in (LPStatus.OPTIMAL, LPStatus.INFEASIBLE)
    return PathResult(
        "flow in HiGHS",
        path,
        -math.inf if path is None else instance.objective(path),
        scaled.to_original_units(found.bound)
        if path is None or found.status is not LPStatus.OPTIMAL
        else instance.objective(path),
        1.0 if proved else 0.0,
        proved,
        time.perf_counter() - started,
        found.nodes,
    )


def _follow(instance: PathInstance, values: np.ndarray) -> Path:
    tails, heads, _ = arcs(instance)
    taken = values[: len(tails)] > 0.5
    after = dict(zip(tails[taken].tolist(), heads[taken].tolist(), strict=True))
    path = [after[instance.num_vertices]]
    while path[-1] != instance.num_vertices + 1:
        path.append(after[path[-1]])
    return tuple(path[:-1])


def exhaustive(instance: PathInstance) -> PathResult:
    """Enumerate all paths; for tests and very small graphs."""
    started = time.perf_counter()
    best, weight, count = None, -math.inf, 0
    for w, path in _paths(instance):
        count += 1
        if w > weight:
            best, weight = path, w
    if best is not None:
        weight = instance.objective(best)
    return PathResult("exhaustive", best, weight, weight, 1.0, True, time.perf_counter() - started, count)


def _paths(instance: PathInstance) -> Iterator[tuple[float, Path]]:
    """Yield weight and vertices of every path of k vertices, depth first."""
    graph = instance.graph
    classes, last = graph.classes.tolist(), graph.last.tolist()
    after = [[(v, w) for v, w in enumerate(row) if w > -math.inf] for row in graph.weights.tolist()]

    def extend(path: Path, weight: float, visited: frozenset[int]) -> Iterator[tuple[float, Path]]:
        if len(path) == instance.length:
            if last[path[-1]] > -math.inf:
                yield weight + last[path[-1]], path
            return
        for v, w in after[path[-1]]:
            if classes[v] not in visited:
                yield from extend((*path, v), weight + w, visited | {classes[v]})

    for v, w in enumerate(graph.first.tolist()):
        if w > -math.inf:
            yield from extend((v,), w, frozenset((classes[v],)))


def a_star(
    instance: PathInstance, *, bound: bool = True, most: int = 1_000_000, time_limit: float = math.inf
) -> PathResult:
    """A* over partial paths, for small k, with the best walk regardless of classes as bound on the rest.

    Of partial paths with the same vertices and the same last vertex, only the heaviest is extended. The first path that
    reaches the sink is the heaviest.

    Parameters
    ----------
    bound
        If the search is interrupted, return a bound on the unexplored paths.
    most
        Largest number of extended partial paths.
    """
    started = time.perf_counter()
    graph, k = instance.graph, instance.length
    to_go, classes = completions(graph), instance.class_numbers
    queue: list[tuple[float, float, Path]] = []
    extended: set[tuple[int, frozenset[int]]] = set()

    def push(path: Path, weight: float, steps: np.ndarray) -> None:
        totals = weight + steps + to_go[len(path)]
        for v in np.flatnonzero(totals > -np.inf).tolist():
            heapq.heappush(queue, (-float(totals[v]), weight + float(steps[v]), (*path, v)))

    push((), 0.0, graph.first)
    while queue:
        hope, weight, path = heapq.heappop(queue)
        if len(path) == k:
            total = instance.objective(path)
            seconds = time.perf_counter() - started
            return PathResult("A*", path, total, total, 1.0, True, seconds, len(extended))
        if len(extended) >= most or (len(extended) % 256 == 0 and time.perf_counter() - started > time_limit):
            left = -hope if bound else math.inf
            return PathResult("A*", None, -math.inf, left, 0.0, False, time.perf_counter() - started, len(extended))
        state = (path[-1], frozenset(path))
        if state in extended:
            continue
        extended.add(state)
        steps = graph.weights[path[-1]].copy()
        steps[np.isin(classes, classes[list(path)])] = -np.inf
        push(path, weight, steps)
    return PathResult("A*", None, -math.inf, -math.inf, 1.0, True, time.perf_counter() - started, len(extended))


# --- without a proof -------------------------------------------------------------------------------------------------


def beam(instance: PathInstance, width: int, *, bound: bool = False) -> PathResult:
    """Beam search by weight so far, the usual method for selection and ordering.

    Parameters
    ----------
    width
        Partial paths kept at each length.
    bound
        Also compute the bound of the relaxation.
    """
    if width < 1:
        raise InputError(f"width of a beam must be at least 1, not {width}")
    started = time.perf_counter()
    weight, found = beam_kernel(instance.graph, width)
    path = tuple(found.tolist()) or None
    dual_bound = relaxation_bound(instance, weight) if bound else math.inf
    seconds = time.perf_counter() - started
    return _add_proof(PathResult(f"beam {width}", path, weight, dual_bound, 0.0, True, seconds, width))


def colour_coding(
    instance: PathInstance,
    *,
    failure: float = 1e-6,
    seed: int = 0,
    iterations: int | None = None,
    num_colours: int | None = None,
    until: float = math.inf,
    executor: Executor | None = None,
    memory: int = MEMORY,
    bound: bool = False,
    time_limit: float = math.inf,
) -> PathResult:
    """Colour coding: optimal with probability at least 1 - δ (:mod:`colgen.solvers.paths.colour_coding`).

    The result depends on the seed only, not on the number of processors, unless a time limit is reached.

    Parameters
    ----------
    failure
        δ, which determines the number of iterations.
    iterations
        Number of iterations, instead of ``failure``.
    num_colours
        r; by default chosen by the running-time formula of Deshpande et al. (2007), so that the table fits into memory.
    until
        Stop when a path has this weight, for measuring the time to a known optimum.
    executor
        Executes the iterations; by default threads on all processors.
    memory
        Bytes of all tables. Each worker has one table of at most 1/4 of this, so that results do not depend on
        the number of workers; fewer workers are used if necessary.
    bound
        Also compute the bound of the relaxation.
    time_limit
        Seconds; the stated probability refers to the completed iterations.
    """
    if not 0.0 < failure <= 1.0:
        raise InputError(f"failure must be a probability above 0 and at most 1, not {failure}")
    if iterations is not None and iterations < 1:
        raise InputError(f"iterations must be at least 1, not {iterations}")
    started = time.perf_counter()

    def expired() -> bool:
        return time.perf_counter() - started > time_limit

    graph, k, n, m = instance.graph, instance.length, instance.num_vertices, instance.num_classes
    if m < k:  # a path needs k different classes
        return PathResult("colour coding", None, -math.inf, -math.inf, 1.0)
    r = kernels.best_num_colours(k, n, memory // 4) if num_colours is None else num_colours
    if not k <= r <= 62:
        raise InputError(f"num_colours must be from k = {k} to 62, not {r}")
    p = kernels.success_probability(k, r, m)
    wanted = kernels.num_iterations(p, failure) if iterations is None else iterations
    piece = max(1, int(_STEPS_PER_CHECK / (n * n * 2.0**r)))
    weights: list[float] = []
    path: Path | None = None
    best, finished = -math.inf, True
    executor = _limit_workers(executor, max(1, memory // kernels.table_bytes(r, n)))
    piece = 1 if until < math.inf else min(piece, max(1, -(-wanted // executor.workers)))
    try:
        for found in executor.map(
            lambda seeds: kernels.iterate(graph, r, seeds, expired=expired), seeds_from(seed, wanted), piece=piece
        ):
            weights += found.weights.tolist()
            top = float(found.weights.max(initial=-math.inf))
            if top > best:
                best, path = top, tuple(found.path.tolist())
            if best >= until or expired():
                break
    except KeyboardInterrupt:
        finished = False
    course = np.maximum.accumulate(weights).tolist() if weights else []
    finished = finished and (len(course) == wanted or best >= until)
    probability = 1.0 if p >= 1.0 and course else -math.expm1(len(course) * math.log1p(-p)) if p < 1.0 else 0.0
    weight = -math.inf if path is None else instance.objective(path)
    dual_bound = weight if probability == 1.0 and p >= 1.0 else math.inf
    if bound and dual_bound == math.inf:
        dual_bound = relaxation_bound(instance, weight)
    seconds = time.perf_counter() - started
    result = PathResult("colour coding", path, weight, dual_bound, probability, finished, seconds, len(course), course)
    return _add_proof(result)


def _limit_workers(executor: Executor | None, most: int) -> Executor:
    """Return the executor, or one with at most ``most`` workers."""
    executor = executor or Executor()
    return executor if executor.workers <= most else Executor(most)


def _add_proof(result: PathResult) -> PathResult:
    """Return the result with probability 1 if the bound of the relaxation proves it."""
    if result.is_optimal or result.is_infeasible:
        return replace(result, probability=1.0)
    return result


METHODS: dict[str, Callable[[PathInstance], PathResult]] = {
    "exact": exact,
    "lazy rows": lazy_rows,
    "flow in HiGHS": ilp,
    "colour coding": colour_coding,
    "A*": a_star,
    "beam 80": lambda instance: beam(instance, 80),
    "exhaustive": exhaustive,
}
"""The methods by name."""
