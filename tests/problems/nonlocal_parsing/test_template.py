"""Branch and bound compared with enumeration: every backbone, method, queue, and number of trees."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import (
    InputError,
    IterationLimit,
    Method,
    NodeLimit,
    PricingContext,
    Record,
    Sense,
    Termination,
    TimeLimit,
    solve,
)
from colgen.core.budget import Budget
from colgen.core.errors import InfeasibleAnswerError, InvalidBoundError
from colgen.core.warm_start import WarmStart
from colgen.problems.dependency.decisions import ArcDecision, NoBetter
from colgen.problems.nonlocal_parsing import (
    Factors,
    NonlocalInstance,
    NonlocalParsing,
    ParsingByColumns,
    Parts,
    random,
)
from colgen.problems.nonlocal_parsing.losses import Losses
from colgen.problems.nonlocal_parsing.pool import BestTreePool, Effort
from colgen.problems.nonlocal_parsing.pricing import BestTrees
from colgen.tree.queues import BestBound, DepthFirst, LevelWise, Plunging
from tests.problems.nonlocal_parsing.trees import instances, plain, scores_of_all

METHODS = ["fixing", "polyak", "subgradient"]
ways = st.fixed_dictionaries(
    {
        "method": st.sampled_from(METHODS),
        "patience": st.integers(1, 10),
        "warm": st.booleans(),
        "lower_bounds": st.integers(0, 3),
    }
)
queues = st.sampled_from([Plunging, BestBound, DepthFirst, LevelWise])


def holds(instance, result, scores):
    if not scores:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(scores[0])
    assert result.dual_bound == pytest.approx(scores[0])
    assert instance.check(result.answer) == pytest.approx(scores[0])
    assert result.root_bound >= scores[0] - 1e-6
    for record in result.iterations:
        assert record.global_bound >= scores[0] - 1e-6
        assert record.incumbent <= scores[0] + 1e-6


@given(instance=instances(), how=ways, queue=queues)
def test_the_best_tree(instance, how, queue):
    holds(instance, solve(NonlocalParsing(instance, **how), method=Method(queue=queue)), scores_of_all(instance))


@given(instance=instances(orders=(1,), projective=False), how=ways, queue=queues)
def test_the_best_tree_with_crossing_arcs(instance, how, queue):
    holds(instance, solve(NonlocalParsing(instance, **how), method=Method(queue=queue)), scores_of_all(instance))


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=500)
@given(instance=instances(most_words=5), how=ways, queue=queues)
def test_the_best_tree_many_times(instance, how, queue):
    holds(instance, solve(NonlocalParsing(instance, **how), method=Method(queue=queue)), scores_of_all(instance))


@pytest.mark.parametrize("projective", [True, False])
@given(data=st.data(), k=st.integers(2, 12), how=ways, queue=queues)
def test_the_k_best_trees(projective, data, k, how, queue):
    instance = data.draw(instances(orders=(1, 2, 3, 4) if projective else (1,), projective=projective))
    scores = scores_of_all(instance)
    result = solve(NonlocalParsing(instance, k=k, **how), method=Method(queue=queue))
    if not scores:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.termination is Termination.OPTIMAL
    assert [instance.check(heads) for heads in result.answer] == pytest.approx(scores[:k])
    assert len(set(result.answer)) == len(result.answer)
    assert result.objective == pytest.approx(scores[:k][-1])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_longer_sentences_agree_with_column_generation(order):
    """Two proofs that share only the dynamic program, for sentences too long for enumeration."""
    for seed in range(3):
        instance = random(9, seed, order=order, num_factors=60)
        result = solve(NonlocalParsing(instance))
        other = solve(ParsingByColumns(instance))
        assert result.is_optimal
        assert other.is_optimal
        assert result.objective == pytest.approx(other.objective)
        assert instance.check(result.answer) == pytest.approx(result.objective)


def test_the_relaxation_is_that_of_column_generation():
    """The dual values of the linear program over trees are optimal shares p: ψ's bound equals the program's value."""
    fractional = 0
    for seed in range(8):
        instance = random(6, seed, num_factors=30, strength=2.0)
        relaxed = solve(ParsingByColumns(instance), relaxation=True)
        duals = relaxed.certificate.duals
        near = Losses(instance).normalize()
        scores = near.scores()
        for c, (arcs, score) in enumerate(instance.nonlocal_factors):
            first, end = scores.start[c], scores.start[c + 1]
            if score > 0.0:  # the remaining score belongs to the bound y ≤ 1 and may go to any arc
                shares = np.array([duals["at_most", (c, *arc)] for arc in arcs]) / score
                shares /= max(shares.sum(), 1.0)
                shares[0] += 1.0 - shares.sum()
                scores.p[first:end] = shares
            else:
                scores.p[first] = min(duals["at_least", c] / score, 1.0)
        size = instance.parts.size
        bound = scores.evaluate(near.backbone, np.empty((size, size)), np.empty(size, dtype=np.int64))
        assert near.bound(bound) == pytest.approx(relaxed.objective, abs=1e-5)
        result = solve(NonlocalParsing(instance, method="polyak"), stop=NodeLimit(1))
        assert result.root_bound >= relaxed.objective - 1e-6
        fractional += relaxed.objective > solve(NonlocalParsing(instance)).objective + 1e-3
    assert fractional


def test_a_stopped_run_has_valid_bounds():
    instance = next(i for i in (random(7, s, num_factors=150, strength=3.0) for s in range(50)) if branches(i))
    optimum = solve(NonlocalParsing(instance)).objective
    for how in ({"stop": IterationLimit(1)}, {"stop": NodeLimit(1)}, {"stop": TimeLimit(0.0)}):
        result = solve(NonlocalParsing(instance), **how)
        assert result.objective <= optimum + 1e-9
        assert result.dual_bound >= optimum - 1e-9
        if result.answer is not None:
            assert instance.check(result.answer) == pytest.approx(result.objective)
        assert not result.is_optimal


def branches(instance):
    return len(solve(NonlocalParsing(instance)).nodes) > 1


def test_the_tree_is_recorded():
    instance = next(i for i in (random(7, s, num_factors=150, strength=3.0) for s in range(50)) if branches(i))
    result = solve(NonlocalParsing(instance))
    root, *others = result.nodes
    assert root.outcome == "branched"
    assert {type(d) for node in others for d in node.decisions} <= {ArcDecision, NoBetter}
    bounds = {node.number: node.bound for node in result.nodes}
    assert all(bounds[node.parent] >= node.bound - 1e-9 for node in others)
    assert str(ArcDecision(2, 3, True)) == "2 → 3"


def test_effort_is_counted():
    problem = NonlocalParsing(random(8, 0, num_factors=100))
    solve(problem)
    effort = problem.effort
    assert effort.calls > 0
    assert effort.total == effort.calls + effort.sweeps + effort.k_best


def test_a_sentence_without_factors_takes_one_call_and_one_to_prove_it():
    problem = NonlocalParsing(random(8, 0, num_factors=0))
    result = solve(problem)
    assert result.is_optimal
    assert problem.effort.total == 2


def test_one_word():
    assert solve(NonlocalParsing(plain(1))).answer == (0,)


def test_sentences_without_a_tree_are_infeasible():
    allowed = np.ones((4, 4), dtype=bool)
    allowed[:, 2] = False
    result = solve(NonlocalParsing(NonlocalInstance(Parts(np.zeros((4, 4))), None, allowed)))
    assert result.termination is Termination.INFEASIBLE
    assert result.answer is None
    assert math.isinf(result.objective)


def test_a_factor_changes_the_tree():
    scores = np.full((4, 4), -1.0)
    scores[[2, 0, 2], [1, 2, 3]] = 1.0
    assert solve(NonlocalParsing(NonlocalInstance(Parts(scores)))).answer == (2, 0, 2)
    factors = Factors.of(4, [(((3, 1), (3, 2), (0, 3)), 10.0)])
    result = solve(NonlocalParsing(NonlocalInstance(Parts(scores), factors)))
    assert result.answer == (3, 3, 0)
    assert result.objective == pytest.approx(7.0)


def test_a_given_answer_is_accepted():
    instance = random(6, 1, num_factors=40)
    problem = NonlocalParsing(instance)
    best = solve(problem)
    problem.warm_start = lambda budget: WarmStart(None, [best.solution])
    again = solve(problem)
    assert again.answer == best.answer
    problem.warm_start = lambda budget: WarmStart(None, [replace(best.solution, objective=best.objective + 1.0)])
    with pytest.raises(InfeasibleAnswerError):
        solve(problem)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 3])
def test_another_oracle_proves_the_same_at_the_same_shares(seed, k):
    """Every round's bound is that of the dynamic program at the same shares."""
    instance = random(7, seed, order=1 + seed % 4, num_factors=60, strength=(0.5, 2.0)[seed % 2])
    result = solve(NonlocalParsing(instance, k=k), record=Record(duals=True))
    assert result.is_optimal
    assert result.iterations
    for record in result.iterations:
        if record.node == 0:
            oracle = BestTrees(BestTreePool(k), Effort(), lambda duals=record.duals: duals.near)
            priced = oracle.price(record.duals, PricingContext(Sense.MAXIMIZE))
            assert max(priced.total, result.objective) == pytest.approx(max(record.dual_bound, result.objective))


