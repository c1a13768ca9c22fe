"""Attributes of tokens, and the conjunctions that score templates combine.

An attribute is a string of one token in its sentence; a conjunction is a tuple of attributes.  Conjunctions get codes
in the training sentences; a value that did not occur there has the code -1 and no weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.joined_keys import Joined, codes_of_tokens, joined_of
from colgen.problems.dependency.sentence import Sentence

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

ROOT, FIRST, LAST = "<root>", "<first>", "<last>"
"""Values of every attribute for the root, for "no sibling before" and for "no sibling after"."""

EDGE = "<edge>"
"""The neighbour of the first and of the last token."""

NUM_SLOTS = 6
"""Number of morphological features with their own attributes: the most frequent ones."""

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

_ROWS = np.array(_ALONE, dtype=np.int64)

_JOINED = "tag", "coarse", "lemma"
"""Attributes that are also used for neighbours."""

_KEPT = 1 << 14
"""Maximum number of tokens whose codes are cached."""


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

KIND = (T, C, M, *SLOTS)
"""Conjunctions with few values; a token's codes for them are its kind."""

ARC_TEMPLATES: tuple[tuple[int, int], ...] = (
    # distance and side only; one token
    (_0, _0),
    *((c, _0) for c in (T, F, LC, FT, PTN, PCN, M, S)),
    *((_0, c) for c in (T, F, LC, FT, PTN, PCN, M, S, PPT, TNN, PL, NL)),
    # both tokens
    *((T, T), (FT, T), (T, FT), (F, T), (T, F), (F, F), (FT, FT)),
    *((C, C), (LC, C), (C, LC), (L, L), (LC, T), (T, LC)),
    *((M, M), (M, C), (C, M), (L, M), (M, L), (S, T), (T, S), (S, S)),
    # both tokens with neighbouring tags
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
"""Conjunctions of head, sibling and modifier; the sibling is the previous modifier, counted from the head."""


@dataclass(frozen=True)
class Encoded:
    """A sentence as codes.

    Attributes
    ----------
    codes
        Shape (conjunctions, n + 3), int32: column 0 for the root, 1 to n for the tokens, n + 1 and n + 2 for "no
        sibling before" and "no sibling after".
    tags
        Codes of the tags between a head and its modifier, shape (n + 3,); tags not seen in training share one code.
    """

    codes: Codes
    tags: Ints

    def __len__(self) -> int:
        return int(self.codes.shape[1]) - 3


_Token = tuple[str, str, str, str, tuple[tuple[str, str], ...]]
"""Form, lemma, coarse and fine tag, morphology."""


class _Tokens:
    """Cache of tokens: codes in the order of ``_ALONE``, then the numbers of attributes used by neighbours."""

    def __init__(self, room: int) -> None:
        self.rows: dict[_Token, int] = {}
        self.codes = np.empty((room, len(_ALONE) + len(_JOINED)), dtype=np.int32)
        self.free = iter(range(room))


class Vocabulary:
    """Codes of all conjunctions that occur in the training sentences.

    ``values`` lists the values of each conjunction in the order of their codes; ``slots`` are the morphological
    features with their own attributes.
    """

    def __init__(self, values: Sequence[Iterable[tuple[str, ...]]], slots: Sequence[str]) -> None:
        self.slots = tuple(slots)
        self._codes = [{value: code for code, value in enumerate(known)} for known in values]
        self._tags = self._codes[C]
        self._tokens = _Tokens(_KEPT)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_tokens"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._tokens = _Tokens(_KEPT)

    @staticmethod
    def of(sentences: Iterable[Sentence]) -> Vocabulary:
        sentences = list(sentences)
        features = Counter(
            feature for sentence in sentences for of_token in sentence.morphology for feature in of_token
        )
        slots = [feature for feature, _ in sorted(features.items(), key=lambda item: (-item[1], item[0]))[:NUM_SLOTS]]
        known: list[dict[tuple[str, ...], None]] = [{} for _ in CONJUNCTIONS]
        for sentence in sentences:
            attributes = _attributes(sentence, slots)
            for values, conjunction in zip(known, CONJUNCTIONS, strict=True):
                values.update(dict.fromkeys(_conjunction_values(attributes, conjunction, len(sentence) + 3)))
        return Vocabulary(known, slots)

    @property
    def sizes(self) -> Ints:
        """Number of codes of each conjunction."""
        return np.array([len(codes) for codes in self._codes], dtype=np.int64)

    @property
    def num_tags(self) -> int:
        """Number of tags that can occur between a head and its modifier: those of training, and one for all others."""
        return len(self._tags) + 1

    def data(self) -> dict[str, Any]:
        return {"values": [list(codes) for codes in self._codes], "slots": self.slots}

    @staticmethod
    def from_data(about: Mapping[str, Any]) -> Vocabulary:
        return Vocabulary([[tuple(value) for value in known] for known in about["values"]], about["slots"])

    def encode(self, sentence: Sentence) -> Encoded:
        """Return the codes of a sentence; codes that depend on one token are cached."""
        morphology = [tuple(of_token.items()) for of_token in sentence.morphology]
        tokens = list(zip(sentence.forms, sentence.lemmas, sentence.coarse, sentence.fine, morphology, strict=True))
        kept = self._tokens
        try:
            which = [kept.rows[token] for token in tokens]
        except KeyError:
            kept, which = self._keep(tokens)
        joined = self._joined[0]
        codes = codes_of_tokens(np.array(which, dtype=np.int64), kept.codes, _ROWS, joined, self._ends)
        tags = codes[C].astype(np.int64)
        tags[tags < 0] = len(self._tags)
        return Encoded(codes, tags)

    def _keep(self, tokens: list[_Token]) -> tuple[_Tokens, list[int]]:
        """Cache tokens and return the cache and the row of each token."""
        kept = self._tokens
        for token in dict.fromkeys(tokens):
            if token in kept.rows:
                continue
            row = next(kept.free, None)
            if row is None:  # start a new cache; existing references to the old one stay valid
                self._tokens = _Tokens(max(_KEPT, len(tokens)))
                return self._keep(tokens)
            form, lemma, coarse, fine, morphology = token
            attributes = _attributes(Sentence((form,), (lemma,), (coarse,), (fine,), (dict(morphology),)), self.slots)
            numbers = zip(_JOINED, self._joined[1], strict=True)
            seen = (known.get(attributes[name][1], -1) for name, known in numbers)
            kept.codes[row] = (*self._codes_at(1, attributes, _ALONE), *seen)
            kept.rows[token] = row
        return kept, [kept.rows[token] for token in tokens]

    @cached_property
    def _joined(self) -> tuple[Joined, list[dict[str, int]]]:
        """Conjunctions with neighbours, and the numbers of their attributes."""
        parts = [[_split(name) for name in CONJUNCTIONS[k]] for k in _AMONG]
        numbers: list[dict[str, int]] = [{EDGE: 0} for _ in _JOINED]
        values = []
        for k, of_conjunction in zip(_AMONG, parts, strict=True):
            columns = []
            for position, (attribute, _) in enumerate(of_conjunction):
                own = numbers[attribute]
                columns.append([own.setdefault(value[position], len(own)) for value in self._codes[k]])
            values.append(columns)
        edges, sizes = [own[EDGE] for own in numbers], [len(own) for own in numbers]
        return joined_of(_AMONG, parts, values, edges, sizes), numbers

    @cached_property
    def _ends(self) -> Codes:
        """Codes of the root and of the two tokens that stand for no sibling."""
        attributes, every = _attributes(Sentence(("_",)), self.slots), range(len(CONJUNCTIONS))
        return np.array([self._codes_at(place, attributes, every) for place in (0, 2, 3)], dtype=np.int32)

    def _codes_at(self, place: int, attributes: dict[str, list[str]], which: Iterable[int]) -> Iterable[int]:
        values = ((k, tuple(attributes[name][place] for name in CONJUNCTIONS[k])) for k in which)
        return tuple(self._codes[k].get(value, -1) for k, value in values)


def _split(name: str) -> tuple[int, int]:
    """Return the attribute's index in ``_JOINED`` and the neighbour's offset."""
    base, shift = (name[:-2], int(name[-2:])) if name[-2] in "+-" else (name, 0)
    return _JOINED.index(base), shift


def _conjunction_values(
    attributes: dict[str, list[str]], conjunction: tuple[str, ...], width: int
) -> Iterable[tuple[str, ...]]:
    if not conjunction:
        return ((),) * width
    return zip(*(attributes[name] for name in conjunction), strict=True)


def _attributes(sentence: Sentence, slots: Sequence[str]) -> dict[str, list[str]]:
    """Return each attribute of the root, of all tokens, and of the two tokens that stand for no sibling."""
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
    return {name: [ROOT, *column, FIRST, LAST] for name, column in columns.items()}


def _around(tag: list[str], coarse: list[str], lemma: list[str]) -> dict[str, list[str]]:
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


def _tags(sentence: Sentence) -> list[str]:
    """Return the finest tags: the fine ones, or coarse ones with case and verb form if fine ones are missing."""
    tags = []
    for coarse, fine, of_token in zip(sentence.coarse, sentence.fine, sentence.morphology, strict=True):
        if fine != "_":
            tags.append(f"{coarse}.{fine}")
        else:
            tags.append(".".join(filter(None, (coarse, of_token.get("Case"), of_token.get("VerbForm")))))
    return tags
