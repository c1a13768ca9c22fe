"""Validation of score matrices, files, graphs, generators."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from colgen import InputError, PricingResult, Record, solve
from colgen.certificate.checker import check
from colgen.problems.coreference import (
    Coreference,
    CoreferenceInstance,
    LazyAllLink,
    communities,
    from_graph,
    modularity,
    random,
    random_signs,
    read_matrix,
    write_matrix,
)
from colgen.problems.coreference.document import as_clusters
from colgen.problems.coreference.pricing import ClusterPricing
from tests.problems.coreference.strategies import instances
from tests.twins.coreference import partitions, symmetric

THREE = symmetric(3, [1.0, -2.0, 4.0])

# --- validation ------------------------------------------------------------------------------------------------------


def changed(i, j, value):
    scores = THREE.copy()
    scores[i, j] = value
    return scores


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((2, 3)), r"square matrix, got shape \(2, 3\)"),
        (np.zeros(4), r"square matrix, got shape \(4,\)"),
        (np.zeros((2, 2, 2)), "square matrix, got shape"),
        (3.0, r"square matrix, got shape \(\)"),
        (np.empty((0, 0)), "expected at least one mention"),
        ([], "expected a square matrix"),
        ([[0.0, 1.0], [1.0]], "expected numbers, got"),
        ([["a", "b"], ["c", "d"]], "expected numbers, got"),
        (None, "expected numbers, got objects"),
        (np.array([[0, 1j], [1j, 0]], dtype=object), "expected numbers, got"),
        (changed(0, 2, np.nan), r"the score of \(0, 2\) is not a number \(NaN\), expected a finite number"),
        (changed(1, 0, -np.inf), r"the score of \(1, 0\) is infinite, expected a finite number"),
        (changed(1, 2, 5.0), r"the score of \(1, 2\) is 5 and that of \(2, 1\) is 4"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_score_matrices_raise(scores, message):
    with pytest.raises(InputError, match=message):
        CoreferenceInstance(scores)
    with pytest.raises(InputError, match=f"^mine: .*{message}"):
        CoreferenceInstance(scores, "mine")


@pytest.mark.parametrize("labels", [("a",), ("a", "b", "c", "d")])
def test_wrong_number_of_labels(labels):
    with pytest.raises(InputError, match=f"3 labels, .*{len(labels)}"):
        CoreferenceInstance(THREE, labels=labels)


def test_scores_are_a_read_only_copy():
    scores = THREE.copy()
    instance = CoreferenceInstance(scores)
    scores[0, 1] = 7.0
    assert instance.scores[0, 1] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        instance.scores[0, 1] = 7.0


def test_the_diagonal_is_ignored():
    scores = THREE.copy()
    np.fill_diagonal(scores, [np.nan, np.inf, 8.0])
    assert (CoreferenceInstance(scores).scores == THREE).all()
    assert CoreferenceInstance([[5]]).objective([(0,)]) == 0.0


def test_rounding_errors_in_symmetry_are_evened_out():
    scores = changed(0, 1, 1.0 + 1e-12)
    instance = CoreferenceInstance(scores)
    assert (instance.scores == instance.scores.T).all()
    assert instance.scores[0, 1] == pytest.approx(1.0)
    large = CoreferenceInstance(1e9 * changed(0, 1, 1.0 + 1e-12))
    assert (large.scores == large.scores.T).all()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_float32_asymmetry_is_evened_out(scale):
    rng = np.random.default_rng(0)
    scores = scale * (rng.random((5, 5)) - 0.5)
    scores += scores.T
    rounded = scores * (1.0 + 1e-7 * rng.normal(size=(5, 5)))
    instance = CoreferenceInstance(rounded)
    assert (instance.scores == instance.scores.T).all()
    assert instance.scores[np.triu_indices(5, 1)] == pytest.approx(scores[np.triu_indices(5, 1)], rel=1e-6)
    with pytest.raises(InputError, match="symmetric"):
        CoreferenceInstance(scores * (1.0 + 1e-4 * rng.normal(size=(5, 5))))


def test_messages_distinguish_close_scores():
    with pytest.raises(InputError, match=r"is 1\.0001 and that of \(1, 0\) is 1$"):
        CoreferenceInstance([[0.0, 1.0001], [1.0, 0.0]])


# --- penalties -------------------------------------------------------------------------------------------------------


def test_a_pair_may_be_forbidden(tmp_path):
    instance = CoreferenceInstance(changed(0, 1, -np.inf) + changed(1, 0, -np.inf))
    assert instance.penalties.sum() == 2
    assert np.isfinite(instance.clipped).all()
    assert instance.check([(0,), (1, 2)]) == instance.scores[1, 2]
    with pytest.raises(ValueError, match=r"cluster 0 has mentions 0 and 1.* forbidden"):
        instance.check([(0, 1), (2,)])
    for name in ("a.npy", "a.npz"):
        write_matrix(instance, tmp_path / name)
        assert (read_matrix(tmp_path / name).scores == instance.scores).all()


@pytest.mark.parametrize("penalty", [-20.0, -1e3, -2e7, -1e12, -1e200, -np.inf])
@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("seed", range(10))
def test_clipping_leaves_every_best_clustering(seed, scale, penalty):
    rng = np.random.default_rng(seed)
    upper = rng.uniform(-0.5, 1.5, 10)
    upper[rng.random(10) < 0.3] = penalty
    instance = CoreferenceInstance(symmetric(5, scale * upper))
    every = list(partitions(5))
    worth = np.array([instance.objective(clusters) for clusters in every])
    clipped = np.array([CoreferenceInstance(instance.clipped).objective(clusters) for clusters in every])
    assert np.abs(instance.clipped).max() <= 64.0 * instance.scale
    assert clipped.max() == worth.max()
    assert (np.flatnonzero(clipped == clipped.max()) == np.flatnonzero(worth == worth.max())).all()


def test_ordinary_scores_are_unchanged():
    instance = CoreferenceInstance(symmetric(3, [4.0, -200.0, -3.0]))
    assert instance.clipped is instance.scores
    assert not instance.penalties.any()


def test_labels_are_numbers_by_default():
    assert CoreferenceInstance(THREE).labels == (0, 1, 2)
    assert CoreferenceInstance(THREE, labels=["a", "b", "c"]).labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("scores", "step"),
    [
        ([4.0, -6.0, 10.0], 2.0),
        ([3.0, 0.0, 0.0], 3.0),
        ([4.0, -6.0, 9.0], 1.0),
        ([0.0, 0.0, 0.0], None),
        ([0.5, 1.0, 1.0], 0.5),  # as for 1, 2, 2
        ([2.0**32, 2.0**32, 2.0**32], 2.0**32),
        ([0.1, 0.2, 0.3], None),
        ([2.0**32, 2.0**20, 1.0], None),  # too large to be certain
        ([2.0**32, 1.0, 1.0], None),
        ([2.0, 4.0, -1e12 - 1.0], 2.0),  # no stated clustering has a penalty
        ([2.0, 4.0, -np.inf], 2.0),
    ],
)
def test_step(scores, step):
    assert CoreferenceInstance(symmetric(3, scores)).step == step


@given(instances())
def test_every_objective_is_a_multiple_of_the_step(instance):
    if instance.step is not None:
        for clusters in partitions(instance.num_mentions):
            assert (instance.objective(clusters) / instance.step).is_integer()


# --- answers ---------------------------------------------------------------------------------------------------------


@given(instances())
def test_objective_counts_each_pair_once(instance):
    n, scores = instance.num_mentions, instance.scores
    for clusters in list(partitions(n))[:30]:
        number = {i: k for k, cluster in enumerate(clusters) for i in cluster}
        value = sum(scores[i, j] for i in range(n) for j in range(i + 1, n) if number[i] == number[j])
        assert instance.check(clusters) == pytest.approx(value)
        assert as_clusters([number[i] for i in range(n)]) == sorted(tuple(sorted(c)) for c in clusters)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([(0, 1), (1, 2)], "mention 1 is in cluster 0 and in cluster 1"),
        ([(0, 0), (1, 2)], "mention 0 is in cluster 0 and in cluster 0"),
        ([(0, 2)], "mention 1 is in no cluster"),
        ([], "mention 0 is in no cluster"),
        ([(0, 1, 2), ()], "cluster 1 is empty"),
        ([(0, 1, 2, 3)], "cluster 0 has mention 3"),
        ([(-1, 0, 1)], "cluster 0 has mention -1"),
    ],
)
def test_check_reports_errors(answer, message):
    with pytest.raises(ValueError, match=message):
        CoreferenceInstance(THREE).check(answer)


def test_check_takes_any_iterable_once():
    instance = CoreferenceInstance(THREE)
    assert instance.check(iter([[1, 2], (0,)])) == 4.0
    assert instance.check([np.array([0, 1, 2])]) == 3.0


def test_restriction_renumbers():
    instance = CoreferenceInstance(THREE, "three", ("a", "b", "c")).restricted_to([2, 0])
    assert instance.scores.tolist() == [[0.0, -2.0], [-2.0, 0.0]]
    assert (instance.name, instance.labels) == ("three", ("c", "a"))


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three.npy", "three.npz"])
def test_written_matrices_are_read_back(name, tmp_path):
    write_matrix(CoreferenceInstance(THREE / 3), tmp_path / name)
    read = read_matrix(str(tmp_path / name))
    assert (read.scores == THREE / 3).all()
    assert (read.name, read.labels) == ("three", (0, 1, 2))


def test_the_suffix_determines_the_format(tmp_path):
    with pytest.raises(InputError, match=r"three\.txt: .*\.npy or \.npz"):
        write_matrix(CoreferenceInstance(THREE), tmp_path / "three.txt")


def test_one_array_of_any_name_or_scores_among_several(tmp_path):
    np.savez(tmp_path / "one.npz", anything=THREE)
    np.savez(tmp_path / "two.npz", scores=THREE, names=np.arange(3))
    for name in ("one", "two"):
        assert (read_matrix(tmp_path / f"{name}.npz").scores == THREE).all()


def of_text(path):
    path.write_text("0 1\n1 0\n")


def of_nothing(path):
    path.write_bytes(b"")


def of_part_of_an_array(path):
    with path.open("wb") as file:
        np.save(file, THREE)
    path.write_bytes(path.read_bytes()[:-9])


def of_part_of_an_archive(path):
    with path.open("wb") as file:
        np.savez(file, scores=THREE)
    path.write_bytes(path.read_bytes()[:-30])


def of_objects(path):
    with path.open("wb") as file:
        np.save(file, np.array([[0, "a"], ["a", 0]], dtype=object), allow_pickle=True)


def of_an_archive_of_objects(path):
    with path.open("wb") as file:
        np.savez(file, scores=np.array([[0, None], [None, 0]], dtype=object))


def of_several_arrays(path):
    with path.open("wb") as file:
        np.savez(file, a=THREE, b=THREE)


def of_no_array(path):
    with path.open("wb") as file:
        np.savez(file)


def of_a_row(path):
    with path.open("wb") as file:
        np.save(file, np.arange(3.0))


def of_words(path):
    with path.open("wb") as file:
        np.save(file, np.array([["a", "b"], ["b", "a"]]))


def of_a_folder(path):
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "cannot be read: No such file"),
        (of_a_folder, "expected a file, this is a directory"),
        (of_text, "expected a matrix written by numpy.save"),
        (of_nothing, "expected a matrix written by numpy.save"),
        (of_part_of_an_array, "array: expected 72 bytes, got 63"),
        (of_part_of_an_archive, "expected a matrix written by numpy.save"),
        (of_objects, "array: expected numbers or strings, got objects"),
        (of_an_archive_of_objects, "array 'scores': expected numbers or strings, got objects"),
        (of_several_arrays, "scores.*a, b"),
        (of_no_array, "scores.*none"),
        (of_a_row, r": expected a square matrix, got shape \(3,\)"),
        (of_words, ": expected numbers, got strings"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
@pytest.mark.parametrize("name", ["bad.npy", "bad.npz"])
def test_files_with_other_contents_raise(make, message, name, tmp_path):
    make(tmp_path / name)
    with pytest.raises(InputError, match=message) as caught:
        read_matrix(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert str(caught.value).count("bad") == 1  # the message names the file once


# --- graphs ----------------------------------------------------------------------------------------------------------


def test_a_graph_with_scores_on_its_edges():
    graph = nx.Graph(name="letters")
    graph.add_edge("a", "b", weight=2, sign=-1)
    graph.add_edge("b", "c")
    graph.add_edge("c", "c", weight=9)
    graph.add_node("d")
    instance = from_graph(graph)
    assert (instance.name, instance.labels) == ("letters", ("a", "b", "c", "d"))
    assert (instance.scores == symmetric(4, [2, 0, 0, 1, 0, 0])).all()
    other = from_graph(graph, score="sign", absent=-3.0, name="signs")
    assert other.name == "signs"
    assert (other.scores == symmetric(4, [-1, -3, -3, 1, -3, -3])).all()


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph])
def test_unsupported_graphs_raise(kind):
    with pytest.raises(InputError, match="undirected graph"):
        from_graph(kind([(0, 1)]))


@pytest.mark.parametrize("value", ["much", None, [1]])
def test_edges_without_a_number(value):
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=value)
    with pytest.raises(InputError, match=r"edge \('a', 'b'\): expected a number"):
        from_graph(graph)


def test_a_graph_without_nodes():
    with pytest.raises(InputError, match="at least one mention"):
        from_graph(nx.Graph())


def constant(graph, resolution):
    """Return the contribution of the diagonal to the modularity of every clustering."""
    adjacency = nx.to_numpy_array(graph)
    degree = np.array([d for _, d in graph.degree(weight="weight")], dtype=float)
    m = graph.size(weight="weight")
    return sum(2 * adjacency[i, i] - resolution * degree[i] ** 2 / (2 * m) for i in range(len(degree))) / (2 * m)


@pytest.mark.parametrize("resolution", [1.0, 0.5])
@pytest.mark.parametrize("loops", [False, True])
def test_modularity_equals_that_of_networkx(loops, resolution):
    rng = np.random.default_rng(0)
    graph = nx.karate_club_graph()
    if loops:
        graph.add_edge(3, 3, weight=2.0)
    for first, second in graph.edges:
        graph[first][second]["weight"] = float(rng.integers(1, 5))
    instance = modularity(graph, resolution=resolution)
    for _ in range(5):
        clusters = as_clusters(rng.integers(0, 4, len(graph)))
        expected = nx.community.modularity(graph, clusters, resolution=resolution)
        assert instance.check(clusters) + constant(graph, resolution) == pytest.approx(expected)
        assert instance.check(clusters) + instance.constant == pytest.approx(expected)


@pytest.mark.parametrize("graph", [nx.DiGraph([(0, 1)]), nx.Graph(), nx.empty_graph(3)])
def test_modularity_needs_edges(graph):
    with pytest.raises(InputError, match="positive total weight"):
        modularity(graph)


def test_modularity_of_a_multigraph_counts_every_edge():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    clusters = [(0, 1), (2,)]
    expected = nx.community.modularity(graph, clusters)
    single = nx.Graph()
    single.add_weighted_edges_from([(0, 1, 2.0), (1, 2, 1.0)])
    assert modularity(graph).check(clusters) + constant(single, 1.0) == pytest.approx(expected)


# --- generators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [random_signs, communities, random])
def test_generators_are_determined_by_the_seed(make):
    first, second, third = make(20, 1), make(20, 1), make(20, 2)
    assert (first.scores == second.scores).all()
    assert (first.scores != third.scores).any()
    assert first.name == second.name != third.name
    assert make(1, 0).num_mentions == 1


def test_generators_have_the_stated_properties():
    off = ~np.eye(60, dtype=bool)
    assert set(random_signs(60, 0).scores[off].tolist()) == {-1.0, 1.0}
    scores = random(60, 0, positive=0.3).scores[off]
    assert np.abs(scores).max() <= 1.0
    assert 0.25 < (scores > 0.0).mean() < 0.35
    clean = communities(60, 0, num_communities=6, noise=0.0).scores
    assert ((clean > 0.0).sum(axis=1) == 9).all()
    noisy = communities(60, 0, num_communities=6, noise=0.1).scores
    assert 0.05 < (clean != noisy)[off].mean() < 0.15
    assert len(np.unique(communities(60, 0, spread=0.1).scores)) > 1000


# --- rewards ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("reward", [1e12, 1e15])
@pytest.mark.parametrize("seed", range(12))
def test_a_reward_does_not_determine_the_scale(seed, reward, factor):
    """The best clusterings use most rewards, and are then best by the other scores."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    upper = rng.normal(size=n * (n - 1) // 2) if seed % 2 else rng.integers(-3, 4, n * (n - 1) // 2).astype(float)
    chosen = rng.random(len(upper)) < 0.3
    if seed % 3 == 0:
        upper[(rng.random(len(upper)) < 0.2) & ~chosen] = -np.inf
    others, links = symmetric(n, np.where(chosen, 0.0, upper)), symmetric(n, chosen.astype(float))
    instance = CoreferenceInstance(factor * symmetric(n, np.where(chosen, reward, upper)))

    def worth(clusters):
        linked = sum(0.5 * links[np.ix_(c, c)].sum() for c in clusters)
        return linked, sum(0.5 * others[np.ix_(c, c)].sum() for c in clusters)

    everything = [worth(c) for c in partitions(n)]
    best = max(one for one in everything if one[1] > -np.inf)
    if best[0] == links.sum() / 2.0 and (instance.contracted.scores > 0.0).any():
        assert instance.contracted.scale <= 64.0 * factor
    for problem in (Coreference(instance), Coreference(instance, contracted=False)):
        result = solve(problem)
        assert result.is_optimal
        found = worth(result.answer)
        assert found[0] == best[0]
        if len(instance.units) < n:  # floats hold the other scores next to the rewards
            assert found[1] == pytest.approx(best[1], abs=1e-9)
        whole = factor * (reward * found[0] + found[1])
        assert result.objective == pytest.approx(whole, rel=1e-12)


