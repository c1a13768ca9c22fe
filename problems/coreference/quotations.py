"""Direct speech: its position, and its speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colgen.problems.coreference import lexicon
from colgen.problems.coreference.document import Document

OPENING = frozenset({"“", "``", "‘", "“‘", "«", "„"})
CLOSING = frozenset({"”", "''", "’”", "»"})
_ENDS = frozenset(".!?")
_NEAR = 9
"""Number of words before and after a quotation that are searched for a verb of saying."""
_INTERRUPTION = 16
"""A turn continues after an interruption of fewer words than this without the end of a sentence."""
BREAK = 10
"""Number of turns that separates two conversations."""


@dataclass(frozen=True)
class Quotation:
    """A quotation of direct speech.

    The turn is equal if the sentence continues after "he said", the next number if there is no text in between, and at
    least ``BREAK`` more otherwise.
    """

    start: int  # position of the opening mark
    end: int  # position of the closing mark
    turn: int
    speaker: int = -1  # number of the mention that is the subject of "said", or -1


def quotations(document: Document) -> list[Quotation]:
    """Return the quotations of a document in order."""
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
    """Return the spans between quotation marks; unclosed quotations are ignored."""
    spans, start = [], -1
    for at, word in enumerate(tokens):
        if word in OPENING or (word == '"' and start < 0):
            start = at
        elif start >= 0 and (word in CLOSING or word == '"' or (word == "’" and tokens[start] == "‘")):
            spans.append((start, at))
            start = -1
    return spans


def _speaker(lower: Sequence[str], start: int, end: int, first_at: dict[int, int], last_at: dict[int, int]) -> int:
    """Return the mention next to the verb of saying that is closest to the quotation, outside of speech; or -1."""
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
