"""The exact parser against enumeration, with arrays and with lazy scores, short and long."""

import gc
import math
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from colgen import Column, IterationLimit, PricingContext, Record, Sense, Termination, TimeLimit, solve
from colgen.core.errors import InputError, InvalidBoundError
from colgen.core.result import NodeVisit
from colgen.problems.dependency import Vocabulary, Weights
from colgen.problems.dependency.decisions import NoBetter, restrict
from colgen.problems.dependency.sentence import is_projective
from colgen.problems.grandparent_parsing import GrandparentInstance, from_scores, parse, random, work
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from tests.problems.dependency.treebank import random_weights, sentences
from tests.problems.grandparent_parsing.trees import all_worths, instances, optimum, worth


@settings(max_examples=150)
@given(instance=instances())
def test_parse_is_the_best_tree(instance):
    best, found = optimum(instance), parse(instance)
    if best is None:
        assert found.termination is Termination.INFEASIBLE
        assert found.heads is None
        return
    assert found.is_optimal
    assert found.score == pytest.approx(best)
    assert found.bound == pytest.approx(best)
    assert worth(instance, found.heads) == pytest.approx(best)
    assert instance.check(found.heads) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("at_once", [True, False])
def test_lazy_and_dense_scores_give_the_same_tree(seed, single_root, at_once, monkeypatch):
    if not at_once:  # as for long sentences
        monkeypatch.setattr(work, "_ALL", 0)
    text = sentences(12, seed)
    weights = random_weights(text, seed, single_root=single_root)
    for sentence in text[:4]:
        scorer = weights.scorer(sentence)
        instance = from_scores(weights.scorer(sentence), single_root=single_root)
        lazy, dense = parse(scorer), parse(instance)
        assert lazy.is_optimal
        assert lazy.score == pytest.approx(dense.score)
        assert instance.check(lazy.heads) == pytest.approx(lazy.score)


def test_arcs_are_deleted_only_if_no_other_arc_matters():
    """No tree of few arcs with 0 → 1 is better than the known tree, but the best tree of all arcs is."""
    arcs, grandparents, siblings = np.zeros((5, 5)), np.zeros((5, 5, 5)), np.zeros((5, 5, 5))
    arcs[1, 2], arcs[2, 4], arcs[4, 3] = -4.0, 6.0, 11.0
    grandparents[0, 2, 4] = -20.0
    siblings[0, 2, 3], siblings[3, 3, 2], siblings[3, 3, 4], siblings[3, 4, 3] = 10.0, 1.0, 0.008, 6.0
    instance = GrandparentInstance(arcs, grandparents, siblings, single_root=True)
    best, found = optimum(instance), parse(instance)
    assert found.is_optimal
    assert found.score == pytest.approx(best)
    assert worth(instance, found.heads) == pytest.approx(best)


def test_few_parts_are_scored_where_bounds_are_tight():
    rng = np.random.default_rng(0)
    n = 30
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[np.arange(n), np.arange(1, n + 1)] += 20.0
    found = parse(GrandparentInstance(arcs, 0.1 * rng.normal(size=(n + 1,) * 3)))
    assert found.is_optimal
    assert found.heads == tuple(range(n))
    assert found.scored[0] < 0.2 * n**3


def test_arc_arrays_are_parsed_directly():
    scores = np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32)
    scores[0, 2] = -np.inf
    whole = parse(GrandparentInstance(scores))
    for same in (scores, scores.tolist(), scores[::-1, ::-1][::-1, ::-1]):
        assert parse(same).heads == whole.heads
    with pytest.raises(InputError, match="expected arc scores of shape"):
        parse(np.zeros((3, 4)))


def test_one_word():
    found = parse(GrandparentInstance(np.array([[0.0, 2.5], [0.0, 0.0]])))
    assert (found.heads, found.score, found.is_optimal) == ((0,), 2.5, True)


