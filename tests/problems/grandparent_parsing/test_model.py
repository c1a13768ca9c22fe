"""Formulations: the same best trees, bounds ordered as in theory, and implied rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import InputError, LinearMaster
from colgen.master.protocol import MasterStatus
from colgen.model.rows import compile_model
from colgen.problems.grandparent_parsing import GrandparentInstance, random
from colgen.problems.grandparent_parsing.baseline import solve_complete
from colgen.problems.grandparent_parsing.model import FORMULATIONS, complete, full, grandparent_triples, master, trees
from tests.problems.grandparent_parsing.trees import instances, optimum


def relaxed(instance, *how, **more):
    solved = LinearMaster(compile_model(full(instance, *how, **more))).solve()
    return solved.objective if solved.status is MasterStatus.OPTIMAL else None


@settings(max_examples=15)
@given(instance=instances(4), formulation=st.sampled_from(FORMULATIONS), connectivity=st.sampled_from(["flow", "cuts"]))
def test_integer_optimum_equals_enumeration(instance, formulation, connectivity):
    compiled = LinearMaster(compile_model(full(instance, formulation, connectivity=connectivity)))
    best = optimum(instance)
    if best is None:
        assert compiled.solve().status is MasterStatus.INFEASIBLE or compiled.integer.solve()[0] is None
        return
    found, _ = compiled.integer.solve()
    assert found.objective == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_ordered(seed):
    instance = random(5, seed, strength=2.0)
    bound = {name: relaxed(instance, name) for name in FORMULATIONS}
    assert bound["all"] <= min(bound.values()) + 1e-6
    assert relaxed(instance, "all", connectivity="cuts") <= bound["all"] + 1e-6
    assert bound["all"] >= optimum(instance) - 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_all_implies_the_omitted_rows(seed):
    instance = random(4, seed, strength=2.0)
    compiled = compile_model(full(instance, "all"))
    values = LinearMaster(compiled).solve().values
    at = dict(zip(compiled.column_keys, values.tolist(), strict=True))
    z = {index: value for (block, index), value in at.items() if block == "z"}
    u = {index: value for (block, index), value in at.items() if block == "u"}
    for g, p, c in grandparent_triples(4):
        assert z[g, p] + z[p, c] - u[g, p, c] <= 1 + 1e-6
        assert u[g, p, c] <= z[p, c] + 1e-6
    for (g, p), value in z.items():
        assert sum(u.get((g, p, c), 0.0) for c in range(1, 5)) <= 4 * value + 1e-6


def test_cuts_describe_the_arborescences():
    for seed in range(5):
        instance = random(5, seed)
        first = LinearMaster(compile_model(full(instance, "first_order", connectivity="cuts", siblings=False))).solve()
        assert np.allclose(first.values, np.round(first.values), atol=1e-6)


@pytest.mark.parametrize("connectivity", ["cuts", "flow"])
@pytest.mark.parametrize("seed", [3, 5])
def test_brute_force_with_the_compiled_model(seed, connectivity):
    instance = random(5, seed, strength=1.0)
    found = solve_complete(instance, connectivity=connectivity)
    assert found.objective == pytest.approx(relaxed(instance, "all", connectivity=connectivity))
    assert found.parts == len(grandparent_triples(5)) == 5 * 4 * 4
    if found.is_integral:
        assert instance.check(found.heads()) == pytest.approx(found.objective)


def test_brute_force_separates_cuts():
    assert sum(solve_complete(random(6, seed, strength=1.0)).cuts for seed in range(8)) > 0


def test_brute_force_without_a_tree():
    arcs = np.full((3, 3), -np.inf)
    arcs[1, 2] = arcs[2, 1] = 1.0
    assert solve_complete(GrandparentInstance(arcs)).objective == -np.inf


def test_unknown_names_are_refused():
    instance = random(3, 0)
    with pytest.raises(ValueError, match="formulation"):
        full(instance, "some")
    with pytest.raises(ValueError, match="connectivity"):
        trees(3, "wires")
    with pytest.raises(ValueError, match="column generation, not 'gp_arc"):
        master(3, formulation="gp_arc+arc_gp")
    with pytest.raises(InputError, match="at most 14"):
        complete(15, connectivity="cuts")
