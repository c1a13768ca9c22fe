"""Estimators of clusterings: scikit-learn's checks, optima by enumeration, published modularities, and limits."""

import importlib
import pickle
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="the extra 'learning' is not installed")

from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from colgen import InputError
from colgen.problems.coreference import CoreferenceInstance
from colgen.problems.coreference.estimators import ExactCorrelationClustering, ModularityClustering
from tests.problems.coreference.strategies import instances
from tests.twins.coreference import optimum, partitions

GRAPHS = Path(__file__).parents[4] / "shared" / "data" / "graphs"


@parametrize_with_checks([ExactCorrelationClustering(), ModularityClustering()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


# --- correlation clustering ------------------------------------------------------------------------------------------


@given(instance=instances())
def test_score_is_that_of_enumeration(instance):
    found = ExactCorrelationClustering("precomputed").fit(instance.scores)
    assert found.proved_
    assert found.objective_ == pytest.approx(optimum(instance), abs=1e-9)
    assert found.bound_ == pytest.approx(found.objective_, abs=1e-6)
    clusters = [np.flatnonzero(found.labels_ == k).tolist() for k in range(found.labels_.max() + 1)]
    assert instance.check(clusters) == pytest.approx(found.objective_)
    assert [cluster[0] for cluster in clusters] == sorted(cluster[0] for cluster in clusters)


@pytest.mark.parametrize("affinity", ["rbf", lambda a, b: rbf_kernel([a], [b])[0, 0]])
def test_threshold_is_subtracted_from_affinities(affinity):
    X = np.random.default_rng(0).normal(size=(7, 2))
    found = ExactCorrelationClustering(affinity, threshold=0.6).fit(X)
    scores = rbf_kernel(X) - 0.6
    alone = ExactCorrelationClustering("precomputed", threshold=0.6).fit(rbf_kernel(X))
    assert found.objective_ == pytest.approx(optimum(CoreferenceInstance(scores)), abs=1e-9)
    assert alone.objective_ == pytest.approx(found.objective_)
    assert np.array_equal(alone.labels_, found.labels_)


def test_forbidden_pairs_one_sample_and_large_scores():
    scores = np.array([[0.0, 5.0, 1.0], [5.0, 0.0, -np.inf], [1.0, -np.inf, 0.0]])
    assert ExactCorrelationClustering("precomputed").fit_predict(scores).tolist() == [0, 0, 1]
    found = ExactCorrelationClustering().fit([[2.0, 1.0]])
    assert (found.labels_.tolist(), found.objective_, found.bound_, found.proved_) == ([0], 0.0, 0.0, True)
    large = ExactCorrelationClustering("precomputed").fit(1e290 * scores)
    assert (large.labels_.tolist(), large.objective_) == ([0, 0, 1], pytest.approx(5e290))


def test_sparse_scores():
    scores = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -2.0], [0.0, -2.0, 0.0]])
    assert ExactCorrelationClustering("precomputed").fit_predict(sparse.csr_matrix(scores)).tolist() == [0, 0, 1]


def test_a_time_limit_leaves_a_clustering_and_a_bound():
    rng = np.random.default_rng(0)
    signs = np.triu(rng.choice([-1.0, 1.0], size=(80, 80)), 1)
    signs += signs.T
    for limit in (0.0, 0.05):
        found = ExactCorrelationClustering("precomputed", time_limit=limit).fit(signs)
        together = np.triu(found.labels_[:, None] == found.labels_, 1)
        assert found.objective_ == signs[together].sum()
        assert found.bound_ >= found.objective_
        assert not found.proved_


# --- modularity ------------------------------------------------------------------------------------------------------


