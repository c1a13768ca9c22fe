"""Scores of any size, with constants and penalties: all solvers prove correct results."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from colgen import Termination, solve
from colgen.problems.grandparent_parsing import (
    GrandparentInstance,
    GrandparentParsing,
    parse,
    random,
    read,
    standard_scores,
    write,
)
from tests.amounts import examples
from tests.fuzz import second_order
from tests.fuzz.templates import judge
from tests.problems.grandparent_parsing.trees import all_trees, optimum, worth

WAYS = {
    "parse": None,
    "dual": {"start": "dual"},
    "tree": {"start": "tree"},
    "parts": {"start": "parts"},
    "flow": {"connectivity": "flow"},
    "one_gp+no_gp": {"formulation": "one_gp+no_gp"},
}


def heads_by(way, instance):
    """The tree that is proved to be the best, and its score and bound."""
    found = parse(instance) if WAYS[way] is None else solve(GrandparentParsing(instance, **WAYS[way]))
    assert found.is_optimal
    return (found.heads, found.score) if WAYS[way] is None else (found.answer, found.objective)


def changed(instance, times, constant=0.0):
    siblings = instance.sibling_scores
    return GrandparentInstance(
        instance.arc_scores * times + constant,
        instance.grandparent_scores * times,
        None if siblings is None else siblings * times,
        instance.single_root,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("times", [1e-9, 1e-7, 1e9, 2.0**-30, 2.0**30])
def test_scores_of_any_size(way, times):
    for seed in range(examples(3, 8)):
        siblings = way != "dual" and seed % 2 == 0
        instance = random(4 + seed % 2, seed, siblings=siblings, strength=1.5, single_root=seed % 3 == 0)
        heads, score = heads_by(way, changed(instance, times))
        assert worth(instance, heads) == pytest.approx(optimum(instance), abs=1e-7)
        assert score == pytest.approx(worth(instance, heads) * times)
        if np.log2(times).is_integer():
            assert heads_by(way, instance)[0] == heads


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("constant", [1e7, -1e9])
def test_a_constant_added_to_all_arcs_into_a_token(way, constant):
    for seed in range(1, examples(5, 6), examples(3, 1)):
        instance = random(5, seed, strength=1.5, single_root=seed % 2 == 0)
        added = constant * (1.0 if seed < 3 else np.random.default_rng(seed).random(6))
        heads, score = heads_by(way, changed(instance, 1.0, added))
        assert worth(instance, heads) == pytest.approx(optimum(instance), abs=1e-5)
        assert score == pytest.approx(worth(changed(instance, 1.0, added), heads), rel=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("penalty", [-1e4, -1e8, -1e12, -1e15])
def test_penalties(way, penalty):
    for seed in range(examples(3, 8)):
        given = random(4, seed, siblings=way != "dual" and seed % 2 == 0)
        tables = [given.arc_scores.copy(), given.grandparent_scores.copy()]
        if given.sibling_scores is not None:
            tables.append(given.sibling_scores.copy())
        rng = np.random.default_rng(seed)
        for table in tables:
            table[rng.random(table.shape) < 0.08] = penalty
        instance = GrandparentInstance(*tables)
        best = optimum(instance)
        heads, _ = heads_by(way, instance)
        assert worth(instance, heads) == pytest.approx(best, abs=1e-7, rel=1e-9)


@pytest.mark.parametrize("seed", range(examples(8, 20)))
def test_trees_with_raised_scores_are_worse_than_the_known_tree(seed):
    given = random(4, seed, siblings=True, single_root=seed % 2 == 0)
    tables = [given.arc_scores.copy(), given.grandparent_scores.copy(), given.sibling_scores.copy()]
    rng = np.random.default_rng(seed)
    for table in tables:
        table[rng.random(table.shape) < 0.1] = -1e6
    instance = GrandparentInstance(*tables, single_root=given.single_root)
    standard = standard_scores(instance)
    if standard.known is None:
        return
    raised = GrandparentInstance(
        standard.arcs,
        standard.raise_to_floor(instance.grandparent_scores),
        standard.raise_to_floor(instance.sibling_scores),
    )
    least = worth(raised, standard.known)
    assert least == pytest.approx(worth(instance, standard.known) - standard.constant)
    for heads in all_trees(4):
        if instance.single_root and heads.count(0) != 1:
            continue
        before, after = worth(instance, heads) - standard.constant, worth(raised, heads)
        assert after == pytest.approx(before) or after < least - standard.unit / 4
        assert after <= standard.bound + 1e-9


def test_standard_scores_of_multiples_are_multiples():
    instance = random(6, 0, siblings=True)
    one, other = standard_scores(instance), standard_scores(changed(instance, 2.0**-20))
    assert other.unit == one.unit * 2.0**-20
    assert (other.arcs[1:, 1:] == one.arcs[1:, 1:] * 2.0**-20).all()


def test_rounding_returns_no_tree_with_a_forbidden_part():
    """The program raises the score of such a part; the tree's true score is 50,000 lower."""
    failure, _ = judge(second_order.draw(np.random.default_rng([1003, 348])))
    assert failure is None, failure.words


