"""Families of non-local factors: the sets of arcs that they score, and their features.

A family is a small class. To add one, copy :class:`Siblings`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.problems.dependency.features.vocabulary import FT, LC, C, F, L, T, _0
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.kernels import factor_sets

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Words:
    """The words of a sentence, indexed by attribute values once per sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self._places: dict[str, dict[str, list[int]]] = {}

    def places(self, attribute: str, value: str) -> list[int]:
        """Return the positions of words, numbered from 1, whose ``attribute`` (of :class:`Sentence`) is ``value``.

        Forms and lemmas are compared in lower case.
        """
        if attribute not in self._places:
            places: dict[str, list[int]] = {}
            lower = attribute in ("forms", "lemmas")
            for word, text in enumerate(getattr(self.sentence, attribute), 1):
                places.setdefault(text.lower() if lower else text, []).append(word)
            self._places[attribute] = places
        return self._places[attribute].get(value, [])


class Family(ABC):
    """Factors of one kind: one row of words per factor, and features that are conjunctions of word attributes.

    Each of ``templates`` has a conjunction of :mod:`colgen.problems.dependency.features.vocabulary` for each word of a
    row. ``relations`` is the number of values of :meth:`relation`.
    """

    name: str
    templates: tuple[tuple[int, ...], ...]
    relations: int

    @abstractmethod
    def rows(self, words: Words, allowed: Bools) -> Ints:
        """Return the words of each factor whose arcs are allowed, shape (factors, r); word 0 is the root."""

    @abstractmethod
    def arcs(self, rows: Ints, size: int) -> Ints:
        """Return ``head * size + modifier`` of each factor's arcs, shape (factors, number of arcs)."""

    def relation(self, rows: Ints) -> Ints:
        """Return the relative order of the words of each row, as a number below ``relations``."""
        return np.zeros(len(rows), dtype=np.int64)


def as_int64(values: NDArray[Any]) -> Ints:
    """Convert to contiguous 64-bit integers."""
    return np.ascontiguousarray(values, dtype=np.int64)


def chain(rows: Ints, size: int) -> Ints:
    """Return the arcs from each word of a row to the next, as ``head * size + modifier``."""
    return rows[:, :-1] * size + rows[:, 1:]


def fan(rows: Ints, size: int) -> Ints:
    """Return the arcs from the first word of each row to the others, as ``head * size + modifier``."""
    return rows[:, :1] * size + rows[:, 1:]


class Grandchildren(Family):
    """All grandchildren: two arcs in a chain."""

    name = "grandchildren"
    templates = (
        *((T, T, T), (C, C, C), (T, _0, T), (C, _0, C), (LC, C, C), (C, LC, C), (C, C, LC)),
        *((L, _0, L), (L, L, C), (C, L, L), (FT, _0, T), (T, _0, FT)),
    )
    relations = 8

    def rows(self, words: Words, allowed: Bools) -> Ints:
        return factor_sets.grandchildren(allowed)

    def arcs(self, rows: Ints, size: int) -> Ints:
        return chain(rows, size)

    def relation(self, rows: Ints) -> Ints:
        g, h, m = rows.T
        return as_int64(4 * (g > h) + 2 * (h > m) + (g > m))


class GreatGrandchildren(Family):
    """All great-grandchildren: three arcs in a chain."""

    name = "great_grandchildren"
    templates = ((T, T, T, T), (C, C, C, C), (T, _0, _0, T), (C, C, _0, C))
    relations = 8

    def rows(self, words: Words, allowed: Bools) -> Ints:
        return factor_sets.great_grandchildren(allowed)

    def arcs(self, rows: Ints, size: int) -> Ints:
        return chain(rows, size)

    def relation(self, rows: Ints) -> Ints:
        f, g, h, m = rows.T
        return as_int64(4 * (f > g) + 2 * (g > h) + (h > m))


class Siblings(Family):
    """All siblings: two arcs of one head, on the same side or on both."""

    name = "siblings"
    templates = (
        *((T, T, T), (C, C, C), (_0, T, T), (_0, C, C), (_0, F, F), (_0, F, T), (_0, T, F)),
        *((LC, C, C), (C, LC, C), (C, C, LC), (L, L, C), (L, C, L)),
    )
    relations = 12

    def rows(self, words: Words, allowed: Bools) -> Ints:
        return factor_sets.siblings(allowed)

    def arcs(self, rows: Ints, size: int) -> Ints:
        return fan(rows, size)

    def relation(self, rows: Ints) -> Ints:
        h, a, b = rows.T
        near = np.searchsorted([1, 2, 5], b - a)  # 1, 2, 3 to 5, at least 6
        return as_int64(3 * near + (a > h) + (b > h))


class TriSiblings(Family):
    """All triples of arcs of one head."""

    name = "tri_siblings"
    templates = ((T, T, T, T), (C, C, C, C), (_0, T, T, T), (_0, C, C, C))
    relations = 4

    def rows(self, words: Words, allowed: Bools) -> Ints:
        return factor_sets.tri_siblings(allowed)

    def arcs(self, rows: Ints, size: int) -> Ints:
        return fan(rows, size)

    def relation(self, rows: Ints) -> Ints:
        return as_int64((rows[:, 1:] > rows[:, :1]).sum(axis=1))


class Combs(Family):
    """Arcs from one head to ``length`` consecutive words, at least four."""

    relations = 2

    def __init__(self, length: int = 4) -> None:
        if length < 4:
            raise InputError(f"length of a comb must be more than three, not {length}")
        self.length = length
        self.name = f"combs_{length}"
        self.templates = tuple((first, *(rest,) * length) for first, rest in ((C, C), (T, C), (_0, T), (L, C)))

    def rows(self, words: Words, allowed: Bools) -> Ints:
        return factor_sets.combs(allowed, self.length)

    def arcs(self, rows: Ints, size: int) -> Ints:
        return fan(rows, size)

    def relation(self, rows: Ints) -> Ints:
        return as_int64(rows[:, 0] < rows[:, 1])


