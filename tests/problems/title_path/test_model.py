import math

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, Solution, solve
from colgen.problems.title_path import LazyPath, PathInstance, random
from colgen.problems.title_path.lazy import CycleCuts, as_solution, extract_path
from colgen.problems.title_path.model import SINK, SOURCE, arc_names, arcs, full, program
from tests.twins.title_path import answers, heaviest


def instances(count):
    for seed in range(count):
        rng = np.random.default_rng([9, seed])
        n, k = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        yield random(n, k, seed, num_classes=int(rng.integers(1, n + 1)), density=float(rng.choice([0.6, 1.0])))


def test_pyomo_and_its_highs_find_the_optimum():
    instance = random(6, 3, 1, num_classes=5, attraction=4.0)
    model = full(instance)
    pyo.SolverFactory("appsi_highs").solve(model)
    assert pyo.value(model.weight) == pytest.approx(heaviest(instance))
    assert sum(pyo.value(model.I[arc]) for arc in model.I) == pytest.approx(instance.length + 1)


def test_flow_counts_the_arcs_down():
    instance = random(5, 3, 2)
    model = full(instance)
    pyo.SolverFactory("appsi_highs").solve(model)
    counted = sorted(pyo.value(model.f[arc]) for arc in model.I if pyo.value(model.I[arc]) > 0.5)
    assert counted == pytest.approx([1, 2, 3, 4])


def test_without_separation_there_are_cycles():
    """The source's example: a path plus a cycle satisfies everything but the exclusion of cycles."""
    weights = np.full((4, 4), -5.0)
    weights[2, 3] = weights[3, 2] = 10.0
    instance = PathInstance(weights, [0.0, 0, 0, 0], [0.0, 0, 0, 0], 3)
    model = full(instance, "lazy")
    pyo.SolverFactory("appsi_highs").solve(model)
    assert pyo.value(model.weight) == pytest.approx(20.0)
    assert heaviest(instance) == pytest.approx(5.0)
    assert solve(LazyPath(instance)).objective == pytest.approx(5.0)


def test_graphs_without_ends_raise():
    nothing = np.full(2, -math.inf)
    for first, last in ((nothing, [0, 0]), ([0, 0], nothing)):
        with pytest.raises(InputError, match="leave the source"):
            full(PathInstance(np.zeros((2, 2)), first, last, 1))


@pytest.mark.parametrize("build", [full, program])
def test_unknown_formulations_raise(build):
    with pytest.raises(ValueError, match="formulation must be 'flow' or 'lazy', not 'cuts'"):
        build(random(3, 2, 0), "cuts")


def test_arcs_are_those_that_a_path_can_take():
    instance = random(5, 2, 0, num_classes=3, density=0.7)
    tails, heads, weights = arcs(instance)
    named = dict(zip(arc_names(instance, tails, heads), weights.tolist(), strict=True))
    for (u, v), weight in named.items():
        if u == SOURCE:
            assert weight == instance.first[v]
        elif v == SINK:
            assert weight == instance.last[u]
        else:
            assert weight == instance.weights[u, v]
            assert instance.classes[u] != instance.classes[v]


# --- separated rows --------------------------------------------------------------------------------------------------


def test_path_and_solution_are_the_same():
    instance = random(6, 4, 0)
    assert extract_path(as_solution(instance, (3, 1, 5, 0))) == (3, 1, 5, 0)
    assert CycleCuts(instance).separate(as_solution(instance, (3, 1, 5, 0))) == []


def test_a_cycle_next_to_a_path_is_cut_off():
    instance = random(6, 4, 0)
    point = {("I", arc): 1.0 for arc in ((SOURCE, 0), (0, 1), (1, SINK), (2, 3), (3, 2))}
    (row,) = CycleCuts(instance).separate(Solution(0.0, variables=point, integer=frozenset(point)))
    assert row.key[1][1] == (2, 3)
    assert sum(a * point.get(key, 0.0) for key, a in row.coefficients.items()) == pytest.approx(-1.0)


def test_fractional_cut_is_the_most_violated():
    """Half a path enters a cycle that is used by more than half."""
    instance = random(5, 3, 0)
    point = {
        ("I", (SOURCE, 0)): 0.5,
        ("I", (SOURCE, 1)): 0.5,
        ("I", (0, 2)): 0.5,
        ("I", (2, 3)): 1.0,
        ("I", (3, 2)): 0.5,
        ("I", (3, SINK)): 0.5,
        ("I", (1, SINK)): 0.5,
    }
    rows = CycleCuts(instance).separate(Solution(0.0, variables=point, integer=frozenset(point)))
    violations = [-sum(a * point.get(key, 0.0) for key, a in row.coefficients.items()) for row in rows]
    assert violations == pytest.approx([0.5])
    assert {2, 3} <= set(rows[0].key[1][1]) <= {0, 2, 3}


def test_rows_hold_for_every_path():
    rng = np.random.default_rng(0)
    seen = 0
    for instance in instances(30):
        paths = list(answers(instance))
        if not paths:
            continue
        tails, heads, _ = arcs(instance)
        names = arc_names(instance, tails, heads)
        point = {("I", arc): float(x) for arc, x in zip(names, rng.random(len(names)).round(2), strict=True)}
        for row in CycleCuts(instance).separate(Solution(0.0, variables=point, integer=frozenset(point))):
            seen += 1
            for _, path in paths:
                taken = as_solution(instance, path).variables
                assert sum(a * taken.get(key, 0.0) for key, a in row.coefficients.items()) >= 0.0
    assert seen > 5


def test_the_relaxation_with_rows_is_as_strong_as_the_flow():
    for seed in range(8):
        instance = random(8, 3, seed, attraction=4.0)
        cut = solve(LazyPath(instance), relaxation=True).objective
        model = full(instance)
        for arc in model.I:
            model.I[arc].domain = pyo.NonNegativeReals
            model.I[arc].setub(1)
        pyo.SolverFactory("appsi_highs").solve(model)
        assert heaviest(instance) - 1e-6 <= cut <= pyo.value(model.weight) + 1e-6