def test_rewards_that_contradict_a_forbidden_pair_are_unchanged():
    scores = symmetric(4, [1e12, 1e12, 1.0, -np.inf, 0.5, 0.25])
    large = symmetric(4, [1e12, 1e12, 1.0, -1e12, 0.5, 0.25])
    for instance in (CoreferenceInstance(scores), CoreferenceInstance(large)):
        assert instance.lowered is instance.contracted is instance
        assert instance.units == ((0,), (1,), (2,), (3,))


def test_scores_of_all_sizes_are_unchanged():
    for upper in ([1e12, 1e12, 1e12], [1e3, -1.0, -1.0], [1e2, 1.0, 1e-2], [-1e12, -1.0, -1e6], [-1e12, 1.0, 1.0]):
        instance = CoreferenceInstance(symmetric(3, upper))
        assert instance.lowered is instance.contracted is instance


def test_a_reward_joins_two_mentions_without_changing_objectives():
    instance = CoreferenceInstance(symmetric(3, [1e12, 3.0, -1.0]), constant=5.0)
    assert instance.lowered.scores[0, 1] == 6.0  # twice the largest gain of the pair elsewhere
    assert instance.units == ((0, 1), (2,))
    assert (instance.contracted.scores == symmetric(2, [2.0])).all()
    assert instance.constant == 5.0
    result = solve(Coreference(instance))
    assert result.answer == [(0, 1, 2)]
    assert result.objective == instance.check(result.answer) == 1e12 + 2.0


