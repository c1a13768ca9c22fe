"""Features of all pairs of mentions of a document.

A *unary* feature concerns one mention and is computed once per mention. The network of
:mod:`colgen.problems.coreference.network` reads it twice, for the earlier and for the later mention. Features of pairs
are computed for all i < j at once, in the order of ``np.triu_indices(n, 1)``. Counts and distances become thresholds
(at most 0, 1, 2, 4, ...), so that a linear layer can represent non-linear effects.

The features are those of the literature on mention pairs: W. M. Soon, H. T. Ng and D. C. Y. Lim, *A machine learning
approach to coreference resolution of noun phrases*, Computational Linguistics 27 (2001); E. Bengtson and D. Roth,
*Understanding the value of features for coreference resolution*, EMNLP (2008); H. Lee et al., *Deterministic
coreference resolution based on entity-centric, precision-ranked rules*, Computational Linguistics 39 (2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.problems.coreference.document import Document
from colgen.problems.coreference.lexicon import Animacy, Case, Gender, Number, Pronoun
from colgen.problems.coreference.mentions import Ints, MentionKind, MentionTable, Neighbour
from colgen.problems.coreference.phrases import Determiner
from colgen.problems.coreference.quotations import BREAK
from colgen.problems.coreference.rules import antecedents, chains

Floats: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
Named: TypeAlias = Iterator[tuple[str, NDArray[Any]]]

STEPS = (0, 1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class PairFeatures:
    """Features of the pairs of one document's n mentions."""

    unary: Floats  # shape (n, number of unary features)
    pairs: Floats  # shape (n (n - 1) / 2, number of pair features), by rows of the upper triangle
    unary_names: tuple[str, ...]
    pair_names: tuple[str, ...]


def pair_features(document: Document) -> PairFeatures:
    """Return the features of all pairs of mentions; raise InputError if there are no mentions."""
    if not document.mentions:
        raise InputError(f"{document.name}: expected at least one mention, the document has none")
    table = MentionTable(document)
    unary_names, unary = zip(*_unary(table), strict=True)
    i, j = np.triu_indices(table.num_mentions, 1)
    pair_names, pairs = [], []
    for name, values in _pairs(table, i, j):
        pair_names.append(name)
        pairs.append(np.asarray(values, dtype=np.float32))
    columns = np.stack(pairs, axis=1)
    return PairFeatures(
        np.stack([np.asarray(v, np.float32) for v in unary], axis=1), columns, unary_names, tuple(pair_names)
    )


def _one_hot(name: str, values: Ints, kinds: type[IntEnum]) -> Named:
    for kind in kinds:
        yield f"{name} {kind.name.lower()}", values == kind


def _steps(name: str, values: NDArray[Any], steps: tuple[int, ...] = STEPS) -> Named:
    for step in steps:
        yield f"{name} ≤ {step}", values <= step


# --- of one mention --------------------------------------------------------------------------------------------------


def _unary(t: MentionTable) -> Named:
    yield from _one_hot("kind", t.kind, MentionKind)
    yield from _one_hot("pronoun", t.pronoun, Pronoun)
    yield from _one_hot("case", t.case, Case)
    yield from _one_hot("determiner", t.determiner, Determiner)
    yield from _one_hot("number", t.number, Number)
    yield from _one_hot("gender", t.gender, Gender)
    yield from _one_hot("animacy", t.animacy, Animacy)
    yield from _one_hot("before", t.before, Neighbour)
    yield from _one_hot("after", t.after, Neighbour)
    yield from _steps("words", t.length, (1, 2, 4, 8))
    yield from _steps("modifiers", t.modifiers, (0, 1))
    yield from _steps("depth", t.depth, (0, 1))
    yield from _steps("mentions of its head", np.bincount(t.head)[t.head], STEPS[1:6])
    yield "subject", t.subject
    yield "postmodified", t.postmodified
    yield "coordinated", t.coordinated
    yield "titled", t.title >= 0
    yield "surname", t.last >= 0
    yield "quoted", t.quote >= 0
    yield "speaker known", t.speaker >= 0
    yield "narrator", (t.quote < 0) & (t.pronoun == Pronoun.ME)
    yield "possessor", t.possessor >= 0
    yield "vocative", t.vocative
    yield "masculine", t.masculine


# --- of two mentions -------------------------------------------------------------------------------------------------