@pytest.mark.slow
def test_a_hundred_and_fifty_words():
    instance = random(150, 0, strength=0.1)
    found = parse(instance)
    assert found.is_optimal
    assert instance.check(found.heads) == pytest.approx(found.score)


def test_no_tree_is_infeasible():
    arcs = np.full((4, 4), -np.inf)
    arcs[1, 2] = arcs[2, 1] = arcs[0, 3] = 1.0
    found = parse(GrandparentInstance(arcs))
    assert found.termination is Termination.INFEASIBLE
    assert found.score == -np.inf


def test_single_root_option():
    instance = GrandparentInstance(np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]))
    assert parse(instance).heads == (0, 0)
    assert parse(instance, single_root=True).heads == (0, 1)


def test_a_limit_returns_a_tree_and_a_bound():
    rng = np.random.default_rng(5)
    n = 12
    instance = GrandparentInstance(rng.normal(size=(n + 1,) * 2), 4.0 * rng.normal(size=(n + 1,) * 3))
    found = parse(instance, stop=TimeLimit(0.0))
    whole = parse(instance)
    assert whole.nodes > 1
    assert found.termination is Termination.TIME_LIMIT
    assert instance.check(found.heads) == pytest.approx(found.score)
    assert found.score <= whole.score + 1e-9
    assert found.bound >= whole.score - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_only_candidates_remain_after_branching(seed):
    """Arcs that a better tree may need become candidates first, so that all others are deleted at once."""
    rng = np.random.default_rng(seed)
    n = 12
    problem = AutomataParsing(GrandparentInstance(rng.normal(size=(n + 1,) * 2), 4.0 * rng.normal(size=(n + 1,) * 3)))
    candidates: list[int] = []

    def visited(visit: NodeVisit) -> None:
        if not candidates:
            candidates.append(problem.candidates)

    result = solve(problem, record=Record(on_node=visited))
    assert result.is_optimal
    children = [node for node in result.nodes if node.depth == 1]
    assert children or len(result.nodes) == 1
    for node in children:
        given_up = [decision for decision in node.decisions if isinstance(decision, NoBetter)]
        assert n * n - sum(int(decision.gone.sum()) for decision in given_up) <= candidates[0]


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_new_candidates_do_not_spoil_multipliers(seed):
    """Regression: prices of unscored arcs, as large as all scores, raised a bound from 160 to 11,000."""
    rng = np.random.default_rng(seed)
    n = 24
    problem = AutomataParsing(GrandparentInstance(rng.normal(size=(n + 1,) * 2), 2.0 * rng.normal(size=(n + 1,) * 3)))
    result = solve(problem, stop=IterationLimit(12))
    proved = [line.dual_bound for line in result.iterations if line.node == 0]
    rounds = [bound for bound in proved if bound < math.inf]
    assert len(rounds) >= 3
    elementary = problem.standard.bound + problem.standard.constant
    assert max(rounds) <= elementary + 1e-9
    # More candidates may worsen the bound: a node keeps the best.
    assert result.nodes[0].bound == pytest.approx(min(rounds))
    assert result.nodes[0].bound < 0.8 * elementary


def test_branching_forbids_deleted_arcs():
    allowed = np.ones((4, 4), dtype=bool)
    gone = np.zeros((4, 4), dtype=bool)
    gone[[0, 2, 3], [1, 3, 1]] = True
    given_up = NoBetter.of(gone)
    restrict(allowed, [given_up])
    assert sorted(np.argwhere(~allowed).tolist()) == [[0, 1], [2, 3], [3, 1]]
    assert given_up == NoBetter.of(gone.copy())
    assert str(given_up) == "none of 3 arcs"
    trees = [Column(0.0, {}, heads, ("tree", heads)) for heads in ((0, 1, 2), (2, 0, 1), (2, 0, 2))]
    assert [given_up.allows(tree) for tree in trees] == [False, True, False]


class Own:
    """A user-defined scorer without arrays or weights."""

    def __init__(self, instance):
        self.instance = instance

    def __len__(self):
        return len(self.instance)

    def __getattr__(self, name):
        if name in ("arc_scores", "weights", "single_root") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.instance, name)


