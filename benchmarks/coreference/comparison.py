"""Compare column generation with the integer linear program and with lazily separated rows, at all sizes.

Documents are cut after their first mentions, as in the source's first figure, so every size has the same texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from benchmarks.coreference.methods import (
    ALL_LINK,
    GENERATED,
    LAZY,
    LAZY_CONTRACTED,
    NEEDED_ROWS,
    UNCONTRACTED,
    check_runs,
    run,
)
from benchmarks.harness import Plan, Run, Say, mean_ratio, spread
from colgen.cli.template import Figure
from colgen.problems.coreference.instance import CoreferenceInstance, communities, random, random_signs


@dataclass(frozen=True)
class ClusteringPlan(Plan):
    """Amount of work; sizes are numbers of mentions.

    Attributes
    ----------
    compared
        Sizes at which all methods are compared.
    all_link, few
        Further sizes at which the all-link program is solved, on ``few`` documents each.
    sizes
        Sizes at which column generation is measured.
    documents
        Documents per size in ``compared`` and ``sizes``.
    cap, own_limit
        Time limits in seconds of an integer linear program and of the engine.
    whole
        Complete documents on which the engine's methods are compared.
    priced
        Documents on which the oracles are compared.
    signs, sign_cap
        Sizes of dense graphs of random signs, and the limit of HiGHS in seconds per graph and per pricing problem.
    hard
        Whether to measure other hard instances.
    """

    compared: Sequence[int] = (60, 80, 100)
    all_link: Sequence[int] = (10, 20, 30, 40, 50, 70, 90)
    few: int = 1
    sizes: Sequence[int] = (10, 20, 30, 40, 50, 60, 70, 75, 80, 90, 100, 150, 200, 250, 300, 350, 400)
    documents: int = 5
    cap: float = 300.0
    own_limit: float = 20.0
    whole: int = 6
    priced: int = 2
    signs: Sequence[int] = (24, 28, 32)
    sign_cap: float = 20.0
    hard: bool = True

    def shortened(self, share: float) -> ClusteringPlan:
        """Return the plan for a share of the time; hard instances, which reach their limits, only in the full one."""
        return replace(self.cut(share, "documents", "whole", "priced"), hard=self.hard and share == 1.0)


QUICK = ClusteringPlan(
    compared=(30,),
    all_link=(20,),
    few=1,
    sizes=(10, 20, 30, 60, 100),
    documents=2,
    cap=20.0,
    own_limit=10.0,
    whole=2,
    priced=1,
    signs=(10,),
    sign_cap=5.0,
    hard=False,
)

_GROWTH_FROM = 50
"""Least mentions to fit the growth of column generation; below, the engine's constant work dominates."""
_GROWTH_FROM_ALL_LINK = 20


def cut(instances: Iterable[CoreferenceInstance], size: int, count: int) -> list[CoreferenceInstance]:
    """Return instances with at least ``size`` mentions, restricted to the first ``size``."""
    enough = [instance for instance in instances if instance.num_mentions >= size]
    return [instance.restricted_to(range(size)) for instance in spread(enough, most=count)]


def run_sizes(instances: Sequence[CoreferenceInstance], plan: ClusteringPlan, say: Say) -> list[Run]:
    """Solve documents cut at the plan's sizes; raise AssertionError if two methods contradict each other."""
    runs: list[Run] = []
    for size in sorted({*plan.compared, *plan.all_link, *plan.sizes}):
        chosen = cut(instances, size, plan.documents)
        for number, instance in enumerate(chosen):
            ways = [GENERATED] if size in plan.sizes or size in plan.compared else []
            if size in plan.compared:
                ways += [UNCONTRACTED, LAZY, LAZY_CONTRACTED, NEEDED_ROWS]
            if size in plan.compared or (size in plan.all_link and number < plan.few):
                ways.append(ALL_LINK)
            runs += [run(way, instance, plan.cap if way in (ALL_LINK, NEEDED_ROWS) else plan.own_limit) for way in ways]
        of_size = [r for r in runs if r.size == size]
        check_runs(of_size)
        say(f"{size} mentions, {len(chosen)} documents: {_medians(of_size)}")
    return runs


def run_whole(instances: Sequence[CoreferenceInstance], plan: ClusteringPlan, say: Say) -> list[Run]:
    """Solve complete documents by the engine's methods."""
    runs: list[Run] = []
    for instance in spread(instances, most=plan.whole):
        ways = (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED)
        of_document = [run(way, instance, plan.own_limit) for way in ways]
        check_runs(of_document)
        runs += of_document
        say(f"complete document of {instance.num_mentions} mentions: {_medians(of_document)}")
    return runs


def compare_ways(runs: Sequence[Run], whole: Sequence[Run], plan: ClusteringPlan) -> list[Figure]:
    """Return geometric means over documents of ratios of seconds."""
    compared = [r for r in runs if r.size in plan.compared]
    limit = f"runs that reach their limit of {plan.cap:g} s count as that"
    figures = [compare_two("speedup_vs_all_link", compared, ALL_LINK, note=limit)]
    for size in plan.compared:
        of_size = [r for r in compared if r.size == size]
        figures.append(compare_two(f"speedup_vs_all_link_{size}", of_size, ALL_LINK))
    figures.append(
        compare_two(
            "engine_vs_kernel",
            compared,
            UNCONTRACTED,
            note="engine alone, without settling and contraction, over the default",
        )
    )
    figures.append(
        compare_two("speedup_vs_all_link_needed_rows", compared, NEEDED_ROWS, note="Miyauchi and Sukegawa's")
    )
    for size in plan.compared:
        of_size = [r for r in compared if r.size == size]
        figures.append(compare_two(f"speedup_vs_all_link_needed_rows_{size}", of_size, NEEDED_ROWS))
    for name, over in (("", compared), ("_whole", whole)):
        figures += [
            compare_two(f"speedup_vs_lazy_rows{name}", over, LAZY),
            compare_two(
                f"speedup_vs_lazy_rows_contracted{name}",
                over,
                LAZY_CONTRACTED,
                note="both contract, column generation also settles",
            ),
            compare_two(f"speedup_vs_lazy_rows_uncontracted{name}", over, LAZY, UNCONTRACTED, note="neither contracts"),
        ]
        for way in (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED):
            of_way = [r.seconds for r in over if r.way == way]
            figures.append(Figure(f"seconds_{_short(way)}{name}", median(of_way), "s", len(of_way), _solved(over, way)))
    return figures


