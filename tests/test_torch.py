"""Layers of PyTorch: gradients by gradcheck, lengths, types, and what is refused; where torch is installed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")

from colgen.core.errors import InputError  # noqa: E402
from colgen.learning import (  # noqa: E402
    Alignments,
    Chains,
    Constituents,
    EnumeratedStructures,
    GraphPaths,
    Knapsacks,
    LabelledTrees,
    Matchings,
    MonotoneChains,
    ProjectiveTrees,
    Segmentations,
    Trees,
    cone_aligned,
    fenchel_young,
    hinge,
    interpolated,
    marginals,
    sparsemap,
    spo_plus,
)
from colgen.problems.grandparent_parsing import GrandparentInstance, parse  # noqa: E402
from colgen.problems.learning_oracles import Clusterings, SecondOrderTrees  # noqa: E402
from colgen.torch import (  # noqa: E402
    BestStructure,
    ConeAligned,
    FenchelYoung,
    LogPartition,
    Marginals,
    SparseMAP,
    SPOPlus,
    StructuredHinge,
    first_pieces,
)

LENGTHS = torch.tensor([3, 2])
SHAPES = {
    "shared": (Chains(), [(2, 3, 3), (3, 3)]),
    "own": (Chains(), [(2, 3, 3), (2, 3, 3)]),
    "stepwise": (Chains(), [(2, 3, 3), (2, 3, 3, 3)]),
    "trees": (Trees(), [(2, 4, 4)]),
    "one root": (Trees(single_root=True), [(2, 4, 4)]),
    "segmentations": (Segmentations(), [(2, 3, 2, 2), (2, 2)]),
    "constituents": (Constituents(), [(2, 3, 3, 2)]),
    "alignments": (Alignments(), [(2, 3, 3, 3)]),
    "matchings": (Matchings(), [(2, 3, 4)]),
    "monotone chains": (MonotoneChains(), [(2, 3, 2), (2, 3, 3)]),
    "projective trees": (ProjectiveTrees(), [(2, 4, 4)]),
    "siblings": (ProjectiveTrees("siblings"), [(2, 4, 4), (2, 4, 4, 4)]),
    "labelled trees": (LabelledTrees(Trees()), [(2, 4, 4, 2)]),
    "labelled siblings": (LabelledTrees(ProjectiveTrees("siblings")), [(2, 4, 4, 2), (2, 4, 4, 4)]),
}
BY_PARTS = (
    "segmentations",
    "constituents",
    "alignments",
    "matchings",
    "monotone chains",
    "labelled trees",
    "labelled siblings",
)
LABELLED = [name for name in SHAPES if name not in BY_PARTS]
"""Structures given by labels or heads, one per position."""


def drawn(shapes, dtype=torch.float64):
    torch.manual_seed(0)
    return [torch.randn(*shape, dtype=dtype, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("layer", [SparseMAP, Marginals, LogPartition])
def test_gradients_of_means(layer, name):
    model, shapes = SHAPES[name]
    made = layer(model)
    assert torch.autograd.gradcheck(lambda *scores: made(*scores, lengths=LENGTHS), drawn(shapes))


HOLES = torch.tensor([[0, 1, 1], [1, 0, 1]])  # padding on the left; a hole


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("layer", [SparseMAP, Marginals, LogPartition])
def test_gradients_with_holes(layer, name):
    model, shapes = SHAPES[name]
    made = layer(model)
    scores = drawn(shapes)
    assert torch.autograd.gradcheck(lambda *scores: made(*scores, mask=HOLES), scores)
    if layer is not LogPartition:
        found = made(*scores, mask=HOLES).detach()
        exists = HOLES.bool()
        if isinstance(model, Chains):
            assert not found[~exists].any()
        else:
            exists = torch.nn.functional.pad(exists, (1, 0), value=True)
            assert not found[~(exists[:, :, None] & exists[:, None, :])].any()


@pytest.mark.parametrize(
    ("name", "axes"),
    [("segmentations", (0,)), ("constituents", (0, 1)), ("matchings", (0,)), ("monotone chains", (0,))],
)
def test_derivations_with_holes_are_those_of_the_existing_positions(name, axes):
    model, shapes = SHAPES[name]
    scores = drawn(shapes)
    found = LogPartition(model)(*scores, mask=HOLES)
    for k in range(2):
        kept = torch.nonzero(HOLES[k]).ravel()
        own = [t if name == "segmentations" and n else t[k] for n, t in enumerate(scores)]
        for axis in axes:
            own[0] = own[0].index_select(axis, kept)
        if name == "monotone chains":
            own[1] = scores[1][k]
        expected = marginals(model, *(t.detach().numpy() for t in own)).log_partition
        assert found[k].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("loss", [StructuredHinge, FenchelYoung])
def test_losses_with_holes_are_those_of_the_existing_positions(loss, name):
    model, shapes = SHAPES[name]
    gold = (
        torch.tensor([[9, 1, 2], [2, 9, 0]])
        if isinstance(model, Chains)
        else torch.tensor([[9, 9, 3, 0], [9, 3, 9, 0]])
    )
    kept = torch.tensor([[1, 2], [2, 0]]) if isinstance(model, Chains) else torch.tensor([[-1, 2, 0], [-1, 2, 0]])
    scores = drawn(shapes)
    layer = loss(model, reduction="none")
    found = layer(*scores, gold=gold, mask=HOLES)
    for k in range(2):
        true = HOLES[k].nonzero()[:, 0]
        if not isinstance(model, Chains):
            true = torch.cat([torch.zeros(1, dtype=torch.long), true + 1])
        longest = shapes[0][1]

        def cut(theta, shared, where=true, k=k, longest=longest):
            own = theta if shared else theta[k]
            for axis, size in enumerate(own.shape):
                if size == longest and not (isinstance(model, Chains) and axis > 0) and not shared:
                    own = own.index_select(axis, where)
            return own if shared else own[None]

        own_transitions = name in ("own",)  # shape (labels, labels) of each chain: no axis of tokens
        own = [
            theta[k : k + 1] if number and own_transitions else cut(theta, name == "shared" and number == 1)
            for number, theta in enumerate(scores)
        ]
        alone = loss(model)(*own, gold=kept[k : k + 1])
        assert found[k].item() == pytest.approx(alone.item())
    assert torch.autograd.gradcheck(lambda *scores: layer(*scores, gold=gold, mask=HOLES), scores)


@pytest.mark.parametrize(
    "loss", [StructuredHinge, FenchelYoung, lambda m, **k: FenchelYoung(m, regularization="gibbs", **k)]
)
def test_gradients_of_losses(loss):
    labels = torch.tensor([[0, 1, 2], [2, 2, 9]])  # the last lies beyond its chain
    chains = loss(Chains(), reduction="none")
    assert torch.autograd.gradcheck(lambda a, b: chains(a, b, gold=labels, lengths=LENGTHS), drawn([(2, 3, 3), (3, 3)]))
    heads = torch.tensor([[-1, 0, 1, 1], [-1, 2, 0, 7]])
    trees = loss(Trees())
    assert torch.autograd.gradcheck(lambda a: trees(a, gold=heads, lengths=LENGTHS), drawn([(2, 4, 4)]))


def test_rounds_end_means_and_losses_early():
    scores = drawn([(2, 3, 3), (3, 3)])
    assert not torch.equal(SparseMAP(Chains(), rounds=2)(*scores), SparseMAP(Chains())(*scores))
    gold = torch.zeros((2, 3), dtype=torch.long)
    assert FenchelYoung(Chains(), rounds=2)(*scores, gold=gold) < FenchelYoung(Chains())(*scores, gold=gold)


def test_means_are_those_of_instances_alone():
    (scores, transitions) = drawn([(2, 3, 3), (3, 3)])
    found = SparseMAP(Chains())(scores, transitions, lengths=LENGTHS).detach().numpy()
    alone = sparsemap(Chains(), scores.detach().numpy()[1, :2], transitions.detach().numpy())
    assert found[1, :2] == pytest.approx(alone.marginals)
    assert not found[1, 2:].any()
    found = Marginals(Chains())(scores, transitions, mask=torch.tensor([[1, 1, 1], [1, 1, 0]])).detach().numpy()
    alone = marginals(Chains(), scores.detach().numpy()[1, :2], transitions.detach().numpy())
    assert found[1, :2] == pytest.approx(alone.marginals)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types_of_scores_are_kept(dtype):
    (scores,) = drawn([(1, 4, 4)], dtype)
    means = SparseMAP(Trees())(scores)
    means.sum().backward()
    assert means.dtype == scores.grad.dtype == dtype
    strided = torch.randn(4, 4, 1).permute(2, 1, 0)
    assert SparseMAP(Trees())(strided).shape == (1, 4, 4)


def test_a_tie_has_a_gradient_nearby():
    scores = torch.tensor([[1.0, 1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    SparseMAP(EnumeratedStructures(np.eye(3)))(scores)[0, 0].backward()
    assert scores.grad[0].tolist() == pytest.approx([0.5, -0.5, 0.0])


def test_another_device_is_warned_about_once():
    scores = torch.zeros(1, 3, 3, device="meta")
    from colgen import torch as layers

    layers._MOVED.clear()
    with pytest.warns(UserWarning, match="colgen computes on the CPU"), pytest.raises(Exception, match="meta"):
        SparseMAP(Trees())(scores)
    assert layers._MOVED == ["meta"]


def test_invalid_arguments_are_refused():
    scores = torch.full((2, 3, 3), -torch.inf)
    scores[0] = 0.0
    for layer in (SparseMAP(Trees()), Marginals(Trees())):
        with pytest.raises(InputError, match="instance 1 of the batch: every structure is forbidden"):
            layer(scores)
    with pytest.raises(InputError, match=r"lengths: expected .*from 1 to 2, got 3"):
        SparseMAP(Trees())(scores, lengths=torch.tensor([2, 3]))
    with pytest.raises(InputError, match=r"scores: expected floats, got torch\.int64"):
        SparseMAP(Trees())(torch.zeros(1, 3, 3, dtype=torch.int64))
    with pytest.raises(InputError, match="scores: expected a tensor, got an object of type ndarray"):
        SparseMAP(Trees())(np.zeros((1, 3, 3)))
    with pytest.raises(InputError, match="reduction: expected 'mean', 'sum' or 'none'"):
        StructuredHinge(Trees(), reduction="max")
    hinge = StructuredHinge(Chains())
    with pytest.raises(InputError, match="gold: expected 1 structures"):
        hinge(torch.zeros(1, 2, 2), torch.zeros(2, 2), gold=torch.zeros(2, 2, dtype=torch.int64))
    with pytest.raises(InputError, match="instance 0 of the batch: gold: expected 2 numbers from 0 to 1"):
        hinge(torch.zeros(1, 2, 2), torch.zeros(2, 2), gold=torch.tensor([[0, 2]]))


REFUSED = {
    "whole numbers": (lambda s: [x.detach().long() for x in s], {}, "expected floats, got torch.int64"),
    "numpy": (lambda s: [x.detach().numpy() for x in s], {}, "expected a tensor, got an object of type ndarray"),
    "NaN": (lambda s: [x * torch.nan for x in s], {}, "expected finite numbers, or -inf, got nan"),
    "no axis of instances": (lambda s: [s[0][0], *s[1:]], {}, "expected three axes, the instances along the first"),
    "an array too many": (lambda s: [*s, s[0]], {}, "expected an array for each of|instances as in the first"),
    "beyond the array": (lambda s: s, {"lengths": [2, 5]}, "lengths: expected .*from 1 to"),
    "nothing of an instance": (lambda s: s, {"lengths": [2, 0]}, "lengths: expected .*from 1 to"),
    "half a word": (lambda s: s, {"lengths": [2, 1.5]}, "lengths: expected .*1.5"),
    "one length": (lambda s: s, {"lengths": [2]}, "lengths: expected the shape"),
    "an instance forbidden": (lambda s: [forbidden(s[0]), *s[1:]], {}, "instance 1 of the batch: (every|the gold)"),
    "no gold structures": (lambda s: s, {"gold": None}, "gold: expected 2 structures, .* got none"),
    "one gold structure": (lambda s: s, {"gold": [[0, 0, 0, 0]]}, "gold: expected 2 structures"),
    "a label that is none": (lambda s: s, {"gold": torch.full((2, 4), 9)}, "instance 0 of the batch: gold: expected"),
    "fractions": (lambda s: s, {"gold": torch.randn(2, 4)}, "instance 0 of the batch: gold: expected"),
}
LAYERS = [SparseMAP, Marginals, LogPartition, StructuredHinge, FenchelYoung]


def forbidden(scores):
    scores = scores.detach().clone()
    scores[1] = -torch.inf
    return scores


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_refuses_invalid_arguments(layer, name):
    model, shapes = SHAPES[name]
    learns = layer in (StructuredHinge, FenchelYoung)
    gold = {"gold": torch.tensor([[0, 0, 1, 2], [0, 2, 0, 1]])[:, : shapes[0][1]]} if learns else {}
    for make, arguments, said in REFUSED.values():
        if "gold" in arguments and not learns:
            continue
        with pytest.raises(InputError, match=said):
            layer(model)(*make(drawn(shapes)), **{**gold, **arguments})


@pytest.mark.parametrize("name", LABELLED)
def test_threads_do_not_change_results(name):
    model, shapes = SHAPES[name]
    heads = torch.tensor([[0, 0, 1, 2], [0, 2, 0, 9]])
    gold = heads[:, : shapes[0][1]]
    for make in (SparseMAP, Marginals, LogPartition, StructuredHinge, FenchelYoung):
        found = []
        for workers in (1, 2):
            scores = drawn(shapes)
            more = {"gold": gold} if make in (StructuredHinge, FenchelYoung) else {}
            value = make(model, workers=workers)(*scores, lengths=LENGTHS, **more)
            value.square().sum().backward()
            found.append([value.detach().numpy(), *(s.grad.numpy() for s in scores)])
        assert all(map(np.array_equal, *found))


@pytest.mark.parametrize("loss", [StructuredHinge, FenchelYoung])
def test_gold_matchings_are_the_columns_of_rows(loss):
    (scores,) = drawn([(2, 3, 4)])
    gold, layer = torch.tensor([[3, 0, 1], [2, 1, 9]]), loss(Matchings(), reduction="none")
    found = layer(scores, gold=gold, lengths=LENGTHS)
    for k, length in enumerate(LENGTHS.tolist()):
        alone = layer(scores[k : k + 1, :length], gold=gold[k : k + 1, :length])
        assert found[k].item() == pytest.approx(alone.item())
    holes = layer(scores, gold=torch.tensor([[9, 0, 1], [2, 9, 3]]), mask=HOLES)
    alone = layer(scores[:1, 1:], gold=torch.tensor([[0, 1]]))
    assert holes[0].item() == pytest.approx(alone.item())
    assert torch.autograd.gradcheck(lambda theta: layer(theta, gold=gold, lengths=LENGTHS), [scores])


@pytest.mark.parametrize("loss", [StructuredHinge, FenchelYoung])
@pytest.mark.parametrize("base", [Trees(), ProjectiveTrees("siblings"), SecondOrderTrees("siblings")])
def test_losses_of_labelled_trees(loss, base):
    model, layer = LabelledTrees(base), loss(LabelledTrees(base), reduction="none")
    scores = drawn([(2, 4, 4, 2), (2, 4, 4, 4)][: 1 + len(getattr(base, "parts", ()))])
    gold = [model.structure([0, 2, 0, 1], [0, 1, 0, 1], 2), model.structure([0, 0, 1], [0, 1, 1], 2)]
    found = layer(*scores, gold=gold, lengths=LENGTHS)
    alone = layer(*(s[1:, :3, :3, : 2 if k == 0 else 3] for k, s in enumerate(scores)), gold=gold[1:])
    assert found[1].item() == pytest.approx(alone.item())
    assert torch.autograd.gradcheck(lambda *s: layer(*s, gold=gold, lengths=LENGTHS), scores)


def test_the_page_prints_what_it_shows():
    from tests.test_pages import run

    names = run("docs/how/differentiable.md")
    # the mean lies half and half on the items 0 and 1, which exclude each other; the loss is that of two instances
    assert names["batch"].grad[0].tolist() == pytest.approx([0.25, -0.25, 0.25, -0.25, 0.0])
    assert names["loss"].item() == pytest.approx(0.405 / 2)


def test_labels_have_the_same_meaning_in_every_layer():
    labels = torch.tensor([[0, 0, 1, 1], [5, 2, 5, -1]])
    scores = torch.randn(2, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for make in (StructuredHinge, FenchelYoung):
        layer = make(Clusterings(), reduction="none")
        found = layer(scores, gold=labels, lengths=[4, 3])
        for k, length in enumerate((4, 3)):
            own = labels[k, :length].numpy()
            together = (own[:, np.newaxis] == own).astype(float) - np.eye(length)
            loss = hinge if make is StructuredHinge else fenchel_young
            gold = loss(Clusterings(), together, scores[k, :length, :length].numpy()).value
            assert found[k].item() == pytest.approx(gold)
        parts = [Clusterings.structure(own[:n].numpy()) for own, n in zip(labels, (4, 3), strict=True)]
        assert torch.equal(layer(scores, gold=parts, lengths=[4, 3]), found)
    heads = torch.tensor([[-1, 0, 1, 1]])
    every = SecondOrderTrees()
    assert StructuredHinge(every)(scores[:1], gold=heads) == StructuredHinge(Trees())(scores[:1], gold=heads)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_gradient_penalty_is_refused(layer):
    for name in ("shared", "trees"):
        model, shapes = SHAPES[name]
        scores = drawn(shapes)
        gold = torch.tensor([[0, 0, 1, 2], [0, 2, 0, 1]])[:, : shapes[0][1]]
        made = layer(model)(*scores, **({"gold": gold} if layer in (StructuredHinge, FenchelYoung) else {}))
        gradients = torch.autograd.grad(made.square().sum(), scores, create_graph=True)
        assert all(own.isfinite().all() for own in gradients)
        penalty = sum(own.square().sum() for own in gradients)
        with pytest.raises(InputError, match="first-order gradients only"):
            penalty.backward()
        plain = layer(model)(*scores, **({"gold": gold} if layer in (StructuredHinge, FenchelYoung) else {})).sum()
        gradients = torch.autograd.grad(plain, scores, create_graph=True)  # here nothing upstream asks for derivatives
        with pytest.raises(InputError, match="first-order gradients only"):
            torch.autograd.grad(sum(own.square().sum() for own in gradients), scores)


PROGRAMS = {
    "paths": GraphPaths([0, 0, 1, 2, 1], [1, 2, 3, 3, 2], sink=3),
    "knapsacks": Knapsacks([[1.0, 2.0, 3.0, 1.5, 2.5], [2.0, 1.0, 1.0, 2.0, 2.0]], [5.0, 4.0]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_spo_plus_of_batches_is_that_of_instances(name):
    oracle, layer = PROGRAMS[name], SPOPlus(PROGRAMS[name], reduction="none")
    scores, true = drawn([(4, 5), (4, 5)])
    true = true.detach()
    assert torch.autograd.gradcheck(lambda s: layer(s, true=true), [scores])
    each = [spo_plus(oracle, None, s, true=t) for s, t in zip(scores.detach().numpy(), true.numpy(), strict=True)]
    losses = layer(scores, true=true)
    assert losses.tolist() == pytest.approx([one.value for one in each], abs=1e-9)
    (gradient,) = torch.autograd.grad(losses.sum(), scores)
    np.testing.assert_allclose(gradient.numpy(), np.array([one.gradients[0] for one in each]), atol=1e-12)
    right = torch.tensor(np.array([oracle.best(t) for t in true.numpy()], dtype=float))
    for given in (right, right.bool(), list(right)):
        assert torch.equal(layer(scores, true=true, gold=given), losses)
    assert SPOPlus(oracle)(scores.float(), true=true.float()).item() == pytest.approx(losses.mean().item(), abs=1e-5)


def test_spo_plus_of_chains_with_lengths():
    layer = SPOPlus(Chains(), reduction="none")
    scores, shared, own = drawn([(2, 3, 3), (3, 3), (2, 3, 3)])
    for transitions in (shared, own):
        true = torch.randn(2, 3, 3, dtype=torch.float64), torch.randn(*transitions.shape, dtype=torch.float64)
        losses = layer(scores, transitions, true=true, lengths=LENGTHS)
        arrays = [a.detach().numpy() for a in (scores, transitions, *true)]
        s, own_transitions, t, true_transitions = (a if a.ndim == 2 else a[1] for a in arrays)
        expected = spo_plus(Chains(), None, s[:2], own_transitions, true=(t[:2], true_transitions))
        assert losses[1].item() == pytest.approx(expected.value, abs=1e-9)
        assert torch.autograd.gradcheck(lambda *s, t=true: layer(*s, true=t, lengths=LENGTHS), [scores, transitions])


def test_what_spo_plus_refuses():
    layer = SPOPlus(PROGRAMS["knapsacks"])
    scores = torch.zeros(2, 5)
    with pytest.raises(InputError, match="gold: expected the shape"):
        layer(scores, true=scores, gold=torch.zeros(3, 5))
    with pytest.raises(InputError, match="true: expected scores of shapes"):
        layer(scores, true=torch.zeros(2, 4))
    forbidden = scores.clone()
    forbidden[1, 2] = -torch.inf
    with pytest.raises(InputError, match="instance 1 of the batch: the gold structure has a forbidden part"):
        layer(forbidden, true=forbidden, gold=torch.ones(2, 5))
    assert layer(forbidden, true=forbidden).item() == 0.0


def test_first_pieces_of_words_are_gathered():
    states = torch.arange(2 * 5 * 2.0, dtype=torch.float64).reshape(2, 5, 2).requires_grad_()
    lists = [[None, 0, 0, 1, None], [0, 1, 2, None, None]]
    words, lengths = first_pieces(states, lists)
    assert lengths.tolist() == [2, 3]
    assert words.tolist() == [[[2.0, 3.0], [6.0, 7.0], [0.0, 0.0]], [[10.0, 11.0], [12.0, 13.0], [14.0, 15.0]]]
    ids = torch.tensor([[-1, 0, 0, 1, -1], [0, 1, 2, -1, -1]])
    assert torch.equal(first_pieces(states, ids)[0], words)
    assert torch.autograd.gradcheck(lambda s: first_pieces(s, ids)[0], states)
    assert first_pieces(states.bfloat16(), ids)[0].dtype == torch.bfloat16
    assert first_pieces(states[:0], ids[:0])[0].shape == (0, 0, 2)
    strided = first_pieces(states.transpose(0, 1), torch.zeros(5, 2))
    assert torch.equal(strided[0][:, 0], states[0])


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([[None, 0, 0, 2, None], [0, 1, 2, None, None]], "word_ids: expected words numbered from 0 .* instance 0"),
        ([[0, 1, 0, None, None], [0, 1, 2, None, None]], "word_ids: expected words numbered from 0 .* instance 0"),
        ([[0, 1, 2, 3, 4], [None] * 5], "word_ids: expected one word or more, not in instance 1"),
        ([[0, 1], [0]], "word_ids: expected"),
        ([[0, 1, 2], [0, 1, 2]], r"word_ids: expected the shape \(2, 5\), got \(2, 3\)"),
        (torch.zeros(2, 5) + 0.5, "word_ids: expected integers"),
        ("x", "word_ids: expected"),
    ],
)
def test_other_word_ids_are_refused(ids, said):
    with pytest.raises(InputError, match=said):
        first_pieces(torch.zeros(2, 5, 3), ids)


def test_other_states_are_refused():
    with pytest.raises(InputError, match=r"states: expected a tensor of shape \(batch, pieces, dim\), got \(2, 5\)"):
        first_pieces(torch.zeros(2, 5), torch.zeros(2, 5))
    with pytest.raises(InputError, match=r"states: expected a tensor .* got an object of type ndarray"):
        first_pieces(np.zeros((2, 5, 3)), np.zeros((2, 5)))


def test_functions_of_arrays_accept_tensors():
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        given = scores.to(dtype)
        found = parse(given)
        assert found == parse(given.double().numpy())
        assert marginals(Trees(), given).log_partition == pytest.approx(
            marginals(Trees(), given.double().numpy()).log_partition
        )
        assert parse(given[None], projective=True, siblings=torch.zeros(1, 4, 4, 4, dtype=dtype))[0].is_optimal


def test_tensors_that_numpy_cannot_have_are_refused_in_one_sentence():
    scores = torch.zeros(4, 4, requires_grad=True)
    for call in (parse, lambda s: marginals(Trees(), s), lambda s: sparsemap(Trees(), s), GrandparentInstance):
        with pytest.raises(InputError, match=r"got a tensor that requires gradients: pass tensor\.detach\(\)"):
            call(scores)
        with pytest.raises(InputError, match=r"got a tensor on the device meta: pass tensor\.cpu\(\)"):
            call(torch.zeros(4, 4, device="meta"))
    with pytest.raises(InputError, match="expected numbers, got"):
        parse([scores, scores])


def test_tensors_are_copied_once_at_most():
    from colgen.torch import _floats

    double = torch.zeros(3, 3, dtype=torch.float64, requires_grad=True)
    assert np.shares_memory(_floats(double), double.detach().numpy())
    strided = torch.randn(2, 3, 4).permute(2, 0, 1)
    assert np.array_equal(_floats(strided), strided.double().numpy())
    assert _floats(strided).flags.c_contiguous


@pytest.mark.parametrize("name", PROGRAMS)
def test_cone_aligned_losses_of_batches(name):
    oracle, layer = PROGRAMS[name], ConeAligned(PROGRAMS[name], reduction="none")
    (scores,) = drawn([(3, 5)])
    gold = torch.tensor(np.array([oracle.best(s) for s in np.random.default_rng(0).normal(size=(3, 5))], dtype=float))
    assert torch.autograd.gradcheck(lambda s: layer(s, gold=gold), [scores])
    each = [cone_aligned(oracle, r, s).value for r, s in zip(gold.numpy(), scores.detach().numpy(), strict=True)]
    assert layer(scores, gold=gold).tolist() == pytest.approx(each)


def test_best_structures_have_gradients_by_interpolation():
    for name, oracle in PROGRAMS.items():
        scores, derivative = drawn([(3, 5), (3, 5)])
        best = BestStructure(oracle, length=3.0, workers=2)(scores)
        (gradient,) = torch.autograd.grad(best, scores, derivative.detach())
        for k in range(3):
            alone = interpolated(oracle, scores.detach().numpy()[k], length=3.0)
            np.testing.assert_array_equal(best.detach().numpy()[k], alone.means[0], name)
            np.testing.assert_allclose(gradient.numpy()[k], alone.gradient(derivative.detach().numpy()[k])[0])
    scores, transitions = drawn([(2, 3, 3), (3, 3)])
    best = BestStructure(Chains(), length=5.0)(scores, transitions, lengths=LENGTHS)
    assert best.sum().item() == 5.0
    gradients = torch.autograd.grad(best[..., 0].sum(), [scores, transitions])
    alone = [
        interpolated(Chains(), scores.detach().numpy()[k, :n], transitions.detach().numpy(), length=5.0)
        for k, n in enumerate((3, 2))
    ]
    by_first = [np.zeros(a.means[0].shape) for a in alone]
    for array in by_first:
        array[:, 0] = 1.0
    each = [a.gradient(d) for a, d in zip(alone, by_first, strict=True)]
    np.testing.assert_allclose(gradients[0].numpy()[1, :2], each[1][0])
    np.testing.assert_allclose(gradients[1].numpy(), each[0][1] + each[1][1])
    with pytest.raises(InputError, match="length: expected a positive number"):
        BestStructure(Chains(), length=0.0)
