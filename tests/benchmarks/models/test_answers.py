"""The benchmark of answers, on two small models."""

import math

import pytest

from benchmarks.harness import BenchOptions, say_nothing
from benchmarks.models import answers, instances
from colgen import decompose


@pytest.mark.parametrize("name", instances.FAMILIES)
def test_each_family_is_decomposed_into_blocks(name):
    build, by = instances.FAMILIES[name]
    first, again = (decompose(build(3), by) for _ in range(2))
    assert sum(sub.count for sub in first.splitting.subproblems) > 1
    assert len(first.splitting.linking)
    assert (first.compact.formulation.costs == again.compact.formulation.costs).all()


def test_gaps_are_relative_to_the_best_answer(monkeypatch):
    small = {
        "assignment": (lambda seed: instances.assignment(seed, 3, 9), "machine"),
        "cutting stock": (lambda seed: instances.cutting_stock(seed, 3), "roll"),
    }
    monkeypatch.setattr(answers, "FAMILIES", small)
    found = {each.name: each for each in answers.bench_answers(BenchOptions(quick=True, seed=1, say=say_nothing))}
    assert found["gap"].value == found["gap_highs"].value == found["much_worse"].value == 0
    assert 0.0 < found["integral"].value < 1.0
    assert found["proved"].value == found["proved"].n == 2


def test_a_gap_without_an_answer_is_one():
    assert answers.gap(math.inf, 10.0) == 1.0
    assert answers.gap(math.nan, 10.0) == 1.0
    assert answers.gap(11.0, 10.0) == pytest.approx(1 / 11)
    assert answers.gap(0.0, 0.0) == 0.0
