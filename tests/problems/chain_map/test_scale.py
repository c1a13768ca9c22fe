"""Proofs hold at every scale, in both precisions, with constants and penalties: compared with all labellings."""

import itertools

import networkx as nx
import numpy as np
import pytest

from colgen import solve
from colgen.problems.chain_map import (
    ChainInstance,
    ChainMAP,
    Pairwise,
    certify,
    decode,
    random,
    viterbi,
    viterbi_pruned,
)
from colgen.problems.chain_map.pruning import prune
from colgen.solvers.chains.forest import NONE, from_parents
from tests.sweeps import seeds
from tests.twins.chain_map import draw, scores_of

WAYS = [
    {},
    {"margin": 0.5},
    {"margin": np.inf},
    {"start": 1},
    {"start": 2, "prune": True},
    {"start": 1, "reduced_cost": "forward"},
    {"start": 1, "reduced_cost": "split"},
    {"start": 1, "gap": 0.1},
    {"start": "array"},
]
SCALES = [2.0**-30, 1e-9, 1e-4, 1.0, 1e9, 2.0**30]
ROUNDING = 1e-14
"""Of sums of a few numbers, relative to the largest."""


def scaled(seed, scale, dtype, *, constant=0.0, penalty=0.0):
    """Return a tiny model with a constant added to all labels of a node, or penalties on some labels and pairs."""
    base = draw(seed, forbidden=seed % 3 == 0)
    scores, tables = base.scores * scale, base.pairwise.tables * scale
    rng = np.random.default_rng(seed)
    if penalty:
        scores[rng.random(scores.shape) < 0.2] = -penalty * scale
        tables[rng.random(tables.shape) < 0.2] = -penalty * scale
    scores[0] += constant * scale
    return ChainInstance(base.forest, scores.astype(dtype), Pairwise(tables.astype(dtype)))


def check(instance, options, scale):
    """Compare labellings and bounds with all labellings of the given data."""
    options = dict(options)
    if "margin" in options:
        options["margin"] *= scale
    if options.get("start") == "array":
        options["start"] = np.zeros(instance.forest.num_nodes, dtype=int)
    found = decode(instance, **options)
    rounding = ROUNDING * max(instance.size, instance.pairwise.size)
    for k in range(len(found)):
        best, second = [*scores_of(instance, k), -np.inf][:2]
        if best == -np.inf:
            assert found.values[k] == found.bounds[k] == -np.inf
            continue
        assert found.bounds[k] >= best - rounding
        if "gap" in options:
            assert found.bounds[k] - found.values[k] <= options["gap"] * abs(found.values[k]) + rounding
            continue
        assert found.values[k] == pytest.approx(best, rel=0, abs=rounding)
        assert found.bounds[k] == pytest.approx(best, rel=0, abs=rounding)
        if "margin" in options and second >= best - options["margin"]:
            assert found.runner_up.values[k] == pytest.approx(second, rel=0, abs=rounding)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("options", WAYS, ids=str)
