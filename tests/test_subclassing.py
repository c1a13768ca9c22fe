"""Subclasses on the templates' pages agree with brute force on further instances."""

import contextlib
import functools
import itertools
import tempfile

import numpy as np
import pytest

from colgen import Termination, solve
from colgen.problems import coreference, cutting_stock, grandparent_parsing, nonlocal_parsing, title_path
from colgen.testing.conformance import check_problem
from tests.amounts import examples
from tests.problems.grandparent_parsing.trees import all_trees, worth
from tests.problems.nonlocal_parsing.trees import answers as parses
from tests.test_pages import run
from tests.twins.coreference import partitions
from tests.twins.title_path import answers as paths


@functools.cache
def page(template):
    """Return the names that the page of a template defines."""
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):  # pages draw pictures
        return run(f"docs/templates/{template}.md")


# --- cutting stock: another oracle -----------------------------------------------------------------------------------


def fewest_rolls(instance, pieces):
    """Return the fewest rolls with at most this number of pieces per roll, placing the widest remaining piece first."""

    @functools.cache
    def rolls(left):
        if not left:
            return 0
        best = 1 + rolls(left[1:])
        for others in range(1, pieces):
            for chosen in set(itertools.combinations(range(1, len(left)), others)):
                if left[0] + sum(left[k] for k in chosen) <= instance.roll:
                    rest = tuple(w for k, w in enumerate(left) if k and k not in chosen)
                    best = min(best, 1 + rolls(rest))
        return best

    every = [w for w, d in zip(instance.widths, instance.demands, strict=True) for _ in range(d)]
    return rolls(tuple(sorted(every, reverse=True)))


@pytest.mark.parametrize("seed", range(6))
def test_few_knives(seed):
    rng = np.random.default_rng(seed)
    widths = tuple(rng.choice(np.arange(3, 20), size=3, replace=False).tolist())
    instance = cutting_stock.CuttingStockInstance(30, widths, tuple(rng.integers(1, 4, size=3).tolist()))
    for pieces in (1, 2, 3):
        result = solve(page("cutting_stock")["FewKnives"](instance, pieces))
        optimum = fewest_rolls(instance, pieces)
        assert result.termination in (Termination.OPTIMAL, Termination.NO_BRANCHING)
        assert result.dual_bound <= optimum <= result.objective
        assert instance.check(result.answer) == result.objective
        assert all(sum(copies for _, copies in pattern) <= pieces for pattern, _ in result.answer)
        if result.is_optimal:
            assert result.objective == optimum


def test_few_knives_are_a_limit_that_counts():
    instance = cutting_stock.CuttingStockInstance(30, (10, 5), (2, 4))
    problem = page("cutting_stock")["FewKnives"]
    assert [solve(problem(instance, pieces)).objective for pieces in (1, 2, 3, 6)] == [6, 3, 2, 2]


# --- coreference: a side constraint ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_at_most_so_many_clusters(seed, most):
    instance = coreference.random(6, seed, positive=0.4)
    result = solve(page("coreference")["AtMost"](instance, most))
    assert result.is_optimal
    assert len(result.answer) <= most
    assert instance.check(result.answer) == pytest.approx(result.objective)
    optimum = max(instance.objective(clusters) for clusters in partitions(6) if len(clusters) <= most)
    assert result.objective == pytest.approx(optimum)


# --- chains: another scorer, forbidden pairs -------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"start": 1}], ids=str)
def test_entities(options):
    names = page("chain_map")
    transitions = names["FOLLOWS"].tables[0]
    rng = np.random.default_rng(0)
    sentences = [[f"word{k}" for k in range(n)] for n in (1, 2, 5, 6)]
    tables = {id(tokens): rng.normal(size=(len(tokens), 3)) for tokens in sentences}
    problem = names["Entities"](sentences, lambda tokens, i: tables[id(tokens)][i], **options)
    result = solve(problem)
    total = 0.0
    for tokens, spans in zip(sentences, result.answer, strict=True):
        table, best = tables[id(tokens)], (-np.inf, ())
        for labels in itertools.product(range(3), repeat=len(tokens)):
            if labels[0] != 2:
                value = sum(table[i, x] for i, x in enumerate(labels))
                value += sum(transitions[x, y] for x, y in itertools.pairwise(labels))
                best = max(best, (value, labels))
        total += best[0]
        text = "".join("OBI"[x] for x in best[1])
        groups = [text[k:].split("B", 1)[0].split("O")[0] for k in range(1, len(text) + 1) if text[k - 1] == "B"]
        starts = [k for k, label in enumerate(text) if label == "B"]
        expected = [" ".join(tokens[k : k + 1 + len(rest)]) for k, rest in zip(starts, groups, strict=True)]
        assert spans == expected
    assert result.is_optimal
    assert result.objective == pytest.approx(total)


# --- paths: a side constraint ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_must_visit(seed):
    instance = title_path.random(7, 3, seed, num_classes=5, attraction=1.0)
    sets = [{seed % 7, (seed + 1) % 7}, {(seed + 3) % 7}]
    result = solve(page("title_path")["MustVisit"](instance, sets))
    allowed = [weight for weight, path in paths(instance) if all(members & set(path) for members in sets)]
    if not allowed:
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.is_optimal
    assert result.objective == pytest.approx(max(allowed))
    assert instance.check(result.answer) == pytest.approx(max(allowed))
    assert all(members & set(result.answer) for members in sets)


# --- second-order parsing: a side constraint -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("siblings", [False, True])
def test_bounded_parsing(seed, most, siblings):
    instance = grandparent_parsing.random(4, seed, siblings=siblings, strength=2.0)
    result = solve(page("grandparent_parsing")["BoundedParsing"](instance, most))
    trees = [heads for heads in all_trees(4) if all(heads.count(h) <= most for h in range(1, 5))]
    assert result.is_optimal
    assert result.answer in trees
    assert result.objective == pytest.approx(max(worth(instance, heads) for heads in trees))
    assert worth(instance, result.answer) == pytest.approx(result.objective)


# --- parsing with non-local factors: another factor family -----------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("score", [3.0, -3.0])
def test_chains_of_one_tag(seed, score):
    instance = nonlocal_parsing.random(5, seed, order=1)
    tags = "NNVNN"

    def value(heads):
        chains = [
            words
            for words in itertools.permutations(range(1, 6), 4)
            if all(tags[w - 1] == "N" for w in words) and all(heads[m - 1] == h for h, m in itertools.pairwise(words))
        ]
        return instance.objective(heads) + score * len(chains)

    result = solve(page("nonlocal_parsing")["WithChains"](instance, tags, score))
    assert result.is_optimal
    assert result.objective == pytest.approx(max(map(value, parses(instance))))
    assert value(result.answer) == pytest.approx(result.objective)


# --- all of them: the contract that the engine relies on -------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "name", "arguments"),
    [
        ("cutting_stock", "FewKnives", (cutting_stock.CuttingStockInstance(30, (10, 7, 5), (3, 3, 4)), 3)),
        ("coreference", "AtMost", (coreference.random(6, 0, positive=0.4), 2)),
        ("title_path", "MustVisit", (title_path.random(7, 3, 2, num_classes=5), [{0, 1}, {3}])),
        ("grandparent_parsing", "BoundedParsing", (grandparent_parsing.random(4, 1, siblings=True), 1)),
    ],
    ids=["FewKnives", "AtMost", "MustVisit", "BoundedParsing"],
)
def test_subclass_keeps_the_contract(template, name, arguments):
    check_problem(page(template)[name](*arguments), seconds=examples(1.0, 4.0)).raise_if_any()
