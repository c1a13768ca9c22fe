"""What is measured of choosing among candidates: nodes and time of strong branching against the most fractional."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import geometric_mean

from benchmarks.engine.trees import PoolPartition
from benchmarks.harness import BenchOptions
from colgen import Choice, Method, MostFractional, Problem, PseudoCostBranching, StrongBranching, TimeLimit, solve
from colgen.cli.template import Figure
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random as routing

_MINUTES = 6.0
"""What all instances take, about."""

_LIMIT = 120.0
"""Seconds that a run may take."""

_CHOICES: dict[str, Choice] = {
    "most_fractional": MostFractional(),
    "pseudo_costs": PseudoCostBranching(),
    "strong": StrongBranching(),
}


class Unlisted(VehicleRouting):
    """Routes without cuts, and none listed: all that closes the gap is the tree."""

    def __init__(self, seed: int, customers: int = 40) -> None:
        super().__init__(routing(seed, customers=customers), cuts=False)

    def enumeration(self) -> None:
        return None


def _instances() -> dict[str, list[Callable[[], Problem]]]:
    return {
        "assignment": [partial(_assignment, seed) for seed in range(1, 8)],
        "partition": [partial(PoolPartition, 20, 100, 2, seed) for seed in range(7)],
        "routing": [partial(Unlisted, seed) for seed in range(6)],
    }


def _assignment(seed: int) -> Problem:
    return Unguessed(random(6, 24, seed))


def bench_branching(options: BenchOptions) -> list[Figure]:
    """Trees of assignment, partitioning and routing: nodes and seconds, each choice against the most fractional."""
    share = 0.1 if options.quick else options.share(_MINUTES)
    solve(Unguessed(random(3, 10, 0)), method=Method(choice=StrongBranching()))  # first calls
    solve(PoolPartition(12, 40, 2), method=Method(choice=StrongBranching()))
    solve(Unlisted(0, customers=12), method=Method(choice=StrongBranching()))
    found: dict[str, list[tuple[str, dict[str, tuple[int, float]]]]] = {}
    for name, instances in _instances().items():
        for make in instances[: max(1, math.ceil(share * len(instances)))]:
            runs = {choice: _run(make, _CHOICES[choice]) for choice in _CHOICES}
            found.setdefault(name, []).append((name, runs))
            said = ", ".join(f"{choice} {nodes} nodes in {seconds:.2f} s" for choice, (nodes, seconds) in runs.items())
            options.say(f"{name}: {said}")
    every = [entry for entries in found.values() for entry in entries]
    figures = []
    for name, entries in {"": every, **{f"_{name}": entries for name, entries in found.items()}}.items():
        figures += _ratios(name, [runs for _, runs in entries])
    return figures


def _run(make: Callable[[], Problem], choice: Choice) -> tuple[int, float]:
    """Nodes and processor seconds of a run to the proved optimum, or to the limit."""
    problem, started = make(), time.process_time()
    result = solve(problem, method=Method(choice=choice), stop=TimeLimit(_LIMIT))
    return len(result.nodes), time.process_time() - started


def _ratios(name: str, runs: Sequence[dict[str, tuple[int, float]]]) -> list[Figure]:
    figures = []
    for choice, called in (("strong", ""), ("pseudo_costs", "_pseudo_costs")):
        for k, (what, unit) in enumerate((("nodes", "nodes"), ("time", "processor seconds"))):
            ratios = [max(run[choice][k], 1e-3) / max(run["most_fractional"][k], 1e-3) for run in runs]
            figures.append(
                Figure(
                    f"{what}_vs_most_fractional{called}{name}",
                    geometric_mean(ratios),
                    "ratio",
                    len(ratios),
                    f"{unit}, geometric mean; {sum(r[choice][k] for r in runs):.6g} against "
                    f"{sum(r['most_fractional'][k] for r in runs):.6g} in all",
                )
            )
    return figures
