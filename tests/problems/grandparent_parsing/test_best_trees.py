"""Several trees, and projective ones, against enumeration of all trees."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import InputError, IterationLimit, Solution, Termination, TimeLimit, WarmStart, solve
from colgen.core.budget import Budget
from colgen.core.errors import InfeasibleAnswerError, InvalidBoundError
from colgen.problems.dependency.sentence import is_projective
from colgen.problems.grandparent_parsing import (
    GrandparentInstance,
    GrandparentParsing,
    PairParsing,
    automata,
    from_scores,
    parse,
    random,
    read,
    tree_list,
    tree_objective,
    write,
)
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.baseline import solve_complete
from colgen.problems.grandparent_parsing.instance import pair_objective
from colgen.problems.grandparent_parsing.kernels.tree_lists import is_wanted
from colgen.problems.grandparent_parsing.model import full
from colgen.problems.grandparent_parsing.separation import Crossing
from colgen.problems.grandparent_parsing.standard import standard_scores
from colgen.problems.grandparent_parsing.tree_list import TreeList
from colgen.solvers.trees.backbone import TreeTimeError
from tests.problems.dependency.treebank import random_weights, sentences
from tests.problems.grandparent_parsing.test_parser import Own
from tests.problems.grandparent_parsing.trees import all_trees, all_worths, is_tree

both = pytest.mark.parametrize("projective", [False, True])


@st.composite
def cases(draw, most=5):
    """An instance at an odd scale, with ties, missing arcs, and forbidden or very low parts."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole, scale = draw(st.booleans()), draw(st.sampled_from([1.0, 1.0, 1e-9, 1e9]))
    strength = draw(st.sampled_from([0.2, 1.0, 3.0]))

    def scores(dimensions, strength=1.0):
        shape = (n + 1,) * dimensions
        return scale * (rng.integers(-2, 3, shape).astype(float) if whole else strength * rng.normal(size=shape))

    arcs, grandparents = scores(2), scores(3, strength)
    siblings = scores(3, strength) if draw(st.booleans()) else None
    arcs[rng.random(arcs.shape) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.4]))] = -np.inf
    low = draw(st.sampled_from(["none", "none", "ruled out", "penalties"]))
    share = draw(st.sampled_from([0.05, 0.3, 0.6]))
    if low == "ruled out":
        grandparents[rng.random(grandparents.shape) < share] = -np.inf
        if siblings is not None:
            siblings[rng.random(siblings.shape) < 0.5 * share] = -np.inf
    elif low == "penalties":
        grandparents[rng.random(grandparents.shape) < share] -= 1e6 * scale
    return GrandparentInstance(arcs, grandparents, siblings, single_root=draw(st.booleans()))


def tree_scores(instance, projective=False):
    """The score of each tree."""
    return {
        heads: score
        for heads, score in all_worths(instance).items()
        if instance.allows(heads) and (not projective or is_projective(heads))
    }


def agree(instance, found, worths, k):
    """Whether these trees are the k best."""
    best = sorted(worths.values(), reverse=True)[:k]
    assert len(found) == len(set(found)) == len(best)
    size = max(map(abs, best), default=0.0) + float(np.abs(instance.arcs[np.isfinite(instance.arcs)]).max(initial=0.0))
    assert [worths[heads] for heads in found] == pytest.approx(best, rel=0.0, abs=1e-8 * size)


@settings(max_examples=150)
@given(instance=cases(), projective=st.booleans(), k=st.sampled_from([1, 2, 3, 5, 10, 40, 2000]))
def test_lists_contain_the_best_trees(instance, projective, k):
    worths, found = tree_scores(instance, projective), parse(instance, projective=projective, k=k)
    agree(instance, [each.heads for each in found], worths, k)
    for each in found:
        assert each.is_optimal
        assert each.bound == each.score == pytest.approx(worths[each.heads])
    result = solve(AutomataParsing(instance, projective=projective, k=k))
    assert result.termination is (Termination.OPTIMAL if worths else Termination.INFEASIBLE)
    if found:
        assert result.objective == pytest.approx(found[-1].score)
        assert result.dual_bound >= result.objective - 1e-6 * abs(result.objective)


