"""Structure oracles: valid and invalid results."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen import Column, OraclePricing
from colgen.core.errors import InputError
from colgen.learning import Chains, EnumeratedStructures, PricedStructures, ProjectiveTrees, Trees, best_structure
from colgen.learning.oracles import structure_from


class Answering:
    """Returns a given value."""

    def __init__(self, answer):
        self.answer = answer

    def best(self, *scores):
        return self.answer


SCORES = np.array([3.0, -1.0, 2.0])


@pytest.mark.parametrize("answer", [np.array([True, False, True]), np.array([1.0, 0.0, 1.0]), np.array([0, 2])])
def test_arrays_and_places_are_equivalent(answer):
    found = best_structure(Answering(answer), [SCORES])
    assert found.score([SCORES]) == 5.0
    assert found.array(0, (3,)).tolist() == [1.0, 0.0, 1.0]
    assert found.key == best_structure(Answering(np.array([2, 0])), [SCORES]).key


def test_a_place_counts_as_often_as_it_occurs():
    assert best_structure(Answering(np.array([2, 2])), [SCORES]).array(0, (3,)).tolist() == [0.0, 0.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.array([1, 0, 1]), "must be of floats or truth values"),
        (np.array([3]), "expected places from 0 to 2"),
        (np.array([1.0, 0.0]), r"in the shape of the scores, \(3,\)"),
        (np.array([1.0, np.nan, 0.0]), "finite"),
        ("abc", "expected floats or truth values"),
        ((np.array([0]), np.array([0])), "expected 1 arrays"),
        (None, "every structure is forbidden"),
    ],
)
def test_invalid_structures_raise_errors(answer, said):
    with pytest.raises(InputError, match=said):
        best_structure(Answering(answer), [SCORES])


def test_a_forbidden_part_is_named():
    with pytest.raises(InputError, match=r"forbidden part \(1,\)"):
        best_structure(Answering(np.array([0, 1])), [np.array([1.0, -np.inf, 0.0])])


def test_chains_and_trees_are_scored_part_by_part():
    rng = np.random.default_rng(0)
    theta, steps = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    best = best_structure(Chains(), [theta, steps])
    labels = best.array(0, (4, 3)).argmax(axis=1)
    assert best.score([theta, steps]) == pytest.approx(
        theta[range(4), labels].sum() + steps[labels[:-1], labels[1:]].sum()
    )
    by_step = np.broadcast_to(steps, (4, 3, 3)).copy()
    assert best_structure(Chains(), [theta, by_step]).score([theta, by_step]) == pytest.approx(
        best.score([theta, steps])
    )
    arcs, siblings, grand = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5)), rng.normal(size=(5, 5, 5))
    model = ProjectiveTrees("siblings", "grandchildren")
    scores = [arcs, siblings, grand]
    everything = [model_score(model, np.array(tree), scores) for tree in trees(4, projective=True)]
    assert best_structure(model, scores).score(scores) == pytest.approx(max(everything))
    everything = [arcs[list(tree[1:]), range(1, 5)].sum() for tree in trees(4, single_root=True)]
    assert best_structure(Trees(single_root=True), [arcs]).score([arcs]) == pytest.approx(max(everything))


def model_score(model, heads, scores):
    return sum(float(theta.ravel()[places].sum()) for theta, places in zip(scores, model.structure(heads), strict=True))


def test_all_structures_forbidden_raises_an_error():
    with pytest.raises(InputError, match=r"forbidden.*Chains\.best"):
        best_structure(Chains(), [np.full((2, 2), -np.inf), np.zeros((2, 2))])
    with pytest.raises(InputError, match="every structure is forbidden"):
        best_structure(Trees(), [np.full((3, 3), -np.inf)])
    with pytest.raises(InputError, match="every structure is forbidden"):
        best_structure(ProjectiveTrees(), [np.full((3, 3), -np.inf)])
    with pytest.raises(InputError, match="every structure is forbidden"):
        best_structure(EnumeratedStructures([[1.0, 0.0]]), [np.array([-np.inf, 0.0])])


def test_unknown_parts_raise_an_error():
    with pytest.raises(InputError, match="expected parts among"):
        ProjectiveTrees("cousins")


class Pairs(OraclePricing):
    """The two rows of largest dual values, at a cost of 1."""

    def best(self, duals, context):
        return sorted(np.argsort([-duals["take", i] for i in range(3)])[:2].tolist())

    def encode(self, structure):
        return Column(1.0, {("take", i): 1.0 for i in structure}, structure)


def test_a_pricing_oracle_finds_structures():
    oracle = PricedStructures(Pairs(), [("take", i) for i in range(3)])
    scores = [SCORES, np.ones(1)]
    best = best_structure(oracle, scores)
    assert best.array(0, (3,)).tolist() == [1.0, 0.0, 1.0]
    assert best.score(scores) == 4.0
    with pytest.raises(InputError, match="has no score"):
        best_structure(PricedStructures(Shy(), [("take", 0)]), [np.ones(1), np.ones(1)])


class Shy(Pairs):
    """Its column has a row without a score."""

    def best(self, duals, context):
        return [0, 1]


@pytest.mark.parametrize("kind", [Trees(), ProjectiveTrees(), ProjectiveTrees("siblings", "grandchildren")])
def test_heads_are_the_inverse_of_structures(kind):
    for tree in [np.array(heads) for n in (1, 2, 4) for heads in trees(n, projective=True)]:
        places = kind.structure(tree)
        whole = structure_from(places, [np.zeros((len(tree),) * (2 if k == 0 else 3)) for k in range(len(places))])
        for form in (places, places[0], places[0].tolist(), whole):
            assert kind.heads(form).tolist() == tree.tolist()
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 6))
    assert Trees().structure(Trees.heads(Trees().best(scores)))[0].tolist() == Trees().best(scores)[0].tolist()
    for wrong in ([1, 1, 1], [0, 2, 3]):  # word 1 three times; an arc to the root
        with pytest.raises(
            InputError, match="positions: expected the places of a structure with one part at each of 3"
        ):
            Trees.heads(wrong)
    with pytest.raises(InputError, match="positions: expected integers"):
        Trees.heads(np.ones(3) / 2)


@pytest.mark.parametrize("stepwise", [False, True])
def test_labels_are_the_inverse_of_structures(stepwise):
    for labels in ([2], [0, 0], [2, 1, 0, 2]):
        places = Chains.structure(np.array(labels), 3, stepwise)
        whole = structure_from(places, [np.zeros((len(labels), 3)), np.zeros((len(labels), 3, 3))])
        for form in (places, places[0], whole):
            assert Chains.labels(form, 3).tolist() == labels
    with pytest.raises(InputError, match="one part at each of 2 positions"):
        Chains.labels([0, 1], 3)  # two labels of the first token
