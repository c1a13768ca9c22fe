"""Clusters of mentions, and documents: words in sentences, and mentions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from colgen import InputError

Cluster: TypeAlias = tuple[int, ...]
"""The mentions of one entity, by number, ascending."""


def as_clusters(cluster_of: ArrayLike) -> list[Cluster]:
    """A clustering from the number of each mention's cluster: clusters by first mention, mentions ascending."""
    members: dict[int, list[int]] = {}
    for mention, number in enumerate(np.asarray(cluster_of).tolist()):
        members.setdefault(number, []).append(mention)
    return [tuple(cluster) for cluster in members.values()]


Row: TypeAlias = tuple[str, ...]
"""The columns of one word but the last: document, part, number, word, part of speech, ..."""

WORD, TAG, SPEAKER, ENTITY = 3, 4, 9, 10
NUM_COLUMNS = 12
"""Columns that :func:`~colgen.problems.coreference.conll.conll_lines` fills for a document that is from no file."""

NOTHING = ("", "-", "_")
"""What a column says that says nothing."""


@dataclass(frozen=True)
class Mention:
    """A span of words that refers to something.

    Attributes
    ----------
    sentence
        Number of the sentence in the document.
    start, end
        Positions of its first and last word, counted through the document.
    cluster
        What the annotator says it refers to; None where nobody says.
    """

    sentence: int
    start: int
    end: int
    cluster: Hashable | None = None


@dataclass(frozen=True)
class Document:
    """A text and its mentions in reading order: by their start, of two with the same start the longer first.

    Parameters
    ----------
    sentences
        Words of each sentence.
    part
        What the file calls this part of a long document.
    columns
        For each sentence the row of each of its words, where the document was read from a file.

    Raises
    ------
    InputError
        If a word is empty, or a mention is outside the text or out of order.
    """

    name: str
    sentences: tuple[tuple[str, ...], ...]
    mentions: tuple[Mention, ...]
    part: str = "0"
    columns: tuple[tuple[Row, ...], ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        length = sum(map(len, self.sentences))
        if not all(word for sentence in self.sentences for word in sentence):
            raise InputError(f"{self.name}: expected words of one character or more")
        for number, mention in enumerate(self.mentions):
            if not 0 <= mention.start <= mention.end < length:
                raise InputError(
                    f"{self.name}: mention {number} covers words {mention.start} to {mention.end}, "
                    f"the document has {length}"
                )
        order = [(mention.start, -mention.end) for mention in self.mentions]
        if order != sorted(order):
            raise InputError(f"{self.name}: expected the mentions in reading order, the longer first")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All words."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def words(self, mention: Mention) -> tuple[str, ...]:
        """Words of a mention."""
        return self.tokens[mention.start : mention.end + 1]

    def column(self, index: int) -> tuple[str, ...] | None:
        """A column for each word: ``TAG``, ``SPEAKER`` or ``ENTITY``; None where the file says nothing in it."""
        if self.columns is None:
            return None
        values = tuple(row[index] if index < len(row) else "_" for rows in self.columns for row in rows)
        return values if any(value not in NOTHING for value in values) else None

    @property
    def labels(self) -> tuple[str, ...]:
        """Each mention's text."""
        return tuple(" ".join(self.words(mention)) for mention in self.mentions)

    @property
    def gold(self) -> list[Cluster]:
        """The annotated clustering; a mention of which nobody says what it refers to is alone."""
        keys = [object() if mention.cluster is None else mention.cluster for mention in self.mentions]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return as_clusters([numbers[key] for key in keys])

    def truncated(self, num_mentions: int) -> Document:
        """The document cut after the sentence that completes its first mentions, with no other mentions."""
        if num_mentions < 1:
            raise InputError(f"a document is cut at one mention or more, not at {num_mentions}")
        mentions = self.mentions[:num_mentions]
        if len(mentions) == len(self.mentions):
            return self
        last = max(mention.end for mention in mentions)
        kept, length = 0, 0
        while length <= last:
            length += len(self.sentences[kept])
            kept += 1
        columns = None if self.columns is None else self.columns[:kept]
        return Document(self.name, self.sentences[:kept], mentions, self.part, columns)


def in_reading_order(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """By their start, of two with the same start the longer first."""
    return tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end)))
