"""Price and cut on the engine: the relaxation of the complete model, the best tree, and few parts scored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Columns, InputError, LinearMaster, Method, PricingContext, Sense, Termination, Wentges, solve
from colgen.core.budget import Budget
from colgen.core.warm_start import WarmStart
from colgen.master.present_objective import PresentObjective
from colgen.master.statement import restricted_master
from colgen.model.rows import compile_model
from colgen.problems.grandparent_parsing import (
    ArcGP,
    GrandparentInstance,
    GrandparentParsing,
    SiblingParts,
    dual,
    pricing,
    random,
)
from colgen.problems.grandparent_parsing.model import full, grandparent_triples, sibling_triples
from colgen.testing.conformance import check_problem
from tests.problems.dependency.treebank import random_weights, sentences
from tests.problems.grandparent_parsing.trees import instances, optimum
from tests.sweeps import seeds

ways = st.fixed_dictionaries(
    {
        "connectivity": st.sampled_from(["cuts", "flow"]),
        "formulation": st.sampled_from(["all", "one_gp+no_gp"]),
        "tighten": st.booleans(),
        "start": st.sampled_from([None, "tree", "parts"]),
    }
)


@settings(max_examples=25)
@given(instance=instances(4), how=ways)
def test_optimum_equals_enumeration(instance, how):
    result, best = solve(GrandparentParsing(instance, **how)), optimum(instance)
    if best is None:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.is_optimal
    assert result.objective == pytest.approx(best)
    assert instance.check(result.answer) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tighten", [False, True])
@pytest.mark.parametrize("start", [None, "tree", "parts"])
def test_relaxation_equals_the_complete_model(seed, tighten, start):
    instance = random(5, seed, siblings=seed % 2 == 1, strength=2.0, single_root=seed % 3 == 0)
    for connectivity in ("flow", "cuts"):
        problem = GrandparentParsing(instance, connectivity=connectivity, tighten=tighten, start=start)
        result = solve(problem, relaxation=True)
        complete = LinearMaster(compile_model(full(instance, "all", connectivity=connectivity))).solve()
        assert result.is_optimal
        assert result.objective == pytest.approx(complete.objective)
        assert result.dual_bound == pytest.approx(complete.objective)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("connectivity", ["cuts", "flow"])
def test_parts_of_the_root_avoid_phase_1(single_root, connectivity, monkeypatch):
    entered = []
    enter = PresentObjective.enter
    monkeypatch.setattr(PresentObjective, "enter", lambda self, *args: [entered.append(args[0]), enter(self, *args)])
    problem = GrandparentParsing(random(6, 1), start="parts", connectivity=connectivity, single_root=single_root)
    assert solve(problem, relaxation=True).termination is Termination.OPTIMAL
    assert 1 not in entered


@pytest.mark.parametrize("seed", seeds(12, fast=6))
def test_omitted_arcs_are_priced(seed, monkeypatch):
    """With one initial head per modifier and few dual iterations, other arcs must be added as columns."""
    monkeypatch.setattr(dual, "WIDTH", 1)
    monkeypatch.setattr(GrandparentParsing, "iterations", 2)
    instance = random(6, seed, strength=2.0, single_root=seed % 2 == 0)
    complete = LinearMaster(compile_model(full(instance, "all", connectivity="cuts"))).solve()
    came = set()
    for stabilization in (None, Wentges(0.9)):
        problem = GrandparentParsing(instance, start="dual", siblings=False)
        result = solve(problem, relaxation=True, method=Method(stabilization=stabilization, clean_up_after=1))
        assert result.objective == pytest.approx(complete.objective)
        assert result.dual_bound == pytest.approx(complete.objective)
        arcs = [column for column, _ in result.solution.columns if column.key[0] == "z"]
        assert problem.present.sum() < (~np.isneginf(instance.arcs)).sum()
        came.update(column.key for column in arcs)
        whole = solve(GrandparentParsing(instance), method=Method(clean_up_after=1, stabilization=stabilization))
        assert whole.objective == pytest.approx(optimum(instance))
        assert instance.check(whole.answer) == pytest.approx(optimum(instance))


def reduced_costs(oracle, scores, duals, triples, siblings):
    """Reduced cost of each part, from its definition."""
    found = {}
    for i, j, k in triples:
        if siblings:
            cost = scores[i, j, k]
            cost -= duals.get(("before", (i, k))) if k != i else 0.0
            cost -= duals.get(("after", (i, j))) if j != i else 0.0
            cost -= duals.get(("first", (i, int(k > i)))) if j == i else 0.0
        else:
            cost = scores[i, j, k] - duals.get(("one_gp", (j, k))) - duals.get(("gp_arc", (i, j, k)))
        found[i, j, k] = cost
    return found


@pytest.mark.parametrize("seed", range(10))
def test_oracles_miss_no_part_that_improves(seed, monkeypatch):
    if seed % 2:  # few heads at a time, as in long sentences
        monkeypatch.setattr(pricing, "_AT_ONCE", 100)
    instance = random(6, seed, siblings=True, strength=1.0)
    problem = GrandparentParsing(instance, tighten=False)
    first = restricted_master(problem.master())
    warm = problem.warm_start(Budget())
    first.add(list(warm.columns))
    solved = first.solve()
    while solved.phase == 1:  # artificial variables are only needed without the parts of a tree
        first.add([column for column, _ in warm.answers[0].columns])
        solved = first.solve()
    for oracle in problem.oracles:
        siblings = isinstance(oracle, SiblingParts)
        oracle.charges = False  # otherwise parts that arcs pay for are omitted
        priced = oracle.price(solved.duals, PricingContext(Sense.MAXIMIZE))
        scores = instance.sibling_scores if siblings else instance.grandparent_scores
        triples = sibling_triples(6) if siblings else grandparent_triples(6)
        naive = reduced_costs(oracle, scores, solved.duals, triples, siblings)
        improving = {part for part, cost in naive.items() if cost > 1e-6}
        first.price(priced.columns, solved.duals)  # a batch has columns once a master has seen it
        assert improving == {column.structure[1] for column in priced.columns}
        assert priced.bound >= max(naive.values()) - 1e-9


@pytest.mark.parametrize("formulation", ["all", "one_gp+no_gp"])
def test_a_batch_of_parts_equals_single_columns(formulation):
    problem = GrandparentParsing(random(6, 1, strength=2.0), formulation=formulation, start="parts")
    batch, triples = problem.warm_start(Budget()).columns, np.array(grandparent_triples(6))
    assert isinstance(batch, Columns)
    master, (oracle,) = restricted_master(problem.master()), problem.part_oracles
    master.add(batch)
    duals = master.solve().duals
    priced = oracle.price(duals, PricingContext(Sense.MAXIMIZE)).columns
    assert isinstance(priced, Columns)
    assert len(priced)
    master.add(priced)
    every = oracle.make_columns(triples)
    there = [column for column, where in zip(every, master.find(every), strict=True) if where >= 0]
    assert len(there) == len(batch) + len(priced)
    own = frozenset(("gp_arc", column.key[1]) for column in there) if formulation == "all" else frozenset()
    assert {key for key in master.rows.names.keys if key[0] == "gp_arc"} == own
    # At any dual values, including those of the parts' own rows.
    duals = duals.replace(np.arange(1.0, master.num_rows + 1))
    stated = dict(zip(master.table.keys(), master.objective.reduced_costs(duals), strict=True))
    assert [stated[column.key] for column in there] == pytest.approx(master.price(there, duals))


def test_bounds_save_scoring():
    text = sentences(12, 1)
    weights = random_weights(text, 1)
    sentence = max(text, key=len)
    problem = GrandparentParsing(weights.scorer(sentence))
    result = solve(problem)
    assert result.is_optimal
    assert problem.scored["grandparent"] < len(grandparent_triples(len(sentence)))
    assert problem.added["grandparent"] <= problem.scored["grandparent"]
    assert problem.check(result.answer) == pytest.approx(result.objective)


@pytest.mark.parametrize("seed", range(4))
def test_arc_gp_is_never_violated_with_gp_arc_rows(seed):
    instance = random(6, seed, strength=2.0)
    result = solve(GrandparentParsing(instance), relaxation=True)
    assert ArcGP(6).separate(result.solution) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_problem_can_be_solved_again(seed):
    instance = random(6, seed, strength=2.0)
    problem = GrandparentParsing(instance)
    problem.iterations = 1
    first, second = (solve(problem, relaxation=True) for _ in range(2))
    assert second.objective == pytest.approx(first.objective)
    assert solve(problem).objective == pytest.approx(optimum(instance))
    problem.warm_start = lambda budget: WarmStart()
    problem.dual = None
    assert solve(problem).objective == pytest.approx(optimum(instance))


@pytest.mark.parametrize("seed", [17, 50, 53, 71])
def test_parts_rewarded_by_arc_gp_rows_are_not_filtered_out(seed):
    """Such a row may reward its part by more than the score bounds."""
    instance = random(2 + seed % 3, seed, strength=3.0, siblings=True, single_root=seed % 2 == 0)
    for start in ("tree", "parts"):
        result = solve(GrandparentParsing(instance, formulation="one_gp+no_gp", start=start))
        assert result.objective == pytest.approx(optimum(instance))


def test_arrays_as_input():
    arcs = np.zeros((3, 3))
    arcs[0, 1] = arcs[1, 2] = 1.0
    result = solve(GrandparentParsing(arcs))
    assert result.answer == (0, 1)
    grandparents = np.zeros((3, 3, 3))
    grandparents[0, 2, 1] = 5.0
    assert solve(GrandparentParsing(arcs, grandparents)).answer == (2, 0)


def test_one_token_with_and_without_an_arc():
    assert solve(GrandparentParsing(GrandparentInstance(np.zeros((2, 2))))).answer == (0,)
    assert (
        solve(GrandparentParsing(GrandparentInstance(np.full((2, 2), -np.inf)))).termination is Termination.INFEASIBLE
    )


def test_arrays_with_a_scorer_are_refused():
    with pytest.raises(InputError, match="either a scorer or arrays"):
        GrandparentParsing(random(3, 0), np.zeros((4, 4, 4)))


@pytest.mark.parametrize("start", ["dual", "tree"])
def test_dual_values_of_trees_pass_the_conformance_kit(start):
    check_problem(GrandparentParsing(random(3, 1, strength=2.0), start=start), seconds=1.0).raise_if_any()


def test_the_dual_bound_may_be_better_than_the_program_without_its_cuts():
    instance = random(5, 2, single_root=True)
    found = solve(GrandparentParsing(instance))
    assert found.is_optimal
    assert found.objective == pytest.approx(optimum(instance))
