"""Sums in operations of PyTorch: against enumeration and the compiled kernels, derivatives, and 32 bits."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")

from benchmarks.learning.reference import labellings, trees  # noqa: E402
from colgen import torch as layers  # noqa: E402
from colgen import torch_sums  # noqa: E402
from colgen.core.errors import InputError  # noqa: E402
from colgen.learning import Chains, ProjectiveTrees, Trees  # noqa: E402
from colgen.learning.batches import batch_of, batch_sums  # noqa: E402
from colgen.solvers.trees.matrix_tree import tree_sums  # noqa: E402
from colgen.torch import FenchelYoung, LogPartition, Marginals  # noqa: E402
from tests.sweeps import seeds  # noqa: E402

SHAPES = {
    "shared": (Chains(), [(3, 4, 3), (3, 3)]),
    "own": (Chains(), [(3, 4, 3), (3, 3, 3)]),
    "stepwise": (Chains(), [(3, 4, 3), (3, 4, 3, 3)]),
    "trees": (Trees(), [(3, 5, 5)]),
    "trees, one root": (Trees(single_root=True), [(3, 5, 5)]),
    "projective": (ProjectiveTrees(), [(3, 5, 5)]),
    "projective, one root": (ProjectiveTrees(single_root=True), [(3, 5, 5)]),
}
PARTS = [
    {},
    {"lengths": [4, 2, 1]},
    {"mask": [[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1]]},
]


def drawn(shapes, seed=0, missing=0.0, scale=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    scores = [scale * torch.randn(*shape, dtype=torch.float64, generator=generator) for shape in shapes]
    scores[0][torch.rand(scores[0].shape, generator=generator) < missing] = -torch.inf
    return [own.to(dtype).requires_grad_() for own in scores]


def batch(model, scores, parts):
    return batch_of(model, [own.detach().double().numpy() for own in scores], **parts)


def structures(model, size):
    if isinstance(model, Chains):
        return [np.array(labels) for labels in labellings(size, 3)]
    every = trees(size, single_root=model.single_root, projective=isinstance(model, ProjectiveTrees))
    return [np.array(tree) for tree in every]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sums_are_those_of_enumeration(name, missing):
    model, shapes = SHAPES[name]
    for parts in PARTS:
        scores = drawn(shapes, 1, missing, 2.0)
        made = batch(model, scores, parts)
        expected = []
        for k in range(3):
            own = made.instance(k)
            size = len(own[0]) - (not isinstance(model, Chains))
            values = []
            for one in structures(model, size):
                places = (
                    model.structure(one, 3, own[1].ndim == 3) if isinstance(model, Chains) else model.structure(one)
                )
                values.append(sum(float(t.ravel()[p].sum()) for t, p in zip(own, places, strict=True)))
            expected.append(np.logaddexp.reduce(values))
        if -np.inf in expected:
            with pytest.raises(
                InputError, match=f"instance {expected.index(-np.inf)} of the batch: every structure is"
            ):
                torch_sums.log_partition(made, tuple(scores))
        else:
            found = torch_sums.log_partition(made, tuple(scores))
            assert found.detach().numpy() == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("seed", seeds(4))
def test_marginals_and_their_derivatives_are_those_of_the_kernels(name, seed):
    model, shapes = SHAPES[name]
    for parts in PARTS:
        scores = drawn(shapes, seed, 0.15 * (seed % 2), 3.0)
        made = batch(model, scores, parts)
        try:
            sums = batch_sums(made)
        except InputError as error:
            with pytest.raises(InputError, match=str(error)[:40]):
                torch_sums.log_partition(made, tuple(scores))
            continue
        means = torch_sums.marginals(made, tuple(scores))
        assert means.detach().numpy() == pytest.approx(sums.means[0], abs=1e-9)
        direction = torch.randn(means.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        back = sums.tangent(direction.numpy(), *(np.zeros(mean.shape) for mean in sums.means[1:]))
        found = torch.autograd.grad((means * direction).sum(), scores)
        for own, expected, shared in zip(found, back, made.shared, strict=True):
            assert own.numpy() == pytest.approx(expected.sum(axis=0) if shared else expected, abs=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_of_both_orders(name):
    model, shapes = SHAPES[name]
    for parts in PARTS:
        scores = drawn(shapes)
        made = batch(model, scores, parts)
        assert torch.autograd.gradcheck(lambda *s, made=made: torch_sums.log_partition(made, s), scores)
        assert torch.autograd.gradgradcheck(lambda *s, made=made: torch_sums.log_partition(made, s), scores)
        assert torch.autograd.gradcheck(lambda *s, made=made: torch_sums.marginals(made, s), scores)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_single_precision_suffices(name, scale):
    """Also where arcs from the root are rare: the determinant of the Laplacian then cancels."""
    model, shapes = SHAPES[name]
    shapes = [tuple({4: 20, 5: 21}.get(size, size) for size in shape) for shape in shapes]
    scores = drawn(shapes, 3, 0.1, scale, torch.float32)
    if not isinstance(model, Chains):
        with torch.no_grad():
            scores[0][:, 0] -= 40.0
    made = batch(model, scores, {"lengths": [20, 11, 1]})
    sums = batch_sums(made)
    found = torch_sums.log_partition(made, tuple(scores))
    assert found.dtype == torch.float32
    assert found.detach().numpy() == pytest.approx(sums.log_partition, rel=1e-5, abs=1e-3)
    means = torch_sums.marginals(made, tuple(scores)).detach().numpy()
    assert np.isfinite(means).all()
    assert means == pytest.approx(sums.means[0], abs=1e-5 * max(scale, 20.0))


def test_a_word_that_only_the_root_can_head_is_eliminated_last():
    """Regression: with one root, its divisor is zero before."""
    scores = torch.full((2, 4, 4), -torch.inf, dtype=torch.float64)
    for k, root in ((0, 3), (1, 2)):
        scores[k, 0] = scores[k, root] = 0.0
        scores[k, :, root] = -torch.inf
        scores[k, 0, root] = 0.5
    scores.requires_grad_()
    found = torch_sums.tree_log_partition(scores, single_root=True)
    assert found.tolist() == pytest.approx([0.5, 0.5])
    (means,) = torch.autograd.grad(found.sum(), scores)
    assert means[0, 0].tolist() == pytest.approx([0.0, 0.0, 0.0, 1.0])
    assert means[0, 3].tolist() == pytest.approx([0.0, 1.0, 1.0, 0.0])
    masked = scores.detach().clamp(min=-1e9).float()
    assert torch_sums.tree_log_partition(masked, single_root=True).tolist() == pytest.approx([0.5, 0.5])


def test_enormous_scores_and_halves():
    for name in ("shared", "trees", "projective"):
        model, shapes = SHAPES[name]
        scores = drawn(shapes, 2, 0.0, 1e20 if name == "projective" else 1e290)  # the kernel's limit is 1e24
        made = batch(model, scores, {})
        assert torch_sums.log_partition(made, tuple(scores)).detach().numpy() == pytest.approx(
            batch_sums(made).log_partition
        )
        for dtype in (torch.float16, torch.bfloat16):
            scores = drawn(shapes, 2, dtype=dtype)
            means = torch_sums.marginals(batch(model, scores, {}), tuple(scores))
            assert means.dtype == dtype
            expected = batch_sums(batch(model, scores, {})).means[0]
            assert means.detach().double().numpy() == pytest.approx(expected, abs=1e-2)
    scores = torch.zeros(2, 3, 3)
    scores[1, 0, 1] = torch.nan
    with pytest.raises(InputError, match="instance 1 of the batch: scores: expected finite numbers"):
        torch_sums.log_partition(batch_of(Trees(), [np.zeros((2, 3, 3))]), (scores,))


@pytest.mark.parametrize("name", SHAPES)
def test_layers_use_the_sums_on_other_devices(name, monkeypatch):
    """Here the CPU stands for another device: layers must have the same values and gradients either way."""
    model, shapes = SHAPES[name]
    gold = torch.tensor([[0, 1, 2, 0], [1, 0, 2, 0], [2, 1, 0, 1]])
    if not isinstance(model, Chains):
        gold = torch.tensor([[0, 2, 0, 2, 3], [0, 3, 0, 0, 0], [0, 2, 0, 2, 3]])
    makes = [Marginals, LogPartition, lambda m: FenchelYoung(m, regularization="gibbs")]
    moved = []
    for elsewhere in (False, True):
        monkeypatch.setattr(layers, "_is_elsewhere", lambda tensor, elsewhere=elsewhere: elsewhere)
        for make in makes:
            for parts in PARTS[:2]:
                if "lengths" in parts and make is makes[2] and not isinstance(model, Chains):
                    parts = {"lengths": [4, 4, 4]}  # gold trees of full length
                scores = drawn(shapes)
                value = make(model)(*scores, **({"gold": gold} if make is makes[2] else {}), **parts)
                value.square().sum().backward()
                moved.append([value.detach().numpy(), *(s.grad.numpy() for s in scores)])
    for own, other in zip(moved[: len(moved) // 2], moved[len(moved) // 2 :], strict=True):
        for one, two in zip(own, other, strict=True):
            assert one == pytest.approx(two, abs=1e-9)
    loss = FenchelYoung(model, regularization="gibbs", reduction="none")
    forbidden = drawn(shapes)
    with torch.no_grad():
        forbidden[0][1] = -torch.inf
        forbidden[0][1, 0] = 0.0
    with pytest.raises(InputError, match="instance 1 of the batch: the gold structure has a forbidden part"):
        loss(*forbidden, gold=gold)
    with pytest.raises(InputError, match="gold: expected 3 structures"):
        loss(*forbidden, gold=gold[:2])
    with pytest.raises(InputError, match="scores: expected floats"):
        loss(*(s.detach().long() for s in forbidden), gold=gold)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("missing", [0.2, 0.5, 0.7])
def test_few_arcs(missing, single_root):
    """Regression: with one root, a word that must be last was moved for the sake of another."""
    rng = np.random.default_rng(7)
    for size in (2, 4, 7):
        scores = rng.normal(size=(60, size, size)) * rng.choice([1.0, 10.0, 100.0])
        mask = rng.random(scores.shape) < missing
        scores[mask] = -np.inf
        expected, means = tree_sums(scores, single_root=single_root)
        own = torch.tensor(scores, dtype=torch.float32, requires_grad=True)
        found = torch_sums.tree_log_partition(own, single_root=single_root)
        has_tree = np.isfinite(expected)
        assert np.array_equal(torch.isneginf(found).numpy(), ~has_tree)
        assert found.detach().numpy()[has_tree] == pytest.approx(expected[has_tree], rel=1e-5, abs=1e-4)
        (gradient,) = torch.autograd.grad(found[torch.tensor(has_tree)].sum(), own)
        assert gradient.numpy()[has_tree] == pytest.approx(means[has_tree], abs=1e-4)
        assert np.isfinite(gradient.numpy()).all()
