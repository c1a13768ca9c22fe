"""UAS, LAS and CLAS of sentences counted by hand."""

import pytest

from colgen import InputError
from colgen.problems.dependency import Sentence
from colgen.problems.dependency.evaluation import attachment

GOLD = Sentence(
    ("She", "has", "seen", "the", "old", "house", "."),
    heads=(3, 3, 0, 6, 6, 3, 3),
    relations=("nsubj", "aux", "root", "det", "amod", "obj", "punct"),
)


def test_identical_trees():
    found = attachment([(GOLD, GOLD)])
    assert (found.uas, found.las, found.clas, found.words) == (100.0, 100.0, 100.0, 7)


def test_counted_by_hand():
    # "old" has another head, "house" another relation, "has" is predicted as a content word.
    found = GOLD.with_heads((3, 3, 0, 6, 3, 3, 3), ("nsubj", "xcomp", "root", "det", "amod", "obl", "punct"))
    reached = attachment([(GOLD, found)])
    assert reached.uas == pytest.approx(100 * 6 / 7)
    assert reached.las == pytest.approx(100 * 4 / 7)
    # Gold content words: She, seen, old, house; predicted: has as well.  Correct: She, seen.
    assert reached.clas == pytest.approx(200 * 2 / (4 + 5))


def test_subtypes_of_relations_are_ignored():
    gold = Sentence(("Paul", "sleeps"), heads=(2, 0), relations=("nsubj:pass", "root"))
    found = gold.with_heads((2, 0), ("nsubj:outer", "root"))
    assert attachment([(gold, found)]).las == 100.0
    function = Sentence(("is", "seen"), heads=(2, 0), relations=("aux:pass", "root"))
    assert attachment([(function, function.with_heads((2, 0), ("cop", "root")))]).clas == 100.0


def test_heads_only_without_relations():
    found = attachment([(GOLD, GOLD.with_heads((3, 3, 0, 6, 6, 3, 3)))])
    assert (found.uas, found.las, found.clas) == (100.0, None, None)


def test_sentences_that_cannot_be_compared():
    with pytest.raises(InputError, match="no heads"):
        attachment([(GOLD, Sentence(GOLD.forms))])
    with pytest.raises(InputError, match=r"7 words .* 1 in"):
        attachment([(GOLD, Sentence(("a",), heads=(0,)))])
