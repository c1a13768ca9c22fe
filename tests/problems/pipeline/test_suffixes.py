"""Rules of suffixes: what was seen comes back, and what was not follows the longest suffix."""

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
def test_what_was_seen_comes_back(rules, context, form, lemma):
    assert rules.of(form, [context]) == lemma


@pytest.mark.parametrize(
    ("context", "form", "lemma"),
    [("NOUN", "plums", "plum"), ("NOUN", "Studies", "study"), ("PROPN", "Texas", "Texas"), ("VERB", "says", "says")],
)
def test_others_follow_the_longest_suffix(rules, context, form, lemma):
    assert rules.of(form, [context]) == lemma


def test_a_whole_form_of_a_wider_context_goes_before_a_suffix_of_a_narrow_one():
    rules = learn_suffixes([*PAIRS, ("NOUN plural", "dogs", "dog"), ("NOUN plural", "cats", "cat")])
    assert rules.of("children", ["NOUN plural", "NOUN"]) == "child"


def test_rules_survive_their_data(rules):
    assert SuffixRules.from_data(rules.data()) == rules


@given(st.text(max_size=6), st.text(min_size=1, max_size=6).filter(str.strip), st.booleans())
def test_a_rule_makes_the_target_of_its_own_form(form, target, lowers):
    assert apply(rule_of(form, target, lowers=lowers), form) == target


def test_a_rule_that_would_leave_nothing_is_none():
    assert apply((False, 3, ""), "dog") is None
    assert apply((False, 4, "x"), "dog") is None
