"""Suffix rules: known forms are reproduced, and others follow the longest suffix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.pipeline.suffixes import SuffixRules, apply, learn_suffixes, rule_of

PAIRS = [
    ("NOUN", "dogs", "dog"),
    ("NOUN", "cats", "cat"),
    ("NOUN", "parties", "party"),
    ("NOUN", "ladies", "lady"),
    ("NOUN", "children", "child"),
    ("NOUN", "Dog", "dog"),
    ("PROPN", "Paris", "Paris"),
    ("PROPN", "Athens", "Athens"),
]


@pytest.fixture(scope="module")
def rules():
    return learn_suffixes(PAIRS)


@pytest.mark.parametrize(("context", "form", "lemma"), PAIRS)
def test_known_forms_are_reproduced(rules, context, form, lemma):
    assert rules.of(form, [context]) == lemma


@pytest.mark.parametrize(
    ("context", "form", "lemma"),
    [("NOUN", "plums", "plum"), ("NOUN", "Studies", "study"), ("PROPN", "Texas", "Texas"), ("VERB", "says", "says")],
)
def test_unknown_forms_follow_the_longest_suffix(rules, context, form, lemma):
    assert rules.of(form, [context]) == lemma


def test_complete_forms_precede_suffixes_of_narrower_contexts():
    rules = learn_suffixes([*PAIRS, ("NOUN plural", "dogs", "dog"), ("NOUN plural", "cats", "cat")])
    assert rules.of("children", ["NOUN plural", "NOUN"]) == "child"


def test_rules_survive_a_round_trip(rules):
    assert SuffixRules.from_data(rules.data()) == rules


@given(st.text(max_size=6), st.text(min_size=1, max_size=6).filter(str.strip))
def test_a_rule_reproduces_its_own_target(form, target):
    assert apply(rule_of(form, target), form) == target


def test_rules_never_leave_a_blank_form():
    assert apply((False, 3, ""), "dog") is None
    assert apply((False, 4, "x"), "dog") is None
