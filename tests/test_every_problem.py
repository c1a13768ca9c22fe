"""Laws of every template under every option, on tiny instances, compared with brute force."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import (
    Diving,
    Duals,
    IterationLimit,
    Method,
    NoStabilization,
    Parallel,
    PricingContext,
    Record,
    RestrictedMIP,
    Termination,
    WarmStart,
    Wentges,
    solve,
)
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.statement import restricted_master
from colgen.parallel import subtrees
from colgen.testing.conformance import check_problem
from colgen.tree.queues import BestBound, DepthFirst, LevelWise, Plunging
from tests.amounts import examples
from tests.parallel.scripted import Travelling
from tests.twins.templates import TWINS

every_template = pytest.mark.parametrize("twin", TWINS, ids=repr)
every_master = pytest.mark.parametrize("twin", [twin for twin in TWINS if twin.generates], ids=repr)

options = st.builds(
    Method,
    stabilization=st.sampled_from([None, NoStabilization(), Wentges(0.5), Wentges(0.95)]),
    queue=st.sampled_from([Plunging, BestBound, DepthFirst, LevelWise]),
    clean_up_after=st.sampled_from([None, 1, 4]),
    # With their own heuristics tiny instances seldom branch; without any they do.
    heuristics=st.sampled_from([None, (), (), (Diving(),), (RestrictedMIP(),)]),
)


def bare(problem):
    """Return the problem without guesses and fixings, to test more of the engine."""
    start = problem.warm_start
    problem.warm_start = lambda budget: replace(start(budget), duals=None, answers=())
    method = problem.method
    problem.method = lambda: replace(method(), reductions=())
    return problem


@every_template
@given(data=st.data(), how=options)
def test_a_tree_in_batches_has_the_same_optimum(twin, data, how):
    instance = data.draw(twin.instances)
    result = solve(twin.problem(instance), start=WarmStart(), parallel=Parallel(node_batch=3), method=how)
    optimum = twin.optimum(instance)
    assert result.termination is (Termination.INFEASIBLE if optimum is None else Termination.OPTIMAL)
    if optimum is not None:
        assert result.objective == pytest.approx(optimum)
        assert twin.check(instance, result.answer) == pytest.approx(optimum)


def holds_for(twin, instance, problem, how):
    result, optimum = solve(problem, method=how), twin.optimum(instance)
    if optimum is None:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(optimum)
    assert result.dual_bound == pytest.approx(optimum)
    assert twin.check(instance, result.answer) == pytest.approx(optimum)
    bounds_hold(result, optimum)


def bounds_hold(result, optimum):
    sense = result.sense
    slack = 1e-6 * max(1.0, abs(optimum))
    assert not sense.is_better(optimum, result.root_bound, slack)
    assert not sense.is_better(result.dual_bound, result.root_bound, slack)
    global_bound = sense.ideal
    for record in result.iterations:
        # Valid for all answers, never weaker than before, never beyond the best answer at hand.
        assert not sense.is_better(optimum, record.global_bound, slack)
        assert not sense.is_better(record.global_bound, global_bound, slack)
        global_bound = record.global_bound
        # Weak duality in each round.
        assert not sense.is_better(record.objective, record.dual_bound, 1e-6 * max(1.0, abs(record.objective)))
    for before, after in zip(result.iterations, result.iterations[1:], strict=False):
        # A round without new columns may end a node, a phase or a dive; up to there the bound moves one way.
        if (before.node, before.depth, before.phase) == (after.node, after.depth, after.phase) and before.new_columns:
            assert not sense.is_better(after.dual_bound, before.dual_bound, slack)


@every_template
@given(data=st.data(), how=options)
def test_optimum_is_that_of_enumeration(twin, data, how):
    instance = data.draw(twin.instances)
    holds_for(twin, instance, twin.problem(instance), how)


@every_template
@given(data=st.data(), how=options)
def test_optimum_without_help_at_the_start(twin, data, how):
    instance = data.draw(twin.instances)
    holds_for(twin, instance, bare(twin.problem(instance)), how)


def subtrees_hold(twin, instance, seed, free):
    """Search subtrees of one node each on a cluster that serialises everything, without guesses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subtrees, "_ENOUGH", 0.0)
        patch.setattr(subtrees, "_FIRST", 1)
        result = solve(
            twin.problem(instance),
            start=WarmStart(),
            method=Method(heuristics=()),
            parallel=Parallel(cluster=Travelling(seed, 2), node_batch=3, free_running=free),
        )
    optimum = twin.optimum(instance)
    if optimum is None:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(optimum)
    assert result.dual_bound == pytest.approx(optimum)
    assert twin.check(instance, result.answer) == pytest.approx(optimum)
    bounds = [result.root_bound, *(iteration.global_bound for iteration in result.iterations)]
    assert not any(result.sense.is_better(optimum, bound, 1e-6 * max(1.0, abs(optimum))) for bound in bounds)