def test_an_invalid_bound_is_detected(monkeypatch):
    price = BestTrees.price

    def too_low(self, duals, context):
        found = price(self, duals, context)
        return replace(found, total=found.total - 1.0)

    monkeypatch.setattr(BestTrees, "price", too_low)
    with pytest.raises(InvalidBoundError):
        solve(NonlocalParsing(random(6, 1, num_factors=40)))


def test_settings_are_checked():
    with pytest.raises(InputError, match=r"k: expected .*at least 1, got 0"):
        NonlocalParsing(plain(2), k=0)
    with pytest.raises(InputError, match="method"):
        NonlocalParsing(plain(2), method="guessing")
    with pytest.raises(InputError, match="patience"):
        NonlocalParsing(plain(2), patience=0)


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_run_that_is_cut_off_has_a_tree_and_a_bound(order, k):
    """Interrupted in the first dynamic program, in the marginals, or in the list of best trees."""
    instance = random(30, order, order=order, num_factors=200, strength=2.0)
    for milliseconds in (0, 2, 10, 40, 120):
        result = solve(NonlocalParsing(instance, k=k), stop=TimeLimit(0.001 * milliseconds))
        trees = [result.answer] if k == 1 else result.answer
        assert [instance.check(tree) for tree in trees][-1] == pytest.approx(result.objective)
        assert len(trees) == k
        assert result.objective <= result.dual_bound < math.inf


def test_repeated_shares_at_a_node_are_cached():
    instance = random(8, 1, num_factors=60, strength=2.0)
    problem = NonlocalParsing(instance)
    duals = problem.warm_start(Budget()).duals
    oracle = problem.pricing()
    context = PricingContext(Sense.MAXIMIZE)
    first, calls = oracle.price(duals, context), problem.effort.calls
    assert oracle.price(duals, context).total == first.total
    assert problem.effort.calls == calls
    heads = problem.ascent(Budget()).pool.last
    child = PricingContext(Sense.MAXIMIZE, decisions=(ArcDecision(heads[0], 1, False),))
    oracle.price(duals, child)
    assert problem.effort.calls > calls  # another node is not cached
