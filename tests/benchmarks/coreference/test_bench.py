import importlib.util
import math

import numpy as np
import pytest

from benchmarks.coreference.bench import Scored, bench_coreference, count_proofs, measure_quality
from benchmarks.coreference.comparison import (
    ClusteringPlan,
    compare_two,
    compare_ways,
    cut,
    fit_exponent,
    measure_growth,
)
from benchmarks.coreference.methods import (
    ALL_LINK,
    GENERATED,
    LAZY,
    LAZY_CONTRACTED,
    UNCONTRACTED,
    WAYS,
    check_runs,
    run,
)
from benchmarks.coreference.oracles import FromScratch, compare_oracles, count_columns, record_duals
from benchmarks.harness import BenchOptions, Run
from colgen import InputError
from colgen.core.budget import Budget
from colgen.problems.coreference import CoreferenceInstance, communities, random, random_signs
from colgen.problems.coreference.conll import write_conll
from tests.in_process import bounded
from tests.problems.coreference.texts import invented


def made_up(way, size, seconds, name="a", *, objective=1.0, bound=1.0, proved=True, rounds=1, nodes=1):
    return Run(way, name, seconds, objective, bound, proved, rounds, nodes, size=size)


def test_growth_is_the_exponent_of_a_power():
    runs = [made_up(GENERATED, n, 3e-5 * n**1.7) for n in (50, 75, 100, 200, 400)]
    assert fit_exponent(runs) == pytest.approx(1.7)
    assert math.isnan(fit_exponent(runs[:1]))