def drawn(seed, size, fractions):
    """Return scores of five or six mentions, one of them ``size``, sometimes with a few forbidden pairs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 7))
    count = n * (n - 1) // 2
    upper = rng.normal(size=count) if fractions else rng.integers(-3, 4, count).astype(float)
    if seed % 3 == 0:
        upper[rng.random(count) < 0.15] = -np.inf
    upper[rng.integers(count)] = size
    return symmetric(n, upper)


def value(scores, clusters):
    """Return the objective of the given matrix."""
    return math.fsum(scores[i, j] for cluster in clusters for i, j in itertools.combinations(cluster, 2))


@pytest.mark.parametrize("size", [1e6, 1e10, 1e14, -1e6, -1e10, -1e14])
@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_objectives_are_accurate_next_to_a_score_of_any_size(tmp_path, seed, fractions, size):
    scores = drawn(seed, size, fractions)
    instance = CoreferenceInstance(scores)
    assert (instance.scores == scores).all()
    for clusters in partitions(len(scores)):
        assert instance.objective(clusters) == pytest.approx(value(scores, clusters), rel=1e-15, abs=1e-9)
    for path in (tmp_path / "scores.npy", tmp_path / "scores.npz"):
        write_matrix(instance, path)
        assert (read_matrix(path).scores == scores).all()
    best = max(value(scores, clusters) for clusters in partitions(len(scores)))
    near = pytest.approx(best, rel=4.0 * np.finfo(float).eps, abs=1e-6)
    problems = (Coreference(instance), Coreference(instance, contracted=False), LazyAllLink(instance))
    for problem in problems:
        certificate = tmp_path / "proof.jsonl"
        result = solve(problem, record=Record(certificate=certificate))
        assert result.is_optimal
        assert result.objective == near
        assert result.dual_bound == near
        assert value(scores, result.answer) == near
        assert problem.check(result.answer) == result.objective
        verdict = check(certificate.read_text().splitlines())
        assert float(verdict.objective) == near
        if isinstance(problem, Coreference):
            assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)


class InPairs(Coreference):
    """Clusters of at most two mentions, where a solution need not use all of the largest scores."""

    def pricing(self):
        return Pairs(self.items)


class Pairs(ClusterPricing):
    def price(self, duals, context):
        _, scores, profits = self.price_items(duals, context)
        sets = [[i] for i in range(len(profits))]
        sets += [list(pair) for pair in itertools.combinations(range(len(profits)), 2)]
        values = [0.5 * scores[np.ix_(s, s)].sum() + profits[s].sum() for s in sets]
        chosen = [k for k, value in enumerate(values) if value > context.tolerance]
        columns = [self.items.column(sets[k]) for k in chosen]
        return PricingResult(columns, max(0.0, *values), [values[k] for k in chosen])


def test_another_problem_may_split_a_unit():
    scores = symmetric(4, [1e12, 3e12, 1.0, 2e12, 2.0, 3.0])
    best = max(value(scores, c) for c in partitions(4) if max(map(len, c)) <= 2)
    result = solve(InPairs(CoreferenceInstance(scores)))
    assert result.is_optimal
    assert result.objective == pytest.approx(best, rel=1e-9)
    assert max(map(len, result.answer)) <= 2