@every_template
@given(data=st.data(), seed=st.integers(0, 99), free=st.booleans())
def test_a_tree_on_a_cluster_has_the_same_optimum(twin, data, seed, free):
    subtrees_hold(twin, data.draw(twin.instances), seed, free)


@every_template
@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=500)
@given(data=st.data(), seed=st.integers(0, 99), free=st.booleans())
def test_trees_on_a_cluster_many_times(twin, data, seed, free):
    subtrees_hold(twin, data.draw(twin.instances), seed, free)


@every_template
@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=1000)
@given(data=st.data(), how=options, helped=st.booleans())
def test_optimum_many_times(twin, data, how, helped):
    instance = data.draw(twin.instances)
    problem = twin.problem(instance)
    holds_for(twin, instance, problem if helped else bare(problem), how)


@every_master
@given(data=st.data(), how=options)
def test_relaxation_is_the_same_however_it_is_solved(twin, data, how):
    instance = data.draw(twin.instances)
    plain = solve(twin.problem(instance), relaxation=True, method=Method(stabilization=NoStabilization()))
    result = solve(twin.problem(instance), relaxation=True, method=how)
    assert result.termination is plain.termination
    if plain.is_optimal:
        assert result.objective == pytest.approx(plain.objective, abs=1e-6)
        assert result.dual_bound == pytest.approx(plain.objective, abs=1e-6)
        optimum = twin.optimum(instance)
        if optimum is not None:
            bounds_hold(result, optimum)


@every_master
@given(data=st.data())
def test_columns_price_out(twin, data):
    """At the final dual values no oracle finds an improving column, and no column in use is a bad one."""
    instance = data.draw(twin.instances)
    result = solve(bare(twin.problem(instance)), relaxation=True, record=Record(duals=True))
    if not result.is_optimal:
        return
    duals = result.iterations[-1].duals
    problem = bare(twin.problem(instance))
    oracles = problem.pricing()
    oracles = list(oracles) if isinstance(oracles, (list, tuple)) else [oracles]
    master = restricted_master(problem.master())
    if isinstance(master, LagrangianMaster):  # no linear program: what oracles state at these adds up to the optimum
        found = [oracle.price(duals, PricingContext(result.sense)) for oracle in oracles]
        bound = master.bound(duals, oracles, found)
        assert bound == pytest.approx(result.objective, abs=1e-6)
        return
    for oracle in oracles:
        context = PricingContext(result.sense)
        priced = oracle.price(duals, context)
        assert priced.bound is not None
        assert not context.improves(priced.bound)
    if isinstance(duals, Duals) and not set(duals.keys) <= set(master.rows.names.keys):
        return  # rows that came later may name columns, which do not name them
    for column, _ in result.solution.columns:
        reduced_cost = column.cost - sum(a * duals.get(key) for key, a in column.coefficients.items())
        assert reduced_cost == pytest.approx(0.0, abs=1e-6)


@every_master
@given(data=st.data())
def test_rows_hold_for_every_answer(twin, data):
    """The answer satisfies the master of a problem that has never been solved."""
    instance = data.draw(twin.instances)
    result = solve(twin.problem(instance))
    if not result.is_optimal:
        return
    master = restricted_master(twin.problem(instance).master())
    if hasattr(master, "violation"):
        assert master.rows.violation(result.solution) is None
    assert not math.isinf(result.objective)


@every_template
@settings(max_examples=2)
@given(data=st.data())
def test_the_contract_is_kept(twin, data):
    """The conformance kit finds nothing."""
    check_problem(twin.problem(data.draw(twin.instances)), seconds=examples(0.5, 2.0)).raise_if_any()


@every_template
@given(data=st.data(), rounds=st.integers(1, 12))
def test_a_stopped_run_has_valid_bounds(twin, data, rounds):
    instance = data.draw(twin.instances)
    result, optimum = solve(bare(twin.problem(instance)), stop=IterationLimit(rounds)), twin.optimum(instance)
    assert result.termination in (Termination.ITERATION_LIMIT, Termination.OPTIMAL, Termination.INFEASIBLE)
    if optimum is not None:
        assert not result.sense.is_better(result.objective, optimum, 1e-6)
        assert not result.sense.is_better(optimum, result.dual_bound, 1e-6)
        if result.answer is not None:
            assert twin.check(instance, result.answer) == pytest.approx(result.objective)
