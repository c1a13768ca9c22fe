"""Properties of the mentions of a document as arrays: kind, agreement, name, surroundings, speaker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.problems.coreference import lexicon
from colgen.problems.coreference.document import ENTITY, SPEAKER, Document
from colgen.problems.coreference.lexicon import Animacy, Case, Gender, Number, Pronoun
from colgen.problems.coreference.phrases import Determiner, PhraseReader
from colgen.problems.coreference.quotations import quotations

Ints: TypeAlias = NDArray[np.int64]


class MentionKind(IntEnum):
    """Kinds of mentions."""

    PRONOUN, NAME, NOMINAL = range(3)


class Neighbour(IntEnum):
    """The word before or after a mention."""

    NONE, COMMA, MARK, PREPOSITION, COPULA, VERB, SAYING, CONJUNCTION, GENITIVE, OTHER = range(10)


class MentionTable:
    """Arrays with one entry per mention; words and names are numbered, -1 means none.

    Attributes
    ----------
    kind, pronoun, case, determiner, number, gender, animacy, before, after
        Members of the enumerations.
    text, core, head, title, first, last, acronym, initials
        Numbers of strings, equal for equal strings.
    possessor, parent
        The mention that begins this one and ends before its head; the innermost mention around this one.
    quote, turn, speaker, voice
        The quotation, the turn of the conversation, and the mention that speaks; a number that is equal if the file or
        the words name the same speaker.
    entity_type
        The type in the file.
    vocative
        Whether it is between commas or other marks in direct speech, as in an address.
    agrees
        Shape (n, n): whether two mentions agree in gender, number and animacy, as far as these are known.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.tokens = document.tokens
        self.lower = [word.lower() for word in self.tokens]
        self.num_mentions = len(document.mentions)
        self._numbers: dict[Hashable, int] = {}
        self.start = _ints(m.start for m in document.mentions)
        self.end = _ints(m.end for m in document.mentions)
        self.sentence = _ints(m.sentence for m in document.mentions)
        self._words()
        self._agreement()
        self._surroundings()
        self._speech()
        self._gender_of_heads()
        self.agrees = self._compute_agreement()

    def _number_of(self, keys: Iterable[Hashable]) -> Ints:
        """Number the keys: equal keys have equal numbers, an empty key is -1."""
        return _ints(self._numbers.setdefault(key, len(self._numbers)) if key else -1 for key in keys)

    def _words(self) -> None:
        reader = PhraseReader(self.document)
        self.phrases = [reader.read(m) for m in self.document.mentions]
        phrases = self.phrases
        texts = [" ".join(self.lower[m.start : m.end + 1]) for m in self.document.mentions]
        found = [lexicon.PRONOUNS.get(text, (Pronoun.NONE, Case.NONE)) for text in texts]
        self.head_words = [self.lower[p.head] for p in phrases]
        self.head_at = _ints(p.head for p in phrases)
        self.pronoun, self.case = _ints(p for p, _ in found), _ints(c for _, c in found)
        self.kind = np.where(
            self.pronoun != Pronoun.NONE,
            int(MentionKind.PRONOUN),
            np.where([p.is_name for p in phrases], int(MentionKind.NAME), int(MentionKind.NOMINAL)),
        )
        self.determiner = _ints(p.determiner for p in phrases)
        self.length = self.end - self.start + 1
        self.modifiers = _ints(len(p.core) - 1 for p in phrases)
        self.postmodified = self.end > self.head_at + 1
        self.coordinated = np.array([p.coordinated for p in phrases], dtype=bool)
        self.head = self._number_of(self.head_words)
        self.text = self._number_of(texts)
        self.core = self._number_of(" ".join(p.core) for p in phrases)
        self.title, self.first, self.last = (
            self._number_of(getattr(p, part) for p in phrases) for part in ("title", "first", "last")
        )
        spans = [self.tokens[m.start : m.end + 1] for m in self.document.mentions]
        initials = ["".join(w[0] for w in span if w[0].isupper()).lower() for span in spans]
        self.initials = self._number_of(
            i if len(i) > 1 and len(s) > 1 else "" for i, s in zip(initials, spans, strict=True)
        )
        letters = [s[0].replace(".", "") if len(s) == 1 else "" for s in spans]
        self.acronym = self._number_of(w.lower() if w.isupper() and len(w) > 1 else "" for w in letters)

    # --- agreement ---------------------------------------------------------------------------------------------------

    def _agreement(self) -> None:
        everyone = range(self.num_mentions)
        self.number = _ints(self._number(i) for i in everyone)
        self.gender = _ints(self._gender(i) for i in everyone)
        self.animacy = _ints(self._animacy(i) for i in everyone)

    def _number(self, i: int) -> Number:
        pronoun, head = self.pronoun[i], self.head_words[i]
        if pronoun in lexicon.PLURAL_PRONOUNS or self.coordinated[i]:
            return Number.PLURAL
        if pronoun in lexicon.SINGULAR_PRONOUNS:
            return Number.SINGULAR
        if pronoun != Pronoun.NONE:
            return Number.UNKNOWN
        if self.kind[i] == MentionKind.NAME and self.determiner[i] == Determiner.NONE:
            return Number.SINGULAR
        ends = head.endswith("s") and not head.endswith(("ss", "us", "is")) and head not in lexicon.SINGULAR_IN_S
        counted = self.lower[self.start[i]] in lexicon.PLURAL_DETERMINERS
        return Number.PLURAL if ends or counted or head in lexicon.PLURAL_NOUNS else Number.SINGULAR

    def _gender(self, i: int) -> Gender:
        pronoun, phrase, head = Pronoun(int(self.pronoun[i])), self.phrases[i], self.head_words[i]
        if pronoun != Pronoun.NONE:
            return lexicon.GENDER_OF_PRONOUN.get(pronoun, Gender.UNKNOWN)
        forms = {head, head.removesuffix("s"), lexicon.SINGULAR_OF.get(head, head)}
        if phrase.title in lexicon.FEMININE_TITLES or forms & lexicon.FEMININE_NOUNS:
            return Gender.FEMININE
        if phrase.title in lexicon.MASCULINE_TITLES or forms & lexicon.MASCULINE_NOUNS:
            return Gender.MASCULINE
        if phrase.first in lexicon.FEMININE_NAMES:
            return Gender.FEMININE
        if phrase.first in lexicon.MASCULINE_NAMES:
            return Gender.MASCULINE
        return Gender.NEUTER if head in lexicon.PLACE_NOUNS else Gender.UNKNOWN

    def _animacy(self, i: int) -> Animacy:
        pronoun, head = self.pronoun[i], self.head_words[i]
        if pronoun in (Pronoun.IT, Pronoun.THERE) or head in lexicon.PLACE_NOUNS:
            return Animacy.THING
        person = pronoun in lexicon.PERSONAL_PRONOUNS or head in lexicon.PERSON_NOUNS or self.title[i] >= 0
        return Animacy.PERSON if person or self.gender[i] != Gender.UNKNOWN else Animacy.UNKNOWN

    def _gender_of_heads(self) -> None:
        """Estimate the gender of a head from the pronouns that follow mentions with this head.

        ``masculine`` is between -1 and 1, near zero if there is little evidence.
        """
        weights = {int(Pronoun.HE): 1, int(Pronoun.SHE): -1}
        votes: Counter[int] = Counter()
        cast: Counter[int] = Counter()
        for i in np.flatnonzero(self.kind != MentionKind.PRONOUN).tolist():
            for k in range(i + 1, min(i + 4, self.num_mentions)):
                if self.sentence[k] > self.sentence[i] + 1:
                    break
                vote = weights.get(int(self.pronoun[k]), 0) * (2 if k == i + 1 else 1)
                votes[int(self.head[i])] += vote
                cast[int(self.head[i])] += abs(vote)
        heads = self.head.tolist()
        masculine = np.array([votes[h] / (cast[h] + 2.0) for h in heads])
        self.masculine = np.where(self.kind == MentionKind.PRONOUN, 0.0, masculine)
        open_ = (self.gender == Gender.UNKNOWN) & (self.animacy != Animacy.THING) & (self.number == Number.SINGULAR)
        self.gender[open_ & (self.masculine > 0.4)] = Gender.MASCULINE
        self.gender[open_ & (self.masculine < -0.4)] = Gender.FEMININE
        spoken = (self.pronoun == Pronoun.ME) & (self.speaker >= 0)
        self.gender[spoken] = self.gender[self.speaker[spoken]]

    # --- surroundings ------------------------------------------------------------------------------------------------

    def _surroundings(self) -> None:
        bounds = set(np.cumsum([0] + [len(sentence) for sentence in self.document.sentences]).tolist())
        self.before = _ints(
            _neighbour("" if m.start in bounds else self.lower[m.start - 1]) for m in self.document.mentions
        )
        self.after = _ints(
            _neighbour("" if m.end + 1 in bounds else self.lower[m.end + 1]) for m in self.document.mentions
        )
        verb_follows = np.isin(self.after, (Neighbour.COPULA, Neighbour.VERB, Neighbour.SAYING))
        by_place = verb_follows & (self.before != Neighbour.PREPOSITION)
        self.subject = np.where(self.case == Case.NONE, by_place, self.case == Case.SUBJECT)
        parent, depth, possessor = [], [], [-1] * self.num_mentions
        around: list[int] = []
        for i in range(self.num_mentions):
            around = [k for k in around if self.end[k] >= self.start[i]]
            holding = [k for k in around if self.end[k] >= self.end[i]]
            parent.append(holding[-1] if holding else -1)
            depth.append(len(holding))
            for k in holding:
                if self.start[k] == self.start[i] and self.end[i] < self.head_at[k] and possessor[k] < 0:
                    possessor[k] = i
            around.append(i)
        self.parent, self.depth, self.possessor = _ints(parent), _ints(depth), _ints(possessor)

    def _speech(self) -> None:
        found = quotations(self.document)
        self.quote = np.full(self.num_mentions, -1, dtype=np.int64)
        for number, quotation in enumerate(found):
            self.quote[(self.start >= quotation.start) & (self.end <= quotation.end)] = number
        self.turn = np.where(self.quote >= 0, _ints(q.turn for q in found)[self.quote] if found else -1, -1)
        self.speaker = np.where(self.quote >= 0, _ints(q.speaker for q in found)[self.quote] if found else -1, -1)
        said = self.document.column(SPEAKER)
        if said is not None:
            voices = [said[m.start].strip("-_") for m in self.document.mentions]
        else:
            voices = [
                "" if k < 0 or self.kind[k] == MentionKind.PRONOUN else self.head_words[k]
                for k in self.speaker.tolist()
            ]
        self.voice = self._number_of(voices)
        apart = (Neighbour.NONE, Neighbour.COMMA, Neighbour.MARK)
        self.vocative = (self.quote >= 0) & (self.kind != MentionKind.PRONOUN) & (self.depth == 0)
        self.vocative &= np.isin(self.before, apart) & np.isin(self.after, apart[1:])
        self.vocative &= np.isin(self.determiner, (Determiner.NONE, Determiner.POSSESSIVE))
        self.entity_type = self._number_of(_entity_types(self.document, self.head_at))

    def _compute_agreement(self) -> NDArray[np.bool_]:
        """Return which mentions agree in gender, number and animacy, as far as these are known."""
        agree = np.ones((self.num_mentions, self.num_mentions), dtype=bool)
        for values in (self.gender, self.number, self.animacy):
            known = values > 0
            agree &= ~known[:, None] | ~known[None, :] | (values[:, None] == values[None, :])
        return agree


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _neighbour(word: str) -> Neighbour:
    if not word:
        return Neighbour.NONE
    if word == ",":
        return Neighbour.COMMA
    for words, neighbour in (
        (lexicon.GENITIVE, Neighbour.GENITIVE),
        (lexicon.COPULAS, Neighbour.COPULA),
        (lexicon.SAYING, Neighbour.SAYING),
        (lexicon.PREPOSITIONS, Neighbour.PREPOSITION),
        (lexicon.AUXILIARIES, Neighbour.VERB),
        (lexicon.CONJUNCTIONS, Neighbour.CONJUNCTION),
    ):
        if word in words:
            return neighbour
    if not word[0].isalnum():
        return Neighbour.MARK
    return Neighbour.VERB if word.endswith("ed") else Neighbour.OTHER


def _entity_types(document: Document, heads: Ints) -> list[str]:
    """Return the entity type at each head, from brackets such as ``(PERSON*`` and ``*)``."""
    column = document.column(ENTITY)
    if column is None:
        return [""] * len(heads)
    types, current = [], ""
    for cell in column:
        if "(" in cell:
            current = cell.strip("()*")
        types.append(current)
        if ")" in cell:
            current = ""
    return [types[at] for at in heads.tolist()]
