"""Arbitrary siblings against all trees."""

import itertools
import json

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, Termination, solve
from colgen.cli.main import main
from colgen.problems.grandparent_parsing import (
    GrandparentInstance,
    GrandparentParsing,
    PairParsing,
    parse,
    random,
    read,
    write,
)
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.baseline import solve_complete
from colgen.problems.grandparent_parsing.model import full
from tests.problems.grandparent_parsing.trees import all_worths


def pair_score(pairs, heads):
    tokens = range(1, len(heads) + 1)
    return sum(pairs[heads[s - 1], s, m] for s, m in itertools.combinations(tokens, 2) if heads[s - 1] == heads[m - 1])


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))])
@pytest.mark.parametrize("sign", ["mixed", "positive", "negative", "ties"])
def test_the_best_of_all_trees_is_proved(seed, sign):
    rng = np.random.default_rng(seed)
    tokens, scale = 2 + seed % 3, 10.0 ** (seed % 3 * 6 - 6)
    given = random(tokens, seed, siblings=seed % 2 == 0)
    arcs = scale * given.arc_scores
    if seed % 4 == 3:
        arcs[1, 2] = -np.inf
    tables = [None if t is None else scale * t for t in (given.grandparent_scores, given.sibling_scores)]
    instance = GrandparentInstance(arcs, *tables, single_root=seed % 3 == 1)
    pairs = rng.normal(size=(tokens + 1,) * 3) * scale * (1.0 + seed % 4)
    pairs = {"mixed": pairs, "positive": abs(pairs), "negative": -abs(pairs), "ties": scale * np.sign(pairs)}[sign]
    worths = {heads: worth + pair_score(pairs, heads) for heads, worth in all_worths(instance).items()}
    best = max(worths.values())
    problem = PairParsing(instance, pairs)
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)
    assert result.dual_bound >= best - 1e-6 * scale
    assert worths[result.answer] == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)
    assert problem.check(result.answer) == pytest.approx(worths[result.answer], abs=1e-9 * scale)


def test_pairs_can_outweigh_very_low_arcs():
    arcs = np.zeros((4, 4))
    arcs[1, 2] = arcs[1, 3] = -1e7
    pairs = np.zeros((4, 4, 4))
    pairs[1, 2, 3] = 3e7
    result = solve(PairParsing(GrandparentInstance(arcs), pairs))
    assert result.is_optimal
    assert result.answer == (0, 1, 1)
    assert result.objective == pytest.approx(1e7)


def test_wrong_pair_scores_are_refused():
    instance = random(3, 0)
    with pytest.raises(InputError, match="shape"):
        PairParsing(instance, np.zeros((3, 3, 3)))
    with pytest.raises(InputError, match="finite"):
        PairParsing(instance, np.full((4, 4, 4), -np.inf))
    ruled = np.zeros((4, 4, 4))
    ruled[0, 1, 2] = -np.inf
    with pytest.raises(InputError, match="forbid arcs"):
        PairParsing(GrandparentInstance(instance.arc_scores, ruled), np.zeros((4, 4, 4)))


def test_solvers_without_pairs_refuse_them():
    instance = random(4, 0, pairs=True)
    for made in (GrandparentParsing, AutomataParsing, solve_complete):
        with pytest.raises(InputError, match="does not support pair_scores"):
            made(instance)
    with pytest.raises(InputError, match="expected pair_scores"):
        PairParsing(random(4, 0))


def test_forbidden_parts_with_pairs_are_refused():
    ruled = np.zeros((4, 4, 4))
    ruled[0, 1, 2] = -np.inf
    with pytest.raises(InputError, match="forbid arcs"):
        GrandparentInstance(np.zeros((4, 4)), ruled).with_pairs(np.zeros((4, 4, 4)))
    with pytest.raises(InputError, match="forbid arcs"):
        GrandparentInstance(np.zeros((4, 4)), ruled, pair_scores=np.zeros((4, 4, 4)))


@pytest.mark.parametrize("seed", range(4))
def test_parse_and_files_support_pairs(seed, tmp_path):
    instance = random(4, seed, siblings=seed % 2 == 0, pairs=True, single_root=seed > 1)
    write(instance, tmp_path / "scores.npz")
    again = read(tmp_path / "scores.npz")
    assert np.array_equal(again.pair_scores, instance.pair_scores)
    worths = all_worths(instance)
    best = max(worths, key=lambda heads: worths[heads] + pair_score(instance.pair_scores, heads))
    found = parse(again)
    assert found.is_optimal
    assert found.heads == best
    assert found.score == pytest.approx(instance.check(best), abs=1e-9)
    assert instance.check(best) == pytest.approx(worths[best] + pair_score(instance.pair_scores, best), abs=1e-9)


def test_the_command_line_supports_pairs(tmp_path, capsys):
    arcs = np.zeros((4, 4))
    arcs[1, 2] = arcs[1, 3] = -1.0
    pairs = np.zeros((4, 4, 4))
    pairs[1, 2, 3] = 3.0
    write(GrandparentInstance(arcs, pair_scores=pairs), tmp_path / "scores.npz")
    assert main(["solve", "grandparent_parsing", str(tmp_path / "scores.npz"), "--json", "-"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["objective"] == pytest.approx(1.0)


def test_no_tree_with_pairs():
    arcs = np.full((3, 3), -np.inf)
    arcs[1, 2] = arcs[2, 1] = 0.0
    found = parse(GrandparentInstance(arcs, pair_scores=np.ones((3, 3, 3))))
    assert found.heads is None
    assert found.termination is Termination.INFEASIBLE


@pytest.mark.slow
@pytest.mark.parametrize("single_root", [False, True])
def test_the_complete_program_agrees(single_root):
    given = random(8, 5, single_root=single_root)
    pairs = np.random.default_rng(5).normal(size=(9, 9, 9))
    result = solve(PairParsing(given, pairs))
    assert result.is_optimal
    assert result.objective == pytest.approx(complete_with_pairs(given, pairs), abs=1e-5)


def complete_with_pairs(instance, pairs):
    """The optimum of the complete program with all pairs and their rows, by HiGHS."""
    m = full(instance.with_pairs(pairs))
    pyo.SolverFactory("appsi_highs").solve(m)
    return pyo.value(m.score)
