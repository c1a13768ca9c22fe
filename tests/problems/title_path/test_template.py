import math
import time

import numpy as np
import pytest

from colgen import PricingContext, Sense, Termination, TimeLimit, WarmStart, solve
from colgen.core.errors import InfeasibleAnswerError
from colgen.problems.title_path import PathInstance, TitlePath, random
from colgen.problems.title_path import pricing as pricing_module
from colgen.problems.title_path.baseline import colour_coding, exhaustive, ilp, lazy_rows
from colgen.problems.title_path.master import ONCE, WalkDuals, WalkMaster, as_solution
from colgen.problems.title_path.pricing import WalkPricing
from colgen.problems.title_path.search import InitialSearch
from colgen.problems.title_path.template import RepeatedClasses
from colgen.solvers.paths.colour_coding import complete
from colgen.solvers.paths.elementary_path import Found
from colgen.testing.conformance import check_problem
from tests.amounts import BUSY
from tests.sweeps import seeds
from tests.twins.title_path import heaviest


def instances(count, most=7):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(1, most)), int(rng.integers(1, 6))
        classes = int(rng.integers(1, n + 1)) if seed % 3 else None
        density, attraction = float(rng.choice([0.4, 0.8, 1.0])), float(rng.choice([0, 3, 10]))
        yield random(n, k, seed, num_classes=classes, density=density, attraction=attraction)


def agrees(instance):
    result, optimum = solve(TitlePath(instance)), heaviest(instance)
    if optimum is None:
        assert result.termination is Termination.INFEASIBLE
        assert result.answer is None
    else:
        assert result.termination is Termination.OPTIMAL
        assert instance.check(result.answer) == pytest.approx(optimum)
        assert result.objective == pytest.approx(optimum)
        assert result.dual_bound == pytest.approx(optimum)


@pytest.mark.parametrize("block", range(10))
def test_optimum_equals_enumeration(block):
    for instance in list(instances(200))[block::10]:
        agrees(instance)


@pytest.mark.slow
def test_optimum_equals_enumeration_for_many_instances():
    for instance in instances(3000, most=8):
        agrees(instance)


def test_more_vertices_than_classes_are_infeasible():
    instance = random(6, 3, 0, num_classes=2)
    assert solve(TitlePath(instance)).termination is Termination.INFEASIBLE


def test_more_vertices_than_available_are_infeasible():
    assert solve(TitlePath(random(3, 4, 0))).termination is Termination.INFEASIBLE


def test_no_arcs_at_all_are_infeasible():
    nothing = PathInstance(np.full((2, 2), -math.inf), np.full(2, -math.inf), np.zeros(2), 1)
    assert solve(TitlePath(nothing)).termination is Termination.INFEASIBLE


