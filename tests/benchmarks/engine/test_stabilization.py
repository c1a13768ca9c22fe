"""The instances on which smoothing is measured."""

from benchmarks.engine import stabilization
from colgen import Method, NoStabilization, ablation


def test_there_are_sixty_instances_with_distinct_names():
    every = [name for several in stabilization.instances().values() for name, _ in several]
    assert len(every) == len(set(every)) == 60


def test_figures_are_ratios_of_calls_and_seconds():
    name, make = stabilization.instances()["partition"][0]
    found = ablation({name: make}, stabilization._METHODS, relaxation=True)
    taken = stabilization._Taken(
        found, ablation({name: make}, {"none": Method(stabilization=NoStabilization())}, relaxation=True)
    )
    figures = {figure.name: figure for figure in stabilization._figures({"partition": [taken]})}
    lines = {line.name: line for line in found.lines}
    expected = lines["directional"].rounds / lines["wentges"].rounds
    assert abs(figures["rounds_directional_vs_wentges"].value - expected) < 1e-12
    assert figures["worst_calls_vs_none"].n == 1