def test_user_defined_scores():
    instance = random(6, 1, siblings=True)
    assert parse(Own(instance)).score == pytest.approx(parse(instance).score)


def test_a_model_without_weights_gives_any_tree():
    text = sentences(3, 0)
    found = parse(Weights.zero(Vocabulary.of(text)).scorer(text[0]))
    assert found.is_optimal
    assert found.score == 0.0


@pytest.mark.parametrize("seed", range(12))
def test_an_oracle_call_at_the_last_dual_values_proves_the_tree(seed):
    instance = random(6, seed, siblings=seed % 2 == 0, strength=(0.3, 1.5)[seed % 2])
    result = solve(AutomataParsing(instance), record=Record(duals=True))
    assert result.is_optimal
    assert result.iterations
    root = [record for record in result.iterations if record.node == 0]
    if len(result.nodes) > 1:
        return  # the bound combines many nodes
    problem = AutomataParsing(instance)
    oracle, context = problem.pricing(), PricingContext(Sense.MAXIMIZE)
    for record in root:  # an oracle that has not seen the ascent returns the same bounds
        priced = oracle.price(record.duals, context)
        total = np.inf if priced.total is None else priced.total
        assert total + problem.standard.constant >= record.dual_bound - 1e-9
    assert total + problem.standard.constant == pytest.approx(result.objective)
    assert parse(instance).proved_by_engine


def test_a_wrong_bound_of_the_oracle_is_detected():
    """The tree of the ascent contradicts an oracle with too low a bound."""
    instance = random(6, 0, siblings=True)
    optimum = parse(instance).score

    class TooLow(AutomataParsing):
        def pricing(self):
            oracle = super().pricing()
            price = oracle.price

            def too_low(duals, context):
                found = price(duals, context)
                return found if found.total is None else replace(found, total=found.total - 1.0)

            oracle.price = too_low
            return oracle

    with pytest.raises(InvalidBoundError):
        solve(TooLow(instance))
    assert parse(instance).score == optimum


# --- raw arrays ------------------------------------------------------------------------------------------------------


def test_a_batch_equals_its_cropped_sentences():
    whole = [random(n, seed).arcs for seed, n in enumerate((6, 3, 5))]
    batch = np.full((3, 7, 7), np.nan, dtype=np.float32)
    for own, arcs in zip(batch, whole, strict=True):
        own[: len(arcs), : len(arcs)] = arcs
    found = parse(batch, lengths=[6, 3, 5])
    for one, arcs in zip(found, whole, strict=True):
        assert one.heads == parse(arcs).heads
        assert len(one.heads) == len(arcs) - 1


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_arrays_have_the_results_of_the_engine(projective, single_root):
    """The compiled call for a batch, the same for a matrix, and a search by the engine."""
    rng = np.random.default_rng(2)
    lengths = rng.integers(1, 8, 12)
    batch = rng.integers(-3, 4, (12, 8, 8)).astype(float)  # many ties
    batch[rng.random(batch.shape) < 0.4] = -np.inf
    options = {"projective": projective, "single_root": single_root}
    found = parse(batch, lengths=lengths.astype(float), **options)
    infeasible = 0
    for n, scores, one in zip(lengths, batch, found, strict=True):
        own = scores[: n + 1, : n + 1]
        assert parse(own, **options) == one
        by_engine = parse(GrandparentInstance(own), **options)
        assert (one.score, one.bound) == pytest.approx((by_engine.score, by_engine.bound))
        assert one.termination is by_engine.termination
        assert not one.proved_by_engine
        if one.heads is None:
            infeasible += 1
        else:
            instance = GrandparentInstance(own, single_root=single_root, projective=projective)
            assert instance.check(one.heads) == pytest.approx(one.score)
    assert 0 < infeasible < 12


