"""Clusters of mentions, and documents with sentences and mentions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from colgen import InputError

Cluster: TypeAlias = tuple[int, ...]
"""The numbers of the mentions of one entity, ascending."""


def as_clusters(cluster_of: ArrayLike) -> list[Cluster]:
    """Convert cluster numbers to clusters: sorted by first mention, mentions ascending."""
    members: dict[int, list[int]] = {}
    for mention, number in enumerate(np.asarray(cluster_of).tolist()):
        members.setdefault(number, []).append(mention)
    return [tuple(cluster) for cluster in members.values()]


Row: TypeAlias = tuple[str, ...]
"""All columns of one word but the last: document, part, number, word, part of speech, ..."""

WORD, TAG, SPEAKER, ENTITY = 3, 4, 9, 10
NUM_COLUMNS = 12
"""Columns that :func:`~colgen.problems.coreference.conll.conll_lines` writes for a document not read from a file."""

NOTHING = ("", "-", "_")
"""Values of empty columns."""


@dataclass(frozen=True)
class Mention:
    """A span of words that refers to an entity."""

    sentence: int  # number of the sentence in the document
    start: int  # position of its first word, counted through the document
    end: int  # position of its last word
    cluster: Hashable | None = None  # annotated entity; None without annotation


@dataclass(frozen=True)
class Document:
    """A text with its mentions in reading order: by their start, longer mentions first.

    Raises
    ------
    InputError
        If a word is empty, or a mention is outside the text or out of order.
    """

    name: str
    sentences: tuple[tuple[str, ...], ...]  # words of each sentence
    mentions: tuple[Mention, ...]
    part: str = "0"  # name of this part of a long document
    columns: tuple[tuple[Row, ...], ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        length = sum(map(len, self.sentences))
        if not all(word for sentence in self.sentences for word in sentence):
            raise InputError(f"{self.name}: expected words of at least one character")
        for number, mention in enumerate(self.mentions):
            if not 0 <= mention.start <= mention.end < length:
                raise InputError(
                    f"{self.name}: mention {number} has words {mention.start} to {mention.end}, but the document "
                    f"has {length} words"
                )
        order = [(mention.start, -mention.end) for mention in self.mentions]
        if order != sorted(order):
            raise InputError(f"{self.name}: expected mentions sorted by their start, longer mentions first")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All words."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def words(self, mention: Mention) -> tuple[str, ...]:
        """Return the words of a mention."""
        return self.tokens[mention.start : mention.end + 1]

    def column(self, index: int) -> tuple[str, ...] | None:
        """Return one column, ``TAG``, ``SPEAKER`` or ``ENTITY``, with one value per word; None if it is empty."""
        if self.columns is None:
            return None
        values = tuple(row[index] if index < len(row) else "_" for rows in self.columns for row in rows)
        return values if any(value not in NOTHING for value in values) else None

    @property
    def labels(self) -> tuple[str, ...]:
        """The text of each mention."""
        return tuple(" ".join(self.words(mention)) for mention in self.mentions)

    @property
    def gold(self) -> list[Cluster]:
        """The annotated clustering; mentions without annotation are singletons."""
        keys = [object() if mention.cluster is None else mention.cluster for mention in self.mentions]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return as_clusters([numbers[key] for key in keys])

    def truncated(self, num_mentions: int) -> Document:
        """Return the first ``num_mentions`` mentions of the document, with all sentences up to the last of these."""
        if num_mentions < 1:
            raise InputError(f"num_mentions must be at least 1, not {num_mentions}")
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


def sort_mentions(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Sort mentions by their start, longer mentions first."""
    return tuple(sorted(mentions, key=lambda mention: (mention.start, -mention.end)))
