"""Scores of any size: powers of two, common constants and penalties change no solution; checks of answers."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import Solution, Termination, solve
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.warm_start import WarmStart
from colgen.problems.nonlocal_parsing import Factors, NonlocalInstance, NonlocalParsing, ParsingByColumns, Parts, random
from colgen.problems.nonlocal_parsing.checking import check_list
from colgen.problems.nonlocal_parsing.decoding import decode
from colgen.problems.nonlocal_parsing.losses import Losses
from tests.fuzz import nonlocal_trees
from tests.fuzz.templates import judge
from tests.problems.nonlocal_parsing.trees import answers, instances, plain

CUBES = ("siblings", "outermost", "grandchildren", "triples")
WAYS = [
    {},
    {"method": "polyak", "lower_bounds": 2},
    {"method": "subgradient", "warm": False},
    {"k": 3},
    {"k": 4, "method": "polyak", "warm": False},
]


def rescored(instance, change, factors=None):
    """Return the instance with every array of scores changed."""
    parts = instance.parts
    held = {name: change(getattr(parts, name)) for name in CUBES if getattr(parts, name) is not None}
    scores = (factors or change)(instance.nonlocal_factors.scores)
    own = dataclasses.replace(instance.nonlocal_factors, scores=scores)
    return dataclasses.replace(
        instance, parts=dataclasses.replace(parts, arcs=change(parts.arcs), **held), factors=own, step=None
    )


def with_constant(instance, constant):
    return dataclasses.replace(instance, parts=dataclasses.replace(instance.parts, arcs=instance.parts.arcs + constant))


def solved(instance, how):
    how = dict(how)
    return solve(how.pop("problem", NonlocalParsing)(instance, **how))


def best_of(result):
    return result.answer if isinstance(result.answer, list) else [result.answer]


def holds(original, instance, how, slack=1e-9):
    """Check that the result is proved, and optimal for the original scores."""
    result = solved(instance, how)
    trees = answers(instance)
    if not trees:
        assert result.termination is Termination.INFEASIBLE
        return
    scores = sorted(map(original.objective, trees), reverse=True)[: how.get("k", 1)]
    assert result.termination is Termination.OPTIMAL
    assert [original.objective(tree) for tree in best_of(result)] == pytest.approx(scores, rel=slack, abs=slack)
    assert result.objective == pytest.approx(instance.objective(best_of(result)[-1]))
    assert result.dual_bound >= result.objective - 1e-9 * abs(result.objective)


@given(
    instance=instances(),
    how=st.sampled_from(WAYS),
    factor=st.sampled_from([2.0**-30, 1e-9, 1e-5, 1e5, 1e9, 2.0**30]),
)
def test_scores_times_a_number(instance, how, factor):
    holds(instance, rescored(instance, lambda scores: scores * factor), how)


@pytest.mark.parametrize("factor", [2.0**-30, 1e-8, 1e9])
@settings(max_examples=15)
@given(instance=instances())
def test_scores_times_a_number_by_columns(instance, factor):
    holds(instance, rescored(instance, lambda scores: scores * factor), {"problem": ParsingByColumns})


@pytest.mark.parametrize("k", [-30, -11, 30])
@pytest.mark.parametrize("how", [*WAYS, {"problem": ParsingByColumns}])
def test_powers_of_two_change_nothing(how, k):
    """Solutions, nodes and rounds are the same, because all digits are."""
    for seed in range(3):
        instance = random(7, seed, order=1 + seed, num_factors=40, strength=2.0)
        one, other = solved(instance, how), solved(rescored(instance, lambda scores: scores * 2.0**k), how)
        assert other.answer == one.answer
        assert other.objective == one.objective * 2.0**k
        assert other.dual_bound == pytest.approx(one.dual_bound * 2.0**k)
        assert [node.decisions for node in other.nodes] == [node.decisions for node in one.nodes]
        assert len(other.iterations) == len(one.iterations)


def nearly_tied(instance, seed):
    """Scores that are integers except for their fourth digit."""
    rng = np.random.default_rng(seed)
    return rescored(instance, lambda scores: np.round(scores) + 1e-4 * rng.normal(size=scores.shape))


@pytest.mark.parametrize("constant", [1e7, -1e7])
@settings(max_examples=25)
@given(instance=instances(), how=st.sampled_from([*WAYS, {"problem": ParsingByColumns}]), seed=st.integers(0, 99))
def test_common_constants_change_nothing(instance, how, seed, constant):
    """A constant on every arc is in every tree once per word and must not hide differences."""
    instance = nearly_tied(instance, seed)
    holds(instance, with_constant(instance, constant), how, 1e-7)


@settings(max_examples=40)
@given(
    instance=instances(),
    how=st.sampled_from([*WAYS, {"problem": ParsingByColumns}]),
    seed=st.integers(0, 99),
    penalty=st.sampled_from([-2e7, -1e12]),
)
def test_penalties_hide_nothing(instance, how, seed, penalty):
    """Penalties that no best tree uses do not affect tolerances; unavoidable penalties are minimised."""
    rng = np.random.default_rng(seed)

    def punished(share):
        def change(scores):
            return np.where(rng.random(scores.shape) < share, penalty * rng.integers(1, 3, scores.shape), scores)

        return change

    instance = rescored(instance, punished(0.1), punished(0.3))
    holds(instance, instance, how)


def test_a_penalty_of_twenty_digits():
    """A published case: the optimum is 3.1, not 0, although a pair of arcs costs 1e12."""
    arcs = np.full((4, 4), -0.5)
    arcs[2, 1], arcs[0, 2], arcs[2, 3], arcs[3, 2] = 1.0, 1.1, 1.0, 0.9
    for penalty in (-2e7, -1e12, -1e20):
        factors = Factors.of(4, [(((2, 1), (0, 2)), penalty), (((0, 3), (3, 2)), 0.3), (((3, 1), (3, 2)), 1e-6)])
        instance = NonlocalInstance(Parts(arcs), factors)
        holds(instance, instance, {"k": 2})
        holds(instance, instance, {"problem": ParsingByColumns})


@given(instance=instances())
def test_a_loss_is_what_is_lacking_to_the_ideal(instance):
    losses = Losses(instance)
    for tree in answers(instance):
        loss = losses.of(tree)
        assert loss >= 0.0
        assert losses.ideal - loss == pytest.approx(instance.objective(tree), abs=1e-9)
        assert loss <= losses.largest * (5 * instance.num_words + len(instance.nonlocal_factors)) + 1e-9


# --- checks of answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [NonlocalParsing, ParsingByColumns])
def test_invalid_answers_raise(problem):
    instance = plain(4, heads=(2, 0, 2, 3))
    assert problem(instance).check((2, 0, 2, 3)) == 4.0
    for heads, sentence in (((2, 0, 2), "tokens"), ((2, 1, 0, 1), "cycle"), ((3, 4, 0, 3), "projective")):
        with pytest.raises(InfeasibleAnswerError, match=sentence):
            problem(instance).check(heads)


def test_lists_of_trees_are_checked():
    instance = plain(3, heads=(2, 0, 2))
    best = solve(NonlocalParsing(instance, k=3)).answer
    assert check_list(instance, best, 3) == instance.objective(best[-1])
    for trees, sentence in (
        ([], "1 to 3 trees"),
        (best[:2], "instance has more"),
        ([*best, best[0]], "1 to 3 trees"),
        ([best[0], best[0], best[1]], "twice"),
        (best[::-1], "more than"),
        ([*best[:2], (2, 1, 0)], "cycle"),
    ):
        with pytest.raises(InfeasibleAnswerError, match=sentence):
            check_list(instance, trees, 3)
    assert len(solve(NonlocalParsing(instance, k=50)).answer) == 7  # there are no more


def test_the_order_of_trees_is_checked_up_to_rounding():
    arcs = np.zeros((4, 4))
    arcs[0, 1], arcs[1, 2], arcs[2, 3] = 0.1, 0.2, -0.3  # the instance has no more trees
    instance = NonlocalInstance(Parts(arcs), Factors.of(4, []), np.ones((4, 4), dtype=bool))
    trees = [(2, 3, 0), (0, 1, 2)]
    assert instance.objective(trees[1]) > instance.objective(trees[0]) == 0.0
    assert check_list(instance, trees, 2, 0.25) == instance.objective(trees[1])
    with pytest.raises(InfeasibleAnswerError, match="more than"):
        check_list(instance, trees, 2)


def test_a_relaxation_without_a_solution_has_none():
    allowed = np.zeros((3, 3), dtype=bool)
    allowed[1, 2] = allowed[2, 1] = True  # no root
    instance = NonlocalInstance(Parts(np.zeros((3, 3))), Factors.of(3, []), allowed)
    result = solve(NonlocalParsing(instance), relaxation=True)
    assert result.termination is Termination.INFEASIBLE
    assert (result.solution, result.objective) == (None, -np.inf)


def test_invalid_warm_starts_raise():
    instance = random(5, 0)
    problem = NonlocalParsing(instance)
    good = solve(problem)
    worse = dataclasses.replace(good.solution, objective=good.objective + 1.0)
    wrong = Solution(99.0, ((dataclasses.replace(good.solution.columns[0][0], structure=((2, 1, 1, 1, 1),)), 1.0),))
    problem.warm_start = lambda budget: WarmStart(None, [worse])
    with pytest.raises(InfeasibleAnswerError, match=r"check\(\)"):
        solve(problem)
    problem.warm_start = lambda budget: WarmStart(None, [wrong])
    with pytest.raises(InfeasibleAnswerError, match="cycle"):
        solve(problem)


def test_column_generation_resolves_scores_next_to_penalties():
    """The best tree of the local parts has a penalty of 1e12, beside which all other scores look like rounding."""
    sample = nonlocal_trees.draw(np.random.default_rng([1002, 693]))
    assert Losses(nonlocal_trees._instance(sample)).relative().blurred
    failure, _ = judge(sample)
    assert failure is None, failure.words


def test_non_projective_trees_are_decoded():
    arcs = np.zeros((5, 5))
    arcs[3, 1], arcs[4, 2] = (
        1.0,
        2.0,
    )  # The best tree of the local parts has a penalty of 1e12, relative to which other scores look like rounding.
    instance = NonlocalInstance(Parts(arcs), Factors.of(5, []), single_root=False, projective=False)
    assert instance.objective(decode(instance)) == 3.0
