"""Benchmark of branching choices: nodes and time of strong branching relative to most fractional."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from benchmarks.engine.trees import PoolPartition
from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, run_engine
from colgen import Method, MostFractional, Problem, StrongBranching, solve
from colgen.branching.selection import Choice, PseudoCostBranching
from colgen.cli.template import Figure
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random as routing

_MINUTES = 6.0
"""Approximate minutes for all instances."""

_LIMIT = 120.0
"""Time limit per run in seconds."""

_CHOICES: dict[str, Choice] = {
    "most_fractional": MostFractional(),
    "pseudo_costs": PseudoCostBranching(),
    "strong": StrongBranching(),
}


class WithoutEnumeration(VehicleRouting):
    """Vehicle routing without cuts and route enumeration, so that only the tree closes the gap."""

    def __init__(self, seed: int, customers: int = 40) -> None:
        super().__init__(routing(seed, customers=customers), cuts=False)

    def method(self) -> Method:
        return dataclasses.replace(super().method(), enumeration=())


def _instances() -> dict[str, list[Callable[[], Problem]]]:
    return {
        "assignment": [partial(_assignment, seed) for seed in range(1, 8)],
        "partition": [partial(PoolPartition, 20, 100, 2, seed) for seed in range(7)],
        "routing": [partial(WithoutEnumeration, seed) for seed in range(6)],
    }


def _assignment(seed: int) -> Problem:
    return Unguessed(random(6, 24, seed))


def bench_branching(options: BenchOptions) -> list[Figure]:
    """Measure trees of assignment, partitioning and routing for each choice, relative to most fractional."""
    share = 0.1 if options.quick else options.share(_MINUTES)
    solve(Unguessed(random(3, 10, 0)), method=Method(choice=StrongBranching()))  # first calls
    solve(PoolPartition(12, 40, 2), method=Method(choice=StrongBranching()))
    solve(WithoutEnumeration(0, customers=12), method=Method(choice=StrongBranching()))
    found: dict[str, list[Mapping[str, Run]]] = {}
    for name, instances in _instances().items():
        for number, make in enumerate(instances[: max(1, math.ceil(share * len(instances)))]):
            runs = {
                way: run_engine(make(), _LIMIT, name=f"{name} {number}", way=way, method=Method(choice=choice))[0]
                for way, choice in _CHOICES.items()
            }
            check_agreement(name, {way: run.claim for way, run in runs.items()})
            found.setdefault(f"_{name}", []).append(runs)
            for run in runs.values():
                options.say(str(run))
    every = [runs for several in found.values() for runs in several]
    return [figure for name, several in {"": every, **found}.items() for figure in _ratios(name, several)]


def _ratios(name: str, runs: Sequence[Mapping[str, Run]]) -> list[Figure]:
    figures = []
    for choice, called in (("strong", ""), ("pseudo_costs", "_pseudo_costs")):
        for what, unit, effort in (("nodes", "nodes", "nodes"), ("time", "processor seconds", "seconds")):
            own, other = ([float(getattr(of[way], effort)) for of in runs] for way in (choice, "most_fractional"))
            note = f"{unit}, {sum(own):.6g} and {sum(other):.6g} in total"
            figures.append(mean_ratio(f"{what}_vs_most_fractional{called}{name}", own, other, note))
    return figures