def test_an_integral_relaxation_with_a_forbidden_part_is_not_returned():
    """The known tree, relative to which such parts are too low, is better."""
    failure, _ = judge(second_order.draw(np.random.default_rng([1003, 14])))
    assert failure is None, failure.words


@pytest.mark.parametrize("anything", [-2e7, 2e7])
@pytest.mark.parametrize("start", ["dual", "tree", "parts"])
def test_scores_of_impossible_parts_do_not_affect_the_unit(start, anything):
    """Entries where the root is a child, or a vertex is its own grandparent."""
    arcs = np.array([[0.0, -0.2, 0.1], [0.0, 0.0, 0.0], [0.0, -0.7, 0.0]])
    grandparents = np.full((3, 3, 3), anything)
    grandparents[0, 1, 2], grandparents[0, 2, 1] = 0.0, 1.0
    result = solve(GrandparentParsing(GrandparentInstance(arcs, grandparents), start=start))
    assert result.is_optimal
    assert result.answer == (2, 0)
    assert result.objective == pytest.approx(0.4)
    assert standard_scores(GrandparentInstance(arcs, grandparents)).unit <= 1.0


@pytest.mark.parametrize("start", ["dual", "tree", "parts"])
def test_a_first_tree_with_a_forbidden_part_is_not_used(start):
    arcs = np.zeros((3, 3))
    arcs[2, 1] = 1.0
    grandparents = np.zeros((3, 3, 3))
    grandparents[0, 2, 1], grandparents[2, 2, 2] = -1e9, -1.0
    instance = GrandparentInstance(arcs, grandparents)
    for iterations in (1, 2, 5):
        problem = GrandparentParsing(instance, start=start)
        problem.iterations = iterations
        result = solve(problem)
        assert result.is_optimal
        assert result.objective == pytest.approx(optimum(instance))


HARD = {
    name: GrandparentInstance(
        np.array(sample["arcs"]),
        *(np.array(sample[kind]) if kind in sample else None for kind in ("grandparents", "siblings")),
        sample["single_root"],
    )
    for name, sample in json.loads(Path(__file__).with_name("hard_scores.json").read_text()).items()
}
"""Sample instances that some solver once failed to prove, or proved wrongly."""


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("way", WAYS)
def test_hard_scores(name, way):
    instance = HARD[name]
    if way == "dual" and instance.sibling_scores is not None:
        way = "tree"  # the combinatorial dual has no sibling parts
    heads, score = heads_by(way, instance)
    best = optimum(instance)
    assert score == pytest.approx(best, rel=1e-9)
    assert worth(instance, heads) == pytest.approx(best, rel=1e-9)


def test_a_tree_without_penalties_is_found_among_many_penalties():
    """The unit ignores penalties that no good tree pays, because other differences would be below it."""
    assert standard_scores(HARD["penalties of siblings"]).unit < 1.0