def test_a_limit_or_a_number_of_trees_uses_the_engine():
    scores = random(5, 0).arcs
    for found in (parse(scores, stop=TimeLimit(60.0)), parse(scores, stop=[TimeLimit(60.0)]), *parse(scores, k=1)):
        assert found.proved_by_engine
        assert found.heads == parse(scores).heads


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("mask", [-1e9, -1e15, -3.4e38])
def test_finite_masks_do_not_spoil_the_tree(mask, projective):
    """Regression: the price of the root's arcs, as large as the mask, hid the other scores."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(6, 6))
        scores[rng.random(scores.shape) < 0.3] = mask
        instance = GrandparentInstance(scores, single_root=True, projective=projective)
        best = max(value for heads, value in all_worths(instance).items() if not projective or is_projective(heads))
        assert parse(scores, single_root=True, projective=projective).score == pytest.approx(best)


def test_enormous_scores_have_a_tree():
    """Regression: a sum that overflows to -inf is not a missing tree."""
    found = parse(np.full((4, 4), -1.5e308))
    assert found.is_optimal
    assert found.heads is not None


@pytest.mark.parametrize("scores", ["x", b"x", None, 3, {}, {1}, dict, len, iter([])])
def test_other_scores_are_refused(scores):
    with pytest.raises(InputError, match="scores: expected an array of arc scores, a GrandparentInstance or"):
        parse(scores)


def test_other_options_are_refused():
    for scores in (random(3, 0), random(3, 0).arcs):
        for wrong in ("x", np.ones(2), 2):
            with pytest.raises(InputError, match="single_root: expected"):
                parse(scores, single_root=wrong)
            with pytest.raises(InputError, match="projective: expected"):
                parse(scores, projective=wrong)
    with pytest.raises(InputError, match=r"scores: expected the shape .* got \(1, 1, 3, 3\)"):
        parse(np.zeros((1, 1, 3, 3)))


def test_lengths_need_a_batch():
    with pytest.raises(InputError, match="lengths"):
        parse(random(4, 0), lengths=[4])
    with pytest.raises(InputError, match="lengths"):
        parse(random(4, 0).arcs, lengths=[4])
    with pytest.raises(InputError, match="lengths"):
        parse(random(4, 0).arcs[np.newaxis], lengths=[5])


def test_arrays_of_parts_are_checked():
    arcs, cube = np.zeros((2, 4, 4)), np.zeros((2, 4, 4, 4))
    for projective in (False, True):
        with pytest.raises(InputError, match=r"siblings: expected the shape .*\(4, 4, 4\)"):
            parse(arcs[0], siblings=cube, projective=projective)
        with pytest.raises(InputError, match=r"grandchildren: expected the shape .*\(2, 4, 4, 4\)"):
            parse(arcs, grandchildren=cube[0], projective=projective)
        with pytest.raises(InputError, match="NaN or"):
            parse(arcs, siblings=np.full(cube.shape, np.nan), projective=projective)
        with pytest.raises(InputError, match="siblings: expected with an array of arc scores, got GrandparentInstance"):
            parse(random(3, 0), siblings=cube[0], projective=projective)
        assert [found.heads for found in parse(arcs[:0], siblings=cube[:0], projective=projective)] == []
    huge = np.random.default_rng(0).normal(size=(3, 4, 4, 4)) * 1e290
    found = parse(arcs[0], siblings=huge[0], grandchildren=huge[1], projective=True)
    whole = parse(arcs[0], siblings=huge[0] / 2.0**960, grandchildren=huge[1] / 2.0**960, projective=True)
    assert found.heads == whole.heads
    assert found.score == pytest.approx(whole.score * 2.0**960)


def test_a_run_creates_no_reference_cycles():
    """Regression: a discarded model stayed in memory, one per epoch of training, until garbage collection."""
    gc.collect()
    gc.disable()
    try:
        problem = AutomataParsing(random(8, 1, siblings=True))
        assert solve(problem).is_optimal
        left = weakref.ref(problem)
        del problem
        assert left() is None
    finally:
        gc.enable()
