"""Column generation compared with enumeration, Viterbi's algorithm, and itself with other options."""

import dataclasses
import itertools
import os
import signal
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from colgen import IterationLimit, Sense, Termination, solve
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.master.statement import restricted_master
from colgen.pricing.oracles import PricingContext
from colgen.problems.chain_map import (
    ChainInstance,
    ChainMAP,
    Labellings,
    Pairwise,
    beam_search,
    certify,
    decode,
    kernel_calls,
    pricing,
    random,
    viterbi,
    viterbi_two_best,
)
from colgen.problems.chain_map.corpus import TASKS
from colgen.problems.chain_map.kernels import tree_labels
from colgen.problems.chain_map.learning import train_perceptron
from colgen.problems.chain_map.master import ChainMaster
from colgen.problems.chain_map.training import examples_of, read_corpus
from tests.sweeps import seeds
from tests.twins.chain_map import best_scores, draw

DATA = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "english_ewt"

WAYS = [
    {},
    {"margin": 0.5},
    {"start": 1},
    {"start": 2, "prune": True},
    {"start": 1, "reduced_cost": "forward"},
    {"start": 1, "reduced_cost": "split"},
]


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("seed", seeds(60))
def test_best_labellings_are_those_of_enumeration(seed, options):
    instance = draw(seed)
    best, found = best_scores(instance), decode(instance, **options)
    feasible = best > -np.inf
    np.testing.assert_array_equal(found.feasible, feasible)
    np.testing.assert_allclose(found.values[feasible], best[feasible], atol=1e-9)
    np.testing.assert_allclose(found.bounds[feasible], best[feasible], atol=1e-9)
    for k in range(len(found)):
        assert (found[k] >= 0).all() if feasible[k] else (found[k] == -1).all()
    if feasible.all():
        np.testing.assert_allclose(instance.values(found.labels), best, atol=1e-9)
        assert instance.check(found.labels) == pytest.approx(best.sum(), abs=1e-9)


@pytest.mark.parametrize("seed", seeds(120))
def test_second_best_labellings_are_those_of_enumeration(seed):
    instance = draw(seed)
    best, second = best_scores(instance), best_scores(instance, 1)
    found = decode(instance, margin=np.inf)
    np.testing.assert_allclose(found.runner_up.values, np.where(best > -np.inf, second, -np.inf), atol=1e-9)
    near = (best > -np.inf) & (second > best - 1.0 + 1e-9)
    np.testing.assert_allclose(decode(instance, margin=1.0).runner_up.values[near], second[near], atol=1e-9)
    labels = found.runner_up.labels
    for k in np.flatnonzero(second > -np.inf):
        part = slice(*instance.forest.starts[k : k + 2])
        assert (labels[part] != found.labels[part]).any()