@settings(max_examples=80)
@given(instance=cases(), projective=st.booleans(), k=st.sampled_from([1, 2, 3, 5, 10, 40]))
def test_lists_with_many_remaining_arcs(instance, projective, k):
    """As for long sentences: nodes are split, and arcs are deleted before the dynamic program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_list, "LISTED", 6)
        patch.setattr(automata, "PROJECTIVE_SIZE", 1)
        found = parse(instance, projective=projective, k=k)
    agree(instance, [each.heads for each in found], tree_scores(instance, projective), k)
    assert all(each.is_optimal for each in found)


@settings(max_examples=60)
@given(instance=cases())
def test_the_best_projective_tree(instance):
    worths, found = tree_scores(instance, True), parse(instance, projective=True)
    if not worths:
        assert found.termination is Termination.INFEASIBLE
        assert found.heads is None
        return
    agree(instance, [found.heads], worths, 1)
    assert found.is_optimal
    said = dataclasses.replace(instance, projective=True)
    if not any(mask is not None for mask in instance.ruled_out):
        assert parse(said).heads == found.heads
        assert said.check(found.heads) == pytest.approx(found.score)


@both
@pytest.mark.parametrize("single_root", [False, True])
def test_all_projective_trees_are_counted(projective, single_root):
    """Four words have 125 trees, 64 of them with one root, and 55 projective ones, 30 of them with one root."""
    instance = GrandparentInstance(np.zeros((5, 5)), single_root=single_root)
    count = {(False, False): 125, (False, True): 64, (True, False): 55, (True, True): 30}[projective, single_root]
    assert len(parse(instance, projective=projective, k=1000)) == count
    assert len(parse(instance, projective=projective, k=count - 1)) == count - 1


@both
@pytest.mark.parametrize("seed", range(4))
def test_lists_of_different_lengths_agree(projective, seed):
    """One tree equals the first of several."""
    instance = random(11, seed, siblings=seed % 2 == 0, strength=(0.3, 1.5)[seed % 2], single_root=seed % 3 == 0)
    many = parse(instance, projective=projective, k=60)
    assert all(each.is_optimal for each in many)
    scores = [each.score for each in many]
    assert scores == sorted(scores, reverse=True)
    for k in (1, 7, 25):
        few = parse(instance, projective=projective, k=k)
        assert [each.score for each in few] == pytest.approx(scores[:k])
    assert parse(instance, projective=projective).score == pytest.approx(scores[0])
    for each in many:
        assert instance.check(each.heads) == pytest.approx(each.score)
        assert not projective or is_projective(each.heads)


@both
@pytest.mark.parametrize("seed", range(3))
def test_lazy_and_user_defined_scores(projective, seed):
    text = sentences(12, seed)
    weights = random_weights(text, seed, single_root=seed == 1)
    for sentence in text[:3]:
        scorer = weights.scorer(sentence)
        instance = from_scores(weights.scorer(sentence), single_root=weights.single_root)
        lazy, dense = (parse(scores, projective=projective, k=8) for scores in (scorer, instance))
        assert [each.score for each in lazy] == pytest.approx([each.score for each in dense])
        assert all(each.is_optimal for each in lazy)
        own = parse(Own(instance), projective=projective, k=8, single_root=weights.single_root)
        assert [each.score for each in own] == pytest.approx([each.score for each in dense])


def test_parts_are_scored_only_where_they_are_needed():
    rng, n = np.random.default_rng(0), 110
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[np.arange(n), np.arange(1, n + 1)] += 20.0
    arcs[1, 4] = arcs[5, 2] = 22.0  # they cross
    instance = GrandparentInstance(arcs, 0.1 * rng.normal(size=(n + 1,) * 3))
    found = parse(instance, projective=True)
    assert not is_projective(parse(instance).heads)
    assert is_projective(found.heads)
    assert found.scored[0] < 0.2 * n**3


def test_k_of_one_returns_a_list():
    instance = random(6, 0)
    (only,) = parse(instance, k=1)
    assert only.heads == parse(instance).heads
    assert parse(GrandparentInstance(np.array([[0.0, 2.5], [0.0, 0.0]])), k=3)[0].heads == (0,)
    nothing = np.full((3, 3), -np.inf)
    assert parse(GrandparentInstance(nothing), k=3) == []
    assert parse(GrandparentInstance(nothing), k=3, projective=True) == []


def test_a_batch_gets_a_list_for_each():
    arcs = np.random.default_rng(0).normal(size=(2, 5, 5))
    found = parse(arcs, lengths=[4, 3], k=3, projective=True)
    assert [[each.heads for each in own] for own in found] == [
        [each.heads for each in parse(arcs[0], k=3, projective=True)],
        [each.heads for each in parse(arcs[1, :4, :4], k=3, projective=True)],
    ]


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_impossible_numbers_of_trees(k):
    with pytest.raises(InputError, match="k: expected"):
        parse(random(3, 0), k=k)


@both
def test_a_limit_returns_trees_and_marks_the_proved_ones(projective):
    rng = np.random.default_rng(5)
    n, k = 11, 30
    instance = GrandparentInstance(rng.normal(size=(n + 1,) * 2), 4.0 * rng.normal(size=(n + 1,) * 3))
    whole = parse(instance, projective=projective, k=k)
    for stop in (TimeLimit(0.0), IterationLimit(1), IterationLimit(5)):
        found = parse(instance, projective=projective, k=k, stop=stop)
        assert found
        for each, best in zip(found, whole, strict=False):
            assert instance.check(each.heads) == pytest.approx(each.score)
            assert each.score <= best.score + 1e-9
            assert each.bound >= best.score - 1e-9
            if each.is_optimal:
                assert each.score == pytest.approx(best.score)
            else:
                assert each.termination is not Termination.INFEASIBLE
        assert not all(each.is_optimal for each in found) or stop == IterationLimit(5)


def test_a_wrong_bound_of_the_oracle_is_detected():
    class TooLow(AutomataParsing):
        def pricing(self):
            oracle = super().pricing()
            price = oracle.price

            def too_low(duals, context):
                found = price(duals, context)
                return found if found.total is None else dataclasses.replace(found, total=found.total - 10.0)

            oracle.price = too_low
            return oracle

    for options in ({"k": 4}, {"projective": True}):
        with pytest.raises(InvalidBoundError):
            solve(TooLow(random(6, 0, siblings=True), **options))


@both
@pytest.mark.parametrize("k", [5, 2000])
@pytest.mark.parametrize("broken", range(1, 5))
def test_a_list_cut_off_by_time_is_not_complete(projective, k, broken, monkeypatch):
    """If time ends while trees are listed, the list must not be marked as complete."""
    instance = random(4, 0, siblings=True)
    whole = parse(instance, k=k, projective=projective)
    add_neighbours, calls = TreeList.add_neighbours, iter(range(1, 100))

    def out_of_time(self, *arguments):
        if next(calls) in (broken, broken + 1):
            raise TreeTimeError
        add_neighbours(self, *arguments)

    monkeypatch.setattr(TreeList, "add_neighbours", out_of_time)
    found = parse(instance, k=k, projective=projective)
    assert all(each.termination is not Termination.INFEASIBLE for each in found)
    if all(each.is_optimal for each in found):
        assert [each.heads for each in found] == [each.heads for each in whole]


@pytest.mark.parametrize("options", [{"k": 12}, {"projective": True}, {"projective": True, "k": 12}])
def test_restart_from_dual_values_and_trees_of_another_run(options):
    """The warm start that lists trees is skipped then."""
    instance = random(8, 3, siblings=True, strength=1.5)
    whole, plain = solve(AutomataParsing(instance, **options)), AutomataParsing(instance)
    duals = plain.warm_start(Budget()).duals
    for answers in ((), whole.warm_start().answers):
        result = solve(AutomataParsing(instance, **options), start=WarmStart(duals, answers))
        assert result.is_optimal
        assert result.objective == pytest.approx(whole.objective)
        assert result.answer == whole.answer


def test_wrong_lists_are_refused():
    instance = GrandparentInstance(np.zeros((3, 3)))
    problem = AutomataParsing(instance, k=3)
    assert problem.check([(0, 0), (0, 1), (2, 0)]) == 0.0
    for trees, message in [
        ([], "got 0"),
        ([(0, 0), (0, 0), (0, 1)], "twice"),
        ([(0, 0), (0, 1)], "got 2, but more"),
        ([(0, 0), (2, 1), (0, 1)], "cycle"),
    ]:
        with pytest.raises(InfeasibleAnswerError, match=message):
            problem.check(trees)
    worse = AutomataParsing(GrandparentInstance(np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])), k=2)
    with pytest.raises(InfeasibleAnswerError, match="tree 2 scores 2, tree 1 only 1"):
        worse.check([(0, 1), (0, 0)])
    with pytest.raises(InfeasibleAnswerError, match="not projective"):
        AutomataParsing(GrandparentInstance(np.zeros((5, 5))), projective=True).check((3, 4, 0, 0))
    with pytest.raises(InfeasibleAnswerError, match="-inf"):
        AutomataParsing(
            GrandparentInstance(np.array([[0.0, 1.0, -np.inf], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])), k=2
        ).check([(0, 0)])


def test_is_wanted_matches_its_definition():
    mark = np.empty(5, dtype=np.int64)
    for heads in ((a, b, c, d) for a in range(5) for b in range(5) for c in range(5) for d in range(5)):
        tree = np.array([-1, *heads])
        assert is_wanted(tree, False, False, mark) == is_tree(heads)
        assert is_wanted(tree, True, False, mark) == (is_tree(heads) and heads.count(0) == 1)
        assert is_wanted(tree, False, True, mark) == (is_tree(heads) and is_projective(heads))


def test_scores_are_raised_only_where_no_better_tree_has_them():
    instance = random(4, 0, siblings=True)
    low = np.array(instance.grandparent_scores)
    low[0, 1:3] -= 1e7
    instance = GrandparentInstance(instance.arcs, low, instance.sibling_scores)
    ranked = sorted(all_worths(instance).items(), key=lambda item: -item[1])
    for heads, worth in ranked[::7]:
        standard = standard_scores(instance, known=heads)
        for other, score in ranked:
            left = tree_objective(standard, other) + standard.constant
            assert left >= score - 1e-6
            if score > worth:
                assert left == pytest.approx(score)
            else:
                assert left <= worth + 1e-6 * abs(worth)


def test_projective_is_kept_in_files(tmp_path):
    instance = dataclasses.replace(random(5, 0, siblings=True), projective=True)
    write(instance, tmp_path / "scores.npz")
    again = read(tmp_path / "scores.npz")
    assert again.projective
    assert parse(again).heads == parse(instance).heads
    assert is_projective(parse(again).heads)
    with pytest.raises(InputError, match="not projective"):
        dataclasses.replace(GrandparentInstance(np.zeros((5, 5))), projective=True).check((3, 4, 0, 0))


# --- pair scores -----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 4, 9])
def test_lists_with_pair_scores(seed, k, projective):
    tokens = 1 + seed % 4
    instance = random(tokens, seed, siblings=seed % 2 == 0, single_root=seed % 3 == 0, pairs=True)
    if seed > 4:
        arcs = np.array(instance.arcs)
        arcs[1, 2] = -np.inf
        pairs = 3.0 * np.sign(instance.pair_scores)
        instance = GrandparentInstance(arcs, instance.grandparent_scores, None, instance.single_root, pair_scores=pairs)
    worths = {
        heads: score + pair_objective(instance.pair_scores, heads)
        for heads, score in all_worths(instance).items()
        if not projective or is_projective(heads)
    }
    found = parse(instance, k=k, projective=projective)
    agree(instance, [each.heads for each in found], worths, k)
    assert all(each.is_optimal and each.bound == pytest.approx(each.score) for each in found)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_projective_trees_with_pair_scores(seed, scale):
    rng, size = np.random.default_rng(seed), 6
    arcs = np.where(rng.random((size, size)) < 0.15 * (seed % 3), -np.inf, scale * rng.normal(size=(size, size)))
    tables = [scale * rng.normal(size=(size,) * 3) for _ in range(3)]
    instance = GrandparentInstance(arcs, *tables[:2], single_root=seed % 2 == 0, pair_scores=tables[2], projective=True)
    worths = {
        heads: score + pair_objective(instance.pair_scores, heads)
        for heads, score in all_worths(instance).items()
        if is_projective(heads)
    }
    found = parse(instance)
    if not worths:
        assert found.termination is Termination.INFEASIBLE
        return
    assert found.is_optimal
    assert worths[found.heads] == pytest.approx(max(worths.values()))
    assert instance.check(found.heads) == pytest.approx(found.score)


def test_rows_of_projective_trees():
    """They cut off every non-projective tree and no projective one, also when all rows are added at once."""
    rule = Crossing(5)
    for heads in all_trees(5):
        variables = {("z", (h, m)): 1.0 for m, h in enumerate(heads, 1)}
        rows = rule.separate(Solution(0.0, (), variables))
        assert (not rows) == is_projective(heads)
        for row in rows:
            assert sum(value * variables.get(key, 0.0) for key, value in row.coefficients.items()) > 1.5
    with pytest.raises(InputError, match="start='tree'"):
        PairParsing(random(4, 0, pairs=True), projective=True, start="parts")


def test_a_limit_with_pair_scores():
    instance = random(6, 0, siblings=True, pairs=True)
    whole = parse(instance, k=5)
    for each, best in zip(parse(instance, k=5, stop=TimeLimit(0.0)), whole, strict=False):
        assert not each.is_optimal
        assert each.bound >= best.score - 1e-9
    assert parse(GrandparentInstance(np.full((3, 3), -np.inf), pair_scores=np.zeros((3, 3, 3))), k=2) == []


# --- solvers without projective trees --------------------------------------------------------------------------------


def test_solvers_without_projective_trees_refuse_them():
    instance = dataclasses.replace(random(4, 0), projective=True)
    with pytest.raises(InputError, match=r"GrandparentParsing .*projective"):
        GrandparentParsing(instance)
    with pytest.raises(InputError, match=r"full .*projective"):
        full(instance)
    with pytest.raises(InputError, match=r"solve_complete .*projective"):
        solve_complete(instance)


def test_all_trees_of_five_words_are_listed():
    assert len(all_trees(5)) == 1296
