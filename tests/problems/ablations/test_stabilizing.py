"""The instances on which smoothing is measured."""

from colgen import NoStabilization, ablation
from colgen.cli.template import load_template
from problems.ablations import stabilizing


def test_there_are_sixty_instances_with_names_of_their_own():
    every = [name for several in stabilizing.instances().values() for name, _ in several]
    assert len(every) == len(set(every)) == 60
    assert "stabilization" in load_template("cutting_stock").benchmarks


def test_figures_are_ratios_of_calls_and_seconds():
    name, make = stabilizing.instances()["partition"][0]
    found = ablation({name: make}, stabilizing._METHODS, relaxation=True)
    taken = stabilizing._Taken(
        found, ablation({name: make}, {"none": {"stabilization": NoStabilization()}}, relaxation=True)
    )
    figures = {figure.name: figure for figure in stabilizing._figures({"partition": [taken]})}
    lines = {line.name: line for line in found.lines}
    expected = lines["directional"].rounds / lines["wentges"].rounds
    assert abs(figures["rounds_directional_vs_wentges"].value - expected) < 1e-12
    assert figures["worst_calls_vs_none"].n == 1
