"""Every function of learning and every model takes arrays of all kinds alike, and refuses the rest in one sentence."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.core.errors import InputError
from colgen.learning import (
    Chains,
    EnumeratedStructures,
    LinearExample,
    ProjectiveTrees,
    Structure,
    Trees,
    augmented,
    best_structure,
    fenchel_young,
    hinge,
    marginals,
    perturbed,
    second_best,
    sparsemap,
)
from colgen.learning.batches import batch_of, batch_sums
from colgen.problems.learning_oracles import Clusterings, SecondOrderTrees

HEADS = np.array([-1, 0, 1, 1])
SECOND = ProjectiveTrees("siblings", "grandchildren")
MODELS = {
    "chains": (Chains(), [(4, 3), (3, 3)], Chains.structure(np.array([0, 1, 2, 0]), 3)),
    "chains step by step": (Chains(), [(4, 3), (4, 3, 3)], Chains.structure(np.array([0, 1, 2, 0]), 3, True)),
    "trees": (Trees(), [(4, 4)], Trees.structure(HEADS)),
    "projective trees": (SECOND, [(4, 4), (4, 4, 4), (4, 4, 4)], SECOND.structure(HEADS)),
    "all trees": (SecondOrderTrees("siblings"), [(4, 4), (4, 4, 4)], SecondOrderTrees("siblings").structure(HEADS)),
    "clusterings": (Clusterings(), [(4, 4)], Clusterings.structure(np.array([0, 0, 1, 0]))),
    "a list": (EnumeratedStructures(np.eye(3)), [(3,)], np.array([1])),
}
FUNCTIONS = {
    "best_structure": lambda oracle, gold, scores: best_structure(oracle, scores).score(scores_of(scores)),
    "sparsemap": lambda oracle, gold, scores: sparsemap(oracle, *scores).marginals,
    "perturbed": lambda oracle, gold, scores: perturbed(
        oracle, *scores, samples=2, generator=np.random.default_rng(0)
    ).means[0],
    "augmented": lambda oracle, gold, scores: augmented(oracle, gold, *scores).cost,
    "hinge": lambda oracle, gold, scores: hinge(oracle, gold, *scores).value,
    "fenchel_young": lambda oracle, gold, scores: fenchel_young(oracle, gold, *scores).value,
    "marginals": lambda oracle, gold, scores: marginals(oracle, *scores).marginals,
}
SUMMED = (Chains, Trees, ProjectiveTrees)
CASES = [
    (name, function)
    for name, (oracle, _, _) in MODELS.items()
    for function in FUNCTIONS
    if function != "marginals" or isinstance(oracle, SUMMED)
]


class WithArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


class WithDLPack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


TAKEN = {
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "of foreign byte order": lambda a: a.astype(">f8"),
    "whole numbers": lambda a: (2.0 * a).astype(np.int8).astype(np.int8),
    "not contiguous": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "Fortran's order": np.asfortranarray,
    "lists": lambda a: a.tolist(),
    "__array__": WithArray,
    "__dlpack__": WithDLPack,
}
REFUSED = {
    "ragged": (lambda a: [[1.0], [1.0, 2.0]], "expected"),
    "text": (lambda a: "abc", "expected numbers"),
    "nothing": (lambda a: None, "expected numbers"),
    "complex": (lambda a: a.astype(complex), "expected numbers, got complex"),
    "NaN": (lambda a: np.full(a.shape, np.nan), "or -inf, got nan"),
    "infinite": (lambda a: np.full(a.shape, np.inf), "or -inf, got inf"),
    "empty": (lambda a: np.zeros((0,) * a.ndim), "expected the shape"),
    "an axis too many": (lambda a: np.zeros((2, *a.shape)), "expected the shape"),
    "too long": (lambda a: np.zeros((*a.shape[:-1], a.shape[-1] + 1)), "expected the shape"),
}


def drawn(name):
    oracle, shapes, gold = MODELS[name]
    rng = np.random.default_rng(1)
    # in halves, so that they are the same in few bits
    return oracle, [np.round(4.0 * rng.normal(size=shape)) / 2.0 for shape in shapes], gold


def scores_of(scores):
    return [np.ascontiguousarray(s.array if hasattr(s, "array") else s, dtype=np.float64) for s in scores]


@pytest.mark.parametrize(("name", "function"), CASES)
def test_arrays_of_all_types_give_the_same_results(name, function):
    oracle, scores, gold = drawn(name)
    for kind, make in TAKEN.items():
        given = [make(theta) for theta in scores]
        plain = [2.0 * theta for theta in scores] if kind == "whole numbers" else scores
        expected = FUNCTIONS[function](oracle, gold, plain)
        assert FUNCTIONS[function](oracle, gold, given) == pytest.approx(expected, abs=1e-9), kind


@pytest.mark.parametrize(("name", "function"), CASES)
def test_invalid_scores_raise_one_error(name, function):
    oracle, scores, gold = drawn(name)
    for number in range(len(scores)):
        for kind, (make, said) in REFUSED.items():
            given = [make(theta) if k == number else theta for k, theta in enumerate(scores)]
            if name.startswith("chains") and kind == "an axis too many" and number == 1 and scores[1].ndim == 2:
                given[1] = np.zeros((3, 3, 3, 3))  # with one axis more transitions are step by step
            with pytest.raises(InputError, match=said):
                FUNCTIONS[function](oracle, gold, given)
    for given in (scores[:-1], [*scores, scores[-1]]):
        with pytest.raises(InputError, match="expected"):
            FUNCTIONS[function](oracle, gold, given)


@pytest.mark.parametrize(("name", "function"), [case for case in CASES if case[0] != "clusterings"])
def test_all_structures_forbidden_raises_an_error(name, function):
    oracle, scores, gold = drawn(name)
    forbidden = [np.full(scores[0].shape, -np.inf), *scores[1:]]
    with pytest.raises(InputError, match=r"forbidden"):
        FUNCTIONS[function](oracle, gold, forbidden)


@pytest.mark.parametrize("name", MODELS)
def test_forbidden_parts_of_every_array_occur_in_no_mean(name):
    oracle, scores, _ = drawn(name)
    best = best_structure(oracle, scores)
    for number, theta in enumerate(scores):
        given = [array.copy() for array in scores]
        without = theta.copy()
        without.ravel()[best.parts[number][0][:1]] = -np.inf
        given[number] = without
        found = [sparsemap(oracle, *given).means[number]]
        if isinstance(oracle, SUMMED):
            found.append(marginals(oracle, *given).means[number])
        for mean in found:
            assert not mean[np.isneginf(without)].any()
        other = best_structure(oracle, given)
        assert other.score(given) <= best.score(scores)


@pytest.mark.parametrize("single_root", [False, True])
def test_sums_over_projective_trees_leave_forbidden_pairs_out(single_root):
    rng = np.random.default_rng(2)
    model = ProjectiveTrees("siblings", "grandchildren", single_root=single_root)
    scores = [rng.normal(size=(5,) * n) for n in (2, 3, 3)]
    for theta in scores[1:]:
        theta[rng.random(theta.shape) < 0.2] = -np.inf
    values = np.array(
        [
            sum(theta.ravel()[own].sum() for theta, own in zip(scores, model.structure(np.array(tree)), strict=True))
            for tree in trees(4, projective=True, single_root=single_root)
        ]
    )
    found = marginals(model, *scores)
    assert found.log_partition == pytest.approx(np.logaddexp.reduce(values))
    p = np.exp(values - found.log_partition)
    assert found.entropy == pytest.approx(-np.sum(p[p > 0.0] * np.log(p[p > 0.0])))
    assert best_structure(model, scores).score(scores) == pytest.approx(values.max())
    none = [scores[0], np.full((5, 5, 5), -np.inf), scores[2]]
    with pytest.raises(InputError, match="every structure is forbidden"):
        marginals(model, *none)


def test_a_structure_of_another_size_is_refused():
    structure = Structure(((np.array([20]), np.ones(1)),))
    with pytest.raises(InputError, match=r"expected a structure over arrays with \[9\] parts"):
        hinge(Trees(), structure, np.zeros((3, 3)))
    assert second_best(Trees(), best_structure(Trees(), [np.zeros((3, 3))]), np.zeros((3, 3))) is not None


def test_batches_are_checked_first():
    for model, arrays in (
        (Trees(), [np.zeros((1, 0, 0))]),
        (Trees(), [np.zeros((2, 3, 4))]),
        (Chains(), [np.zeros((2, 3, 4)), np.zeros((3, 3))]),
        (SECOND, [np.zeros((2, 4, 4)), np.zeros((2, 4, 4, 3)), np.zeros((2, 4, 4, 4))]),
    ):
        with pytest.raises(InputError, match="expected the shape"):
            batch_sums(batch_of(model, arrays))
    empty = batch_sums(batch_of(Trees(), [np.zeros((0, 3, 3))]))
    assert empty.log_partition.shape == (0,)


@pytest.mark.parametrize("wrong", [1.5, "2", None])
def test_derivatives_are_arrays_in_the_shapes_of_means(wrong):
    found = sparsemap(Trees(), np.zeros((3, 3)))
    if wrong is not None:
        with pytest.raises(InputError, match="derivatives: expected"):
            found.gradient(wrong)
        with pytest.raises(InputError, match="rounds: expected"):
            sparsemap(Trees(), np.zeros((3, 3)), rounds=wrong)
    else:
        assert not found.gradient(wrong)[0].any()


LABELS = {
    "chains": [0, 1, 2, 0],
    "chains step by step": [0, 1, 2, 0],
    "trees": HEADS,
    "projective trees": tuple(HEADS.tolist()),
    "all trees": HEADS.astype(np.int32),
    "clusterings": [0, 0, 1, 0],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_a_right_structure_everywhere(name):
    oracle, scores, gold = drawn(name)
    matrices = [np.eye(theta.size, max(t.size for t in scores)) for theta in scores]
    for given in (LABELS[name], np.array(LABELS[name]), list(LABELS[name])):
        for function in (augmented, hinge, fenchel_young):
            found, expected = function(oracle, given, *scores), function(oracle, gold, *scores)
            if function is augmented:
                assert found.structure.key == expected.structure.key
            else:
                assert found.value == expected.value
        example = LinearExample(oracle, matrices, [theta.shape for theta in scores], given)
        assert example.gold.key == LinearExample(oracle, matrices, [theta.shape for theta in scores], gold).gold.key


@pytest.mark.parametrize(
    ("oracle", "labels", "said"),
    [
        (Trees(), [0, 0, 3, 2], "above position 2 form a cycle"),
        (Trees(), [0, 0, 1], "expected 4 numbers, got"),
        (Trees(), [0, 0, 1, 4], "expected 4 numbers from 0 to 3"),
        (ProjectiveTrees(), [0, 1, 1, 2], "above position 1 form a cycle"),
        (SecondOrderTrees(), [0, 0, -1, 2], "expected 4 numbers from 0 to 3"),
        (Clusterings(), [0, 0, -1, 2], "expected 4 numbers of 0 or more"),
        (Clusterings(), [0, 1], "expected 4 numbers of 0 or more"),
        (Clusterings(), [[0, 1, 1, 2]], "integers must be places"),
        (Clusterings(), [2**70, 0, 0, 0], "gold: expected"),
    ],
)
def test_invalid_labels_raise_errors(oracle, labels, said):
    for function in (augmented, hinge, fenchel_young):
        with pytest.raises(InputError, match=said):
            function(oracle, labels, np.zeros((4, 4)))
