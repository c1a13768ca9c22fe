"""Fast lookup of the feature numbers of :func:`colgen.problems.chain_map.features.features`, without strings per token.

The features of a word alone are computed once and stored as a row. A hash table of the index gives the features of two
neighbours.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from colgen.problems.chain_map.features import EDGES, NUM_KINDS, UNKNOWN, plain, shape
from colgen.problems.chain_map.kernels.feature_rows import OWN, WIDTH, fill_pairs, gather

Ints = NDArray[np.int32]

_PAIRS = {name: k for k, name in enumerate(("-1x", "+1x", "-1w", "+1w", "-1+1", "-2-1", "+1+2", "-1ws", "+1ws"))}
"""Kinds of features of two neighbours, and their numbers in the kernel."""

_MAX_STORED_WORDS = 1 << 20
"""Largest number of stored words. The store is emptied when it is full, so that its memory is bounded."""


class Extractor:
    """Look up the features of sentences; safe for use by several threads.

    ``index`` numbers the features, as :func:`colgen.problems.chain_map.features.build_index` does.
    """

    def __init__(self, index: Mapping[str, int]) -> None:
        self._index = index
        self._atoms: dict[str, int] = {}
        keys, numbers = self._pairs()
        size = 1 << max(4, (2 * len(keys)).bit_length())
        self._keys, self._numbers = np.full(size, UNKNOWN, dtype=np.int64), np.full(size, UNKNOWN, dtype=np.int32)
        fill_pairs(self._keys, self._numbers, keys, numbers)
        self._lock = threading.Lock()
        self._forget()

    def _pairs(self) -> tuple[NDArray[np.int64], Ints]:
        """Return the keys and the numbers of all features of two neighbours.

        A name is two strings joined by a blank. If these contain blanks, every split of the name is a key.
        """
        found: list[tuple[int, int, int, int]] = []
        number_of = self._atoms
        for name, number in self._index.items():
            kind, _, rest = name.partition(" ")
            if kind not in _PAIRS:
                continue
            at = rest.find(" ")
            while at >= 0:
                first = number_of.setdefault(rest[:at], len(number_of))
                second = number_of.setdefault(rest[at + 1 :], len(number_of))
                found.append((_PAIRS[kind], first, second, number))
                at = rest.find(" ", at + 1)
        table = np.array(found, dtype=np.int64).reshape(-1, 4)
        atoms = len(number_of)
        return (table[:, 0] * atoms + table[:, 1]) * atoms + table[:, 2], table[:, 3].astype(np.int32)

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._rows = np.full((1024, WIDTH), UNKNOWN, dtype=np.int32)
        for row, edge in zip(self._rows, EDGES, strict=False):
            row[OWN:] = self._row(edge, edge, "")[OWN:]

    def _row(self, word: str, w: str, s: str) -> list[int]:
        """Return the row of a word, given its plain form and its shape."""
        number, atom = self._index.get, self._atoms.get
        names = (
            "",
            f"w {word}",
            f"l {w}",
            *(f"p{k} {w[:k]}" for k in (1, 2, 3, 4)),
            *(f"s{k} {w[-k:]}" for k in (1, 2, 3, 4, 5)),
            *(f"x {s} {place}" for place in ("", "first", "last")),
            f"xl {len(word) if len(word) < 8 else 8} {s}",
            *(f"{place} {w}" for place in ("-1", "+1", "-2", "+2")),
            f"-1s {w[-3:]}",
            f"+1s {w[-3:]}",
        )
        return [number(name, UNKNOWN) for name in names] + [atom(text, UNKNOWN) for text in (w, s, w[-3:])]

    def _add(self, words: Sequence[str]) -> None:
        """Compute and store the rows of new words."""
        if len(self._known) + len(words) > _MAX_STORED_WORDS:
            self._forget()
        for word in words:
            if word in self._known:
                continue
            place = len(EDGES) + len(self._known)
            if place == len(self._rows):
                self._rows = np.concatenate([self._rows, np.full_like(self._rows, UNKNOWN)])
            self._rows[place] = self._row(word, plain(word), shape(word))
            self._known[word] = place

    def look_up(self, sentences: Sequence[Sequence[str]]) -> Ints:
        """Return feature numbers, shape (tokens of all sentences, ``NUM_KINDS``); ``UNKNOWN`` if not in the index."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        words = list(chain.from_iterable(sentences))
        with self._lock:
            places = list(map(self._known.get, words))
            if None in places:
                self._add(words)
                places = list(map(self._known.get, words))
            rows = self._rows
        out = np.empty((len(words), NUM_KINDS), dtype=np.int32)
        numbers = np.array(places, dtype=np.int32)
        gather(rows, numbers, lengths, self._keys, self._numbers, len(self._atoms), out)
        return out
