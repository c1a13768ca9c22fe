r"""A bigram model with Good-Turing smoothing.

    p(w | v) = d(c(v, w)) c(v, w) / c(v)     if w was seen after v,   else  α(v) p(w),

where c counts in the text, and α(v) makes the probabilities sum to one (Katz's back-off). The discount of a count r is
d(r) = r* / r with Good and Turing's r* = (r + 1) S(r + 1) / S(r). S(r) is the number of bigrams seen r times, smoothed
by a straight line through its logarithms (Gale and Sampson). p(w) is the discounted share of a single word. The mass
freed by the discounts goes to unseen words, which share the probability of one word.

Sources: S. M. Katz, *Estimation of probabilities from sparse data for the language model component of a speech
recognizer*, IEEE Transactions on ASSP 35 (1987); W. A. Gale, G. Sampson, *Good-Turing frequency estimation without
tears*, Journal of Quantitative Linguistics 2 (1995).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BEGIN, END, UNKNOWN = "<begin>", "<end>", "<unknown>"
"""The ends of a sentence, and all unseen words."""

_MAX_DISCOUNT = 1.0 - 1e-6
"""Upper limit of discounts, which leaves some mass for unseen words."""


@dataclass(frozen=True, eq=False)
class BigramModel:
    """Probabilities of the next word."""

    vocabulary: tuple[str, ...]  # all words in lower case, UNKNOWN first, then BEGIN and END
    unigrams: Floats  # p(w) of each word, zero for BEGIN
    rows: Ints  # the discounted probability of each seen bigram, as triples
    columns: Ints
    probabilities: Floats
    backoff: Floats  # α(v) of each word v

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: k for k, word in enumerate(self.vocabulary)}

    @cached_property
    def _matrix(self) -> sparse.csr_array:
        size = len(self.vocabulary)
        return sparse.csr_array((self.probabilities, (self.rows, self.columns)), shape=(size, size))

    def numbers(self, words: Iterable[str]) -> Ints:
        """Return the numbers of words in the vocabulary, 0 for unknown ones."""
        return np.array([self._number.get(word, 0) for word in words], dtype=np.int64)

    def log_probabilities(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        """Return log p(w | v) for v in ``before`` (rows) and w in ``after`` (columns)."""
        v, w = self.numbers(before), self.numbers(after)
        p = np.outer(self.backoff[v], self.unigrams[w])
        seen = self._matrix[v][:, w].tocoo()
        p[seen.row, seen.col] = seen.data
        with np.errstate(divide="ignore"):  # nothing precedes BEGIN: log 0 is -inf
            return np.asarray(np.log(p))

    def distribution(self, before: str) -> Floats:
        """Return p(w | v) for every word w of the vocabulary."""
        return np.asarray(np.exp(self.log_probabilities([before], self.vocabulary)[0]))


def estimate(sentences: Iterable[Sequence[str]]) -> BigramModel:
    """Return the model of a text, given as sentences of lower-case words; raise InputError if there are no words."""
    singles: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        padded = [BEGIN, *sentence, END]
        singles.update(padded[1:])
        pairs.update(itertools.pairwise(padded))
    if len(singles) < 2:
        raise InputError("expected a text with words for a bigram model, got none")
    words = sorted(word for word in singles if word != END)
    vocabulary = (UNKNOWN, BEGIN, END, *words)
    number = {word: k for k, word in enumerate(vocabulary)}
    unigrams = _unigrams(np.array([singles.get(word, 0) for word in vocabulary], dtype=np.int64))
    rows = np.array([number[v] for v, _ in pairs], dtype=np.int64)
    columns = np.array([number[w] for _, w in pairs], dtype=np.int64)
    counts = np.fromiter(pairs.values(), np.int64, len(pairs))
    order = np.lexsort((columns, rows))
    rows, columns, counts = rows[order], columns[order], counts[order]
    total = np.bincount(rows, counts, minlength=len(vocabulary))
    probabilities = discounts(counts)[counts] * counts / total[rows]
    kept = np.bincount(rows, probabilities, minlength=len(vocabulary))
    covered = np.bincount(rows, unigrams[columns], minlength=len(vocabulary))
    free = np.maximum(1.0 - covered, 0.0)
    backoff = np.where(free > 1e-12, (1.0 - kept) / np.maximum(free, 1e-12), 0.0)
    return BigramModel(vocabulary, unigrams, rows, columns, probabilities, backoff)


def _unigrams(counts: Ints) -> Floats:
    """Return discounted shares; the rest goes to entry 0, the unknown word, up to the share of the rarest word.

    Any remaining mass is divided among the seen words in proportion to their shares.
    """
    seen = counts > 0
    shares = np.zeros(len(counts))
    shares[seen] = discounts(counts[seen])[counts[seen]] * counts[seen] / counts.sum()
    unknown = min(1.0 - shares.sum(), float(shares[seen].min()))
    shares[seen] *= (1.0 - unknown) / shares[seen].sum()
    shares[0] = unknown
    return shares


def discounts(counts: Ints) -> Floats:
    """Return d(r) = r* / r for r = 0, ..., the largest count; entries of counts that do not occur are meaningless.

    Turing's estimate is used from r = 1 while it differs from the smoothed one by more than 1.65 of its standard
    deviations, then the smoothed one, as in Gale and Sampson. ``counts`` are those of the seen items, each at least 1.
    """
    values, frequencies = np.unique(counts, return_counts=True)
    largest = int(values[-1])
    frequency = np.zeros(largest + 2)
    frequency[values] = frequencies
    slope = _slope(values.astype(float), frequencies.astype(float))
    d = np.ones(largest + 1)
    smoothed = False
    for r in values.tolist():
        good = (r + 1.0) / r * float(np.exp(slope * (np.log(r + 1.0) - np.log(r))))
        here, after = frequency[r], frequency[r + 1]
        if not smoothed and after > 0:
            turing = (r + 1.0) * after / (r * here)
            deviation = (r + 1.0) / r * np.sqrt(after / here**2 * (1.0 + after / here))
            smoothed = abs(turing - good) <= 1.65 * deviation
            d[r] = good if smoothed else turing
        else:
            smoothed = True
            d[r] = good
    return np.clip(d, 0.0, _MAX_DISCOUNT)


def _slope(values: Floats, frequencies: Floats) -> float:
    """Return the slope of log Z(r) over log r, where Z are the frequencies averaged over the gaps around r.

    A slope of -1 or more, possible for short texts, would give r* > r; it is replaced by a value just below -1.
    """
    below = np.concatenate(([0.0], values[:-1]))
    above = np.concatenate((values[1:], [2.0 * values[-1] - below[-1]]))
    z = frequencies / (0.5 * (above - below))
    if len(values) < 2:
        return -1.5
    slope, _ = np.polyfit(np.log(values), np.log(z), 1)
    return min(float(slope), -1.05)
