"""Edits of characters reproduce the words of known tokens, and split clitics off unseen ones."""

import itertools
import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pipeline.languages import Clitics, unseen_tokens
from colgen.core.errors import InputError
from colgen.problems.pipeline.splitting import KEEP, Splitter, edited, edits_of, learn_splitter
from colgen.problems.pipeline.texts import Token

PREFIXES, SUFFIXES = ("b", "l", "wb", "w"), ("", "hm", "k")


def stems(seed, count):
    rng = random.Random(seed)
    return sorted({"".join(rng.choices("acdefg", k=rng.randint(3, 6))) for _ in range(count)})


def clitics(words):
    """Tokens of stems, alone and with prefixes and suffixes whose letters no stem has."""
    for stem in words:
        yield Token(stem, (stem,))
        for prefix, suffix in itertools.product(PREFIXES, SUFFIXES):
            parts = (*prefix, stem, *filter(None, [suffix]))
            yield Token("".join(parts), parts)


def learn(tokens, **options):
    return learn_splitter(tokens, say=lambda line: None, **options)


@pytest.mark.parametrize(
    ("form", "target", "edits"),
    [
        ("dell'", "di l'", [KEEP, ("i", False, ""), (" ", True, ""), ("", False, ""), KEEP]),
        ("dirmi", "dire mi", [KEEP, KEEP, KEEP, ("e ", True, ""), KEEP]),
        ("a", "a b", [("", True, " b")]),
        ("a", "b", [("b", False, "")]),
    ],
)
def test_edits(form, target, edits):
    assert edits_of(form, target) == edits


def fewest_changes(form, target):
    """The cost of a shortest sequence of changes, by recursion."""

    @cache
    def cost(i, j):
        if i == len(form) and j == len(target):
            return 0.0
        options = []
        if i < len(form):
            options.append(1.0 + cost(i + 1, j))
        if j < len(target):
            options.append((0.5 if target[j] == " " else 1.0) + cost(i, j + 1))
        if i < len(form) and j < len(target):
            if form[i] == target[j]:
                options.append(cost(i + 1, j + 1))
            elif target[j] != " ":
                options.append(1.0 + cost(i + 1, j + 1))
        return min(options)

    return cost(0, 0)


def cost_of(edits):
    """The cost of edits: what is put, and the characters that are removed without another in their place."""
    total = 0.0
    for before, kept, after in edits:
        total += sum(0.5 if c == " " else 1.0 for c in before + after)
        total += not kept and not before.strip()
    return total


@given(st.text("abc", min_size=1, max_size=6), st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=3))
def test_edits_are_a_shortest_sequence_that_reproduces_the_words(form, words):
    edits = edits_of(form, " ".join(words))
    assert len(edits) == len(form)
    assert edited(form, edits) == tuple(words)
    assert cost_of(edits) <= fewest_changes(form, " ".join(words)) + 1.0  # a removed character at the end is not paid


def test_edits_never_leave_a_token_without_words():
    assert edited("ab", [("", False, ""), (" ", False, "")]) == ("ab",)
    assert edited("ab", [(" ", True, ""), ("  ", True, " ")]) == ("a", "b")


def test_clitics_are_split_off_unseen_stems():
    known, unseen = stems(1, 60), stems(2, 40)
    splitter = learn(clitics(known))
    tokens = list(clitics(sorted({*unseen} - {*known})))
    found = splitter.split([token.form for token in tokens])
    wrong = [(words, token.words) for words, token in zip(found, tokens, strict=True) if words != token.words]
    assert len(wrong) <= 0.01 * len(tokens)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_stems_may_begin_and_end_like_clitics(seed):
    language = Clitics.of(seed)
    multiword = [token for token in unseen_tokens(language) if len(token.words) > 1]
    found = learn(token for sentence in language.train for token in sentence).split([t.form for t in multiword])
    assert sum(a == t.words for a, t in zip(found, multiword, strict=True)) >= 0.8 * len(multiword)


def test_all_known_tokens_keep_their_most_frequent_words():
    rng = random.Random(1)
    forms = ["".join(rng.choices("ab", k=rng.randint(1, 5))) for _ in range(60)]
    tokens = [Token(form, ("a", "b") if len(form) > 2 and rng.random() < 0.5 else (form,)) for form in forms]
    right = {token.form: token.words for token in tokens}  # the last one is seen three times
    splitter = learn([*tokens, *(Token(form, words) for form, words in right.items() for _ in range(60))])
    assert splitter.split(list(right)) == list(right.values())


def test_words_unrelated_to_a_token_are_stored_and_not_learned():
    tokens = [Token("zum", ("do", "it")), Token("zim", ("do", "it")), *(Token(s, (s,)) for s in stems(1, 20))]
    splitter = learn(tokens)
    assert splitter.tagger is None
    assert splitter.split(["zum", "zam", "zim"]) == [("do", "it"), ("zam",), ("do", "it")]


def test_tokens_with_blanks_and_respelled_tokens_are_not_split():
    splitter = learn([*clitics(stems(1, 30)), Token("gag", ("dad",))])
    assert splitter.split(["wb acd", "gag", "wbacd", "wbacd"]) == [("wb acd",), ("gag",), *2 * [("w", "b", "acd")]]
    assert splitter.split([]) == []
    assert learn([]).split(["a"]) == [("a",)]


def test_a_splitter_survives_a_round_trip():
    splitter = learn([*clitics(stems(1, 30)), Token("zum", ("do", "it"))])
    again = Splitter.from_data(*splitter.data())
    forms = ["zum", *(token.form for token in clitics(stems(3, 30)))]
    assert again.split(forms) == splitter.split(forms)
    about, arrays = splitter.data()
    with pytest.raises(InputError, match="one label for each of"):
        Splitter.from_data({**about, "edits": about["edits"][1:]}, arrays)
