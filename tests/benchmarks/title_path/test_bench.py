import math
from pathlib import Path

import pytest

from benchmarks.harness import BenchOptions
from benchmarks.title_path.bench import (
    bench_title_path,
    compare_medians,
    count_iterations,
    describe_way,
    measure_convergence,
)
from benchmarks.title_path.comparison import (
    CODING,
    EXACT,
    FLOW,
    LAZY,
    QUICK,
    UNTIL,
    Table,
    TitlePlan,
    add_beam,
    beam_name,
    check_results,
    compare,
    find_smallest_width,
    measure_random_graphs,
    solve_flow,
)
from colgen import InputError
from colgen.problems.title_path import PathResult, random
from colgen.problems.title_path.sections import Section
from tests.in_process import bounded
from tests.problems.title_path import texts

DATA = Path(__file__).parents[4] / "shared" / "data" / "titles"


def made_up(way, objective, seconds, *, bound=math.inf, course=(), finished=True):
    return PathResult(way, (0,), objective, bound, 0.0, finished, seconds, len(course), course)


@pytest.fixture(scope="module")
def table():
    instances = [random(12, k, k, num_classes=9, attraction=3.0) for k in (1, 2, 3, 4)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.title_path.comparison.bounded", bounded)
        return compare(instances, (1, 80), TitlePlan(flow_every=2, flow_limit=30.0, limit=30.0), lambda line: None)


def test_every_way_is_run(table):
    assert set(table.results[EXACT]) == {0, 1, 2, 3}
    assert set(table.results[FLOW]) == {0, 2}
    for way, found in table.results.items():
        for k, result in found.items():
            assert result.seconds > 0
            if not way.startswith("beam 1"):
                assert table.is_optimal(way, k), way


def test_ratios_are_of_medians():
    instances = [random(4, 1, 0)] * 3
    seconds = {
        EXACT: (1, 2, 9),
        CODING: (4, 8, 12),
        FLOW: (100, 600, 300),
        UNTIL: (1, 1, 1),
        LAZY: (90, 40, 50),
    }
    results = {
        way: {k: made_up(way, 0.0, s, bound=0.0, course=(0.0,)) for k, s in enumerate(values)}
        for way, values in seconds.items()
    }
    figures = {f.name: f.value for f in compare_medians(Table(instances, results), TitlePlan())}
    assert figures["speedup_colour_coding_vs_ilp"] == 300 / 8
    assert figures["speedup_exact_vs_ilp"] == 300 / 2
    assert figures["exact_vs_colour_coding"] == 2 / 8
    assert figures["engine_vs_kernel"] == 50 / 2
    assert figures["proved_by_engine"] == 0.0  # made-up results have priced nothing
    assert figures["worst_seconds"] == 9
    assert figures["proved"] == 3


def test_a_row_of_the_table():
    instances = [random(3, 1, 0)] * 2
    results = {
        EXACT: {k: made_up(EXACT, 5.0, 1.0, bound=5.0) for k in range(2)},
        "beam 1": {0: made_up("beam 1", 5.0, 1.0), 1: made_up("beam 1", 4.0, 3.0)},
    }
    sections = [Section("0", "x"), Section("zero", "x")]
    figures = {f.name: f.value for f in describe_way(Table(instances, results), "beam 1", sections, TitlePlan())}
    assert figures["seconds_mean_beam_1"] == figures["seconds_median_beam_1"] == 2.0
    assert figures["seconds_worst_beam_1"] == 3.0
    assert figures["optimal_beam_1"] == 50.0
    assert figures["rouge_l_beam_1"] == 0.0


def test_iterations_to_the_optimum():
    instances = [random(4, 1, 0)] * 3
    courses = ((1.0, 5.0, 5.0), (5.0,), (1.0, 2.0))
    results = {
        EXACT: {k: made_up(EXACT, 5.0, 1.0, bound=5.0) for k in range(3)},
        UNTIL: {k: made_up(UNTIL, course[-1], 1.0, course=course) for k, course in enumerate(courses)},
    }
    assert count_iterations(Table(instances, results)) == [2, 1, math.inf]
    figures = {f.name: f.value for f in measure_convergence(Table(instances, results))}
    assert figures["iterations_to_optimum_all"] == math.inf


def test_smallest_width_that_is_always_optimal(table):
    width = find_smallest_width(table)
    wide = add_beam(table, width)
    assert all(wide.is_optimal(beam_name(width), k) for k in range(4))
    if width > 1:
        less = add_beam(table, width - 1)
        assert not all(less.is_optimal(beam_name(width - 1), k) for k in range(4))
    assert find_smallest_width(table, most=0) == 0


def test_contradictions_are_found():
    instance = random(3, 1, 0)
    weight = instance.objective((0,))
    good = PathResult("a", (0,), weight, math.inf)
    with pytest.raises(AssertionError, match=r"bound .* of b"):
        check_results(instance, {"a": good, "b": PathResult("b", None, -math.inf, weight - 1.0)})
    with pytest.raises(AssertionError, match="the path of a"):
        check_results(instance, {"a": PathResult("a", (0,), weight + 1.0)})
    check_results(instance, {"a": good, "b": PathResult("b", None, -math.inf, weight)})


def test_a_program_that_needs_too_long_counts_as_its_limit():
    found = solve_flow(random(80, 4, 0, attraction=5.0), 0.05)
    assert not found.finished
    assert found.seconds == 0.05


def test_random_graphs_are_scaled():
    (one,) = measure_random_graphs(TitlePlan(sizes=(20,), lengths=(3,)), lambda line: None)
    assert (one.num_vertices, one.length, one.proved) == (20, 3, True)
    assert one.iterations_per_second > 1
    assert one.seconds > 0


def test_missing_data_are_an_error(tmp_path):
    with pytest.raises(InputError, match="OpenDSA"):
        bench_title_path(BenchOptions())
    with pytest.raises(InputError, match="jsonl"):
        bench_title_path(BenchOptions(tmp_path))


def quick(folder, picture):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    lines = []
    options = BenchOptions(folder, quick=True, say=lines.append, plot=picture)
    figures = {figure.name: figure for figure in bench_title_path(options)}
    assert lines
    assert picture.stat().st_size > 0
    wanted = {"speedup_colour_coding_vs_ilp", "speedup_exact_vs_ilp", "exact_vs_colour_coding", "worst_seconds"}
    assert wanted <= figures.keys()
    assert figures["proved"].value == figures["proved"].n
    assert figures["optimal_exact"].value == 100.0
    assert figures["rouge_l_exact"].value == figures["rouge_l_ilp_with_separated_rows"].value
    return figures


@pytest.mark.slow
def test_quick_benchmark_runs(tmp_path):
    texts.write(texts.invented(30), tmp_path / "book.jsonl")
    figures = quick(tmp_path, tmp_path / "convergence.png")
    assert figures["random_seconds_50_3"].value > 0
    assert len(QUICK.sizes) == 1


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the textbooks")
def test_quick_benchmark_runs_on_textbooks(tmp_path):
    assert quick(DATA, tmp_path / "convergence.png")["rouge_l_exact"].value > 0.1
