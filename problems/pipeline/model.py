"""The steps from raw text to labelled trees as one model in one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from colgen.core.stop import StopRule
from colgen.learning.models import SavedModel
from colgen.learning.weights import part, prefixed
from colgen.problems.chain_map.characters import CharacterTagger
from colgen.problems.chain_map.learning import Tagger
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.parser import check_length, parse_sentences
from colgen.problems.grandparent_parsing.parses import Parse
from colgen.problems.pipeline.breaks import Breaks
from colgen.problems.pipeline.segmentation import Segmenter
from colgen.problems.pipeline.splitting import Splitter
from colgen.problems.pipeline.suffixes import SuffixRules
from colgen.problems.pipeline.texts import Token, check_written

_BYTE_ORDER_MARK = re.compile("^\ufeff+", re.MULTILINE)
"""Byte order marks at the start of lines, where files may have been concatenated; not part of the text."""

_BATCH = 1024
"""Approximate number of sentences tagged at once."""


@dataclass(frozen=True)
class Analysed:
    """A sentence with its CoNLL-U lines, and its parse with the proof; without heads if no tree was found."""

    sentence: Sentence
    parse: Parse


@dataclass(frozen=True)
class Pipeline(SavedModel):
    """A trained pipeline from raw text to labelled trees.

    Attributes
    ----------
    segmenter
        Splits text into sentences of tokens and words.
    tagger
        Predicts part of speech, fine tag and morphology of words as one label.
    lemmas
        Maps words and their tags to lemmas.
    parser
        Scores of trees and relations.
    """

    kind = "pipeline"
    version = 2

    segmenter: Segmenter
    tagger: Tagger
    lemmas: SuffixRules
    parser: Weights

    def analyse(self, paragraphs: Iterable[str], stop: Sequence[StopRule] = ()) -> Iterator[Analysed]:
        """Yield the sentences of a text's paragraphs, each as soon as it is parsed.

        Paragraphs are segmented and tagged in batches: for interactive use pass one paragraph per call.  ``stop`` are
        the stop rules of each parse.
        """
        for sentence, found in parse_sentences(self.tag_paragraphs(paragraphs), self.parser, stop):
            check_written(sentence)
            yield Analysed(sentence, found)

    def tag_paragraphs(self, paragraphs: Iterable[str]) -> Iterator[Sentence]:
        """Yield sentences with tags, morphology and lemmas, not yet parsed."""
        held: list[str] = []
        size = 0
        for marked in paragraphs:
            paragraph = _BYTE_ORDER_MARK.sub("", marked)
            held.append(paragraph)
            size += len(paragraph)
            if size > 64 * _BATCH:  # about _BATCH sentences
                yield from self._tag_batch(held)
                held, size = [], 0
        if held:
            yield from self._tag_batch(held)

    def _tag_batch(self, paragraphs: Sequence[str]) -> Iterator[Sentence]:
        segmented = [
            (not number, tokens)
            for paragraph in self.segmenter.segment(paragraphs)
            for number, tokens in enumerate(paragraph)
        ]
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
        about: dict[str, Any] = {"lemmas": self.lemmas.data()}
        arrays: dict[str, NDArray[Any]] = {}
        own: tuple[_Part, ...] = segmenter.tagger, segmenter.breaks, segmenter.splitter, self.tagger, self.parser
        for name, model in zip(_PARTS, own, strict=True):
            about[name], of_part = model.data()
            arrays |= prefixed(name, of_part)
        return about, arrays

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Pipeline:
        lemmas = SuffixRules.from_data(about["lemmas"])
        parts = _PARTS if "features" in about["segmenter"] else {**_PARTS, "segmenter": CharacterTagger}
        own = {name: model.from_data(about[name], part(name, arrays)) for name, model in parts.items()}
        return cls(Segmenter(own["segmenter"], own["breaks"], own["splitter"]), own["tagger"], lemmas, own["parser"])


_Part = Tagger | CharacterTagger | Breaks | Splitter | Weights

_PARTS: Mapping[str, Any] = {
    "segmenter": Tagger,
    "breaks": Breaks,
    "splitter": Splitter,
    "tagger": Tagger,
    "parser": Weights,
}
"""The models of the pipeline.  In languages without blanks between words, the segmenter labels characters."""


# --- tags ------------------------------------------------------------------------------------------------------------


def tags_of(sentence: Sentence) -> tuple[str, ...]:
    """Return the tagger's label of each word: part of speech, fine tag and morphology, separated by tabs."""
    cells = map(morphology_cell, sentence.morphology)
    return tuple("\t".join(parts) for parts in zip(sentence.coarse, sentence.fine, cells, strict=True))


def morphology_cell(features: Mapping[str, str]) -> str:
    """Return ``Case=Ine|Number=Sing``, or ``_``."""
    return "|".join(f"{key}={value}" for key, value in features.items()) or "_"


def with_tags(sentence: Sentence, tags: Sequence[str], lemmas: SuffixRules) -> Sentence:
    """Return the sentence with the tagger's tags, and the lemmas derived from them."""
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
    """Return the contexts for looking up lemmas: the complete tag, then the part of speech."""
    return tag, tag.partition("\t")[0]


def with_tokens(tokens: Sequence[Token]) -> Sentence:
    """Return a sentence with these tokens, whose words have no tags, lemmas and heads."""
    forms = tuple(word for token in tokens for word in token.words)
    blank = ("_",) * len(forms)
    sentence = Sentence(forms, blank, blank, blank, ({},) * len(forms))
    return replace(sentence, lines=tuple(_lines(sentence, tokens, begins=False)))


def _features(cell: str) -> dict[str, str]:
    return {} if cell == "_" else dict(item.split("=", 1) for item in cell.split("|"))


def _lines(sentence: Sentence, tokens: Sequence[Token], begins: bool) -> Iterator[str]:
    """Yield the CoNLL-U lines of a sentence, without heads and relations."""
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