def test_best_labellings_at_every_scale(options, scale, dtype):
    for seed in range(12):
        check(scaled(seed, scale, dtype), options, scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("options", WAYS, ids=str)
def test_a_constant_added_to_a_node_changes_no_verdict(options, scale, dtype):
    for seed in range(8):
        check(scaled(seed, scale, dtype, constant=1e7), options, scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("penalty", [2e7, 1e12])
@pytest.mark.parametrize("options", WAYS, ids=str)
def test_penalties_hide_nothing(options, penalty, dtype):
    for seed in range(16):
        instance = scaled(seed, 1.0, dtype, penalty=penalty)
        found = decode(instance, **{**options, **({"start": 1} if "start" in options else {})})
        for k in range(len(found)):
            best = scores_of(instance, k)[0]
            # A labelling with an unavoidable penalty is compared at the penalty's size.
            near = 1e-12 if best > -1e6 else 1e-14 * penalty
            if "gap" in options:
                assert found.bounds[k] >= best - near
            elif best > -np.inf:
                assert found.values[k] == pytest.approx(best, rel=0, abs=near)
                assert found.bounds[k] == pytest.approx(best, rel=0, abs=near)


@pytest.mark.parametrize("options", WAYS[:7], ids=str)
@pytest.mark.parametrize("power", [-30, -7, 30])
def test_powers_of_two_change_no_label(options, power):
    factor = 2.0**power
    for dtype in (np.float32, np.float64):
        instance = random(3, chains=10, labels=20, evidence=0.7, dtype=dtype)
        other = ChainInstance(
            instance.forest, instance.scores * dtype(factor), Pairwise(instance.pairwise.tables * dtype(factor))
        )
        scaled_options = {**options, **({"margin": options["margin"] * factor} if "margin" in options else {})}
        one, two = decode(instance, **options), decode(other, **scaled_options)
        np.testing.assert_array_equal(one.labels, two.labels)
        np.testing.assert_array_equal(one.values * factor, two.values)
        np.testing.assert_array_equal(one.bounds * factor, two.bounds)


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_many_trees_whose_scores_cancel_out_are_proved(options):
    """Bound and answer are sums over the same trees, and rounding errors may exceed the differences between labels."""
    options = {"start": np.zeros(4000, dtype=int)} if options.get("start") == "array" else options
    for seed in range(3):
        half = 1e6 * np.random.default_rng(seed).normal(size=(500, 4, 1))
        scores = np.concatenate([half, -half]) - [0.0, 1.0]  # the best scores sum to zero plus rounding errors
        result = solve(ChainMAP(ChainInstance.from_chains(list(scores), np.zeros((2, 2))), **options))
        assert result.termination.is_proof
        assert not result.answer.labels.any()


@pytest.mark.parametrize("unit", [1e-11, 1.0])
@pytest.mark.parametrize("where", ["nodes", "pairs", "below", "above"])
@pytest.mark.parametrize("options", WAYS[3:7], ids=str)
def test_small_differences_among_equal_scores_are_proved(options, where, unit):
    """The nodes and pairs that are sampled first do not differ."""
    trees, nodes, labels = 16, 4, 3
    parents = np.tile([1, 2, 3, NONE], trees) + np.repeat(np.arange(trees) * nodes, nodes) * ([1, 1, 1, 0] * trees)
    forest = from_parents(np.arange(0, trees * nodes + 1, nodes), parents, np.tile([0, 1, 1, 0], trees))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        scores, tables = np.zeros((trees, nodes, labels)), np.zeros((2, labels, labels))
        if where == "nodes":
            scores[:, 1:] = unit * rng.integers(-3, 4, (trees, nodes - 1, labels))
        shape = {"below": (labels, 1), "above": (1, labels)}.get(where, (labels, labels))
        tables[1] = unit * rng.integers(-6, 7, shape)
        check(ChainInstance(forest, scores.reshape(-1, labels), Pairwise(tables)), options, unit)


@pytest.mark.parametrize("unit", [1e-11, 1.0, 1e11])
def test_the_scale_has_the_unit_of_the_scores(unit):
    alike = ChainInstance.from_chains([np.full((3, 2), unit)] * 20, np.full((2, 2), -unit))
    assert unit / 2 < alike.scale <= unit  # nothing differs
    assert ChainInstance.from_chains([np.zeros((3, 2))], np.zeros((2, 2))).scale == 1.0
    for table in ([[0.0, 0.0], [unit, unit]], [[0.0, unit], [0.0, unit]]):
        assert unit / 2 < ChainInstance.from_chains([np.zeros((3, 2))], table).scale <= unit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_near_ties_are_decided_in_double_precision(dtype):
    """Single precision cannot distinguish these labels along a chain, but the proof must hold exactly."""
    rng = np.random.default_rng(0)
    for n in (2, 5, 6):
        for _ in range(20):
            near = 1.0 + rng.integers(0, 3, size=(n, 3)) * np.finfo(np.float32).eps
            tau = rng.integers(0, 3, size=(3, 3)) * np.finfo(np.float32).eps
            instance = ChainInstance.from_chain((7.0 * near).astype(dtype), (3.0 + tau).astype(dtype))
            for options in ({}, {"start": 1}, {"margin": np.inf}):
                check(instance, options, 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_pruning_keeps_a_best_labelling(scale, dtype):
    for seed in range(30):
        instance = scaled(seed, scale, dtype, constant=1e7 * (seed % 2))
        pruned = prune(instance)
        found = viterbi_pruned(instance)
        for k in range(instance.num_trees):
            best = scores_of(instance, k)[0]
            assert scores_of(pruned, k)[0] == best
            rounding = ROUNDING * max(instance.size, instance.pairwise.size)
            assert found.values[k] == best or found.values[k] == pytest.approx(best, rel=0, abs=rounding)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("rounds", [1, 2, 50])
def test_certificates_hold_at_every_scale(scale, rounds):
    for seed in range(12):
        for dtype in (np.float32, np.float64):
            instance = scaled(seed, scale, dtype)
            labels = np.random.default_rng(seed).integers(0, instance.num_labels, size=instance.forest.num_nodes)
            found = certify(instance, labels, rounds)
            rounding = ROUNDING * max(instance.size, instance.pairwise.size)
            for k in range(len(found)):
                assert found.bounds[k] >= scores_of(instance, k)[0] - rounding


def test_all_trees_of_up_to_six_nodes():
    """Every shape, in single precision, with ties, including messages from several children."""
    rng = np.random.default_rng(0)
    for n in range(1, 7):
        for tree in nx.nonisomorphic_trees(n) if n > 1 else [nx.empty_graph(1)]:
            for scale in (1e-9, 1.0, 1e9):
                parent = np.full(n, NONE)
                order = list(nx.dfs_postorder_nodes(tree, 0))
                for a, b in nx.dfs_edges(tree, 0):
                    parent[order.index(b)] = order.index(a)
                labels = 2 if n == 6 else 3
                scores = (rng.integers(-2, 3, size=(n, labels)) * 0.1 * scale).astype(np.float32)
                tables = (rng.integers(-2, 3, size=(1, labels, labels)) * 0.1 * scale).astype(np.float32)
                forest = from_parents(np.array([0, n]), parent, np.zeros(n))
                instance = ChainInstance(forest, scores, Pairwise(tables))
                for options in ({}, {"margin": np.inf}, {"start": 1}, {"start": 1, "reduced_cost": "forward"}):
                    check(instance, options, scale)


def test_double_precision_is_used_where_single_does_not_distinguish_labels():
    instance = random(0, chains=40, labels=30, dtype=np.float32)
    shifted = ChainInstance(instance.forest, instance.scores + np.float32(2**20), instance.pairwise)
    double = ChainInstance(shifted.forest, shifted.scores.astype(float), shifted.pairwise.double)
    np.testing.assert_allclose(decode(shifted).values, viterbi(double).values, rtol=1e-15)


@pytest.mark.parametrize("seed", seeds(30))
def test_given_labels_that_are_pruned(seed):
    """Initial labels that rule (14) forbids are replaced, even if few pairs are allowed."""
    rng = np.random.default_rng(seed)
    theta = rng.integers(-2, 3, (3, 3)).astype(float)
    tau = np.where(rng.random((3, 3)) < 0.3, -np.inf, rng.integers(-2, 3, (3, 3)).astype(float))
    best = decode(theta, tau).values
    for labels in itertools.product(range(3), repeat=3):
        found = decode(theta, tau, start=np.array(labels), prune=True)
        assert found.values.tolist() == best.tolist()


@pytest.mark.parametrize("start", [1, 2])
def test_a_penalty_does_not_determine_the_scale(start):
    transitions = np.array([[0.0, 0.0], [2.0, 0.0]])
    found = decode([[0.0, 0.0], [0.0, -1e12]], transitions, start=start)
    assert found[0].tolist() == [1, 0]
    assert found.values.tolist() == [2.0]


@pytest.mark.parametrize("reduced_cost", ["both", "forward", "split"])
@pytest.mark.parametrize("start", [1, 2])
def test_an_unavoidable_penalty_in_one_tree_does_not_affect_others(start, reduced_cost):
    """Next to 1e12, scores differ by less than its rounding error, whether the penalty is avoidable or not."""
    penalty, never = -1e12, -np.inf
    forced = np.array([[0.0, 1.0], [0.0, never], [0.0, 0.0], [0.0, 0.0], [never, 0.0]])
    free = np.array([[0.0, 1.0], [0.3, 0.0], [0.0, 0.00003], [0.0, 0.0], [0.0, never]])
    transitions = np.array([[0.0, penalty], [-1.1, 0.0]])
    instance = ChainInstance.from_chains([forced, free, free[:, ::-1]], transitions)
    found = decode(instance, start=start, reduced_cost=reduced_cost)
    for k, best in enumerate(scores_of(instance, k)[0] for k in range(3)):
        near = 1e-12 if best > penalty / 2 else -1e-15 * penalty
        assert found.values[k] == pytest.approx(best, rel=0, abs=near)
        assert found.bounds[k] == pytest.approx(best, rel=0, abs=near)


def test_small_gains_of_one_tree_are_found_in_a_large_sum():
    """The gain of one of a thousand trees is less than the rounding error of their sum."""
    one, others = np.array([[0.0, -0.001], [0.0, -1.0]]), np.array([[0.0, -1.0], [0.0, -1.0]])
    transitions = np.array([[0.0, 0.0], [0.002, 0.0]])
    instance = ChainInstance.from_chains([1e9 + one, *[1e9 + others] * 999], transitions)
    found = solve(ChainMAP(instance, start=1)).answer
    assert found[0].tolist() == [1, 0]
    assert found.gaps.max() == 0.0
