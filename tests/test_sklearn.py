"""The tagger of scikit-learn's form: exact gradients, likelihoods of another library, and its conventions."""

import pickle
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import optimize, sparse

pytest.importorskip("sklearn", reason="the extra 'learning' is not installed")

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from colgen import InputError
from colgen.sklearn import CRFTagger, _blocks, _Loss

WORDS = [["the", "dog", "barks"], [], ["a", "cat"], ["dogs", "bark"], ["the"]]
TAGS = [["D", "N", "V"], [], ["D", "N"], ["N", "V"], ["D"]]


def features(word):
    return {"word": word, "last": word[-1], "length": len(word), "plural": word.endswith("s")}


SENTENCES = [[features(word) for word in words] for words in WORDS]


def drawn(seed, lengths, columns=3, labels=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, columns)) for n in lengths], [rng.integers(labels, size=n) for n in lengths]


# --- training --------------------------------------------------------------------------------------------------------


def test_gradients_of_the_loss():
    X, y = drawn(0, [3, 1, 0, 4])
    matrix, offsets = CRFTagger()._features(X, fit=True)
    loss = _Loss(matrix, offsets, np.concatenate(y), 3, 0.7)
    weights = np.random.default_rng(1).normal(size=loss.size)
    numeric = optimize.approx_fprime(weights, lambda w: loss(w)[0], 1e-6)
    assert loss(weights)[1] == pytest.approx(numeric, abs=1e-5)


def test_loss_and_marginals_are_those_of_enumeration():
    X, y = drawn(2, [4])
    tagger = CRFTagger(regularization=0.3).fit(X, y)
    unary = X[0] @ tagger.coef_ + tagger.intercept_
    unary[0] += tagger.start_
    unary[-1] += tagger.end_
    labellings = list(product(range(len(tagger.classes_)), repeat=4))
    scores = np.array(
        [
            sum(unary[i, x] for i, x in enumerate(own)) + sum(tagger.transitions_[p, q] for p, q in pairwise(own))
            for own in labellings
        ]
    )
    chances = np.exp(scores - np.logaddexp.reduce(scores))
    means = np.zeros(unary.shape)
    for own, p in zip(labellings, chances, strict=True):
        means[np.arange(4), own] += p
    assert tagger.predict_marginals(X)[0] == pytest.approx(means, abs=1e-9)
    assert tagger.predict(X)[0] == tagger.classes_[list(labellings[int(np.argmax(scores))])].tolist()
    right = labellings.index(tuple(np.searchsorted(tagger.classes_, y[0]).tolist()))
    arrays = tagger.coef_, tagger.intercept_, tagger.start_, tagger.end_, tagger.transitions_
    assert tagger.loss_ == pytest.approx(
        -np.log(chances[right]) + 0.15 * sum(float((a**2).sum()) for a in arrays), abs=1e-9
    )


def test_sequences_of_one_token_are_logistic_regression():
    X, y = drawn(3, [1] * 60)
    tagger = CRFTagger(regularization=0.5, tol=1e-14, max_iter=1000).fit(X, y)
    flat = np.hstack([np.concatenate(X), np.ones((60, 3))])  # constant, first and last
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(flat, np.concatenate(y))
    assert np.concatenate(tagger.predict_marginals(X)) == pytest.approx(theirs.predict_proba(flat), abs=1e-4)


def test_blocks_of_sequences_change_nothing(monkeypatch):
    X, y = drawn(4, [3, 0, 2, 5, 1])
    whole = CRFTagger().fit(X, y)
    monkeypatch.setattr("colgen.sklearn._PAIRS", 1)
    assert [len(scores) for scores, _ in _blocks(np.zeros((11, 3)), np.array([0, 3, 3, 5, 10, 11]))] == [3, 2, 5, 1]
    parts = CRFTagger().fit(X, y)
    assert parts.coef_ == pytest.approx(whole.coef_)
    assert parts.predict(X) == whole.predict(X)
    for one, other in zip(parts.predict_marginals(X), whole.predict_marginals(X), strict=True):
        assert one == pytest.approx(other)


def test_learns_from_dicts():
    tagger = CRFTagger(regularization=0.01).fit(SENTENCES, TAGS)
    assert tagger.classes_.tolist() == ["D", "N", "V"]
    assert tagger.predict(SENTENCES) == TAGS
    assert tagger.score(SENTENCES, TAGS) == 1.0
    assert tagger.score(SENTENCES[:1], [["D", "N", "other"]]) == pytest.approx(2 / 3)
    assert [array.shape for array in tagger.predict_marginals(SENTENCES)] == [(3, 3), (0, 3), (2, 3), (2, 3), (1, 3)]
    assert tagger.predict([]) == tagger.predict_marginals([]) == []
    assert tagger.predict([[], [{"unseen": "x"}]])[0] == []


