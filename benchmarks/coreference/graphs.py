"""What is measured on graphs: modularity of the football teams and of generated graphs, and random signs."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import networkx as nx

from benchmarks.harness import BenchOptions
from colgen import Result, solve
from colgen.cli.template import Figure
from colgen.core.stop import TimeLimit
from colgen.problems.coreference.instance import CoreferenceInstance, modularity, random_signs
from colgen.problems.coreference.template import Coreference

FOOTBALL = "football.gml"
"""In a folder of graphs (``--data``)."""


def bench_graphs(options: BenchOptions, limit: float = 60.0) -> list[Figure]:
    """Seconds of the processor to a proof, and the gap after few of them where a proof takes long."""
    _measured(planted(90, 0), 30.0)  # compiles the kernels
    figures: list[Figure] = []
    football = None if options.data is None else options.data / FOOTBALL
    if football is not None and football.is_file():
        instance = modularity(_read(football), name="football")
        figures += [_seconds("football", instance, limit, options), _gap("football_5", instance, 5.0, options)]
    sizes = (80, 90) if options.quick else (150, 200)
    figures += [_gap(f"planted_{n}", planted(n, 1), 10.0, options) for n in sizes]
    if options.quick:
        return figures
    timed = {
        "er_60": modularity(nx.gnp_random_graph(60, 0.1, seed=1)),
        "ba_100": modularity(nx.barabasi_albert_graph(100, 2, seed=1)),
        "signs_40": random_signs(40, 0),
        "signs_50": random_signs(50, 0),
    }
    return figures + [_seconds(name, instance, limit, options) for name, instance in timed.items()]


def planted(nodes: int, seed: int) -> CoreferenceInstance:
    """Modularity of a benchmark graph with planted communities; three edges of ten leave their community.

    Source: A. Lancichinetti, S. Fortunato, F. Radicchi, *Benchmark graphs for testing community detection algorithms*,
    Physical Review E 78 (2008).
    """
    graph = nx.LFR_benchmark_graph(nodes, 3, 1.5, 0.3, average_degree=8, min_community=15, seed=seed)
    return modularity(nx.Graph(graph), name=f"planted-{nodes}-{seed}")


def _read(path: Path) -> nx.Graph:
    return nx.Graph(nx.read_gml(path, label="id"))


def _measured(instance: CoreferenceInstance, limit: float) -> tuple[Result, float]:
    started = time.process_time()
    result = solve(Coreference(instance), stop=TimeLimit(limit))
    return result, time.process_time() - started


def _seconds(name: str, instance: CoreferenceInstance, limit: float, options: BenchOptions) -> Figure:
    result, seconds = _measured(instance, limit)
    _say(name, instance, result, seconds, options)
    proved = "to the proof" if result.is_optimal else f"not proved, gap {100.0 * _share(instance, result):.3g}%"
    return Figure(f"seconds_{name}", seconds if result.is_optimal else limit, "s", 1, f"of the processor; {proved}")


def _gap(name: str, instance: CoreferenceInstance, limit: float, options: BenchOptions) -> Figure:
    result, seconds = _measured(instance, limit)
    _say(name, instance, result, seconds, options)
    return Figure(f"gap_{name}", 100.0 * _share(instance, result), "%", 1, f"after {limit:g} s")


def _share(instance: CoreferenceInstance, result: Result) -> float:
    """The gap over the modularity itself, with what each node has by itself."""
    best = result.objective + instance.constant
    gap = abs(result.dual_bound - result.objective)
    return gap / abs(best) if best else math.inf


def _say(name: str, instance: CoreferenceInstance, result: Result, seconds: float, options: BenchOptions) -> None:
    best: Sequence[float] = (result.objective + instance.constant, result.dual_bound + instance.constant)
    options.say(
        f"{name}: {best[0]:.6g}, bound {best[1]:.6g}, {result.termination.name}, {seconds:.2f} s, "
        f"{len(result.nodes)} nodes, {len(result.iterations)} rounds"
    )