def _pairs(t: MentionTable, i: Ints, j: Ints) -> Named:
    yield from _agreement(t, i, j)
    yield from _strings(t, i, j)
    yield from _names(t, i, j)
    yield from _places(t, i, j)
    yield from _nearest_names(t, i, j)
    yield from _chains(t, i, j)
    yield from _speech(t, i, j)


def _same(name: str, values: NDArray[Any], i: Ints, j: Ints, none: int = -1) -> Named:
    """Yield "same" and "different" features, false for pairs with an unknown value."""
    known = (values[i] != none) & (values[j] != none)
    same = values[i] == values[j]
    yield f"same {name}", known & same
    yield f"different {name}", known & ~same


def _agreement(t: MentionTable, i: Ints, j: Ints) -> Named:
    yield from _same("gender", t.gender, i, j, 0)
    yield from _same("number", t.number, i, j, 0)
    yield from _same("animacy", t.animacy, i, j, 0)
    yield from _same("pronoun", t.pronoun, i, j, 0)
    yield from _same("entity type", t.entity_type, i, j)
    yield "compatible", t.agrees[i, j]
    yield "masculine apart", np.abs(t.masculine[i] - t.masculine[j])


def _strings(t: MentionTable, i: Ints, j: Ints) -> Named:
    full = t.kind != MentionKind.PRONOUN
    both = full[i] & full[j]
    head = both & (t.head[i] == t.head[j])
    yield "same text", t.text[i] == t.text[j]
    yield "same text, no pronouns", both & (t.text[i] == t.text[j])
    yield "same words to the head", both & (t.core[i] == t.core[j])
    yield "same head", head
    words = [set(phrase.core) if f else set() for phrase, f in zip(t.phrases, full.tolist(), strict=True)]
    holders: dict[str, list[int]] = {}
    for k, held in enumerate(words):
        for word in held:
            holders.setdefault(word, []).append(k)
    common = np.zeros((t.num_mentions, t.num_mentions), dtype=np.float32)
    head_in = np.zeros(common.shape, dtype=bool)  # the head of the first is among the words of the second
    for among in holders.values():
        if len(among) > 1:
            common[np.ix_(among, among)] += 1.0
    for k in np.flatnonzero(full).tolist():
        head_in[k, holders.get(t.head_words[k], [])] = True
    size = np.maximum([len(held) for held in words], 1)
    shared = common[i, j]
    yield "share of the shorter", shared / np.minimum(size[i], size[j])
    yield "share of the longer", shared / np.maximum(size[i], size[j])
    yield "earlier head in later", head_in[i, j] & ~head
    yield "later head in earlier", head_in[j, i] & ~head
    yield (
        "acronym",
        ((t.acronym[i] >= 0) & (t.acronym[i] == t.initials[j]))
        | ((t.acronym[j] >= 0) & (t.acronym[j] == t.initials[i])),
    )
    owner_i, owner_j = t.possessor[i], t.possessor[j]
    owned = head & (owner_i >= 0) & (owner_j >= 0)
    yield "same head, same possessor", owned & (t.text[owner_i] == t.text[owner_j])
    yield "same head, possessors disagree", owned & ~t.agrees[owner_i, owner_j]


def _names(t: MentionTable, i: Ints, j: Ints) -> Named:
    names = (t.kind[i] == MentionKind.NAME) & (t.kind[j] == MentionKind.NAME)
    yield "names", names
    for part, values in (("title", t.title), ("first name", t.first), ("last name", t.last)):
        yield from _same(part, values, i, j)
    family = (t.last[i] >= 0) & (t.last[i] == t.last[j])
    first = (t.first[i] >= 0) & (t.first[j] >= 0) & (t.first[i] != t.first[j])
    title = (t.title[i] >= 0) & (t.title[j] >= 0) & (t.title[i] != t.title[j])
    yield "same family, other person", family & (first | title)
    yield (
        "first name is last name",
        ((t.first[i] >= 0) & (t.first[i] == t.last[j])) | ((t.first[j] >= 0) & (t.first[j] == t.last[i])),
    )