@pytest.mark.parametrize("form", [np.asfortranarray, sparse.csr_matrix, lambda x: x.astype(np.float32)])
def test_forms_of_arrays(form):
    X, y = drawn(5, [3, 2])
    X = [x.astype(np.float32) for x in X]
    assert CRFTagger().fit([form(x) for x in X], y).coef_ == pytest.approx(CRFTagger().fit(X, y).coef_)


def test_one_label_and_large_features():
    X, y = drawn(6, [2, 2], labels=1)
    assert CRFTagger().fit(X, y).predict(X) == [[0, 0], [0, 0]]
    X, y = drawn(7, [3, 3])
    tagger = CRFTagger().fit([1e150 * x for x in X], y)
    assert np.isfinite(tagger.coef_).all()


# --- conventions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
    ],
)
def test_checks_of_scikit_learn(check):
    getattr(estimator_checks, check)("CRFTagger", CRFTagger())


def test_clones_parameters_and_pickles():
    tagger = CRFTagger(regularization=0.1).fit(SENTENCES, TAGS)
    copy = clone(tagger).set_params(max_iter=7)
    assert copy.get_params() == {"regularization": 0.1, "max_iter": 7, "tol": 1e-6}
    with pytest.raises(NotFittedError):
        copy.predict(SENTENCES)
    same = pickle.loads(pickle.dumps(tagger))
    assert same.predict(SENTENCES) == TAGS
    assert np.array_equal(same.coef_, tagger.coef_)


def test_selects_and_validates():
    X, y = drawn(8, [3] * 12)
    assert len(cross_val_score(CRFTagger(), X, y, cv=3)) == 3
    search = GridSearchCV(CRFTagger(), {"regularization": [0.1, 1.0]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"regularization"}
    assert make_pipeline(FunctionTransformer(), CRFTagger()).fit(X, y).score(X, y) > 0.0


def test_warns_without_convergence():
    X, y = drawn(9, [5] * 5)
    with pytest.warns(ConvergenceWarning, match="max_iter = 1"):
        CRFTagger(max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], "X: expected one token or more"),
        ([[]], [[]], "X: expected one token or more"),
        ("text", [], "X: expected a list of sequences"),
        (["text"], [["D"]], r"X\[0\]: expected a list of dicts or an array"),
        ([np.zeros(3)], [["D"]], r"X\[0\]: expected a list of dicts.*shape \(3,\)"),
        ([[{"a": 1.0}], np.zeros((1, 2))], [["D"], ["D"]], r"X\[1\]: expected a dict of features"),
        ([[{"a": 1.0}, 3]], [["D", "D"]], r"X\[0\]: expected a dict of features.*int"),
        ([[{"a": np.nan}]], [["D"]], "X: expected finite values"),
        ([np.array([[np.nan]])], [["D"]], r"X\[0\].*nan"),
        ([np.zeros((1, 2)), np.zeros((1, 3))], [["D"], ["D"]], r"X\[1\]: expected 2 features per token, got 3"),
        ([np.zeros((2, 2))], None, "y: expected a list of labels"),
        ([np.zeros((2, 2))], [], "y: expected labels of 1 sequences"),
        ([np.zeros((2, 2))], [["D"]], r"y\[0\]: expected 2 labels, one per token"),
        ([np.zeros((2, 2))], ["DN"], r"y\[0\]: expected 2 labels, one per token"),
        ([np.zeros((2, 2))], [["D", 1]], "all strings or all integers, got int, str"),
    ],
)
def test_wrong_input_is_refused(X, y, message):
    with pytest.raises(InputError, match=message):
        CRFTagger().fit(X, y)


@pytest.mark.parametrize(
    ("parameter", "value"), [("regularization", -1.0), ("max_iter", 0), ("tol", -1.0), ("tol", np.nan)]
)
def test_wrong_parameters_are_refused(parameter, value):
    with pytest.raises(InputError, match=f"{parameter}: expected"):
        CRFTagger(**{parameter: value}).fit(*drawn(0, [2]))


def test_other_features_than_in_fit_are_refused():
    tagger = CRFTagger().fit(*drawn(0, [2]))
    with pytest.raises(InputError, match="expected sequences of arrays"):
        tagger.predict(SENTENCES)
    with pytest.raises(InputError, match=r"X\[0\]: expected 3 features per token, got 2"):
        tagger.predict([np.zeros((1, 2))])
    with pytest.raises(InputError, match="expected sequences of dicts"):
        CRFTagger().fit(SENTENCES, TAGS).predict([np.zeros((1, 2))])


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "colgen.sklearn")
    with pytest.raises(ModuleNotFoundError, match=r"pip install colgen\[learning\]"):
        import colgen.sklearn  # noqa: F401
