"""Learning to generate titles: graphs of sections whose heaviest paths are titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.learning.models import SavedModel
from colgen.problems.title_path.instance import PathInstance, check_size
from colgen.problems.title_path.language import BEGIN, END, BigramModel, estimate
from colgen.problems.title_path.sections import Section
from colgen.problems.title_path.selection import Background, Selection, fit
from colgen.problems.title_path.text import ARTICLES, PREPOSITIONS, sentences
from colgen.solvers.arrays import as_float, as_floats, as_indices, as_integer, as_integers

Floats = NDArray[np.float64]

NUM_AUXILIARY = 24
"""Number of prepositions and articles that may connect two content words, as in Deshpande et al. (2007)."""

_SELECTION = "weights", "mean", "scale"
_LANGUAGE = "unigrams", "rows", "columns", "probabilities", "backoff"
"""The arrays of the classifier, and of the bigram model."""


@dataclass(frozen=True, eq=False)
class TitleModel(SavedModel):
    """Scores of words and of their order."""

    kind = "title_path"

    selection: Selection  # log P(a word is in the title)
    language: BigramModel  # log P(a word follows another one)
    auxiliary: tuple[str, ...]  # words that are not vertices, but may connect two
    length: int  # median number of content words of the training titles

    def instance(self, text: str, length: int | None = None, name: str = "") -> PathInstance:
        """Return the graph of a text: one vertex per content word, one class per stem.

        The arc from v to w has the weight log P(w in title) + log p(w | v). Arcs over an auxiliary word x have the
        weight log P(w in title) + log p(x | v) + log p(w | x). Only the heaviest of these parallel arcs counts.

        Parameters
        ----------
        length
            Content words of the title; by default the median of the training titles.

        Raises
        ------
        InputError
            If the text has no content word.
        """
        stems, log_p = self.selection.log_probabilities(text)
        return title_graph(
            stems.words,
            log_p[list(stems.stem_of_word)],
            tuple(stems.stems[k] for k in stems.stem_of_word),
            self.language,
            self.auxiliary,
            self.length if length is None else length,
            name,
        )

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        selection, language, background = self.selection, self.language, self.selection.background
        stems = tuple(background.in_texts.keys() | background.in_titles.keys())
        about = {
            "length": self.length,
            "auxiliary": self.auxiliary,
            "num_sections": background.num_sections,
            "intercept": selection.intercept,
            "stems": stems,
            "vocabulary": language.vocabulary,
        }
        counts = {
            "in_texts": np.array([background.in_texts.get(s, 0) for s in stems]),
            "in_titles": np.array([background.in_titles.get(s, 0) for s in stems]),
        }
        arrays = {name: getattr(selection, name) for name in _SELECTION}
        return about, {**counts, **arrays, **{name: getattr(language, name) for name in _LANGUAGE}}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TitleModel:
        stems, words = about["stems"], tuple(about["vocabulary"])
        counts = [as_integers(arrays[part], part, shape=(len(stems),), low=0) for part in ("in_texts", "in_titles")]
        counted = [dict(zip(stems, numbers.tolist(), strict=True)) for numbers in counts]
        background = Background(as_integer(about["num_sections"], "num_sections", low=1), *counted)
        weights, mean, scale = (as_floats(arrays[part], part, shape=("features",)) for part in _SELECTION)
        if not len(weights) == len(mean) == len(scale):
            raise ValueError(
                f"expected as many weights as means and scales, got {len(weights)}, {len(mean)} and {len(scale)}"
            )
        selection = Selection(background, weights, as_float(about["intercept"], "intercept"), mean, scale)
        probabilities = as_floats(arrays["probabilities"], "probabilities", shape=("bigrams",), low=0.0)
        rows, columns = (
            as_indices(arrays[part], part, upper=len(words), shape=probabilities.shape, dtype=None)
            for part in ("rows", "columns")
        )
        unigrams, backoff = (
            as_floats(arrays[part], part, shape=(len(words),), low=0.0) for part in ("unigrams", "backoff")
        )
        language = BigramModel(words, unigrams, rows, columns, probabilities, backoff)
        return cls(selection, language, tuple(about["auxiliary"]), as_integer(about["length"], "length", low=1))


def title_graph(
    words: Sequence[str],
    selection: Floats,
    classes: Sequence[str],
    language: BigramModel,
    auxiliary: Sequence[str],
    length: int,
    name: str = "",
) -> PathInstance:
    """Return the graph of some words, all different: see :meth:`TitleModel.instance`.

    ``selection``, shape (n,), is the score of selecting each word; at most one word of each class is selected.
    """
    n = len(words)
    check_size(n)
    before = [*words, BEGIN]
    best = language.log_probabilities(before, words)
    via = np.full((n + 1, n), -1, dtype=np.int64)
    to_auxiliary = language.log_probabilities(before, auxiliary)
    from_auxiliary = language.log_probabilities(auxiliary, words)
    for x in range(len(auxiliary)):
        through = to_auxiliary[:, x, None] + from_auxiliary[x]
        better = through > best
        best[better] = through[better]
        via[better] = x
    best += selection
    last = language.log_probabilities(words, [END])[:, 0]
    return PathInstance(best[:n], best[n], last, length, tuple(classes), tuple(words), name, via, tuple(auxiliary))


def train(
    sections: Sequence[Section], more_text: Sequence[Section] = (), *, say: Callable[[str], None] = lambda line: None
) -> TitleModel:
    """Train on sections with titles.

    Parameters
    ----------
    sections
        The classifier learns from their titles, the bigram model from their texts.
    more_text
        Further texts for the bigram model; Deshpande et al. (2007) use their complete corpus.
    say
        Called with a line of text about the progress.
    """
    if not sections:
        raise InputError("training needs at least one section, got none")
    selection = fit(sections)
    say(f"classifier trained on {len(sections)} sections, {len(selection.background.in_texts):,} stems")
    parts = [[w.lower() for w in part] for one in (*sections, *more_text) for part in sentences(one.text)]
    language = estimate(parts)
    say(f"bigram model of {sum(map(len, parts)):,} words, {len(language.vocabulary):,} different ones")
    counts = Counter(word for part in parts for word in part if word in ARTICLES or word in PREPOSITIONS)
    auxiliary = tuple(word for word, _ in counts.most_common(NUM_AUXILIARY))
    length = int(np.median([one.num_content_words for one in sections]))
    return TitleModel(selection, language, auxiliary, max(length, 1))