# --- patterns --------------------------------------------------------------------------------------------------------

Slot = Mapping[str, str] | None
"""Required attributes of a word with their values; None allows any word.

Attributes are those of :class:`Sentence`: ``forms``, ``lemmas``, ``coarse``, ``fine``; forms and lemmas in lower case.
"""


@dataclass(frozen=True)
class Pattern:
    """A hand-written pattern of words and the arcs among them.

    Attributes
    ----------
    slots
        Required attributes of the words, in the order of the sentence.
    arcs
        Pairs (head, modifier) of slot numbers; the root is not a slot.
    adjacent
        Whether the words must be adjacent.
    head
        Add a free head: any further word outside the slots, with the number ``len(slots)``.
    same
        Pairs of slot numbers whose words must have the same form, such as *in* and *in* of "in time rather than in
        space".
    """

    slots: tuple[Slot, ...]
    arcs: tuple[tuple[int, int], ...]
    adjacent: bool = False
    head: bool = False
    same: tuple[tuple[int, int], ...] = ()


class FactorPatterns(Family):
    """Factors of a user's pattern with one common weight."""

    relations = 1

    def __init__(self, name: str, pattern: Pattern) -> None:
        width = len(pattern.slots) + pattern.head
        if any(not (0 <= h < width and 0 <= m < width and h != m) for h, m in pattern.arcs) or not pattern.arcs:
            raise InputError(f"pattern {name}: expected arcs between numbers 0 to {width - 1}, not {pattern.arcs}")
        if len({m for _, m in pattern.arcs}) < len(pattern.arcs):
            raise InputError(f"pattern {name}: expected one head per word, not {pattern.arcs}")
        if any(not 0 <= number < len(pattern.slots) for pair in pattern.same for number in pair):
            raise InputError(
                f"pattern {name}: expected pairs of slot numbers from 0 to {len(pattern.slots) - 1} in same, not "
                f"{pattern.same}"
            )
        self.name = f"pattern_{name}"
        self.pattern = pattern
        self.templates = ((_0,) * width,)

    def rows(self, words: Words, allowed: Bools) -> Ints:
        pattern, size = self.pattern, len(allowed)
        none = np.empty((0, len(self.templates[0])), dtype=np.int64)
        partial: list[tuple[int, ...]] = [()]
        for slot in pattern.slots:
            places = _matches(words, slot)
            if not places:
                return none
            partial = [
                (*row, word)
                for row in partial
                for word in places
                if not row or (word == row[-1] + 1 if pattern.adjacent else word > row[-1])
            ]
        forms = words.sentence.forms
        for first, last in pattern.same:
            partial = [row for row in partial if forms[row[first] - 1].lower() == forms[row[last] - 1].lower()]
        if pattern.head:
            partial = [(*row, word) for row in partial for word in range(size) if word not in row]
        found = [row for row in partial if all(allowed[row[h], row[m]] for h, m in pattern.arcs)]
        return np.array(found, dtype=np.int64) if found else none

    def arcs(self, rows: Ints, size: int) -> Ints:
        return np.stack([rows[:, h] * size + rows[:, m] for h, m in self.pattern.arcs], axis=1)


def _matches(words: Words, slot: Slot) -> Sequence[int]:
    if not slot:
        return range(1, len(words.sentence) + 1)
    matching = [words.places(attribute, value) for attribute, value in slot.items()]
    return matching[0] if len(matching) == 1 else [w for w in matching[0] if all(w in m for m in matching[1:])]


def _pair(first: str, last: str) -> Pattern:
    """Return a pattern of two words with the same head, which may be between them or not."""
    return Pattern(({"forms": first}, {"forms": last}), ((2, 0), (2, 1)), head=True)


ENGLISH = (
    FactorPatterns("parentheses", _pair("(", ")")),
    FactorPatterns("brackets", _pair("[", "]")),
    FactorPatterns("quotes", _pair('"', '"')),
    FactorPatterns("dashes", _pair("-", "-")),
    FactorPatterns("rather_than", Pattern(({"forms": "rather"}, {"forms": "than"}), ((1, 0),), adjacent=True)),
    FactorPatterns("such_as", Pattern(({"forms": "such"}, {"forms": "as"}), ((0, 1),), adjacent=True)),
    FactorPatterns(
        "as_well_as", Pattern(({"forms": "as"}, {"forms": "well"}, {"forms": "as"}), ((0, 1), (0, 2)), True)
    ),
    FactorPatterns("because_of", Pattern(({"forms": "because"}, {"forms": "of"}), ((0, 1),), adjacent=True)),
)
"""English patterns similar to the thirteen of Qian and Liu (2013): pairs of punctuation marks, and fixed phrases."""

COMBS = (Combs(4), Combs(5), Combs(6))

FAMILIES: dict[str, tuple[Family, ...]] = {
    "grandchildren": (Grandchildren(),),
    "great_grandchildren": (GreatGrandchildren(),),
    "siblings": (Siblings(),),
    "tri_siblings": (TriSiblings(),),
    "combs": COMBS,
    "patterns": ENGLISH,
}
"""The families in the experiments of Qian and Liu (2013), by name."""

COMBINATION = ("grandchildren", "siblings", "combs", "patterns")
"""The families in the final model of Qian and Liu (2013)."""