@given(
    n=st.integers(2, 6),
    seed=st.integers(0, 1000),
    resolution=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_modularity_is_that_of_enumeration(n, seed, resolution):
    weights = np.triu(np.random.default_rng(seed).integers(0, 4, size=(n, n)).astype(float))  # the diagonal has loops
    weights[0, 1] += 1.0
    adjacency = np.maximum(weights, weights.T)
    graph = nx.from_numpy_array(adjacency)
    best = max(
        nx.community.modularity(graph, [set(part) for part in parts], resolution=resolution) for parts in partitions(n)
    )
    for given_as in (adjacency, sparse.csr_matrix(adjacency)):
        found = ModularityClustering("precomputed", resolution=resolution).fit(given_as)
        assert found.proved_
        assert found.objective_ == pytest.approx(best, abs=1e-9)
        own = [set(np.flatnonzero(found.labels_ == k).tolist()) for k in range(found.labels_.max() + 1)]
        assert nx.community.modularity(graph, own, resolution=resolution) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("graph", "published"), [(nx.karate_club_graph, 0.41979), (nx.les_miserables_graph, 0.56001)])
def test_published_modularities(graph, published):
    found = ModularityClustering("precomputed").fit(nx.to_numpy_array(graph(), weight=None))
    assert found.proved_
    assert found.objective_ == pytest.approx(published, abs=5e-6)


@pytest.mark.skipif(not GRAPHS.is_dir(), reason="the graphs are not beside the project")
@pytest.mark.parametrize(("name", "published"), [("dolphins", 0.52852), ("football", 0.60457)])
def test_published_modularities_of_files(name, published):
    graph = nx.Graph(nx.read_gml(GRAPHS / f"{name}.gml", label="id"))
    found = ModularityClustering("precomputed").fit(nx.to_numpy_array(graph))
    assert found.proved_
    assert found.objective_ == pytest.approx(published, abs=5e-6)


def test_neighbours_of_features():
    X = np.concatenate([np.random.default_rng(k).normal(5.0 * k, 0.3, size=(12, 2)) for k in range(3)])
    found = ModularityClustering(n_neighbors=11).fit(X)
    assert found.labels_.tolist() == np.repeat([0, 1, 2], 12).tolist()
    assert ModularityClustering(n_neighbors=99).fit(X[:3]).proved_


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (ExactCorrelationClustering("distance"), np.eye(2), "affinity: expected 'precomputed'.*got 'distance'"),
        (ExactCorrelationClustering(threshold=np.nan), np.eye(2), "threshold: expected"),
        (ExactCorrelationClustering(time_limit=-1.0), np.eye(2), "TimeLimit.seconds: expected"),
        (ExactCorrelationClustering("precomputed"), np.eye(2)[:1], "expected a square matrix.*precomputed"),
        (ExactCorrelationClustering("precomputed"), [[0.0, 1.0], [2.0, 0.0]], "X: expected a symmetric matrix"),
        (ExactCorrelationClustering("precomputed"), [[0.0, np.inf], [np.inf, 0.0]], "infinity"),
        (ExactCorrelationClustering("precomputed"), [[0.0, np.nan], [np.nan, 0.0]], "NaN"),
        (ModularityClustering("rbf"), np.eye(2), "affinity: expected 'precomputed' or 'nearest_neighbors', got 'rbf'"),
        (ModularityClustering(n_neighbors=0), np.eye(2), "n_neighbors: expected"),
        (ModularityClustering(resolution=-1.0), np.eye(2), "resolution: expected"),
        (ModularityClustering("precomputed"), [[0.0, 1.0], [2.0, 0.0]], "symmetric"),
        (ModularityClustering("precomputed"), [[0.0, -1.0], [-1.0, 0.0]], "Negative values"),
        (ModularityClustering("precomputed"), np.zeros((2, 2)), "positive total weight"),
        (ModularityClustering("precomputed"), [[1.0]], "minimum of 2 is required"),
    ],
)
def test_wrong_input_is_refused(estimator, X, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.asarray(X))


def test_parameters_survive_clones_and_pickles():
    estimator = ModularityClustering("precomputed", resolution=0.7)
    fitted = clone(estimator).fit(nx.to_numpy_array(nx.karate_club_graph()))
    assert fitted.get_params() == estimator.get_params()
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).labels_, fitted.labels_)


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "colgen.problems.coreference.estimators")
    with pytest.raises(ModuleNotFoundError, match=r"pip install colgen\[learning\]"):
        importlib.import_module("colgen.problems.coreference.estimators")


def test_refusals_are_errors_of_colgen():
    with pytest.raises(InputError):
        ModularityClustering("rbf").fit(np.eye(2))
