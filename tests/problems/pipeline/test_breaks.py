"""Sentence breaks: the most probable segmentation, weights of minimum loss, and features."""

import itertools
import math

import numpy as np
import pytest

from colgen.problems.pipeline.breaks import REGULARIZATION, STOP, Breaks, ending, features, kind, learn_breaks, shape
from colgen.problems.pipeline.texts import Token
from tests.problems.pipeline.test_segmentation import sentence

PARAGRAPHS = [
    [sentence("It", "rains_", "."), sentence("Mr._", "Day", "sees", "it_", "."), sentence("Really_", "?")],
    [sentence("he", "is", "here_", "."), sentence("We", "go", "...", "home_", "!"), sentence("Thanks")],
] * 3


def tokens(paragraph):
    return list(itertools.chain.from_iterable(paragraph))


@pytest.mark.parametrize(
    ("form", "kinds"),
    [
        ("I", ("A", "X", "word")),
        ("NASA", ("AA", "X", "word")),
        ("Mr.", ("A.", "Xx.", "word")),
        ("a.b@c", ("aw", "x.x@x", "word")),
        ("12", ("12", "1", "word")),
        ("1:30", ("1-", "1:1", "word")),
        (".", (".", ".", "end")),
        ("?!?", ("???", "?!?", "end")),
        ("...", ("...", ".", "dots")),
        (":)", ("::", ":)", "::")),
        ("(", ("(", "(", "(")),
    ],
)
def test_kinds_of_tokens(form, kinds):
    assert (kind(form), shape(form), ending(form)) == kinds


def test_features_do_not_depend_on_forms():
    one, other = sentence("The", "dog_", ".", "It"), sentence("Our", "elephant_", ".", "She")
    assert list(features(one)) == list(features(other))


def test_features_of_every_position_but_the_last():
    names = list(features(sentence("(", "Yes_", ".", "no_", ")", "...", "So")))
    assert len(names) == 6
    assert len({len(row) for row in names}) == 1
    assert [row[10] for row in names] == [
        "bracket ( 1",
        "bracket word 1",
        "bracket end 1",
        "bracket word 1",
        "bracket ) 0",
        "bracket dots 0",
    ]
    assert list(features([])) == list(features(sentence("a"))) == []


def test_the_segmentation_is_the_most_probable():
    breaks = learn_breaks(PARAGRAPHS)
    for paragraph in [*PARAGRAPHS[:2], [sentence("Home", "...", "dogs_", ".", "mr._", "Lee", "!")]]:
        given = tokens(paragraph)
        chances = [1.0 / (1.0 + math.exp(-odds)) for odds in breaks.log_odds(given)]

        def probability(way, chances=chances):
            return math.prod(c if ends else 1.0 - c for c, ends in zip(chances, way, strict=True))

        best = max(itertools.product((False, True), repeat=len(chances)), key=probability)
        found = breaks.split(given)
        assert tokens(found) == given
        ends = {sum(map(len, found[:k])) for k in range(1, len(found))}
        assert tuple(k in ends for k in range(1, len(given))) == best


def test_weights_minimise_the_loss():
    breaks = learn_breaks(PARAGRAPHS)
    weights = breaks.weights[:-1]

    def loss(changed):
        total = 0.5 * REGULARIZATION * changed @ changed
        for paragraph in PARAGRAPHS:
            ends = [k == len(s) for s in paragraph for k in range(1, len(s) + 1)][:-1]
            for names, end in zip(features(tokens(paragraph)), ends, strict=True):
                score = sum(changed[breaks.index[name]] for name in names if name in breaks.index)
                total += math.log1p(math.exp(-score if end else score))
        return total

    least = loss(weights)
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert loss(weights + 0.05 * rng.standard_normal(len(weights))) > least


def test_training_sentences_are_reproduced():
    breaks = learn_breaks(PARAGRAPHS, tune=PARAGRAPHS[:2])
    for paragraph in PARAGRAPHS:
        assert breaks.split(tokens(paragraph)) == paragraph
    assert breaks.split([]) == []
    again = Breaks.from_data(*breaks.data())
    assert again.split(tokens(PARAGRAPHS[0])) == PARAGRAPHS[0]


def test_tuning_sentences_set_the_threshold(monkeypatch):
    monkeypatch.setattr("colgen.problems.pipeline.breaks.OFFSETS", (-50.0, 0.0, 50.0))
    given = tokens(PARAGRAPHS[1])
    chosen = [
        learn_breaks(PARAGRAPHS, tune=[held]).weights[-1]
        for held in ([given], PARAGRAPHS[1], [[token] for token in given])
    ]
    assert chosen == [-50.0, 0.0, 50.0]


def test_training_without_sentences():
    breaks = learn_breaks([[sentence("a")]])
    assert len(breaks.weights) == 1


@pytest.mark.parametrize("sign", [*"।॥。｡։۔።។။᙮"])
def test_full_stops_of_other_scripts_are_one_kind(sign):
    assert (kind(sign), ending(sign), shape(sign)) == (STOP, "end", STOP)


@pytest.mark.parametrize(
    ("sign", "same"), [*zip("？؟፧！﹗．‼⁇⁉", ["?", "?", "?", "!", "!", ".", "!!", "??", "!?"], strict=True)]
)
def test_questions_and_exclamations_of_other_scripts_have_the_kinds_of_latin_ones(sign, same):
    assert (kind(sign), ending(sign)) == (kind(same), "end")


@pytest.mark.parametrize("sign", [*"¿¡՞՜、，؛・"])
def test_signs_within_sentences_keep_their_own_kind(sign):
    assert kind(sign) == ending(sign) == sign


def test_ellipses_do_not_end_sentences():
    assert [ending(sign) for sign in ("...", "…", 2 * STOP, 6 * STOP)] == 4 * ["dots"]


def test_sentences_end_at_signs_that_training_did_not_have():
    def text(sign):
        return [
            [*(Token(w, (w,)) for w in words.split()), Token(sign, (sign,))] for words in ("ab cd", "ef", "gh ij kl")
        ]

    breaks = learn_breaks([text(".")] * 10)
    for sign in "।。？؟！":
        assert breaks.split([token for one in text(sign) for token in one]) == text(sign)
