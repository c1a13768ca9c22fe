"""The steps from raw text to labelled trees as one model, in one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from colgen.core.stop import StopRule
from colgen.learning.models import SavedModel
from colgen.learning.weights import part, prefixed
from colgen.problems.chain_map.learning import Tagger
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.parser import check_length, parse_sentences
from colgen.problems.grandparent_parsing.parses import Parse
from colgen.problems.pipeline.breaks import Breaks
from colgen.problems.pipeline.segmentation import Segmenter
from colgen.problems.pipeline.suffixes import SuffixRules
from colgen.problems.pipeline.texts import Token, check_written

_BYTE_ORDER_MARK = re.compile("^\ufeff+", re.MULTILINE)
"""Where a text begins, or files were put together; it is no character of the text."""

_BATCH = 1024
"""Sentences that are tagged at once."""


@dataclass(frozen=True)
class Analysed:
    """A sentence of a text.

    Attributes
    ----------
    sentence
        With the lines of a CoNLL-U file; without heads where no tree was found.
    parse
        The tree, and what is proved of it.
    """

    sentence: Sentence
    parse: Parse


@dataclass(frozen=True)
class Pipeline(SavedModel):
    """All steps.

    Attributes
    ----------
    segmenter
        From text to sentences of tokens and words.
    tagger
        Of words: part of speech, fine tag and morphology in one label.
    lemmas
        Rewrites words, given their tags.
    parser
        Scores of trees and of relations.
    """

    kind = "pipeline"

    segmenter: Segmenter
    tagger: Tagger
    lemmas: SuffixRules
    parser: Weights

    def analyse(self, paragraphs: Iterable[str], stop: Sequence[StopRule] = ()) -> Iterator[Analysed]:
        """The sentences of a text's paragraphs, each as soon as it is parsed.

        Parameters
        ----------
        paragraphs
            Segmented and tagged some at a time; give them one by one where somebody waits for each.
        stop
            Stop rules of each parse.
        """
        for sentence, found in parse_sentences(self.tagged(paragraphs), self.parser, stop):
            check_written(sentence)
            yield Analysed(sentence, found)

    def tagged(self, paragraphs: Iterable[str]) -> Iterator[Sentence]:
        """Sentences with tags, morphology and lemmas, not yet parsed."""
        held: list[str] = []
        size = 0
        for marked in paragraphs:
            paragraph = _BYTE_ORDER_MARK.sub("", marked)
            held.append(paragraph)
            size += len(paragraph)
            if size > 64 * _BATCH:  # about as many sentences
                yield from self._tagged(held)
                held, size = [], 0
        if held:
            yield from self._tagged(held)

    def _tagged(self, paragraphs: Sequence[str]) -> Iterator[Sentence]:
        segmented = [(first, tokens) for first, tokens in _flat(self.segmenter.segment(paragraphs))]
        if not segmented:
            return
        words = [[word for token in tokens for word in token.words] for _, tokens in segmented]
        for forms in words:
            check_length(forms)
        for (begins, tokens), forms, tags in zip(segmented, words, self.tagger.tag(words), strict=True):
            sentence = with_tags(Sentence(tuple(forms)), tags, self.lemmas)
            yield replace(sentence, lines=tuple(_lines(sentence, tokens, begins)))

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        segmenter = self.segmenter
        about: dict[str, Any] = {"words": segmenter.words.data(), "lemmas": self.lemmas.data()}
        arrays: dict[str, NDArray[Any]] = {}
        own: tuple[Tagger | Breaks | Weights, ...] = segmenter.tagger, segmenter.breaks, self.tagger, self.parser
        for name, model in zip(_PARTS, own, strict=True):
            about[name], of_part = model.data()
            arrays |= prefixed(name, of_part)
        return about, arrays

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Pipeline:
        words, lemmas = (SuffixRules.from_data(about[name]) for name in ("words", "lemmas"))
        own = {name: model.from_data(about[name], part(name, arrays)) for name, model in _PARTS.items()}
        return cls(Segmenter(own["segmenter"], own["breaks"], words), own["tagger"], lemmas, own["parser"])


_PARTS: Mapping[str, Any] = {"segmenter": Tagger, "breaks": Breaks, "tagger": Tagger, "parser": Weights}
"""The models of which it consists."""


def _flat(paragraphs: Iterable[Sequence[list[Token]]]) -> Iterator[tuple[bool, list[Token]]]:
    """Sentences, and whether each begins a paragraph."""
    for paragraph in paragraphs:
        for number, tokens in enumerate(paragraph):
            yield not number, tokens


# --- tags ------------------------------------------------------------------------------------------------------------


def tags_of(sentence: Sentence) -> tuple[str, ...]:
    """What the tagger is to say of each word: part of speech, fine tag and morphology, tabs between them."""
    cells = map(morphology_cell, sentence.morphology)
    return tuple("\t".join(parts) for parts in zip(sentence.coarse, sentence.fine, cells, strict=True))


def morphology_cell(features: Mapping[str, str]) -> str:
    """``Case=Ine|Number=Sing``, or ``_``."""
    return "|".join(f"{key}={value}" for key, value in features.items()) or "_"


def with_tags(sentence: Sentence, tags: Sequence[str], lemmas: SuffixRules) -> Sentence:
    """The sentence with the tagger's tags, and the lemmas that follow from them."""
    coarse, fine, cells = zip(*(tag.split("\t") for tag in tags), strict=True)
    return replace(
        sentence,
        coarse=coarse,
        fine=fine,
        morphology=tuple(_features(cell) for cell in cells),
        lemmas=tuple(lemmas.of(form, contexts(tag)) for form, tag in zip(sentence.forms, tags, strict=True)),
        lines=(),
    )


def contexts(tag: str) -> tuple[str, str]:
    """Where lemmas are looked up: with all that the tagger says, then with the part of speech alone."""
    return tag, tag.partition("\t")[0]


def _features(cell: str) -> dict[str, str]:
    return {} if cell == "_" else dict(item.split("=", 1) for item in cell.split("|"))


def _lines(sentence: Sentence, tokens: Sequence[Token], begins: bool) -> Iterator[str]:
    """Lines of a CoNLL-U file, heads and relations still missing."""
    if begins:
        yield "# newpar"
    yield "# text = " + "".join(token.form + " " * token.space_after for token in tokens).rstrip()
    k = 0
    for token in tokens:
        misc = "_" if token.space_after else "SpaceAfter=No"
        if token.is_multiword:
            yield "\t".join((f"{k + 1}-{k + len(token.words)}", token.form, *"_______", misc))
            misc = "_"
        for word in token.words:
            tags = sentence.lemmas[k], sentence.coarse[k], sentence.fine[k], morphology_cell(sentence.morphology[k])
            k += 1
            yield "\t".join((str(k), word, *tags, "_", "_", "_", misc))