@pytest.mark.parametrize("seed", seeds(40))
@pytest.mark.parametrize("gap", [0.0015, 0.1, 10.0])
def test_gap_bounds_what_is_missed(seed, gap):
    instance = draw(seed)
    best, found = best_scores(instance), decode(instance, start=1, gap=gap)
    feasible = found.feasible
    assert (found.bounds[feasible] >= best[feasible] - 1e-9).all()
    assert (found.gaps[feasible] <= gap * np.abs(found.values[feasible]) + 1e-9).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("evidence", [0.0, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("labels", [1, 2, 15, 16, 17, 49, 130])
def test_realistic_sizes_agree_with_viterbi(labels, evidence, dtype):
    instance = random(labels, chains=30, labels=labels, evidence=evidence, dtype=dtype)
    best = viterbi(instance).values
    rounding = 1e-5 if dtype == np.float32 else 1e-10
    for options in ({}, {"start": 1}, {"start": 3, "prune": True}):
        found = decode(instance, **options)
        np.testing.assert_allclose(found.values, best, rtol=rounding, atol=rounding)
        np.testing.assert_allclose(found.bounds, best, rtol=10 * rounding, atol=10 * rounding)
    if labels > 1:
        reference = viterbi_two_best(instance)
        second = decode(instance, margin=np.inf).runner_up
        np.testing.assert_allclose(second.values, reference.runner_up.values, rtol=rounding, atol=rounding)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["peaked", "flat", "tied", "adversarial", "forbidding"])
def test_two_thousand_models_of_each_kind_agree_with_viterbi(kind):
    rng = np.random.default_rng(["peaked", "flat", "tied", "adversarial", "forbidding"].index(kind))
    for _ in range(2000):
        labels, n = int(rng.integers(1, 40)), int(rng.integers(1, 15))
        scores, tau = rng.normal(size=(n, labels)), rng.normal(size=(labels, labels))
        if kind == "peaked":
            scores *= 10.0
        elif kind == "flat":
            scores *= 0.0
        elif kind == "tied":
            scores, tau = scores.round(), tau.round()
        elif kind == "adversarial":  # transitions that penalise the best local labels
            best = scores.argmax(axis=1)
            tau[best[:-1], best[1:]] -= 5.0
        else:
            scores[rng.random(scores.shape) < 0.3] = -np.inf
            tau[rng.random(tau.shape) < 0.3] = -np.inf
        instance = ChainInstance.from_chain(scores, tau)
        best = viterbi(instance)
        for options in ({}, {"start": 1}):
            found = decode(instance, **options)
            np.testing.assert_array_equal(found.feasible, best.feasible)
            np.testing.assert_allclose(found.values, best.values, atol=1e-9)


def test_results_state_bounds_and_rounds():
    instance = random(0, chains=20, labels=30, evidence=1.0)
    result = solve(ChainMAP(instance))
    assert result.termination is Termination.OPTIMAL
    assert len(result.iterations) == 1
    assert result.iterations[0].dual_bound == pytest.approx(result.dual_bound)  # stated by the oracle in that round
    assert not result.nodes
    assert result.objective == pytest.approx(viterbi(instance).objective)
    assert result.dual_bound == pytest.approx(result.objective)

    published = solve(ChainMAP(instance, start=1))
    assert published.termination is Termination.OPTIMAL
    assert len(published.iterations) > 1
    assert published.objective == pytest.approx(result.objective)
    bounds = [record.dual_bound for record in published.iterations]
    assert all(before >= after - 1e-9 for before, after in itertools.pairwise(bounds))
    assert all(record.dual_bound >= result.objective - 1e-9 for record in published.iterations)


def test_a_limit_leaves_the_best_labellings_so_far_and_their_bounds():
    instance = random(0, chains=20, labels=30, evidence=0.5)
    best = viterbi(instance)
    result = solve(ChainMAP(instance, start=1), stop=IterationLimit(1))
    assert result.termination is Termination.ITERATION_LIMIT
    assert result.objective <= best.objective <= result.dual_bound
    found = result.answer
    np.testing.assert_allclose(instance.values(found.labels), found.values)
    assert (found.bounds >= best.values - 1e-9).all()


def test_split_local_scores_have_the_reduced_costs_of_one_direction():
    """Equations (8) and (9): the same labellings, rounds and bounds."""
    instance = random(3, chains=50, labels=20, evidence=1.0)
    one, other = (solve(ChainMAP(instance, start=1, reduced_cost=how)) for how in ("forward", "split"))
    assert [r.new_columns for r in one.iterations] == [r.new_columns for r in other.iterations]
    assert [r.dual_bound for r in one.iterations] == pytest.approx([r.dual_bound for r in other.iterations])


def test_some_infeasible_chains_do_not_hide_the_others():
    impossible = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    tau = np.array([[0.0, -np.inf], [-np.inf, 1.0]])
    instance = ChainInstance.from_chains([impossible, np.zeros((3, 2))], tau)
    for options in ({}, {"start": 1}):
        found = decode(instance, **options)
        assert found.values.tolist() == [-np.inf, 2.0]
        assert found[0].tolist() == [-1, -1]
        assert found[1].tolist() == [1, 1, 1]
        assert found.objective == 2.0

    alone = ChainInstance.from_chain(impossible, tau)
    for options in ({}, {"start": 1}):
        assert solve(ChainMAP(alone, **options)).termination is Termination.INFEASIBLE
        assert decode(alone, **options).values.tolist() == [-np.inf]


def test_decode_takes_arrays_lists_and_instances():
    rng = np.random.default_rng(0)
    scores, tau = [rng.normal(size=(n, 4)) for n in (3, 1, 5)], rng.normal(size=(4, 4))
    together = decode(scores, tau)
    assert isinstance(together, Labellings)
    assert len(together) == 3
    for k, part in enumerate(scores):
        assert decode(part, tau)[0].tolist() == together[k].tolist()
        assert decode(part.tolist(), Pairwise(tau))[0].tolist() == together[k].tolist()
    assert [labels.tolist() for labels in together[1:]] == [together[1].tolist(), together[2].tolist()]
    assert decode(ChainInstance.from_chains(scores, tau)).labels.tolist() == together.labels.tolist()


def test_decode_takes_a_batch_with_lengths():
    rng = np.random.default_rng(0)
    scores, transitions = rng.normal(size=(3, 5, 4)).astype(np.float16), rng.normal(size=(4, 4))
    found = decode(scores[:, ::-1], transitions, lengths=[5, 1, 3])  # not contiguous
    for k, count in enumerate([5, 1, 3]):
        alone = decode(scores[k, ::-1][:count], transitions)
        assert found[k].tolist() == alone[0].tolist()
        assert found.values[k] == pytest.approx(alone.values[0])
    assert decode(scores, transitions).values[2] == pytest.approx(decode(scores[2], transitions).values[0])
    with pytest.raises(InputError, match=r"lengths: expected .*from 1 to 5, got 6"):
        decode(scores, transitions, lengths=[5, 6, 1])
    with pytest.raises(InputError, match="lengths: expected scores of shape"):
        decode(scores[0], transitions, lengths=[5])


def test_columns_of_a_solution_are_the_pairs_in_use():
    instance = random(0, chains=2, length=4, labels=3)
    result = solve(ChainMAP(instance))
    columns = result.solution.columns
    assert len(columns) == instance.forest.num_nodes - 2
    labels = result.answer.labels
    for column, value in columns:
        node, lower, upper = column.structure
        assert value == 1.0
        assert (labels[node], labels[node + 1]) == (lower, upper)
    assert columns[0][0].key == next(iter(columns))[0].key


@pytest.mark.parametrize("seed", seeds(40))
def test_certificates_bound_what_any_labelling_loses(seed):
    instance = draw(seed)
    best = best_scores(instance)
    labels = np.random.default_rng(seed).integers(0, instance.num_labels, size=instance.forest.num_nodes)
    bounds = []
    for rounds in (1, 2, 50):
        found = certify(instance, labels, rounds)
        np.testing.assert_array_equal(found.values, instance.values(labels))
        assert (found.bounds >= best - 1e-9).all()
        bounds.append(found.bounds)
    assert (bounds[0] >= bounds[1] - 1e-9).all()
    np.testing.assert_allclose(bounds[2], best, atol=1e-9)  # at the end, the bound is the best labelling's value


def test_a_beam_that_found_the_best_is_certified():
    instance = random(0, chains=50, labels=20, evidence=6.0)
    beam, best = beam_search(instance, 3), viterbi(instance)
    found = certify(instance, beam.labels, rounds=10)
    exact = beam.values > best.values - 1e-9
    assert 10 < exact.sum() < 50
    np.testing.assert_allclose(found.gaps[exact], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.gaps, best.values - beam.values, atol=1e-9)
    assert certify(ChainInstance.from_chain([[0.0, -np.inf]], np.zeros((2, 2))), [-1]).values.tolist() == [-np.inf]
    with pytest.raises(InputError, match="rounds must be"):
        certify(instance, beam.labels, rounds=0)


@pytest.mark.parametrize("task", ["pos", "joint"])
@pytest.mark.skipif(
    not DATA.is_dir(), reason="tagged English is not there (COLGEN_DATA names the folder of the corpora)"
)
@pytest.mark.slow
def test_every_sentence_of_a_real_test_set_is_decoded_as_by_viterbi(task):
    learn = read_corpus(DATA, TASKS[task], "train")
    tagger = train_perceptron(task, examples_of(learn, TASKS[task]), epochs=3, say=[].append)
    words = [sentence.words for sentence in read_corpus(DATA, TASKS[task], "test")]
    for dtype, rounding in ((np.float32, 1e-5), (np.float64, 1e-12)):
        instance = tagger.instance(words, dtype)
        best = viterbi(instance).values
        for options in ({}, {"start": 1}):
            np.testing.assert_allclose(decode(instance, **options).values, best, rtol=rounding)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": [0]}, "expected"),
        ({"start": 0}, "start must be"),
        ({"start": "best"}, "start must be"),
        ({"reduced_cost": "none"}, "reduced_cost must be one of"),
        ({"gap": -0.1}, "gap must be"),
        ({"gap": np.nan}, "gap must be"),
        ({"margin": -1.0}, "margin must be"),
        ({"margin": 1.0, "start": 1}, "start='sweep'"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(InputError, match=words):
        ChainMAP(random(0, labels=3), **options)


def test_decode_needs_transitions():
    with pytest.raises(InputError, match="expected transitions"):
        decode(np.zeros((2, 2)))


def test_a_tree_of_different_label_counts():
    graph = nx.Graph()
    graph.add_node("a", scores=[0.0, 1.0])
    graph.add_node("b", scores=[0.0, 0.0, 0.5])
    graph.add_edge("a", "b", transitions=np.array([[5.0, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    instance = ChainInstance.from_tree(graph)
    found = decode(instance)
    assert found.values.tolist() == [5.0]
    assert dict(zip(instance.nodes, found[0].tolist(), strict=True)) == {"a": 0, "b": 0}


def test_answers_are_checked():
    instance = random(0, chains=5, labels=4)
    problem = ChainMAP(instance)
    answer = decode(instance)
    assert problem.check(answer) == pytest.approx(answer.objective)
    for change, words in (
        ({"labels": np.where(answer.labels == answer.labels[0], 4, answer.labels)}, "labels from 0 to 3"),
        ({"labels": answer.labels[1:]}, "expected .* labels"),
        ({"labels": (answer.labels + 1) % 4}, "stated value"),
        ({"labels": np.full_like(answer.labels, -1)}, "tree 0 has no labels"),
        ({"labels": np.where(np.arange(len(answer.labels)) == 1, -1, answer.labels)}, "no label at some nodes"),
        ({"values": answer.values + 1.0}, "stated value"),
    ):
        with pytest.raises(InfeasibleAnswerError, match=words):
            problem.check(dataclasses.replace(answer, **change))


def test_forbidden_labels_are_infeasible():
    tau = np.array([[0.0, -np.inf], [0.0, 0.0]])
    instance = ChainInstance.from_chains([np.zeros((2, 2)), [[-np.inf, -np.inf]]], tau)
    answer = decode(instance)
    assert ChainMAP(instance).check(answer) == 0.0
    worse = dataclasses.replace(answer, labels=np.array([0, 1, -1], dtype=np.int32))
    with pytest.raises(InfeasibleAnswerError, match="forbidden"):
        ChainMAP(instance).check(worse)
    nothing = ChainInstance.from_chain(np.zeros((3, 2)), np.full((2, 2), -np.inf))
    for options in ({}, {"start": 1}, {"margin": 1.0}):
        result = solve(ChainMAP(nothing, **options))
        assert result.termination is Termination.INFEASIBLE
        assert decode(nothing, **options).labels.tolist() == [-1, -1, -1]


def spent(limit):
    """Return a budget that is used up after ``limit`` checks."""
    budget = Budget()
    looks = iter(range(limit))

    class Spent(Budget):
        expired = property(lambda self: next(looks, None) is None)

    budget.__class__ = Spent
    return budget


def one_round(problem, budget):
    """Return the objective of one solve of the master or of one sweep."""
    master, oracle = restricted_master(problem.master()), problem.pricing()
    if problem.start is None:
        result = oracle.price(None, PricingContext(Sense.MAXIMIZE, budget=budget))
        return result.answers[0].objective if result.answers else None
    return master.solve(budget).objective


@pytest.mark.parametrize("options", [{}, {"start": 1}, {"margin": np.inf}], ids=str)
@pytest.mark.parametrize("looks", [0, 1, 2, 3])
@pytest.mark.parametrize("forbidden", [False, True])
def test_unfinished_trees_keep_a_labelling_and_a_bound(options, looks, forbidden, monkeypatch):
    monkeypatch.setattr(kernel_calls, "_FIRST_OPERATIONS", 64 * 40)
    monkeypatch.setattr(kernel_calls, "_MAX_GROWTH", 1.0)
    for seed in range(20):
        instance = random(seed, chains=9, labels=5, length=4, evidence=0.5)
        if forbidden:
            scores = np.where(np.random.default_rng(seed).random(instance.scores.shape) < 0.3, -np.inf, instance.scores)
            instance = dataclasses.replace(instance, scores=scores)
        best = viterbi(instance)
        problem = ChainMAP(instance, **options)
        objective = one_round(problem, spent(looks))
        found = problem.labellings()
        assert (found.bounds >= best.values - 1e-9).all()
        assert (found.values <= best.values + 1e-9).all()
        assert (found.gaps >= 0).all()
        if not forbidden:
            assert objective == pytest.approx(instance.objective(found.labels))
            assert found.dual_bound >= best.objective - 1e-9
        if not options:
            assert (found.gaps > 1e-9).any() or np.allclose(found.values, best.values)


@pytest.mark.parametrize("options", [{"start": 1}, {"start": 2, "prune": True}, {"margin": np.inf}], ids=str)
def test_a_tree_interrupted_by_the_budget_is_finished_later(options, monkeypatch):
    """A later solve with enough time starts this tree again."""
    monkeypatch.setattr(kernel_calls, "_FIRST_OPERATIONS", 30)
    monkeypatch.setattr(kernel_calls, "_MAX_GROWTH", 1.0)
    monkeypatch.setattr(tree_labels, "_SCORES_PER_CHECK", 30)
    for seed in range(5):
        instance = random(seed, chains=1, labels=6, length=12, evidence=0.5)
        best = viterbi(instance)
        for looks in (3, 5, 9, 15, 25):
            problem = ChainMAP(instance, **options)
            master, oracle = restricted_master(problem.master()), problem.pricing()
            budgets = [spent(looks)] + [Budget()] * 50
            for budget in budgets:
                duals = None if problem.start is None else master.solve(budget).duals
                result = oracle.price(duals, PricingContext(Sense.MAXIMIZE, budget=budget))
                found = problem.labellings()
                assert (found.bounds >= best.values - 1e-9).all()
                assert (found.values <= best.values + 1e-9).all()
                if not master.add(result.columns) and not result.cut_off:
                    break
            np.testing.assert_allclose(found.values, best.values)
            np.testing.assert_allclose(found.bounds, best.values)
            if "margin" in options:
                np.testing.assert_allclose(found.runner_up.values, viterbi_two_best(instance).runner_up.values)


def test_an_interrupted_run_returns_labellings_and_bounds(monkeypatch):
    instance = random(0, chains=400, labels=40, evidence=0.5)

    class Interrupted(ChainMAP):
        def pricing(self):
            oracle = super().pricing()
            original = oracle._sweep_domains

            def swept(*arguments):
                os.kill(os.getpid(), signal.SIGINT)
                return original(*arguments)

            oracle._sweep_domains = swept
            return oracle

    result = solve(Interrupted(instance))
    assert result.termination is Termination.INTERRUPTED
    assert result.objective <= viterbi(instance).objective <= result.dual_bound


def test_columns_of_an_answer_are_not_made_by_solving(monkeypatch):
    """Creating a column takes microseconds; decoding a token takes a tenth of one."""

    def create(*arguments):
        raise AssertionError("a column was created")

    monkeypatch.setattr("colgen.problems.chain_map.labellings.pair_column", create)
    for options in ({}, {"margin": 1.0}):
        assert solve(ChainMAP(random(0, chains=20, labels=5), **options)).termination is Termination.OPTIMAL


@pytest.mark.parametrize("reduced_cost", ["both", "forward"])
def test_pairs_of_a_round_are_bounded_and_the_other_trees_wait(reduced_cost, monkeypatch):
    monkeypatch.setattr(pricing, "_MOST_PAIRS", 20)
    monkeypatch.setattr(kernel_calls, "_FIRST_OPERATIONS", 64 * 30)
    monkeypatch.setattr(kernel_calls, "_MAX_GROWTH", 1.0)
    for seed in range(20):
        instance = random(seed, chains=30, labels=6, length=5, evidence=0.7)
        result = solve(ChainMAP(instance, start=1, reduced_cost=reduced_cost))
        best = viterbi(instance)
        assert result.termination is Termination.OPTIMAL
        np.testing.assert_allclose(result.answer.values, best.values)
        np.testing.assert_allclose(result.answer.bounds, best.values)
        assert all(record.dual_bound >= best.objective - 1e-9 for record in result.iterations)


@pytest.mark.parametrize("reduced_cost", ["both", "forward"])
def test_pairs_of_one_long_tree_are_bounded_too(reduced_cost, monkeypatch):
    """Allocating memory for millions of pairs alone once exceeded a time limit."""
    monkeypatch.setattr(pricing, "_MOST_PAIRS", 200)
    monkeypatch.setattr(kernel_calls, "_FIRST_OPERATIONS", 64 * 30)
    monkeypatch.setattr(kernel_calls, "_MAX_GROWTH", 1.0)
    instance, best_of_round = random(3, chains=1, labels=12, length=60, evidence=0.1), []

    class Counting(ChainMAP):
        def pricing(self):
            oracle = super().pricing()
            original = oracle.price

            def price(duals, context):
                found = original(duals, context)
                if found.columns is not None:
                    best_of_round.append(len(found.columns))
                return found

            oracle.price = price
            return oracle

    result = solve(Counting(instance, start=1, reduced_cost=reduced_cost))
    assert result.termination is Termination.OPTIMAL
    np.testing.assert_allclose(result.answer.values, viterbi(instance).values)
    assert 200 < max(best_of_round) <= 200 + 144 * 10 + 60 + 2


def test_a_time_limit_during_set_up_leaves_labels_and_bounds():
    instance = random(0, chains=9, labels=5, evidence=0.5)
    master = restricted_master(ChainMAP(instance, start=1).master())
    master.solve(Budget(0.0))
    found, best = master.labellings(), viterbi(instance)
    assert (found.values <= best.values + 1e-9).all()
    assert (found.bounds >= best.values - 1e-9).all()
    np.testing.assert_allclose(instance.values(found.labels), found.values)


def test_exchanges_are_unbounded_if_time_is_used_up():
    pairwise = Pairwise(np.array([[0.0, 1.0], [2.0, 0.5]]))

    def spent():
        raise OutOfBudget(Termination.TIME_LIMIT)

    assert pairwise.exchanges_within(spent)[:, :2].tolist() == [[-np.inf, np.inf], [np.inf, -np.inf]]
    known = pairwise.exchanges_within(lambda: None)
    assert known[:, :2].tolist() == [[-np.inf, 2.0], [0.5, -np.inf]]
    assert pairwise.exchanges_within(spent) is known


# --- raw arrays ------------------------------------------------------------------------------------------------------


def _padded(seed, dtype=np.float64):
    """Return chains of several lengths in one padded array, transitions, and scores of first and last labels."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, 4)
    scores = rng.integers(-4, 5, (4, 4, 3)).astype(dtype)
    for own, count in zip(scores, lengths, strict=True):
        own[count:] = 100.0
    return scores, rng.integers(-3, 4, (3, 3)).astype(float), lengths, rng.integers(-5, 6, (2, 3)).astype(float)


@pytest.mark.parametrize("seed", range(20))
def test_masks_give_lengths_and_ends_add_scores(seed):
    scores, transitions, lengths, (first, last) = _padded(seed)
    if seed % 3 == 0:
        first[1] = -np.inf  # no chain begins with this label
    mask = np.arange(4) < lengths[:, None]
    found = decode(scores, transitions, mask=mask, first=first, last=last)
    for k, count in enumerate(lengths.tolist()):
        best = max(
            scores[k, np.arange(count), labels].sum()
            + sum(transitions[a, b] for a, b in itertools.pairwise(labels))
            + first[labels[0]]
            + last[labels[-1]]
            for labels in map(list, itertools.product(range(3), repeat=count))
        )
        assert found.values[k] == found.bounds[k] == best
        one = decode(scores[k, :count], transitions, first=first, last=last)
        assert one.values[0] == best
    listed = [scores[k, :count] for k, count in enumerate(lengths.tolist())]
    assert decode(listed, transitions, first=first, last=last).values.tolist() == found.values.tolist()
    assert decode(scores, transitions, lengths=lengths, first=first, last=last).values.tolist() == found.values.tolist()
    assert scores[0, 0].tolist() == _padded(seed)[0][0, 0].tolist()  # the given array is not changed


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_a_batch_of_other_numbers(dtype):
    scores, transitions, lengths, _ = _padded(1, dtype)
    expected = decode(scores.astype(float), transitions, lengths=lengths).values
    strided = np.repeat(scores, 2, axis=2)[..., ::2]
    assert decode(strided, transitions, lengths=lengths).values.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"mask": [[True, False, True, True]] * 4}, "chain 0"),
        ({"mask": np.ones((4, 3), dtype=bool)}, "mask"),
        ({"mask": np.ones((4, 4), dtype=bool), "lengths": [4] * 4}, "got both"),
        ({"first": [0.0, 1.0]}, "first: expected 3 scores"),
        ({"last": [[0.0, 1.0, 2.0]]}, "last: expected 3 scores"),
        ({"last": [0.0, np.nan, 2.0]}, "NaN"),
        ({"mask": np.zeros((4, 4), dtype=bool)}, "lengths: expected .*from 1"),
    ],
)
def test_invalid_masks_and_ends_raise(how, words):
    scores, transitions, *_ = _padded(0)
    with pytest.raises(InputError, match=words):
        decode(scores, transitions, **how)


def test_ends_and_masks_go_with_arrays():
    scores, transitions, *_ = _padded(0)
    instance = ChainInstance.from_chain(scores[0], transitions)
    for how in ({"first": np.zeros(3)}, {"mask": np.ones((1, 4), dtype=bool)}, {"lengths": [4]}):
        with pytest.raises(InputError, match=r"first|mask|lengths"):
            decode(instance, **how)


@pytest.mark.parametrize("seed", seeds(60))
def test_rounding_of_sums_does_not_raise(seed):
    """Labels may differ by 1e-12 of the scores, less than the precision of their sums."""
    rng = np.random.default_rng(seed)
    tokens, labels = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    size, tiny = 10.0 ** rng.integers(0, 6), 10.0 ** -rng.integers(6, 13)
    drawn = [
        size * (rng.integers(-2, 3, shape) + tiny * rng.integers(-2, 3, shape))
        for shape in ((tokens, labels), (labels, labels))
    ]
    drawn[1][rng.random((labels, labels)) < 0.1] = -np.inf
    instance = ChainInstance.from_chain(*drawn)
    best = solve(ChainMAP(instance))
    for options in ({"start": 1}, {"start": labels}, {"start": 1, "prune": True}):
        found = solve(ChainMAP(instance, **options))
        assert found.termination is best.termination
        if best.is_optimal:
            assert found.objective == pytest.approx(best.objective, abs=1e-9 * size)


def test_a_limit_before_the_first_messages_leaves_an_answer_and_a_bound(monkeypatch):
    def run_out(master, budget):
        raise OutOfBudget(Termination.TIME_LIMIT)

    monkeypatch.setattr(ChainMaster, "_begin", run_out)
    instance = random(0, chains=3, labels=5)
    result = solve(ChainMAP(instance, start=1), stop=IterationLimit(1))
    assert result.termination in (Termination.ITERATION_LIMIT, Termination.TIME_LIMIT)
    assert result.objective <= result.dual_bound
