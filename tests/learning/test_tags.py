"""Legal tags, compared with a reading of each labelling from left to right."""

import itertools

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import Chains, best_structure, legal_transitions

TAGS = {"BIO": ["O", "B-X", "I-X", "B-Y", "I-Y"], "BILOU": ["O", "B-X", "I-X", "L-X", "U-X", "B-Y", "L-Y", "U-Y"]}


def is_legal(tags, scheme):
    """Whether a grammar of spans generates the tags."""
    inside = None
    for tag in tags:
        prefix, _, kind = tag.partition("-")
        if scheme == "BILOU":
            if (prefix in ("I", "L")) != (inside is not None) or (inside is not None and kind != inside):
                return False
            inside = kind if prefix in ("B", "I") else None
        else:
            if prefix == "I" and kind != inside:
                return False
            inside = None if prefix == "O" else kind
    return scheme == "BIO" or inside is None


@pytest.mark.parametrize("scheme", ["BIO", "BILOU"])
@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_exactly_the_illegal_sequences_are_forbidden(scheme, tokens):
    tags = TAGS[scheme]
    rules = legal_transitions(tags, scheme)
    for labels in itertools.product(range(len(tags)), repeat=tokens):
        score = (
            rules.first[labels[0]]
            + rules.last[labels[-1]]
            + sum(rules.transitions[p] for p in itertools.pairwise(labels))
        )
        assert (score == 0.0) == is_legal([tags[x] for x in labels], scheme)
        assert score in (0.0, -np.inf)


@pytest.mark.parametrize("scheme", ["BIO", "BILOU"])
@pytest.mark.parametrize("by_step", [False, True])
def test_the_best_labelling_is_the_best_of_the_legal_ones(scheme, by_step):
    tags, rng = TAGS[scheme], np.random.default_rng(0)
    for _ in range(5):
        size = len(tags)
        scores, steps = rng.normal(size=(3, size)), rng.normal(size=(3, size, size) if by_step else (size, size))
        given = scores.copy()
        own = legal_transitions(tags, scheme).restrict(scores, steps)
        assert (scores == given).all()
        every = steps if by_step else np.broadcast_to(steps, (3, size, size))
        best = max(
            scores[range(3), x].sum() + every[0, x[0], x[1]] + every[1, x[1], x[2]]
            for x in itertools.product(range(size), repeat=3)
            if is_legal([tags[k] for k in x], scheme)
        )
        assert best_structure(Chains(), own).score(own) == pytest.approx(best, abs=1e-9)


def test_types_may_be_absent_and_labels_repeated():
    rules = legal_transitions(["O", "B", "I", "B"])
    assert (rules.transitions[:, 2] == [-np.inf, 0.0, 0.0, 0.0]).all()
    assert (rules.first == [0.0, 0.0, -np.inf, 0.0]).all()


@pytest.mark.parametrize(
    ("labels", "scheme", "said"),
    [
        (["O"], "IOB", "scheme: expected one of BIO, BILOU, got 'IOB'"),
        ([], "BIO", "one name or more"),
        (["O", "L-X"], "BIO", "expected one of B-X, I-X, O with a type X, got 'L-X'"),
        (["O-X"], "BIO", "got 'O-X'"),
        (["B-"], "BIO", "got 'B-'"),
        (["PER"], "BILOU", "got 'PER'"),
        ([3], "BIO", "got 3"),
        ([""], "BIO", "got ''"),
    ],
)
def test_unknown_tags_raise_errors(labels, scheme, said):
    with pytest.raises(InputError, match=said):
        legal_transitions(labels, scheme)


def test_another_number_of_labels_raises_an_error():
    with pytest.raises(InputError, match="expected 3 labels, one per tag, got 2"):
        legal_transitions(["O", "B-X", "I-X"]).restrict(np.zeros((2, 2)), np.zeros((2, 2)))
