"""Benchmark of title paths: the source's comparison of decoders on textbook sections, and random graphs.

Scores are learned on the first 2/3 of each file's sections.  Decoders are measured on the last 1/3, with the true
number of content words as k.  Times exclude training and the construction of graphs.
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
"""Approximate minutes for all sections."""

WIDTHS = (1, 80)
"""Beam widths of the source's table; the smallest always optimal width is added."""


def bench_title_path(options: BenchOptions) -> list[Figure]:
    """Measure seconds, share optimal and ROUGE-L of each decoder, and random graphs of growing size."""
    data = options.folder(
        "this benchmark needs sections with titles, as JSON lines with title and text: add --data DIR; books with "
        "sections are at github.com/OpenDSA/OpenDSA and github.com/patmorin/ods"
    )
    plan = QUICK if options.quick else TitlePlan()
    learn, test = split(read_sections(data))
    model = train(learn, test, say=options.say)
    test = spread(test, options.share(_MINUTES), most=plan.sections)
    instances = [model.instance(one.text, one.num_content_words, one.name) for one in test]
    vertices, words = [i.num_vertices for i in instances], [one.num_content_words for one in test]
    options.say(f"{len(instances)} graphs, median {median(vertices):g} vertices")
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
        Figure("vertices", median(vertices), "vertices", len(vertices), "median"),
        Figure("content_words", fmean(words), "words", len(words), "mean of the titles"),
        Figure("one_content_word", words.count(1), "titles", len(words), "for which a beam of 1 is exact"),
        Figure("beam_width_always_optimal", smallest, "paths", len(instances), "smallest found"),
        *measure_convergence(table),
        *(figure for way in (*WAYS, *map(beam_name, widths)) for figure in describe_way(table, way, test, plan)),
        *(figure for one in measure_random_graphs(plan, options.say) for figure in _scaling_figures(one)),
    ]


def compare_medians(table: Table, plan: TitlePlan) -> list[Figure]:
    """Return ratios of median seconds."""
    given = list(table.results[FLOW])
    flow = median(r.seconds for r in table.of(FLOW, given))
    limit = f"the flow program is limited to {plan.flow_limit:g} s, which counts if exceeded"
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
        Figure("proved_by_engine", priced / n, "share", n, "bound by a pricing round, path checked"),
        Figure("worst_seconds", max(r.seconds for r in table.of(EXACT)), "s", n, "exact"),
        Figure("proved", proved, "sections", n, f"optimal or without a path, of {n}"),
    ]


def describe_way(table: Table, way: str, sections: Sequence[Section], plan: TitlePlan) -> list[Figure]:
    """Return a row of the table: seconds, share optimal, ROUGE-L."""
    name = way.lower().replace(" ", "_")
    results = table.results[way]
    seconds = [result.seconds for result in results.values()]
    n = len(seconds)
    optimal = fmean(table.is_optimal(way, k) for k in results)
    ended = sum(result.finished for result in results.values())
    note = f"{ended} of {n} ended in {plan.flow_limit if way == FLOW else plan.limit:g} s" if ended < n else ""
    return [
        Figure(f"seconds_mean_{name}", fmean(seconds), "s", n, note),
        Figure(f"seconds_median_{name}", median(seconds), "s", n),
        Figure(f"seconds_worst_{name}", max(seconds), "s", n),
        Figure(f"optimal_{name}", 100.0 * optimal, "%", n),
        Figure(
            f"rouge_l_{name}",
            fmean(title_score(table.instances[k], result, sections[k]) for k, result in results.items()),
            "",
            n,
            "mean F measure",
        ),
    ]


def measure_convergence(table: Table) -> list[Figure]:
    """Return how many iterations colour coding needs to find the optimum, on sections with a path."""
    counts = sorted(count_iterations(table))
    n = len(counts)
    return [
        Figure(
            "iterations_to_optimum_90", counts[max(0, math.ceil(0.9 * n) - 1)], "iterations", n, "of 90% of sections"
        ),
        Figure("iterations_to_optimum_all", counts[-1], "iterations", n, "of all sections"),
    ]


def count_iterations(table: Table) -> list[float]:
    """Return, by section with a path, the iteration at which colour coding found the optimum; infinite if never."""
    counts = []
    for k, result in table.results[UNTIL].items():
        optimum = table.optimum(k)
        if optimum > -math.inf:
            within = 1e-9 * max(1.0, abs(optimum))
            counts.append(next((i for i, w in enumerate(result.course, 1) if w >= optimum - within), math.inf))
    return counts


def _scaling_figures(one: Scaling) -> list[Figure]:
    size = f"{one.num_vertices}_{one.length}"
    note = "" if one.proved else "not proved"
    return [
        Figure(f"random_seconds_{size}", one.seconds, "s", 1, note),
        Figure(f"random_iterations_{size}", one.iterations_per_second, "1/s", one.num_iterations, "of colour coding"),
    ]
