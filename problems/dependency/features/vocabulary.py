"""What is known of a token, and which conjunctions of it the templates of the scores join.

An attribute is a string of one token in its sentence; a conjunction is a tuple of attributes.  Conjunctions get codes
in the training sentences; a value that did not occur there has the code -1 and no weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from problems.dependency.sentence import Sentence

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

ROOT, FIRST, LAST = "<root>", "<first>", "<last>"
"""Stand for the root, for "no sibling before" and for "no sibling after" in every attribute."""

EDGE = "<edge>"
"""The neighbour of the first and of the last token."""

NUM_SLOTS = 6
"""Morphological features with attributes of their own: the ones that occur most often."""

_SLOTS = tuple(f"slot{k}" for k in range(NUM_SLOTS))

CONJUNCTIONS: tuple[tuple[str, ...], ...] = (
    (),
    ("tag",),
    ("coarse",),
    ("form",),
    ("lemma",),
    ("form", "tag"),
    ("tag-1", "tag"),
    ("tag", "tag+1"),
    ("tag-1", "tag", "tag+1"),
    ("tag-2", "tag-1", "tag"),
    ("tag", "tag+1", "tag+2"),
    ("coarse-1", "coarse"),
    ("coarse", "coarse+1"),
    ("coarse-1", "coarse", "coarse+1"),
    ("coarse", "morphology"),
    ("coarse", "suffix"),
    ("lemma", "coarse"),
    ("lemma-1", "coarse"),
    ("lemma+1", "coarse"),
    *(("coarse", slot) for slot in _SLOTS),
)
"""The conjunction at position k has the code ``codes[k]``; the first is constant."""


_AMONG = [k for k, names in enumerate(CONJUNCTIONS) if any(name[-2:-1] in ("+", "-") for name in names)]
"""Conjunctions with attributes of neighbours."""

_ALONE = [k for k in range(len(CONJUNCTIONS)) if k not in _AMONG]

_JOINED = "tag", "coarse", "lemma"
"""Attributes that tokens have of their neighbours as well."""

_KEPT = 1 << 14
"""Tokens that are kept with their codes, at most."""


def _number(*attributes: str) -> int:
    return CONJUNCTIONS.index(attributes)


_0, T, C, F, L = range(5)
FT = _number("form", "tag")
PT, TN, PTN = _number("tag-1", "tag"), _number("tag", "tag+1"), _number("tag-1", "tag", "tag+1")
PPT, TNN = _number("tag-2", "tag-1", "tag"), _number("tag", "tag+1", "tag+2")
PC, CN, PCN = _number("coarse-1", "coarse"), _number("coarse", "coarse+1"), _number("coarse-1", "coarse", "coarse+1")
M, S, LC = _number("coarse", "morphology"), _number("coarse", "suffix"), _number("lemma", "coarse")
PL, NL = _number("lemma-1", "coarse"), _number("lemma+1", "coarse")
SLOTS = tuple(_number("coarse", slot) for slot in _SLOTS)

ARC_TEMPLATES: tuple[tuple[int, int], ...] = (
    # the distance and the side alone; one token
    (_0, _0),
    *((c, _0) for c in (T, F, LC, FT, PTN, PCN, M, S)),
    *((_0, c) for c in (T, F, LC, FT, PTN, PCN, M, S, PPT, TNN, PL, NL)),
    # both tokens
    *((T, T), (FT, T), (T, FT), (F, T), (T, F), (F, F), (FT, FT)),
    *((C, C), (LC, C), (C, LC), (L, L), (LC, T), (T, LC)),
    *((M, M), (M, C), (C, M), (L, M), (M, L), (S, T), (T, S), (S, S)),
    # both tokens, with the tags around them
    *((TN, PT), (PT, PT), (TN, TN), (PT, TN), (T, PT), (T, TN), (PT, T), (TN, T)),
    *((T, PTN), (PTN, T), (PTN, PTN), (CN, PC), (PC, PC), (CN, CN), (PC, CN), (PCN, PCN), (PCN, C), (C, PCN)),
    *((LC, PCN), (PCN, LC), (C, PL), (C, NL), (T, TNN), (T, PPT)),
    # morphology, agreement
    *((slot, C) for slot in SLOTS),
    *((C, slot) for slot in SLOTS),
    *((slot, slot) for slot in SLOTS),
)
"""Conjunctions of head and modifier."""

GRANDPARENT_TEMPLATES: tuple[tuple[int, int, int], ...] = (
    *((T, T, T), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((T, _0, T), (L, _0, L)),
)
"""Conjunctions of grandparent, parent and child."""

SIBLING_TEMPLATES: tuple[tuple[int, int, int], ...] = (
    *((T, T, T), (LC, C, C), (C, LC, C), (C, C, LC)),
    *((_0, T, T), (_0, L, L)),
)
"""Conjunctions of head, sibling and modifier; the sibling is the modifier before, as seen from the head."""


@dataclass(frozen=True)
class Encoded:
    """A sentence as codes.

    Attributes
    ----------
    codes
        Shape (conjunctions, n + 3), int32: columns 0 for the root, 1 to n for the tokens, n + 1 and n + 2 for "no
        sibling before" and "no sibling after".
    tags
        Of the tokens that can stand between a head and its modifier, never -1; shape (n + 3,).
    """

    codes: Codes
    tags: Ints

    def __len__(self) -> int:
        """The number of tokens."""
        return int(self.codes.shape[1]) - 3


class _Token(NamedTuple):
    """Codes of a token by itself, in the order of ``_ALONE``, and what its neighbours see of it."""

    codes: tuple[int, ...]
    tag: str
    coarse: str
    lemma: str


class Vocabulary:
    """Codes of all conjunctions that occur in the training sentences.

    Parameters
    ----------
    values
        Of each conjunction its values, in the order of their codes.
    slots
        The morphological features with attributes of their own.
    """

    def __init__(self, values: Sequence[Iterable[tuple[str, ...]]], slots: Sequence[str]) -> None:
        self.slots = tuple(slots)
        self._codes = [{value: code for code, value in enumerate(known)} for known in values]
        self._tags = self._codes[C]
        self._tokens: dict[tuple[object, ...], _Token] = {}

    @staticmethod
    def of(sentences: Iterable[Sentence]) -> Vocabulary:
        """The vocabulary of sentences."""
        sentences = list(sentences)
        features = Counter(
            feature for sentence in sentences for of_token in sentence.morphology for feature in of_token
        )
        slots = [feature for feature, _ in sorted(features.items(), key=lambda item: (-item[1], item[0]))[:NUM_SLOTS]]
        known: list[dict[tuple[str, ...], None]] = [{} for _ in CONJUNCTIONS]
        for sentence in sentences:
            attributes = _attributes(sentence, slots)
            for values, conjunction in zip(known, CONJUNCTIONS, strict=True):
                values.update(dict.fromkeys(_conjoined(attributes, conjunction, len(sentence) + 3)))
        return Vocabulary(known, slots)

    @property
    def sizes(self) -> Ints:
        """How many codes each conjunction has."""
        return np.array([len(codes) for codes in self._codes], dtype=np.int64)

    @property
    def num_tags(self) -> int:
        """How many tags can stand between a head and its modifier: those of training, and one for all others."""
        return len(self._tags) + 1

    def values(self) -> list[list[tuple[str, ...]]]:
        """Of each conjunction its values, in the order of their codes."""
        return [list(codes) for codes in self._codes]

    def encode(self, sentence: Sentence) -> Encoded:
        """The codes of a sentence."""
        morphology = [tuple(of_token.items()) for of_token in sentence.morphology]
        columns = sentence.forms, sentence.lemmas, sentence.coarse, sentence.fine, morphology
        tokens = [self._of_token(*token) for token in zip(*columns, strict=True)]
        width = len(sentence) + 3
        codes = np.empty((len(CONJUNCTIONS), width), dtype=np.int32)
        root, first, last = self._of_none
        codes[_ALONE] = np.array([root, *(token.codes for token in tokens), first, last]).T
        tag, coarse, lemma = ([getattr(token, name) for token in tokens] for name in _JOINED)
        attributes = _bounded({"tag": tag, "coarse": coarse, "lemma": lemma, **_around(tag, coarse, lemma)})
        for k in _AMONG:
            known = self._codes[k].get
            codes[k] = [known(value, -1) for value in _conjoined(attributes, CONJUNCTIONS[k], width)]
        tags = codes[C].astype(np.int64)
        tags[tags < 0] = len(self._tags)
        return Encoded(codes, tags)

    def _of_token(
        self, form: str, lemma: str, coarse: str, fine: str, morphology: tuple[tuple[str, str], ...]
    ) -> _Token:
        """What a token is by itself, kept for the next time that it occurs."""
        key = form, lemma, coarse, fine, morphology
        token = self._tokens.get(key)
        if token is None:
            alone = Sentence((form,), (lemma,), (coarse,), (fine,), (dict(morphology),))
            attributes = _attributes(alone, self.slots)
            token = _Token(self._codes_at(1, attributes), *(attributes[name][1] for name in _JOINED))
            if len(self._tokens) >= _KEPT:
                self._tokens.clear()
            self._tokens[key] = token
        return token

    @cached_property
    def _of_none(self) -> list[tuple[int, ...]]:
        """Codes of the root and of the two that stand for no sibling."""
        attributes = _attributes(Sentence(("_",)), self.slots)
        return [self._codes_at(place, attributes) for place in (0, 2, 3)]

    def _codes_at(self, place: int, attributes: dict[str, list[str]]) -> tuple[int, ...]:
        values = (tuple(attributes[name][place] for name in CONJUNCTIONS[k]) for k in _ALONE)
        return tuple(self._codes[k].get(value, -1) for k, value in zip(_ALONE, values, strict=True))


def _conjoined(attributes: dict[str, list[str]], conjunction: tuple[str, ...], width: int) -> Iterable[tuple[str, ...]]:
    if not conjunction:
        return ((),) * width
    return zip(*(attributes[name] for name in conjunction), strict=True)


def _attributes(sentence: Sentence, slots: Sequence[str]) -> dict[str, list[str]]:
    """Each attribute of the root, of all tokens, and of the two that stand for no sibling."""
    coarse = list(sentence.coarse)
    tag = _tags(sentence)
    forms = [form.lower() for form in sentence.forms]
    known = [lemma if lemma != "_" else form for lemma, form in zip(sentence.lemmas, forms, strict=True)]
    lemma = [text.lower() for text in known]
    columns = {
        "form": forms,
        "lemma": lemma,
        "tag": tag,
        "coarse": coarse,
        **_around(tag, coarse, lemma),
        "suffix": [form[-3:] for form in forms],
        "morphology": ["|".join(chain.from_iterable(of_token.items())) for of_token in sentence.morphology],
    }
    for name, feature in zip(_SLOTS, [*slots, *[""] * NUM_SLOTS], strict=False):
        columns[name] = [of_token.get(feature, "") for of_token in sentence.morphology]
    return _bounded(columns)


def _around(tag: list[str], coarse: list[str], lemma: list[str]) -> dict[str, list[str]]:
    """What the neighbours of each token are."""
    return {
        "tag-1": [EDGE, *tag[:-1]],
        "tag+1": [*tag[1:], EDGE],
        "tag-2": [EDGE, EDGE, *tag[:-2]][: len(tag)],
        "tag+2": [*tag[2:], EDGE, EDGE][: len(tag)],
        "coarse-1": [EDGE, *coarse[:-1]],
        "coarse+1": [*coarse[1:], EDGE],
        "lemma-1": [EDGE, *lemma[:-1]],
        "lemma+1": [*lemma[1:], EDGE],
    }


def _bounded(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: [ROOT, *column, FIRST, LAST] for name, column in columns.items()}


def _tags(sentence: Sentence) -> list[str]:
    """The finest tag there is: the fine one, or the coarse one with its case and verb form where that is missing."""
    tags = []
    for coarse, fine, of_token in zip(sentence.coarse, sentence.fine, sentence.morphology, strict=True):
        if fine != "_":
            tags.append(f"{coarse}.{fine}")
        else:
            tags.append(".".join(filter(None, (coarse, of_token.get("Case"), of_token.get("VerbForm")))))
    return tags