@pytest.mark.parametrize("way", [way for way in WAYS if way != "parse"])
def test_infeasibility_is_proved_before_all_rows_are_separated(way):
    arcs = np.full((4, 4), -np.inf)
    arcs[1, 2], arcs[1, 3], arcs[2, 1], arcs[2, 3], arcs[3, 1] = 0.8, 0.01, -7.4, 145.0, -127.0  # none from the root
    grandparents = np.random.default_rng(0).normal(0.0, 50.0, (4, 4, 4))
    problem = GrandparentParsing(GrandparentInstance(arcs, grandparents), tighten=False, **WAYS[way])
    problem.iterations = 1
    result = solve(problem)
    assert result.termination is Termination.INFEASIBLE


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("power", [-60, -40, -29, 0, 30])
def test_impossible_parts_do_not_set_the_unit_if_all_trees_are_equal(way, power):
    arcs, siblings = (
        np.array([[3.0, 998.0], [-3.0, 0.0]]),
        np.array([[[-2.0, 0.0], [0.0, 3.0]], [[2.0, 1.0], [3.0, 1.0]]]),
    )
    instance = GrandparentInstance(2.0**power * arcs, None, 2.0**power * siblings, True)
    if WAYS[way] is None:
        found = parse(instance)
        bound, score = found.bound, found.score
    else:
        result = solve(GrandparentParsing(instance, **(WAYS["tree"] if way == "dual" else WAYS[way])))
        bound, score = result.dual_bound, result.objective
    assert bound / 2.0**power == pytest.approx(998.0, abs=1e-6)
    assert score / 2.0**power == pytest.approx(998.0, abs=1e-6)


@pytest.mark.parametrize("penalty", [-1e12, -1e300])
@pytest.mark.parametrize("start", ["tree", "parts"])
def test_a_penalty_of_an_impossible_part_is_ignored(penalty, start):
    """Regression: the only tree scores 0, but an impossible part raised its proved bound to 6."""
    siblings = np.zeros((2, 2, 2))
    siblings[0, 1, 1], siblings[1, 1, 1] = 3.0, penalty
    result = solve(GrandparentParsing(GrandparentInstance(np.zeros((2, 2)), None, siblings), start=start))
    assert result.is_optimal
    assert result.objective == 0.0
    assert result.dual_bound == pytest.approx(0.0, abs=1e-6)


def test_the_bound_of_a_single_remaining_tree_is_exact():
    """Arc bounds narrowly exclude all other trees, so there is no branching; multipliers have not converged."""
    failure, _ = judge(second_order.draw(np.random.default_rng([31000, 650])))
    assert failure is None, failure.words


@pytest.mark.parametrize("way", WAYS)
def test_forbidden_parts_are_in_no_tree(way):
    """For any share of forbidden parts; if every tree has one, there is no tree."""
    seen = set()
    for seed in range(examples(12, 40)):
        rng = np.random.default_rng(seed)
        sample = random(2 + seed % 3, seed, siblings=way != "dual", strength=1.5, single_root=seed % 5 == 0)
        share = (0.1, 0.4, 0.8)[seed % 3]
        tables = [
            None if table is None else np.where(rng.random(table.shape) < share, -np.inf, table) * 1e3 ** (seed % 2)
            for table in (sample.grandparent_scores, sample.sibling_scores)
        ]
        raw = SimpleNamespace(arc_scores=sample.arc_scores, grandparent_scores=tables[0], sibling_scores=tables[1])
        instance = GrandparentInstance(sample.arc_scores, *tables, sample.single_root)
        trees = [heads for heads in all_trees(len(instance)) if not instance.single_root or heads.count(0) == 1]
        best = max(worth(raw, heads) for heads in trees)
        found = parse(instance) if WAYS[way] is None else solve(GrandparentParsing(instance, **WAYS[way]))
        heads = found.heads if WAYS[way] is None else found.answer
        seen.add(best == -np.inf)
        if best == -np.inf:
            assert heads is None
            assert found.termination is Termination.INFEASIBLE
            continue
        assert found.is_optimal
        assert worth(raw, heads) == pytest.approx(best)
        assert instance.check(heads) == pytest.approx(best)
        barred = [heads for heads in trees if worth(raw, heads) == -np.inf]
        assert not any(map(instance.allows, barred))
    assert seen == {True, False}


def test_forbidden_parts_are_kept_in_files(tmp_path):
    sample = random(3, 1, siblings=True)
    barred = np.where(np.arange(64).reshape(4, 4, 4) % 3 == 0, -np.inf, sample.sibling_scores)
    write(GrandparentInstance(sample.arc_scores, sample.grandparent_scores, barred), tmp_path / "barred.npz")
    again = read(tmp_path / "barred.npz")
    assert (again.ruled_out[1] == np.isinf(barred)).all()
    assert again.ruled_out[0] is None
