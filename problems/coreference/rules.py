"""Antecedents by simple rules, most reliable first, as input features of the classifier.

The rules are those of deterministic coreference resolution (H. Lee et al., *Deterministic coreference resolution based
on entity-centric, precision-ranked rules*, Computational Linguistics 39, 2013). Antecedents of pronouns of the third
person are found by a weighted search (S. Lappin and H. J. Leass, *An algorithm for pronominal anaphora resolution*,
Computational Linguistics 20, 1994), those of the first and second person by turns of the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.problems.coreference.lexicon import Gender, Number, Pronoun
from colgen.problems.coreference.mentions import Ints, MentionKind, MentionTable
from colgen.problems.coreference.phrases import Determiner

_THIRD = (Pronoun.HE, Pronoun.SHE, Pronoun.IT, Pronoun.THEY)
_SENTENCES = 4
"""Number of preceding sentences that are searched for a pronoun's antecedent."""


def antecedents(table: MentionTable) -> tuple[Ints, NDArray[np.bool_]]:
    """Return a likely antecedent of each mention, or -1, and whether its rule is reliable.

    Antecedents precede the mention, except speakers and addressees of direct speech, which may follow "I" and "you".
    """
    found = np.full(table.num_mentions, -1, dtype=np.int64)
    sure = np.zeros(table.num_mentions, dtype=bool)
    rules = _Rules(table)
    for i in range(table.num_mentions):
        for reliable, antecedent in rules.proposals(i):
            if antecedent >= 0:
                found[i], sure[i] = antecedent, reliable
                break
    return found, sure


def chains(antecedent: Ints) -> Ints:
    """Return the chain number of each mention; chains are the components of the links to antecedents."""
    linked = np.flatnonzero(antecedent >= 0)
    n = len(antecedent)
    links = sparse.coo_array((np.ones(len(linked)), (linked, antecedent[linked])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


class _Rules:
    """The rules for the mentions of one document."""

    def __init__(self, table: MentionTable) -> None:
        self.t = table

    def proposals(self, i: int) -> Iterator[tuple[bool, int]]:
        """Yield antecedents of mention i with their reliability, the best rule first; -1 if a rule finds none."""
        t = self.t
        pronoun = t.pronoun[i]
        if pronoun == Pronoun.ME:
            yield from self._first_person(i)
        elif pronoun == Pronoun.YOU:
            yield from self._second_person(i)
        elif pronoun == Pronoun.WE:
            yield False, self._last(i, lambda k: t.pronoun[k] == Pronoun.WE and t.quote[k] == t.quote[i])
        elif pronoun in _THIRD:
            yield pronoun in (Pronoun.HE, Pronoun.SHE), self._third_person(i)
        elif t.kind[i] == MentionKind.NAME:
            yield True, self._last(i, lambda k: t.head[k] == t.head[i] and self._one_name(k, i))
            yield False, self._last(i, lambda k: t.first[k] == t.first[i] >= 0 and self._one_name(k, i))
        elif t.kind[i] == MentionKind.NOMINAL and t.determiner[i] in (Determiner.DEFINITE, Determiner.POSSESSIVE):
            yield False, self._last(i, lambda k: t.core[k] == t.core[i] and self._one_thing(k, i))
            yield False, self._last(i, lambda k: t.head[k] == t.head[i] and self._one_thing(k, i))

    def _last(self, i: int, test: Callable[[int], object]) -> int:
        """Return the last mention before i that passes the test, or -1."""
        return next((k for k in range(i - 1, -1, -1) if test(k)), -1)

    # --- speech ------------------------------------------------------------------------------------------------------

    def _first_person(self, i: int) -> Iterator[tuple[bool, int]]:
        t, turn = self.t, self.t.turn[i]
        if turn < 0:
            yield True, self._last(i, lambda k: t.pronoun[k] == Pronoun.ME and t.turn[k] < 0)
            return
        yield True, self._in_turn(i, turn, t.pronoun == Pronoun.ME)
        yield True, int(t.speaker[i])
        yield False, self._in_turn(i, turn - 1, t.pronoun == Pronoun.YOU)
        first = self._first_of_quotation(i)
        near = t.sentence[first] - 1
        yield False, self._last(first, lambda k: t.turn[k] < 0 and t.subject[k] and t.sentence[k] >= near)
        yield False, self._in_turn(i, turn - 2, t.pronoun == Pronoun.ME)

    def _second_person(self, i: int) -> Iterator[tuple[bool, int]]:
        t, turn = self.t, self.t.turn[i]
        if turn >= 0:
            yield True, self._in_turn(i, turn, t.pronoun == Pronoun.YOU)
            yield True, self._in_turn(i, turn, t.vocative)
            yield True, next(iter(np.flatnonzero(t.vocative & (t.quote == t.quote[i])).tolist()), -1)
            yield False, self._in_turn(i, turn - 1, t.pronoun == Pronoun.ME)
            spoken = self._in_turn(i, turn - 1, t.speaker >= 0)
            yield False, int(t.speaker[spoken]) if spoken >= 0 else -1
            yield False, self._in_turn(i, turn - 2, t.pronoun == Pronoun.YOU)

    def _in_turn(self, i: int, turn: int, among: NDArray[np.bool_]) -> int:
        """Return the last mention before i in a turn of the conversation, or -1."""
        return self._last(i, lambda k: self.t.turn[k] == turn and among[k]) if turn >= 0 else -1

    def _first_of_quotation(self, i: int) -> int:
        first = i
        while first > 0 and self.t.quote[first - 1] == self.t.quote[i]:
            first -= 1
        return first

    # --- the third person --------------------------------------------------------------------------------------------

    def _third_person(self, i: int) -> int:
        """Return the best antecedent by agreement, distance, subject and pronoun; weights were tuned on novels."""
        t = self.t
        best, best_cost = -1, np.inf
        for k in range(i - 1, -1, -1):
            back = int(t.sentence[i] - t.sentence[k])
            if back > _SENTENCES:
                break
            if (
                t.end[k] >= t.end[i]
                or not t.agrees[k, i]
                or (t.kind[k] == MentionKind.PRONOUN and t.pronoun[k] not in _THIRD)
            ):
                continue
            unknown = t.gender[k] == Gender.UNKNOWN
            if unknown and t.kind[k] == MentionKind.NOMINAL and t.number[k] != Number.PLURAL:
                continue
            cost = 0.8 * back + 0.01 * (i - k)
            cost += 0.5 * (not t.subject[k]) - 1.0 * (t.pronoun[k] == t.pronoun[i]) + 0.2 * (t.depth[k] > 0)
            cost += (
                2.0 * ((t.quote[k] < 0) != (t.quote[i] < 0)) + 0.8 * unknown + 0.2 * (t.kind[k] == MentionKind.PRONOUN)
            )
            if cost < best_cost:
                best, best_cost = k, cost
        return best

    def _one_name(self, k: int, i: int) -> bool:
        """Return whether two names may be of one person: no different first name, surname or title."""
        t = self.t
        if t.kind[k] != MentionKind.NAME or not t.agrees[k, i] or t.end[k] >= t.start[i]:
            return False
        return not any(
            values[k] != values[i] and min(values[k], values[i]) >= 0 for values in (t.first, t.last, t.title)
        )

    def _one_thing(self, k: int, i: int) -> bool:
        t = self.t
        return t.kind[k] == MentionKind.NOMINAL and bool(t.agrees[k, i]) and t.end[k] < t.start[i]