def compare_two(name: str, runs: Sequence[Run], slower: str, faster: str = GENERATED, *, note: str = "") -> Figure:
    """Return the mean ratio of seconds of two methods on the instances of both."""
    seconds = {(r.name, r.size, r.way): r.seconds for r in runs}
    pairs = [
        (value, seconds[of, size, faster])
        for (of, size, way), value in seconds.items()
        if way == slower and (of, size, faster) in seconds
    ]
    notes = [note, f"{slower}: {_solved(runs, slower)}", f"{faster}: {_solved(runs, faster)}"]
    slow, fast = zip(*pairs, strict=True)
    return mean_ratio(name, slow, fast, "; ".join(filter(None, notes)))


def _solved(runs: Iterable[Run], way: str) -> str:
    proved = [r.proved for r in runs if r.way == way]
    return f"{sum(proved)} of {len(proved)} proved"


def _short(way: str) -> str:
    return (
        way.replace(" without contraction", " uncontracted")
        .replace(" after contraction", " contracted")
        .replace(" ", "_")
    )


def _medians(runs: Sequence[Run]) -> str:
    """Describe the median seconds of each method."""
    ways = list(dict.fromkeys(r.way for r in runs))
    parts = []
    for way in ways:
        of_way = [r for r in runs if r.way == way]
        missed = sum(not r.proved for r in of_way)
        parts.append(f"{way} {median(r.seconds for r in of_way):.3g} s" + (f" ({missed} not proved)" if missed else ""))
    return ", ".join(parts)


# --- growth ----------------------------------------------------------------------------------------------------------


def fit_exponent(runs: Iterable[Run]) -> float:
    """Fit b of seconds = a · mentions^b by least squares on logarithms; NaN for fewer than two sizes."""
    points = [(math.log(r.size), math.log(r.seconds)) for r in runs]
    if len({size for size, _ in points}) < 2:
        return math.nan
    sizes, seconds = zip(*points, strict=True)
    return float(np.polyfit(sizes, seconds, 1)[0])


def measure_growth(runs: Sequence[Run]) -> list[Figure]:
    """Return the growth of seconds with mentions, and the rounds by size."""
    figures = []
    for name, way, least in (
        ("growth_exponent", GENERATED, _GROWTH_FROM),
        ("growth_exponent_all_link", ALL_LINK, _GROWTH_FROM_ALL_LINK),
    ):
        fitted = [r for r in runs if r.way == way and r.size >= least]
        sizes = [r.size for r in fitted]
        note = f"{way}, {min(sizes)} to {max(sizes)} mentions" if sizes else way
        figures.append(Figure(name, fit_exponent(fitted), "", len(fitted), note))
    generated = [r for r in runs if r.way == GENERATED]
    for size in sorted({r.size for r in generated}):
        rounds = [r.rounds for r in generated if r.size == size]
        figures.append(Figure(f"rounds_{size}", float(np.mean(rounds)), "rounds", len(rounds), "mean"))
    return figures


# --- synthetic instances ---------------------------------------------------------------------------------------------


def measure_hard(plan: ClusteringPlan, say: Say) -> list[Figure]:
    """Compare column generation with lazy rows and with the integer linear program on dense instances."""
    runs: list[Run] = []
    if plan.hard:
        for instance in (random(32, 0), random_signs(28, 0), communities(60, 0, noise=0.2)):
            of_instance = [run(way, instance, plan.own_limit) for way in (GENERATED, LAZY)]
            check_runs(of_instance)
            runs += of_instance
            say(f"{instance.name}: {_medians(of_instance)}")
    figures = [compare_two("speedup_vs_lazy_rows_hard", runs, LAZY)] if runs else []
    for size in plan.signs:
        signs = [run(GENERATED, random_signs(size, seed), plan.own_limit) for seed in range(3)]
        against = [run(ALL_LINK, random_signs(size, 0), plan.sign_cap)]  # once, because it reaches its limit
        check_runs([*signs, *against])
        say(f"{size} random signs: {_medians([*signs, *against])}")
        figures += [
            Figure(f"solved_signs_{size}", sum(r.proved for r in signs), "instances", len(signs), "proved optimal"),
            Figure(f"seconds_signs_{size}", median(r.seconds for r in signs), "s", len(signs)),
            compare_two(
                f"speedup_signs_{size}", [*signs, *against], ALL_LINK, note=f"HiGHS is limited to {plan.sign_cap:g} s"
            ),
        ]
    for number in (5, 10) if plan.hard else ():
        for noise in (0.05, 0.1):
            several = [
                run(GENERATED, communities(100, seed, num_communities=number, noise=noise), plan.own_limit)
                for seed in range(3)
            ]
            say(f"{number} communities of 100, {noise:.0%} noise: {_medians(several)}")
            name = f"seconds_communities_{number}_noise_{100 * noise:.0f}"
            note = _solved(several, GENERATED)
            figures.append(Figure(name, median(r.seconds for r in several), "s", len(several), note))
    return figures
