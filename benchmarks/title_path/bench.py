"""Benchmark of title paths: the source's comparison of decoders on textbook sections, and random graphs.

The scores are learned on the first two thirds of each file's sections; measured are the last thirds, with the true
number of content words as k.  Training and the making of the graphs count in no time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from benchmarks.harness import BenchOptions, spread
from benchmarks.title_path.comparison import (
    CODING,
    EXACT,
    FLOW,
    LAZY,
    QUICK,
    UNTIL,
    WAYS,
    Scaling,
    Table,
    TitlePlan,
    add_beam,
    beam_name,
    compare,
    find_smallest_width,
    measure_random_graphs,
    warm_up,
)
from colgen.cli.template import Figure
from colgen.core.files import write_figure
from colgen.problems.title_path.drawing import draw_convergence
from colgen.problems.title_path.learning import train
from colgen.problems.title_path.sections import Section, read_sections, split
from colgen.problems.title_path.training import title_score

_MINUTES = 12.0
"""What all sections take, about."""

WIDTHS = (1, 80)
"""Of the beams of the source's table, beside the smallest that is always optimal."""


def bench_title_path(options: BenchOptions) -> list[Figure]:
    """The source's table: seconds, share optimal and ROUGE-L of each decoder; and random graphs of growing size."""
    data = options.folder(
        "this benchmark needs sections with titles, as JSON lines with title and text: say --data DIR; there are "
        "books to take them from at github.com/OpenDSA/OpenDSA and github.com/patmorin/ods"
    )
    plan = QUICK if options.quick else TitlePlan()
    learn, test = split(read_sections(data))
    model = train(learn, test, say=options.say)
    test = spread(test, options.share(_MINUTES), most=plan.sections)
    instances = [model.instance(one.text, one.num_content_words, one.name) for one in test]
    options.say(f"{len(instances)} graphs of {median(i.num_vertices for i in instances):g} vertices in the middle")
    warm_up()
    table = compare(instances, WIDTHS, plan, options.say)
    smallest = find_smallest_width(table)
    widths: Sequence[int] = WIDTHS
    if smallest:
        options.say(f"a beam of {smallest} is optimal on every section")
        widths = (*WIDTHS, smallest) if smallest not in WIDTHS else WIDTHS
        table = add_beam(table, smallest)
    if options.plot is not None:
        write_figure(draw_convergence(count_iterations(table)), options.plot)
    return [
        *compare_medians(table, plan),
        Figure("vertices", median(i.num_vertices for i in instances), "vertices", len(instances), "median"),
        Figure("beam_width_always_optimal", smallest, "paths", len(instances), "the smallest that was found"),
        *measure_convergence(table),
        *(figure for way in (*WAYS, *map(beam_name, widths)) for figure in describe_way(table, way, test, plan)),
        *(figure for one in measure_random_graphs(plan, options.say) for figure in _scaling_figures(one)),
    ]


def compare_medians(table: Table, plan: TitlePlan) -> list[Figure]:
    """Ratios of median seconds."""
    given = list(table.results[FLOW])
    flow = median(r.seconds for r in table.of(FLOW, given))
    limit = f"the flow program has {plan.flow_limit:g} s, which counts where it needs more"
    ended = sum(r.finished for r in table.of(FLOW))
    coding = median(r.seconds for r in table.of(CODING, given))
    best = median(r.seconds for r in table.of(EXACT, given))
    everywhere = median(r.seconds for r in table.of(EXACT)) / median(r.seconds for r in table.of(CODING))
    by_rows = median(r.seconds for r in table.of(LAZY)) / median(r.seconds for r in table.of(EXACT))
    priced = sum(r.priced and (r.is_optimal or r.is_infeasible) for r in table.of(EXACT))
    proved = sum(r.is_optimal or r.is_infeasible for r in table.of(EXACT))
    n = len(table.instances)
    return [
        Figure("speedup_colour_coding_vs_ilp", flow / coding, "ratio", len(given), f"of medians, δ = 1e-6; {limit}"),
        Figure("speedup_exact_vs_ilp", flow / best, "ratio", len(given), f"of medians; {ended} of {len(given)} ended"),
        Figure("exact_vs_colour_coding", everywhere, "ratio", n, "of median seconds, δ = 1e-6"),
        Figure("engine_vs_kernel", by_rows, "ratio", n, "of median seconds: rows separated over a linear program"),
        Figure("proved_by_engine", priced / n, "share", n, "a pricing round states the bound, and the path is checked"),
        Figure("worst_seconds", max(r.seconds for r in table.of(EXACT)), "s", n, "exact"),
        Figure("proved", proved, "sections", n, f"optimal or without a path, of {n}"),
    ]


def describe_way(table: Table, way: str, sections: Sequence[Section], plan: TitlePlan) -> list[Figure]:
    """A row of the table: seconds, share optimal, ROUGE-L."""
    name = way.lower().replace(" ", "_")
    found = table.results[way]
    seconds = [result.seconds for result in found.values()]
    n = len(seconds)
    optimal = fmean(table.is_optimal(way, k) for k in found)
    ended = sum(result.finished for result in found.values())
    note = f"{ended} of {n} ended in {plan.flow_limit if way == FLOW else plan.limit:g} s" if ended < n else ""
    return [
        Figure(f"seconds_mean_{name}", fmean(seconds), "s", n, note),
        Figure(f"seconds_median_{name}", median(seconds), "s", n),
        Figure(f"seconds_worst_{name}", max(seconds), "s", n),
        Figure(f"optimal_{name}", 100.0 * optimal, "%", n),
        Figure(
            f"rouge_l_{name}",
            fmean(title_score(table.instances[k], result, sections[k]) for k, result in found.items()),
            "",
            n,
            "mean F measure",
        ),
    ]


def measure_convergence(table: Table) -> list[Figure]:
    """How many iterations of colour coding it takes to find the optimum, on the sections that have a path."""
    first = count_iterations(table)
    found = sorted(first)
    n = len(found)
    return [
        Figure(
            "iterations_to_optimum_90", found[max(0, math.ceil(0.9 * n) - 1)], "iterations", n, "of 90% of sections"
        ),
        Figure("iterations_to_optimum_all", found[-1], "iterations", n, "of all sections"),
    ]


def count_iterations(table: Table) -> list[float]:
    """For each section with a path the iteration at which colour coding found it; infinite if it did not."""
    found = []
    for k, result in table.results[UNTIL].items():
        optimum = table.optimum(k)
        if optimum > -math.inf:
            within = 1e-9 * max(1.0, abs(optimum))
            found.append(next((i for i, w in enumerate(result.course, 1) if w >= optimum - within), math.inf))
    return found


def _scaling_figures(one: Scaling) -> list[Figure]:
    size = f"{one.num_vertices}_{one.length}"
    note = "" if one.proved else "not proved"
    return [
        Figure(f"random_seconds_{size}", one.seconds, "s", 1, note),
        Figure(f"random_iterations_{size}", one.iterations_per_second, "1/s", one.num_iterations, "of colour coding"),
    ]