def _places(t: MentionTable, i: Ints, j: Ints) -> Named:
    yield from _steps("mentions apart", j - i, (1, 2, 4, 8, 16, 32, 64, 128, 256))
    yield from _steps("sentences apart", t.sentence[j] - t.sentence[i], STEPS)
    yield from _steps("words apart", t.start[j] - t.end[i], (0, 1, 2, 4, 8, 16))
    yield "nested", t.start[j] <= t.end[i]
    yield "parent", t.parent[j] == i
    yield "possessor of it", t.possessor[i] == j
    yield "same parent", (t.parent[i] >= 0) & (t.parent[i] == t.parent[j])
    gap = t.start[j] - t.end[i]
    yield "apposition", (gap == 2) & (t.after[i] == Neighbour.COMMA)
    yield (
        "apposition, indefinite",
        (gap == 2) & (t.after[i] == Neighbour.COMMA) & (t.determiner[j] == Determiner.INDEFINITE),
    )
    yield "copula", (gap >= 2) & (gap <= 4) & (t.after[i] == Neighbour.COPULA)
    yield "coordinated", (gap == 2) & (t.after[i] == Neighbour.CONJUNCTION)
    one = t.sentence[i] == t.sentence[j]
    yield "subject before in the sentence", one & t.subject[i]
    yield "subjects of one sentence", one & t.subject[i] & t.subject[j]
    yield "reflexive of a subject", one & t.subject[i] & (t.case[j] == Case.REFLEXIVE)
    yield "object of its subject", one & t.subject[i] & (t.case[j] == Case.OBJECT)


def _nearest_names(t: MentionTable, i: Ints, j: Ints) -> Named:
    """Compare each mention's nearest preceding name that agrees with it."""
    full = t.kind != MentionKind.PRONOUN
    name = (t.kind == MentionKind.NAME) & (t.animacy != Animacy.THING)
    numbers = np.arange(t.num_mentions)
    before = np.where(np.triu(t.agrees & name[:, None], 1), numbers[:, None], -1).max(axis=0, initial=-1)
    nearest = np.where(name, numbers, before)
    head = np.where(nearest >= 0, t.head[nearest], -1)
    yield from _same("nearest name", head, i, j)
    yield "nearest name of the later is the earlier", nearest[j] == i
    yield "nearest name of the later is the earlier's", full[i] & (head[j] == t.head[i])
    yield "nearest name of the earlier is the later's", full[j] & (head[i] == t.head[j])


def _chains(t: MentionTable, i: Ints, j: Ints) -> Named:
    """Compare the chains of antecedents that the rules find."""
    found, sure = antecedents(t)
    yield "antecedent", (found[j] == i) | (found[i] == j)
    for name, links in (("chain", found), ("sure chain", np.where(sure, found, -1))):
        chain = chains(links)
        yield f"same {name}", chain[i] == chain[j]
        names = np.full(t.num_mentions, -1)
        for k in np.flatnonzero(t.kind == MentionKind.NAME)[::-1].tolist():
            names[chain[k]] = t.head[k]
        yield from _same(f"name of the {name}", names[chain], i, j)
        gender = np.zeros(t.num_mentions)
        for k in np.flatnonzero(t.gender != Gender.UNKNOWN)[::-1].tolist():
            gender[chain[k]] = t.gender[k]
        yield from _same(f"gender of the {name}", gender[chain], i, j, 0)


def _speech(t: MentionTable, i: Ints, j: Ints) -> Named:
    quoted_i, quoted_j = t.quote[i] >= 0, t.quote[j] >= 0
    both = quoted_i & quoted_j
    yield "same quotation", both & (t.quote[i] == t.quote[j])
    turns = np.where(both, t.turn[j] - t.turn[i], -1)
    for number in range(4):
        yield f"turns apart: {number}", turns == number
    yield "turns apart: even", both & (turns < BREAK) & (turns % 2 == 0)
    yield "address, you", both & (t.turn[i] == t.turn[j]) & t.vocative[i] & (t.pronoun[j] == Pronoun.YOU)
    yield "you, address", both & (t.turn[i] == t.turn[j]) & t.vocative[j] & (t.pronoun[i] == Pronoun.YOU)
    yield "one quoted", quoted_i != quoted_j
    yield from _same("voice", t.voice, i, j)
    yield "earlier speaks the later", t.speaker[j] == i
    yield "later speaks the earlier", t.speaker[i] == j
    head = np.where(t.speaker >= 0, t.head[t.speaker], -1)
    spoken = np.where(t.speaker >= 0, t.gender[t.speaker], 0)
    for name, first, second in (("the earlier", i, j), ("the later", j, i)):
        full = t.kind[second] != MentionKind.PRONOUN
        yield f"speaker of {name} has the other's head", full & (head[first] == t.head[second])
        yield f"speaker of {name} has another head", full & (head[first] >= 0) & (head[first] != t.head[second])
        for gender in (Gender.MASCULINE, Gender.FEMININE):
            yield f"speaker of {name} {gender.name.lower()}", spoken[first] == gender
