from dataclasses import replace

import pytest

from benchmarks import harness
from benchmarks.cutting_stock.variants import bench_variants, orders
from benchmarks.harness import BenchOptions
from colgen import Result

FAMILIES = ("several_widths", "conflicts", "few_patterns")


def test_each_family_is_measured_and_proved():
    lines = []
    figures = {figure.name: figure for figure in bench_variants(BenchOptions(quick=True, say=lines.append))}
    for family in FAMILIES:
        assert figures[f"proved_{family}"].value == figures[f"proved_{family}"].n == 1
        assert figures[f"speedup_{family}_vs_milp"].value > 0
        assert figures[f"median_seconds_{family}"].value <= figures[f"worst_seconds_{family}"].value
    assert len(lines) == 6
    assert {family for family, _ in orders(False)} == set(FAMILIES)


def test_a_wrong_objective_is_an_error(monkeypatch):
    real = harness.solve

    def wrong(problem, **how) -> Result:
        result = real(problem, **how)
        return replace(result, objective=result.objective - 1.0)

    monkeypatch.setattr(harness, "solve", wrong)
    with pytest.raises(AssertionError, match="reported objective"):
        bench_variants(BenchOptions(quick=True, say=lambda line: None))
