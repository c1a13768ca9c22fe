"""Benchmark of stabilization: 60 relaxations of four problems with each method and with none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

from benchmarks.engine.trees import PoolPartition
from benchmarks.harness import BenchOptions, mean_ratio, spread
from colgen import Directional, Method, NoStabilization, Problem, WarmStart, Wentges, ablation
from colgen.cli.template import Figure
from colgen.problems.assignment import random as assignment
from colgen.problems.assignment.template import Unguessed
from colgen.problems.colouring import Colouring
from colgen.problems.colouring import random as graph
from colgen.problems.cutting_stock import CuttingStock
from colgen.problems.cutting_stock.generators import bin_packing, triplets, uniform
from colgen.reporting.ablation import Ablation
from colgen.stabilization import Penalty

_MINUTES = 3.0
"""Approximate minutes for all instances."""

_SEEDS = range(1, 6)

_NONE, _DEFAULT, _WENTGES, _DIRECTIONAL = "none", "default", "wentges", "directional"
_PENALTY, _AHEAD = "penalty", "wentges, phase 1 at real costs"

_METHODS: Mapping[str, Method] = {
    _NONE: Method(stabilization=NoStabilization()),
    _DEFAULT: Method(),
    _WENTGES: Method(stabilization=Wentges()),
    _DIRECTIONAL: Method(stabilization=Directional()),
    _PENALTY: Method(stabilization=Penalty()),
    _AHEAD: Method(stabilization=Wentges(real_costs=True)),
}

_AGAIN = {key: _METHODS[key] for key in (_DEFAULT, _NONE)}


def _without_guesses(make: Callable[[], Problem]) -> Problem:
    """Return a problem without warm start, which could leave no columns to generate."""
    problem = make()
    problem.__dict__["warm_start"] = lambda budget: WarmStart()
    return problem


def instances() -> dict[str, list[tuple[str, Callable[[], Problem]]]]:
    """Return 15 instances of each problem: three kinds with five seeds each."""
    kinds: Mapping[str, Mapping[str, Callable[[int], Problem]]] = {
        "cutting_stock": {
            "packing of 100": lambda seed: CuttingStock(bin_packing(100, seed)),
            "50 widths": lambda seed: CuttingStock(uniform(50, seed)),
            "triplets for 25": lambda seed: CuttingStock(triplets(25, seed)),
        },
        "assignment": {
            "5 x 40, C": lambda seed: Unguessed(assignment(5, 40, seed, kind="C")),
            "5 x 40, D": lambda seed: Unguessed(assignment(5, 40, seed)),
            "10 x 40, D": lambda seed: Unguessed(assignment(10, 40, seed)),
        },
        "colouring": {
            "50, sparse": lambda seed: Colouring(graph(50, seed, density=0.3)),
            "60": lambda seed: Colouring(graph(60, seed)),
            "80, dense": lambda seed: Colouring(graph(80, seed, density=0.7)),
        },
        "partition": {
            "30 rows": lambda seed: PoolPartition(30, 1000, 2, seed),
            "40 rows": lambda seed: PoolPartition(40, 1000, 2, seed),
            "40 rows, 4 pools": lambda seed: PoolPartition(40, 1000, 4, seed),
        },
    }
    return {
        problem: [
            (f"{problem}, {kind}, seed {seed}", partial(_without_guesses, partial(make, seed)))
            for kind, make in of.items()
            for seed in _SEEDS
        ]
        for problem, of in kinds.items()
    }


def bench_stabilization(options: BenchOptions) -> Sequence[Figure]:
    """Compare oracle calls (rounds and misprices) and seconds of the stabilization methods."""
    share = 0.2 if options.quick else options.share(_MINUTES)
    taken: dict[str, list[_Taken]] = {}
    for problem, every in instances().items():
        for name, make in spread(every, share):
            # Seconds are the smaller of two successive runs, because of other load on the machine.
            taken.setdefault(problem, []).append(
                _Taken(*(ablation({name: make}, methods, relaxation=True) for methods in (_METHODS, _AGAIN)))
            )
            options.say(f"{name}: {taken[problem][-1]}")
    return _figures(taken)


class _Taken:
    """Calls and seconds of each method on one instance."""

    def __init__(self, first: Ablation, again: Ablation) -> None:
        if not first.agree:
            raise AssertionError(f"{first.instances[0]}: stabilization must not change the optimum, but optima differ")
        self.rounds = {line.name: line.rounds or 0 for line in first.lines}
        self.calls = {line.name: (line.rounds or 0) + line.misprices for line in first.lines}
        self.seconds = {line.name: line.seconds for line in first.lines}
        for line in again.lines:
            self.seconds[line.name] = min(self.seconds[line.name], line.seconds)

    def __str__(self) -> str:
        return ", ".join(f"{name} {self.calls[name]} calls, {self.seconds[name]:.2f} s" for name in self.calls)


def _figures(taken: Mapping[str, Sequence[_Taken]]) -> list[Figure]:
    every = [each for several in taken.values() for each in several]
    calls = "rounds and misprices"

    def compare(name: str, of: Sequence[_Taken], what: str, method: str, other: str, note: str) -> Figure:
        return mean_ratio(name, _of(of, what, method), _of(of, what, other), note)

    def rank(name: str, what: str, note: str, which: Callable[[Sequence[float]], float]) -> Figure:
        pairs = zip(_of(every, what, _DEFAULT), _of(every, what, _NONE), strict=True)
        return Figure(name, which([own / other for own, other in pairs]), "ratio", len(every), note)

    alone, alike = "rounds alone, without mispriced calls", "both price phase 1 at real costs"
    figures = [
        compare("rounds_directional_vs_wentges", every, "rounds", _DIRECTIONAL, _WENTGES, alone),
        compare("calls_directional_vs_wentges", every, "calls", _DIRECTIONAL, _WENTGES, calls),
        compare("rounds_directional_vs_wentges_alike", every, "rounds", _DIRECTIONAL, _AHEAD, alike),
        rank("worst_vs_none", "seconds", "maximum, in seconds", max),
        rank("worst_calls_vs_none", "calls", "maximum, in calls", max),
        compare("seconds_vs_none", every, "seconds", _DEFAULT, _NONE, "processor time"),
        rank("middle_vs_none", "seconds", "median, in seconds", median),
    ]
    for problem, several in taken.items():
        for method, other in ((_DIRECTIONAL, _WENTGES), (_WENTGES, _NONE), (_PENALTY, _NONE), (_DEFAULT, _NONE)):
            figures.append(compare(f"calls_{method}_vs_{other}_{problem}", several, "calls", method, other, calls))
    return figures


def _of(taken: Sequence[_Taken], what: str, method: str) -> list[float]:
    """Return seconds, calls or rounds of a method by instance."""
    return [max(getattr(each, what)[method], 1e-3) for each in taken]
