"""The words of a mention: head, determiner, and parts of a name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum

from colgen.problems.coreference import lexicon
from colgen.problems.coreference.document import TAG, Document, Mention
from colgen.problems.coreference.lexicon import Case


class Determiner(IntEnum):
    """The kind of determiner that begins a mention."""

    NONE, DEFINITE, INDEFINITE, POSSESSIVE = range(4)


@dataclass(frozen=True)
class Phrase:
    """The parts of a mention.

    The parts of a name are in lower case, or empty: "Sir", "Walter" and "Elliot" of Sir Walter Elliot. A name of one
    word without a title is a first name.
    """

    head: int  # position of its head in the document
    core: tuple[str, ...]  # words after the determiner up to the head, lower case
    determiner: Determiner
    is_name: bool  # whether its head is a name
    title: str = ""
    first: str = ""
    last: str = ""
    coordinated: bool = False  # whether it joins several with "and"


class PhraseReader:
    """Analyses the mentions of one document.

    The head of an English noun phrase is the last word before the first preposition, relative pronoun or comma.
    """

    def __init__(self, document: Document) -> None:
        self.tokens = document.tokens
        self.lower = [word.lower() for word in self.tokens]
        self.names = _names(document)

    def read(self, mention: Mention) -> Phrase:
        start, head = self._head(mention)
        first = start
        while first < head and (self.lower[first] in lexicon.DETERMINERS or self.lower[first] in lexicon.PRONOUNS):
            first += 1
        core = tuple(self.lower[first : head + 1])
        is_name = self.names[head]
        title, given, last = self._name_parts(first, head) if is_name else ("", "", "")
        coordinated = "and" in self.lower[start:head]
        return Phrase(head, core, self._determiner(start, head), is_name, title, given, last, coordinated)

    def _head(self, mention: Mention) -> tuple[int, int]:
        """Return the first word that is not a punctuation mark, and the head."""
        start, end = mention.start, mention.end
        while start < end and not self.lower[start][0].isalnum():
            start += 1
        stop = start + 1
        while stop <= end and not self._ends_core(stop, end):
            stop += 1
        head = stop - 1
        while head > start and (not self.lower[head][0].isalnum() or self.lower[head] in lexicon.GENITIVE):
            head -= 1
        return start, head

    def _ends_core(self, at: int, end: int) -> bool:
        word = self.lower[at]
        if word == ",":
            return not self._between_adjectives(at, end)
        return word in lexicon.PREPOSITIONS or word in lexicon.RELATIVES or word in (";", ":", "--", "—", "(")

    def _between_adjectives(self, at: int, end: int) -> bool:
        """Return whether a comma continues the noun phrase: a tall , thin man."""
        if at == end:
            return False
        before, after = self.tokens[at - 1], self.tokens[at + 1]
        ends = lexicon.PREPOSITIONS | lexicon.RELATIVES | lexicon.DETERMINERS | lexicon.PRONOUNS.keys()
        nouns = lexicon.MASCULINE_NOUNS | lexicon.FEMININE_NOUNS
        return before.islower() and before not in nouns and after.islower() and after not in ends

    def _determiner(self, start: int, head: int) -> Determiner:
        word = self.lower[start]
        if start < head:
            _, case = lexicon.PRONOUNS.get(word, (None, Case.NONE))
            if case in (Case.POSSESSIVE, Case.OBJECT) or any(w in lexicon.GENITIVE for w in self.lower[start:head]):
                return Determiner.POSSESSIVE  # "her" is an object pronoun too
        if word in lexicon.DEFINITE:
            return Determiner.DEFINITE
        return Determiner.INDEFINITE if word in lexicon.INDEFINITE else Determiner.NONE

    def _name_parts(self, first: int, head: int) -> tuple[str, str, str]:
        words = [self.lower[at] for at in range(first, head + 1) if self.tokens[at][0].isupper()]
        if not words:  # a tag marks it as a name, without capitals: iPhone, or a language without capitals
            words = [self.lower[head]]
        title = ""
        while len(words) > 1 and words[0] in lexicon.TITLES:
            title = words.pop(0)
        if len(words) > 1:
            return title, words[0], words[-1]
        return (title, "", words[0]) if title else ("", words[0], "")


def _names(document: Document) -> list[bool]:
    """Return whether each word is a name: by its tag or, without tags, by a capital within sentences."""
    tags = document.column(TAG)
    if tags is not None:
        return [tag.startswith("NNP") for tag in tags]
    inside: Counter[str] = Counter()
    first: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for sentence in document.sentences:
        begun = False
        for word in sentence:
            if word[0].isupper():
                (inside if begun else first)[word] += 1
            else:
                lower[word] += 1
            begun = word[0].isalnum() or word == ","  # other marks begin a new sentence
    common = lexicon.PRONOUNS.keys() | lexicon.DETERMINERS
    names = {word for word, count in inside.items() if count >= lower[word.lower()]}
    names |= {word for word in first if not lower[word.lower()] and word.lower() not in common}
    return [word in names for word in document.tokens]
