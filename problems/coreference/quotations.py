"""Direct speech: where it is, and who speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colgen.problems.coreference import lexicon
from colgen.problems.coreference.document import Document

OPENING = frozenset({"“", "``", "‘", "“‘", "«", "„"})
CLOSING = frozenset({"”", "''", "’”", "»"})
_ENDS = frozenset(".!?")
_NEAR = 9
"""A verb of saying is looked for among so many words before and after a quotation."""
_INTERRUPTION = 16
"""A turn goes on after fewer words than these, if no sentence ends in between."""
BREAK = 10
"""What separates two conversations, in turns."""


@dataclass(frozen=True)
class Quotation:
    """A stretch of direct speech.

    Attributes
    ----------
    start, end
        Positions of its first and last quotation mark.
    turn
        Number of the turn: the same where the sentence goes on after "he said", the next where nothing is in between,
        and at least ``BREAK`` more where one cannot tell.
    speaker
        Number of the mention that is the subject of "said", or -1.
    """

    start: int
    end: int
    turn: int
    speaker: int = -1


def quotations(document: Document) -> list[Quotation]:
    """The quotations of a document in order."""
    tokens = document.tokens
    lower = [word.lower() for word in tokens]
    first_at: dict[int, int] = {}
    last_at: dict[int, int] = {}
    for number, mention in enumerate(document.mentions):
        first_at.setdefault(mention.start, number)  # the longest
        last_at.setdefault(mention.end, number)
    found: list[Quotation] = []
    turn = 0
    for start, end in _spans(tokens):
        speaker = _speaker(lower, start, end, first_at, last_at)
        if found:
            between = tokens[found[-1].end + 1 : start]
            goes_on = 0 < len(between) < _INTERRUPTION and not any(word in _ENDS for word in between)
            turn += 0 if goes_on else BREAK if between else 1
            if goes_on and speaker < 0:
                speaker = found[-1].speaker
        found.append(Quotation(start, end, turn, speaker))
    return found


def _spans(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Spans from mark to mark; an opening mark before the closing one starts anew; one that never closes is none."""
    spans, start = [], -1
    for at, word in enumerate(tokens):
        if word in OPENING or (word == '"' and start < 0):
            start = at
        elif start >= 0 and (word in CLOSING or word == '"' or (word == "’" and tokens[start] == "‘")):
            spans.append((start, at))
            start = -1
    return spans


def _speaker(lower: Sequence[str], start: int, end: int, first_at: dict[int, int], last_at: dict[int, int]) -> int:
    """The mention right before or after the verb of saying that is next to the quotation, outside of speech."""
    after = range(end + 1, min(end + _NEAR, len(lower)))
    before = range(start - 1, max(start - _NEAR, -1), -1)
    for words in (after, before):
        for at in words:
            if lower[at] in OPENING or lower[at] in CLOSING or lower[at] == '"':
                break
            if lower[at] in lexicon.SAYING:
                for number in (last_at.get(at - 1), first_at.get(at + 1)):
                    if number is not None:
                        return number
    return -1
