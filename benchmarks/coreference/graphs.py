"""Benchmark of clustering on graphs: modularity of the football graph and of generated graphs, and random signs."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx

from benchmarks.harness import BenchOptions, Run, run_engine
from colgen import TimeLimit, solve
from colgen.cli.template import Figure
from colgen.core.text import percent
from colgen.problems.coreference.instance import CoreferenceInstance, modularity, random_signs
from colgen.problems.coreference.template import Coreference

FOOTBALL = "football.gml"
"""File in a folder of graphs (``--data``)."""


def bench_graphs(options: BenchOptions, limit: float = 60.0) -> list[Figure]:
    """Measure processor seconds to a proof, and the gap after a short time where a proof takes long."""
    solve(Coreference(planted(90, 0)), stop=TimeLimit(30.0))  # compiles the kernels
    figures: list[Figure] = []
    football = None if options.data is None else options.data / FOOTBALL
    if football is not None and football.is_file():
        instance = modularity(nx.Graph(nx.read_gml(football, label="id")), name="football")
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
    """Return modularity of a graph with planted communities; 30% of edges leave their community.

    Source: A. Lancichinetti, S. Fortunato, F. Radicchi, *Benchmark graphs for testing community detection algorithms*,
    Physical Review E 78 (2008).
    """
    graph = nx.LFR_benchmark_graph(nodes, 3, 1.5, 0.3, average_degree=8, min_community=15, seed=seed)
    return modularity(nx.Graph(graph), name=f"planted-{nodes}-{seed}")


def _solve(name: str, instance: CoreferenceInstance, limit: float, options: BenchOptions) -> tuple[Run, float]:
    """Solve an instance; return the run and the gap relative to modularity, which includes a constant."""
    run, _ = run_engine(Coreference(instance), limit, name=name)
    best, bound = run.objective + instance.constant, run.bound + instance.constant
    options.say(str(replace(run, objective=best, bound=bound)))
    return run, abs(bound - best) / abs(best) if best else math.inf


def _seconds(name: str, instance: CoreferenceInstance, limit: float, options: BenchOptions) -> Figure:
    run, gap = _solve(name, instance, limit, options)
    proved = "to a proof" if run.proved else f"not proved, gap {percent(gap)}"
    return Figure(f"seconds_{name}", run.seconds if run.proved else limit, "s", 1, f"processor time; {proved}")


def _gap(name: str, instance: CoreferenceInstance, limit: float, options: BenchOptions) -> Figure:
    _, gap = _solve(name, instance, limit, options)
    return Figure(f"gap_{name}", 100.0 * gap, "%", 1, f"after {limit:g} s")
