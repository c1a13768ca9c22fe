"""Families: consistent rows, arcs and relations; patterns."""

import numpy as np
import pytest

from colgen import InputError
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.families import (
    COMBINATION,
    FAMILIES,
    Combs,
    FactorPatterns,
    Pattern,
    Words,
)

SENTENCE = Sentence(
    ("We", "saw", "(", "or", "heard", ")", "the", "train"),
    coarse=("PRON", "VERB", "PUNCT", "CCONJ", "VERB", "PUNCT", "DET", "NOUN"),
)
ALL = [family for families in FAMILIES.values() for family in families]


def everything(size):
    allowed = ~np.eye(size, dtype=bool)
    allowed[:, 0] = False
    return allowed


@pytest.mark.parametrize("family", ALL, ids=lambda family: family.name)
def test_rows_arcs_and_relations_fit_together(family):
    allowed = everything(9)
    rows = family.rows(Words(SENTENCE), allowed)
    arcs, relation = family.arcs(rows, 9), family.relation(rows)
    assert len(rows) == len(arcs) == len(relation)
    assert rows.shape[1] == len(family.templates[0])
    assert all(len(template) == rows.shape[1] for template in family.templates)
    if len(rows):
        assert 0 <= relation.min() <= relation.max() < family.relations
        assert allowed[arcs // 9, arcs % 9].all()
    for row, members in zip(rows.tolist(), arcs.tolist(), strict=True):
        assert len(set(members)) == len(members)
        assert {word for arc in members for word in divmod(arc, 9)} == set(row)


@pytest.mark.parametrize("family", ALL, ids=lambda family: family.name)
def test_only_allowed_arcs_are_used(family):
    allowed = everything(9) & (np.random.default_rng(1).random((9, 9)) < 0.5)
    some = set(map(tuple, family.rows(Words(SENTENCE), allowed).tolist()))
    full = family.rows(Words(SENTENCE), everything(9))
    arcs = family.arcs(full, 9)
    kept = allowed[arcs // 9, arcs % 9].all(axis=1)
    assert some == set(map(tuple, full[kept].tolist()))


def test_names_are_all_different():
    assert len({family.name for family in ALL}) == len(ALL)
    assert set(COMBINATION) <= set(FAMILIES)


def test_combs_are_long():
    with pytest.raises(InputError, match="more than three"):
        Combs(3)


def test_a_pair_of_brackets_hangs_from_one_word():
    (brackets,) = (f for f in FAMILIES["patterns"] if f.name == "pattern_parentheses")
    rows = brackets.rows(Words(SENTENCE), everything(9))
    assert rows.tolist() == [[3, 6, head] for head in (0, 1, 2, 4, 5, 7, 8)]
    assert brackets.arcs(rows, 9)[0].tolist() == [3, 6]
    assert not len(brackets.rows(Words(Sentence(("a", "b"))), everything(3)))


def test_patterns_of_attributes():
    gap = FactorPatterns("verbs", Pattern(({"coarse": "VERB"}, None, {"coarse": "VERB"}), ((0, 2), (2, 1))))
    assert gap.rows(Words(SENTENCE), everything(9)).tolist() == [[2, 3, 5], [2, 4, 5]]
    side = FactorPatterns(
        "side", Pattern(({"forms": "or"}, {"coarse": "VERB", "forms": "heard"}), ((1, 0),), adjacent=True)
    )
    assert side.rows(Words(SENTENCE), everything(9)).tolist() == [[4, 5]]
    apart = FactorPatterns("apart", Pattern(({"forms": "we"}, {"forms": "train"}), ((0, 1),), adjacent=True))
    assert not len(apart.rows(Words(SENTENCE), everything(9)))


def test_patterns_of_equal_words():
    sentence = Sentence(("in", "time", "rather", "than", "In", "space"))
    slots = (None, {"forms": "rather"}, {"forms": "than"}, None)
    pattern = Pattern(slots, ((0, 2), (2, 1), (2, 3)), same=((0, 3),))
    rows = FactorPatterns("rather", pattern).rows(Words(sentence), np.ones((7, 7), dtype=bool))
    assert rows.tolist() == [[1, 3, 4, 5]]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        (Pattern((None, None), ((0, 2),)), "numbers 0 to 1"),
        (Pattern((None, None), ()), "numbers"),
        (Pattern((None, None, None), ((0, 1), (2, 1))), "one head per word"),
        (Pattern((None, None), ((0, 1),), head=True, same=((0, 2),)), "slot numbers from 0 to 1"),
    ],
)
def test_invalid_patterns_raise(pattern, sentence):
    with pytest.raises(InputError, match=sentence):
        FactorPatterns("bad", pattern)
