"""The best relations of a tree against all of them, and sums of weights against a dictionary."""

import itertools

import numpy as np
import pytest

from colgen.learning.weights import FeatureWeights
from colgen.problems.dependency.features.label_scores import (
    BESIDE,
    HEAD,
    LEFT,
    PLACES,
    RIGHT,
    SIDES,
    Templates,
    key_of,
    label_index,
    label_tree,
    relatives,
)

RELATIONS = 3


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    sizes = np.array([1, 4, 3])
    codes = np.stack([rng.integers(-1, size, n + 3) for size in sizes]).astype(np.int32)
    joined = np.array(
        [
            [0, 0, PLACES, HEAD],
            [1, 2, SIDES, HEAD],
            [0, 1, SIDES, LEFT],
            [1, 1, PLACES, RIGHT],
            [1, 1, SIDES, BESIDE],
        ]
    )
    counts = sizes[joined[:, 0]] * sizes[joined[:, 1]] * joined[:, 2]
    templates = Templates(joined, sizes[joined[:, 1]], np.cumsum([0, *counts[:-1]]))
    keys = np.flatnonzero(rng.random(counts.sum()) < 0.7)
    starts = np.cumsum([0, *rng.integers(0, RELATIONS + 1, len(keys))])
    total = int(starts[-1])
    weights = rng.normal(size=total).astype(np.float32)
    transitions = rng.normal(size=(2, RELATIONS + 1, RELATIONS)).astype(np.float32)
    labels = rng.integers(0, RELATIONS, total).astype(np.int32)
    scores = FeatureWeights(keys, starts, labels, weights, RELATIONS), transitions
    order = rng.permutation(np.arange(1, n + 1))
    heads = np.full(n + 1, -1)
    for k, token in enumerate(order):
        heads[token] = rng.choice([0, *order[:k]])
    return codes, rng.integers(0, 2, n + 3), templates, scores, heads


def kin(heads):
    """The relatives of each token, in Python."""
    n = len(heads) - 1
    modifiers = [[m for m in range(1, n + 1) if heads[m] == h] for h in range(n + 1)]
    found = np.zeros((4, n + 1), dtype=np.int64)
    for m in range(1, n + 1):
        others = [k for k in modifiers[heads[m]] if k != m]
        found[:, m] = heads[m], (modifiers[m] or [n + 1])[0], (modifiers[m] or [n + 2])[-1], (others or [n + 1])[0]
    return found


def score(case, relations):
    """The score of relations, in Python."""
    codes, tags, templates, (scores, transitions), heads = case
    by_key = {
        int(key): list(zip(scores.labels[a:b], scores.weights[a:b], strict=True))
        for key, a, b in zip(scores.keys, scores.starts[:-1], scores.starts[1:], strict=True)
    }
    total, of = 0.0, kin(heads)
    for head in range(len(heads)):
        before = RELATIONS
        for modifier in np.flatnonzero(heads[1:] == head) + 1:
            relation = relations[modifier - 1]
            for t in range(len(templates.starts)):
                of_key = by_key.get(int(key_of(codes, templates, t, of, modifier)), [])
                total += sum(float(weight) for which, weight in of_key if which == relation)
            total += float(transitions[tags[head], before, relation])
            before = relation
    return total


@pytest.mark.parametrize("seed", range(30))
def test_best_relations_against_enumeration(seed):
    case = random_case(seed)
    n = len(case[-1]) - 1
    every = {relations: score(case, relations) for relations in itertools.product(range(RELATIONS), repeat=n)}
    codes, tags, templates, scores, heads = case
    found = label_tree(codes, tags, label_index(templates, *scores), heads)
    assert every[tuple(found.tolist())] == pytest.approx(max(every.values()))


@pytest.mark.parametrize("seed", range(10))
def test_relatives(seed):
    heads = random_case(seed)[-1]
    np.testing.assert_array_equal(relatives(heads)[:, 1:], kin(heads)[:, 1:])


def test_keys_are_unique():
    codes = np.arange(5, dtype=np.int32)[None, :]
    joined = np.array([[0, 0, PLACES, HEAD], [0, 0, SIDES, HEAD]])
    templates = Templates(joined, np.array([5, 5]), np.array([0, 25 * PLACES]))
    seen = {}
    for t, head, modifier in itertools.product(range(2), range(5), range(5)):
        if head != modifier:
            of = np.full((4, 5), head)
            assert seen.setdefault(int(key_of(codes, templates, t, of, modifier)), (t, head, modifier)) == (
                t,
                head,
                modifier,
            )
    assert max(seen) < 25 * (PLACES + SIDES)
