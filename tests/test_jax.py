"""Layers of JAX: values of the functions for arrays, gradients by finite differences, batches, types and refusals."""

import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the extra 'jax' is not installed")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

from colgen import InputError  # noqa: E402
from colgen.jax import FenchelYoung, LogPartition, Marginals, SparseMAP, StructuredHinge  # noqa: E402
from colgen.learning import (  # noqa: E402
    Chains,
    EnumeratedStructures,
    LabelledTrees,
    Matchings,
    ProjectiveTrees,
    Trees,
    fenchel_young,
    hinge,
    marginals,
    sparsemap,
)
from colgen.problems.learning_oracles import Clusterings  # noqa: E402

LABELLED = np.zeros((4, 4, 2))  # gold trees with labels are given by their parts
LABELLED[0, 1, 1] = LABELLED[1, 2, 0] = LABELLED[1, 3, 1] = 1.0
MODELS = {
    "chains": (Chains(), [(4, 3), (3, 3)], [0, 2, 1, 1]),
    "stepwise": (Chains(), [(4, 3), (4, 3, 3)], [0, 2, 1, 1]),
    "trees": (Trees(), [(4, 4)], [-1, 0, 1, 1]),
    "one root": (Trees(single_root=True), [(4, 4)], [-1, 2, 0, 2]),
    "siblings": (ProjectiveTrees("siblings"), [(4, 4), (4, 4, 4)], [-1, 0, 1, 1]),
    "matchings": (Matchings(), [(3, 4)], [2, 0, 3]),
    "labelled trees": (LabelledTrees(Trees()), [(4, 4, 2)], LABELLED),
}
CLUSTERINGS = (Clusterings(), [(4, 4)], [0, 0, 1, 0])
LENGTHS = {name: [4, 2, 3] if name in ("chains", "stepwise") else [3, 1, 2] for name in MODELS}
LOSSES = {
    "hinge": (StructuredHinge, hinge, {}),
    "no margin": (StructuredHinge, hinge, {"margin": "none"}),
    "sparsemap": (FenchelYoung, fenchel_young, {}),
    "gibbs": (FenchelYoung, fenchel_young, {"regularization": "gibbs"}),
    "perturbed": (FenchelYoung, fenchel_young, {"regularization": "perturbed", "samples": 3}),
}


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


def drawn(shapes, *batch, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*batch, *shape)) for shape in shapes]


# --- values and gradients --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("layer", [SparseMAP, Marginals, LogPartition])
def test_gradients_of_means(layer, name):
    model, shapes, _ = MODELS[name]
    check_grads(layer(model), drawn(shapes), order=1, modes=["rev"])
    check_grads(jax.jit(layer(model)), drawn(shapes), order=1, modes=["rev"])


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_arrays(name):
    model, shapes, _ = MODELS[name]
    scores = drawn(shapes)
    assert SparseMAP(model)(*scores) == pytest.approx(sparsemap(model, *scores).marginals, abs=1e-12)
    assert Marginals(model)(*scores) == pytest.approx(marginals(model, *scores).marginals, abs=1e-12)
    assert LogPartition(model)(*scores) == pytest.approx(marginals(model, *scores).log_partition, abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("layer", [SparseMAP, Marginals, LogPartition])
def test_batches_are_instances_one_by_one(layer, name):
    """Under vmap with scores, lengths and other arrays in a batch or not, and under two vmaps; also derivatives."""
    model, shapes, _ = MODELS[name]
    made, lengths = layer(model), jnp.array(LENGTHS[name])
    batch = [jnp.asarray(array) for array in drawn(shapes, 3)]
    along = jax.random.normal(jax.random.key(0), jax.eval_shape(made, *(a[0] for a in batch)).shape)

    def value(length, *scores):
        return (made(*scores, length=length) * along).sum()

    both = jax.value_and_grad(value, argnums=tuple(range(1, len(batch) + 1)))
    alone = [both(length, *(array[k] for array in batch)) for k, length in enumerate(lengths)]
    together = jax.jit(jax.vmap(both))(lengths, *batch)
    for k, one in enumerate(alone):
        jax.tree.map(lambda a, b, k=k: np.testing.assert_allclose(a[k], b, atol=1e-9), together, one)
    nested = jax.vmap(jax.vmap(both))(lengths[None], *(array[None] for array in batch))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a[0], b, atol=1e-9), nested, together)
    first = [array[0] for array in batch[1:]]
    apart = jax.vmap(both, in_axes=(0, 0, *(None,) * len(first)))(lengths, batch[0], *first)
    for k, length in enumerate(lengths):
        one = both(length, batch[0][k], *first)
        jax.tree.map(lambda a, b, k=k: np.testing.assert_allclose(a[k], b, atol=1e-9), apart, one)
    fixed = jax.vmap(both, in_axes=(0, *(None,) * len(batch)))(lengths, *(array[0] for array in batch))
    one = both(lengths[1], *(array[0] for array in batch))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a[1], b, atol=1e-9), fixed, one)