def test_a_path_that_few_arcs_allow():
    """A ring: the only paths of n vertices go around it."""
    n = 12
    weights = np.full((n, n), -math.inf)
    weights[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    weights[(np.arange(n) + 1) % n, np.arange(n)] = 5.0
    weights[3, 2] = -math.inf
    result = solve(TitlePath(PathInstance(weights, np.zeros(n), np.zeros(n), n)))
    assert result.is_optimal
    assert result.objective == 5.0 * (n - 1)


def hard():
    """Walks that repeat classes often, so that rows on classes and memory are necessary."""
    return random(40, 8, 0, num_classes=30, attraction=10.0)


def test_rows_are_generated_where_classes_repeat():
    result = solve(TitlePath(hard()))
    assert result.is_optimal
    assert result.rows_generated > 0
    assert result.root_bound == pytest.approx(result.objective)
    bounds = [iteration.dual_bound for iteration in result.iterations]
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize("seed", range(12))
def test_all_classes_are_remembered_where_states_are_too_many(seed, monkeypatch):
    monkeypatch.setattr("colgen.problems.title_path.pricing._MAX_STATES", -1)
    monkeypatch.setattr("colgen.solvers.paths.elementary_path._BETWEEN_CLOCKS", 0)
    called = []
    monkeypatch.setattr(
        "colgen.problems.title_path.pricing.complete", lambda of, **how: called.append(of) or complete(of)
    )
    instance = random(30, 7, seed, num_classes=14, attraction=8.0)
    result = solve(TitlePath(instance))
    assert result.is_optimal
    assert result.objective == pytest.approx(complete(instance.graph)[0])
    assert instance.check(result.answer) == pytest.approx(result.objective)
    assert len(called) == len(result.iterations) - 1  # the first has no memory


def test_bare_problem_needs_no_warm_start():
    class Bare(TitlePath):
        def warm_start(self, budget):
            return WarmStart()

    for instance in (hard(), *instances(40)):
        bare, warm = solve(Bare(instance)), solve(TitlePath(instance))
        assert bare.termination is warm.termination
        assert bare.objective == pytest.approx(warm.objective)


def test_guesses_do_not_change_the_optimum():
    """With arbitrary penalties, and an infeasible or suboptimal path, the optimum is the same."""
    rng = np.random.default_rng(0)
    for instance in instances(60):
        optimum = solve(TitlePath(instance))
        few = range(min(instance.length, instance.num_vertices))
        for path in (None, tuple(few), (0,) * instance.length, (99,)):
            penalties = rng.exponential(size=instance.num_classes) * (rng.random(instance.num_classes) < 0.5)

            class Guessing(TitlePath):
                def warm_start(self, budget, duals=WalkDuals(penalties, path=path)):
                    return WarmStart(duals)

            found = solve(Guessing(instance))
            assert found.termination is optimum.termination
            assert found.objective == pytest.approx(optimum.objective)


def test_a_round_of_the_log_proves_the_answer():
    for instance in (hard(), *instances(30)):
        result = solve(TitlePath(instance))
        assert result.iterations
        if result.answer is not None:
            assert result.iterations[-1].dual_bound == pytest.approx(result.objective)
            assert result.iterations[-1].pricing_seconds > 0.0


def test_a_time_limit_keeps_an_answer_and_a_bound():
    instance = random(300, 12, 3, attraction=10.0)
    full = solve(TitlePath(instance))
    result = solve(TitlePath(instance), stop=TimeLimit(0.0))
    assert result.termination in (Termination.TIME_LIMIT, Termination.OPTIMAL)
    assert instance.check(result.answer) == pytest.approx(result.objective)
    assert result.objective <= full.objective + 1e-9 <= result.dual_bound + 1e-6
    assert math.isfinite(result.dual_bound)


def test_kept_contract():
    report = check_problem(TitlePath(random(8, 4, 0, num_classes=6, attraction=5.0)), seconds=2.0)
    assert report.ok, str(report)


# --- parts -----------------------------------------------------------------------------------------------------------


def test_separation_finds_exactly_the_repeated_classes():
    instance = PathInstance(np.zeros((4, 4)), np.zeros(4), np.zeros(4), 5, ("x", "y", "x", "z"))
    separation = RepeatedClasses(instance)
    walk = as_solution(instance, (0, 1, 2, 1, 3))
    rows = separation.separate(walk)
    assert sorted(row.key for row in rows) == [(ONCE, 0), (ONCE, 1)]
    for row in rows:
        assert row.coefficient(walk.columns[0][0]) == 2.0
        assert row.upper == 1.0
    assert separation.separate(as_solution(instance, (0, 1, 3))) == []


@pytest.mark.parametrize("block", range(6))
def test_bounds_of_the_oracle_hold_at_any_penalties_with_any_memory(block):
    for seed, instance in enumerate(list(instances(120))[block::6]):
        rng = np.random.default_rng(seed)
        optimum = heaviest(instance)
        for memory in (False, True):
            penalties = rng.exponential(size=instance.num_classes) * (rng.random(instance.num_classes) < 0.7)
            remembered = rng.random(instance.num_classes) < 0.5 if memory else None
            oracle = WalkPricing(instance)
            result = oracle.price(WalkDuals(penalties, remembered), PricingContext(Sense.MAXIMIZE))
            assert result.total >= (-math.inf if optimum is None else optimum - 1e-9)
            for answer in result.answers:
                assert instance.check(answer.columns[0][0].structure) == pytest.approx(answer.objective)


def test_master_counts_rows():
    instance = random(5, 2, 0)
    master = WalkMaster(instance)
    assert (master.num_columns, master.num_rows) == (1, 1)
    rows = RepeatedClasses(instance).separate(as_solution(instance, (0, 0)))
    assert master.add((), rows) == 0
    assert (master.num_rows, (rows[0].key in master.rows)) == (2, True)
    assert master.remembered.tolist() == [True, False, False, False, False]


def test_first_path_is_nearly_always_the_best():
    best = 0
    for seed in range(30):
        instance = random(60, 5, seed, num_classes=50, attraction=5.0)
        start = InitialSearch(instance.scaled)
        weight = instance.scaled.to_original_units(start.weight)
        assert instance.check(start.path) == pytest.approx(weight)
        assert start.bound >= start.weight - 1e-9
        best += weight == pytest.approx(solve(TitlePath(instance)).objective)
    assert best >= 27


# --- scale -----------------------------------------------------------------------------------------------------------

LAW = [(1e-9, 0.0), (2.0**-30, 0.0), (1e9, 0.0), (1.0, 1e7), (1e-9, 1.0), (1e6, -1e7), (1e-9, 1e-3)]


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 8)), int(rng.integers(2, 5))
    return random(n, k, seed, num_classes=4 if seed % 3 == 0 else None, density=0.8, attraction=3.0 * (seed % 2))


@pytest.mark.parametrize("seed", seeds(40))
@pytest.mark.parametrize(("scale", "constant"), LAW)
def test_weights_of_any_scale_agree_with_enumeration(seed, scale, constant):
    base = drawn(seed)
    weights = [scale * array + constant for array in (base.weights, base.first, base.last)]
    instance = PathInstance(*weights, base.length, base.classes)
    expected = exhaustive(instance)
    result = solve(TitlePath(instance))
    assert (result.answer is None) == (expected.path is None)
    if expected.path is not None:
        assert result.is_optimal
        lost = expected.objective - result.objective
        assert lost <= 1e-8 * scale + 8e-16 * abs(constant) * (base.length + 1)


