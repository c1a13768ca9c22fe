"""The probability that a word of a text is in its title: a maximum-entropy classifier on position and distribution."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.learning.logistic import logistic_regression
from colgen.problems.title_path.sections import Section
from colgen.problems.title_path.text import is_content, sentences, stem, words

Floats = NDArray[np.float64]

FEATURES = (
    "log count",
    "share of the content words",
    "log position of the first occurrence",
    "in the first sentence",
    "share of the sentences",
    "last occurrence, as a share of the text",
    "inverse document frequency",
    "tf-idf, as a share of the largest",
    "log rank by tf-idf",
    "share of capitals within sentences",
    "letters",
    "log titles of other sections that have it",
    "log share of the other sections with it whose titles have it",
)


@dataclass(frozen=True, eq=False)
class Stems:
    """The content words of a text by stem, in the order of first occurrence."""

    stems: tuple[str, ...]  # all different
    words: tuple[str, ...]  # different words, in lower case
    stem_of_word: tuple[int, ...]  # the number of each word's stem


@dataclass(frozen=True, eq=False)
class Background:
    """Counts of stems in the training sections."""

    num_sections: int
    in_texts: Mapping[str, int]  # number of texts with each stem
    in_titles: Mapping[str, int]  # number of titles with each stem


@dataclass(frozen=True, eq=False)
class Selection:
    """A trained classifier: P(stem in title | features) = 1 / (1 + exp(-(b + Σ_f w_f (x_f - mean_f) / scale_f)))."""

    background: Background
    weights: Floats
    intercept: float
    mean: Floats
    scale: Floats

    def log_probabilities(self, text: str) -> tuple[Stems, Floats]:
        """Return the stems of a text, and log P(stem in title) of each."""
        stems, x = features(text, self.background)
        score = self.intercept + ((x - self.mean) / self.scale) @ self.weights
        return stems, -np.logaddexp(0.0, -score)


def find_stems(text: str) -> Stems:
    """Return the content words of a text by stem; raise InputError without any."""
    different = tuple(dict.fromkeys(word for word in words(text) if is_content(word)))
    if not different:
        raise InputError("expected a text with content words, got none")
    number: dict[str, int] = {}
    of_word = tuple(number.setdefault(stem(word), len(number)) for word in different)
    return Stems(tuple(number), different, of_word)


def count_stems(sections: Sequence[Section]) -> Background:
    """Count stems over sections."""
    in_texts: Counter[str] = Counter()
    in_titles: Counter[str] = Counter()
    for section in sections:
        in_texts.update({stem(word) for word in words(section.text) if is_content(word)})
        in_titles.update(title_stems(section))
    return Background(len(sections), dict(in_texts), dict(in_titles))


def title_stems(section: Section) -> set[str]:
    """Return the stems of the content words of a title."""
    return {stem(word) for word in words(section.title) if is_content(word)}


def features(text: str, background: Background, own: Section | None = None) -> tuple[Stems, Floats]:
    """Return the stems of a text and their features, shape (stems, features), named by ``FEATURES``.

    ``own`` is the section of the text if it is part of the background, whose counts must not reveal its title.
    """
    stems = find_stems(text)
    number = {s: k for k, s in enumerate(stems.stems)}
    n = len(number)
    count, capital, inside, containing = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    first, last, opening = np.full(n, -1.0), np.zeros(n), np.zeros(n)
    position = 0
    parts = sentences(text)
    for which, sentence in enumerate(parts):
        seen = set()
        for place, word in enumerate(sentence):
            position += 1
            small = word.lower()
            if not is_content(small):
                continue
            k = number[stem(small)]
            count[k] += 1
            if first[k] < 0:
                first[k] = position
            last[k] = position
            if place:
                inside[k] += 1
                capital[k] += word[0].isupper()
            seen.add(k)
        for k in seen:
            containing[k] += 1
            opening[k] = max(opening[k], which == 0)
    in_texts = np.array([background.in_texts.get(s, 0) for s in stems.stems], dtype=float)
    in_titles = np.array([background.in_titles.get(s, 0) for s in stems.stems], dtype=float)
    others = float(background.num_sections)
    if own is not None:
        mine = title_stems(own)
        in_texts -= 1.0
        in_titles -= np.array([s in mine for s in stems.stems], dtype=float)
        others -= 1.0
    idf = np.log((others + 1.0) / (in_texts + 1.0))
    tf_idf = count * idf
    rank = np.empty(n)
    rank[np.argsort(-tf_idf, kind="stable")] = np.arange(n)
    columns = (
        np.log1p(count),
        count / count.sum(),
        np.log1p(first),
        opening,
        containing / len(parts),
        last / position,
        idf,
        tf_idf / max(float(tf_idf.max()), 1e-12),
        np.log1p(rank),
        capital / np.maximum(inside, 1.0),
        np.array([len(s) for s in stems.stems], dtype=float),
        np.log1p(in_titles),
        np.log((in_titles + 0.1) / (in_texts + 1.0)),
    )
    return stems, np.stack(columns, axis=1)


def fit(sections: Sequence[Section], *, strength: float = 1.0) -> Selection:
    """Train the classifier on sections: one example per stem, positive if it is in the title.

    ``strength`` is the inverse of the weight of the squared norm. Raises InputError if all or no examples are positive.
    """
    background = count_stems(sections)
    tables, labels = [], []
    for section in sections:
        stems, x = features(section.text, background, section)
        wanted = title_stems(section)
        tables.append(x)
        labels.append(np.array([s in wanted for s in stems.stems]))
    x, y = np.concatenate(tables), np.concatenate(labels)
    if not y.any() or y.all():
        raise InputError("training needs titles with some words, but not all, of their texts")
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows = np.append((x - mean) / scale, np.ones((len(x), 1)), axis=1)
    weights = logistic_regression(rows, y, np.append(np.full(x.shape[1], 1.0 / strength), 0.0))
    return Selection(background, weights[:-1], float(weights[-1]), mean, scale)


def log_loss(selection: Selection, sections: Sequence[Section]) -> tuple[float, float, int]:
    """Return the mean negative log-likelihood in nats, that of the constant rate, and the number of stems.

    ``sections`` must not be those of the training.
    """
    total, positive, count = 0.0, 0, 0
    for section in sections:
        stems, log_p = selection.log_probabilities(section.text)
        inside = np.array([s in title_stems(section) for s in stems.stems])
        with np.errstate(divide="ignore"):
            total -= float(np.where(inside, log_p, np.log1p(-np.exp(log_p))).sum())
        positive += int(inside.sum())
        count += len(inside)
    rate = positive / count
    entropy = -sum(share * math.log(share) for share in (rate, 1.0 - rate) if share)
    return total / count, entropy, count