def test_growth_leaves_small_documents_out():
    runs = [made_up(GENERATED, n, 1e-6 * n**2, rounds=n // 10) for n in (50, 100)]
    small = [made_up(GENERATED, 10, 1.0, rounds=7)]
    figures = {figure.name: figure for figure in measure_growth([*small, *runs])}
    assert figures["growth_exponent"].value == pytest.approx(2.0)
    assert figures["growth_exponent"].n == 2
    assert math.isnan(figures["growth_exponent_all_link"].value)
    assert [figures[f"rounds_{n}"].value for n in (10, 50, 100)] == [7, 5, 10]


def test_speedup_is_the_geometric_mean_over_the_instances_of_both():
    runs = [made_up(GENERATED, 10, 1.0, name) for name in "abc"]
    runs += [made_up(ALL_LINK, 10, seconds, name, proved=seconds < 5) for name, seconds in (("a", 2.0), ("b", 8.0))]
    figure = compare_two("speedup", runs, ALL_LINK)
    assert figure.value == pytest.approx(4.0)
    assert figure.n == 2
    assert "1 of 2 proved" in figure.note


def test_all_speedups():
    runs = [made_up(way, 60, 1.0 + k) for k, way in enumerate(WAYS)]
    figures = {figure.name: figure.value for figure in compare_ways(runs, runs, ClusteringPlan(compared=(60,)))}
    assert figures["speedup_vs_all_link"] == figures["speedup_vs_all_link_60"] == pytest.approx(5.0)
    assert figures["speedup_vs_lazy_rows_uncontracted"] == pytest.approx(3.0 / 2.0)
    assert figures["seconds_lazy_rows_contracted_whole"] == pytest.approx(4.0)


def test_cut_takes_first_mentions_of_those_that_have_enough():
    instances = [random(5, 0), random(12, 1), random(9, 2)]
    chosen = cut(instances, 8, 4)
    assert [instance.num_mentions for instance in chosen] == [8, 8]
    assert np.array_equal(chosen[0].scores, instances[1].scores[:8, :8])


@pytest.mark.parametrize("way", WAYS)
def test_every_way_finds_the_optimum(way, monkeypatch):
    if way != ALL_LINK:  # which has its process
        monkeypatch.setattr("benchmarks.harness.bounded", bounded)
    instance = communities(12, 0, num_communities=3, noise=0.2)
    best = run(GENERATED, instance, 20.0)
    found = run(way, instance, 20.0)
    assert found.proved
    assert found.size == 12
    assert 0 < found.seconds < 20
    assert found.objective == pytest.approx(best.objective)
    if way in (GENERATED, UNCONTRACTED):
        assert found.by_engine
    if way in (GENERATED, UNCONTRACTED, LAZY, LAZY_CONTRACTED):
        assert instance.check(found.answer) == pytest.approx(best.objective)


def test_a_program_that_needs_too_long_counts_as_its_limit(monkeypatch):
    monkeypatch.setattr("benchmarks.harness.bounded", lambda seconds, *_, **__: (None, seconds))
    found = run(ALL_LINK, random_signs(40, 0), 0.2)
    assert not found.proved
    assert found.seconds == 0.2
    assert math.isnan(found.objective)
    check_runs([found, made_up(GENERATED, 40, 1.0, found.name)])


def test_contradictions_are_found():
    with pytest.raises(AssertionError, match=r"all-link in HiGHS has a solution of 2.*column generation"):
        check_runs([made_up(GENERATED, 10, 1.0), made_up(ALL_LINK, 10, 1.0, objective=2.0, bound=2.0)])
    check_runs([made_up(GENERATED, 10, 1.0), made_up(ALL_LINK, 20, 1.0, objective=2.0, bound=2.0)])


def test_duals_are_those_of_a_run_from_scratch():
    instance = random(14, 0)
    duals = record_duals(instance, 20.0)
    assert 1 <= len(duals) <= 3
    assert all(values.shape == (14,) for values in duals)
    assert not duals[0].any()  # each mention alone is worth nothing
    assert FromScratch(instance).warm_start(Budget()).duals is None


def test_oracles_are_compared(monkeypatch):
    monkeypatch.setattr("benchmarks.coreference.oracles.bounded", bounded)
    lines = []
    figure = compare_oracles([random(8, 0)], 20.0, 20.0, lines.append)
    assert figure.value > 0
    assert figure.n == len(lines) >= 1


def test_columns_are_counted_without_single_mentions():
    apart = count_columns([CoreferenceInstance(-np.ones((5, 5)) + np.eye(5))], 20.0)
    assert (apart.name, apart.value, apart.n) == ("columns_from_single_mentions_5", 0.0, 1)
    together = count_columns([CoreferenceInstance(np.ones((5, 5)) - np.eye(5))] * 2, 20.0)
    assert (together.value >= 1.0, together.n) == (True, 2)


def test_proofs_are_counted():
    runs = [
        made_up(GENERATED, 10, 1.0, "a"),
        made_up(GENERATED, 10, 2.0, "b", nodes=3),
        made_up(GENERATED, 10, 9.0, "c", proved=False),
    ]
    figures = {figure.name: figure.value for figure in count_proofs(runs, "_x", "in 9 s")}
    assert figures["proved_by_engine_x"] == 0.0  # nobody has priced anything
    assert figures["documents_proved_x"] == 2
    assert figures["documents_closed_at_root_x"] == 1
    assert figures["documents_seconds_x"] == 2.0
    assert figures["documents_seconds_worst_x"] == 9.0


def test_quality_of_the_annotated_clustering_is_perfect():
    document = invented(0)
    scored = Scored(document, np.eye(len(document.mentions)))
    assert measure_quality("f1", [scored], [document.gold], "").value == pytest.approx(100.0)


def test_missing_data_are_an_error():
    with pytest.raises(InputError, match="litbank"):
        bench_coreference(BenchOptions())


def test_a_folder_without_documents_is_an_error(tmp_path):
    with pytest.raises(InputError, match="conll"):
        bench_coreference(BenchOptions(tmp_path))


def test_too_short_documents_are_an_error(tmp_path):
    for seed in range(10):
        document = invented(seed, 1)
        write_conll(document, document.gold, tmp_path / f"{seed}.conll")
    with pytest.raises(InputError, match="expected a document with at least 30 mentions"):
        bench_coreference(BenchOptions(tmp_path, quick=True))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs scikit-learn")
def test_quick_benchmark_runs(tmp_path):
    for seed in range(10):
        document = invented(seed)
        write_conll(document, document.gold, tmp_path / f"{seed}.conll")
    lines = []
    options = BenchOptions(tmp_path, quick=True, say=lines.append, plot=tmp_path / "times.png")
    figures = {figure.name: figure for figure in bench_coreference(options)}
    assert lines
    assert options.plot.stat().st_size > 0
    assert figures["documents_proved"].value == figures["documents_proved"].n
    wanted = {
        "speedup_vs_all_link",
        "speedup_vs_lazy_rows",
        "growth_exponent",
        "oracle_speedup_vs_ilp",
        "seconds_signs_10",
    }
    assert wanted <= figures.keys()
    assert figures["conll_f1_optimal_probability_tuned"].value > 50