@pytest.mark.parametrize("method", [lazy_rows, ilp, colour_coding])
@pytest.mark.parametrize(("scale", "constant"), LAW)
def test_other_methods_are_scale_invariant(method, scale, constant):
    for seed in range(6):
        base = drawn(seed)
        weights = [scale * array + constant for array in (base.weights, base.first, base.last)]
        instance = PathInstance(*weights, base.length, base.classes)
        expected, found = exhaustive(instance), method(instance)
        assert (found.path is None) == (expected.path is None)
        if expected.path is not None:
            assert found.is_optimal or method is colour_coding
            assert expected.objective - found.objective <= 1e-8 * scale + 8e-16 * abs(constant) * (base.length + 1)


@pytest.mark.parametrize("power", [-30, 30])
def test_a_power_of_two_changes_no_answer_and_no_round(power):
    for seed in range(20):
        base = random(30, 6, seed, num_classes=20, attraction=8.0)
        scaled = PathInstance(*(np.ldexp(a, power) for a in (base.weights, base.first, base.last)), 6, base.classes)
        one, other = solve(TitlePath(base)), solve(TitlePath(scaled))
        assert one.answer == other.answer
        assert other.objective == math.ldexp(one.objective, power)
        assert [i.rows for i in one.iterations] == [i.rows for i in other.iterations]


@pytest.mark.parametrize("penalty", [-1e12, -1e300, -2e7])
@pytest.mark.parametrize("seed", range(20))
def test_penalties_hide_no_differences(seed, penalty):
    base = random(6, 3, seed, attraction=2.0)
    weights = base.weights.copy()
    weights[np.random.default_rng(seed).random(weights.shape) < 0.3] = penalty
    instance = PathInstance(weights, base.first, base.last, 3)
    expected = exhaustive(instance)
    result = solve(TitlePath(instance))
    assert result.is_optimal
    assert result.answer == expected.path
    assert result.objective == pytest.approx(expected.objective, abs=1e-12)


def test_many_equal_paths():
    for n, k in ((6, 3), (7, 5), (5, 5)):
        instance = PathInstance(np.full((n, n), 1e-9), np.zeros(n), np.full(n, 3.0), k)
        result = solve(TitlePath(instance))
        assert result.is_optimal
        assert result.objective == pytest.approx(3.0 + (k - 1) * 1e-9, rel=1e-15)


def test_a_length_beyond_all_vertices_takes_no_memory():
    instance = PathInstance(np.zeros((3, 3)), np.zeros(3), np.zeros(3), 10**9)
    assert solve(TitlePath(instance)).termination is Termination.INFEASIBLE


# --- limits ----------------------------------------------------------------------------------------------------------


def test_check_recomputes_the_weight():
    instance = random(6, 3, 0)
    problem = TitlePath(instance)
    path = solve(problem).answer
    assert problem.check(path) == instance.objective(path)
    for wrong in ((0, 1), (0, 1, 1), (0, 1, 7), (0, 1, -1), (0, 1, 1.5), None):
        with pytest.raises(InfeasibleAnswerError):
            problem.check(wrong)


def test_a_better_path_of_an_interrupted_search_is_used(monkeypatch):
    instance = hard()
    best = solve(TitlePath(instance))

    def cut_short(relaxed, remembered, lower, **how):
        return Found(math.inf, np.empty(0, int), np.array(best.answer), 1e9, 1, False)

    class Worse(TitlePath):
        def warm_start(self, budget):
            return WarmStart(WalkDuals(super().warm_start(budget).duals.penalties))

    monkeypatch.setattr(pricing_module, "heaviest", cut_short)
    monkeypatch.setattr(pricing_module, "is_small", lambda of: False)
    result = solve(Worse(instance))
    assert result.answer == best.answer
    assert result.objective == best.objective


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.2])
def test_limits_hold_on_large_graphs(seconds):
    instance = random(1000, 13, 1, attraction=10.0)
    solve(TitlePath(random(60, 6, 0, attraction=10.0)))  # compiles the kernels
    started = time.monotonic()
    result = solve(TitlePath(instance), stop=TimeLimit(seconds))
    spent = time.monotonic() - started
    assert result.answer is not None
    assert result.objective <= result.dual_bound
    assert math.isfinite(result.dual_bound)
    assert spent <= seconds + BUSY


@pytest.mark.parametrize("scale", [1.0, 1e8])
def test_penalties_that_mislead_a_beam_hide_no_differences(scale):
    """A narrow beam meets penalties at the end of each path; they must not determine the scale."""
    arcs, penalty = np.zeros((5, 5)), -1e12
    arcs[2, 4] = 9.0
    first, last = np.array([penalty, 0, 0, 0, penalty]), np.array([penalty, penalty, -3, penalty, -3])
    result = solve(TitlePath(PathInstance(scale * arcs, scale * first, scale * last, 4, tuple(range(5)))))
    assert result.is_optimal
    assert result.objective == 6.0 * scale