def test_gradients_of_a_batch_with_shared_transitions():
    scores, transitions = drawn([(3, 4, 3), (3, 3)])
    lengths = jnp.array([4, 1, 3])
    for layer in (SparseMAP(Chains()), Marginals(Chains()), LogPartition(Chains())):
        batch = jax.vmap(lambda a, b, n, layer=layer: layer(a, b, length=n), in_axes=(0, None, 0))
        check_grads(lambda a, b, batch=batch: batch(a, b, lengths), (scores, transitions), order=1, modes=["rev"])
        alone = [layer(scores[k], transitions, length=lengths[k]) for k in range(3)]
        assert np.asarray(batch(scores, transitions, lengths)) == pytest.approx(np.array(alone), abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", [*MODELS, "clusterings"])
def test_losses(loss, name):
    model, shapes, gold = {**MODELS, "clusterings": CLUSTERINGS}[name]
    if (loss, name) == ("gibbs", "clusterings"):
        pytest.skip("clusterings have no sums")
    kind, function, options = LOSSES[loss]
    made = kind(model, **options)
    for seed in range(2):
        scores = drawn(shapes, seed=seed)
        expected = function(model, np.array(gold), *scores, **options)
        value, gradients = jax.jit(
            jax.value_and_grad(lambda *s: made(*s, gold=jnp.array(gold)), argnums=tuple(range(len(shapes))))
        )(*scores)
        assert value == pytest.approx(expected.value, abs=1e-9)
        for own, other in zip(gradients, expected.gradients, strict=True):
            assert np.asarray(own) == pytest.approx(other, abs=1e-9)
    if loss in ("sparsemap", "gibbs"):
        check_grads(lambda *s: made(*s, gold=jnp.array(gold)), scores, order=1, modes=["rev"])


def test_losses_of_a_batch():
    scores, transitions = drawn([(3, 4, 3), (3, 3)])
    gold, lengths = jnp.array([[0, 1, 2, 9], [2, 9, 9, 9], [1, 1, 0, 2]]), jnp.array([3, 1, 4])
    for loss in (StructuredHinge(Chains()), FenchelYoung(Chains(), regularization="gibbs", workers=2)):

        def mean(a, b, loss=loss):
            return jax.vmap(lambda s, y, length: loss(s, b, gold=y, length=length))(a, gold, lengths).mean()

        check_grads(mean, (scores, transitions), order=1, modes=["rev"])
        alone = [loss(scores[k, :n], transitions, gold=gold[k, :n]) for k, n in enumerate([3, 1, 4])]
        assert mean(scores, transitions) == pytest.approx(np.mean(alone))


def test_perturbations_of_a_batch_differ():
    scores = jnp.zeros((2, 4, 4))
    loss = FenchelYoung(Trees(), regularization="perturbed", samples=2, seed=3)
    gold = jnp.array([-1, 0, 0, 0])
    one, two = jax.vmap(lambda s: loss(s, gold=gold))(scores)
    assert one == loss(scores[0], gold=gold)
    assert one != two


def test_any_oracle_and_parts_as_right_structure():
    oracle = EnumeratedStructures([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0]])
    scores, gold = jnp.array([0.3, 0.1, 0.2]), jnp.array([0.0, 1.0, 1.0])
    assert SparseMAP(oracle)(scores) == pytest.approx(sparsemap(oracle, np.asarray(scores)).marginals)
    loss = FenchelYoung(oracle)
    assert loss(scores, gold=gold) == pytest.approx(fenchel_young(oracle, np.asarray(gold), scores).value)
    check_grads(lambda s: jax.vmap(lambda a: loss(a, gold=gold))(s), (scores[None],), order=1, modes=["rev"])


def test_values_are_those_of_torch():
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    from colgen import torch as layers

    scores, transitions = drawn([(3, 4, 3), (3, 3)])
    gold, lengths = np.array([[0, 1, 2, 0], [2, 1, 0, 0], [1, 1, 0, 2]]), np.array([3, 2, 4])
    theirs = [torch.tensor(array, requires_grad=True) for array in (scores, transitions)]
    loss = layers.FenchelYoung(Chains())(*theirs, gold=torch.tensor(gold), lengths=torch.tensor(lengths))
    loss.backward()

    def mean(a, b):
        own = FenchelYoung(Chains())
        return jax.vmap(lambda s, y, n: own(s, b, gold=y, length=n))(a, jnp.array(gold), jnp.array(lengths)).mean()

    value, gradients = jax.value_and_grad(mean, argnums=(0, 1))(scores, transitions)
    assert value == pytest.approx(loss.item())
    for own, other in zip(gradients, theirs, strict=True):
        assert np.asarray(own) == pytest.approx(other.grad.numpy(), abs=1e-9)


# --- types and extremes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types_of_scores_are_kept(dtype):
    (scores,) = (jnp.asarray(array, dtype=dtype) for array in drawn([(4, 4)]))
    gold = jnp.array([-1, 0, 1, 1])
    found = jax.jit(SparseMAP(Trees()))(scores)
    assert found.dtype == dtype
    assert jax.grad(lambda s: SparseMAP(Trees())(s)[0, 1])(scores).dtype == dtype
    value, gradient = jax.value_and_grad(lambda s: FenchelYoung(Trees())(s, gold=gold))(scores)
    assert value.dtype == gradient.dtype == dtype
    exact = sparsemap(Trees(), np.asarray(scores, dtype=np.float64)).marginals
    assert np.asarray(found, dtype=np.float64) == pytest.approx(exact, abs=2e-2)


def test_single_precision_without_doubles():
    with jax.enable_x64(False):
        scores, transitions = (jnp.asarray(array) for array in drawn([(4, 3), (3, 3)]))
        assert scores.dtype == jnp.float32
        expected = marginals(Chains(), np.asarray(scores), np.asarray(transitions)).marginals
        assert jax.jit(Marginals(Chains()))(scores, transitions) == pytest.approx(expected, abs=1e-6)


def test_forbidden_parts_and_large_scores():
    scores = np.array([[0.0, -np.inf], [1e290, 0.0]])
    found = jax.grad(lambda s: LogPartition(Chains())(s, jnp.zeros((2, 2))))(scores)
    assert np.asarray(found).tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_one_token_and_no_instances():
    scores, transitions = jnp.array([[0.0, 1.0]]), jnp.zeros((2, 2))
    assert Marginals(Chains())(scores, transitions) == pytest.approx(np.asarray(jax.nn.softmax(scores)))
    none = jax.vmap(LogPartition(Chains()), in_axes=(0, None))(jnp.zeros((0, 3, 2)), transitions)
    assert none.shape == (0,)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((), "scores: expected one array or more"),
        ((np.zeros((2, 2), dtype=int), np.zeros((2, 2))), "scores: expected floats, got int64"),
        ((np.zeros((2, 2)), np.zeros((2, 2), dtype=int)), "scores 1: expected floats"),
        ((np.zeros((2, 2)), np.zeros((3, 3))), r"transitions: expected the shape \(2, 2\), got \(3, 3\)"),
        ((np.zeros((2, 3, 2)), np.zeros((2, 2))), r"scores: expected the shape \(tokens, labels\)"),
    ],
)
def test_wrong_arrays_are_refused_before_the_call(scores, message):
    with pytest.raises(InputError, match=message):
        jax.jit(SparseMAP(Chains()))(*scores)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, t: SparseMAP(Chains())(s * np.nan, t), "nan"),
        (lambda s, t: SparseMAP(Chains())(s, t, length=5), "lengths: expected"),
        (lambda s, t: SparseMAP(Chains())(s, t - jnp.inf), "every structure is forbidden"),
        (
            lambda s, t: StructuredHinge(Chains())(s, t, gold=jnp.array([0, 7])),
            "gold: expected 2 numbers from 0 to 1",
        ),
        (lambda s, t: Marginals(EnumeratedStructures([[1.0]]))(s[0, :1]), "a model with sums"),
    ],
)
@pytest.mark.parametrize("jit", [False, True])
def test_wrong_values_are_refused_in_the_call(call, message, jit):
    with pytest.raises(Exception, match=message):
        jax.block_until_ready((jax.jit(call) if jit else call)(jnp.zeros((2, 2)), jnp.zeros((2, 2))))


def test_gradients_are_of_first_order():
    with pytest.raises(InputError, match="first-order gradients in reverse mode only"):
        jax.hessian(LogPartition(Trees()))(jnp.zeros((3, 3)))
    with pytest.raises(InputError, match="first-order gradients in reverse mode only"):
        jax.grad(lambda s: jax.grad(lambda a: SparseMAP(Trees())(a)[0, 1])(s).sum())(jnp.zeros((3, 3)))


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "colgen.jax")
    with pytest.raises(ModuleNotFoundError, match=r"pip install colgen\[jax\]"):
        import colgen.jax  # noqa: F401
