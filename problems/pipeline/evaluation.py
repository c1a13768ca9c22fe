"""Scores of an analysis of raw text, as defined by the 2018 shared task: F1 over its characters.

Tokens and sentences are equal if they cover the same characters, ignoring blanks.  Words are aligned if they cover the
same characters; inside multiword tokens, by a longest common subsequence of their forms.  Scores of tags and arcs count
the aligned words with correct values, relative to the words of both sides.

Source: D. Zeman and others, *CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies*
(2018), section 5, and its evaluation script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from colgen import InputError
from colgen.problems.dependency.evaluation import NO_CONTENT
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.pipeline.texts import tokens_of

Span = tuple[int, int]


@dataclass(frozen=True)
class PipelineScores:
    """F1 scores in percent, of segmentation, tags, lemmas and arcs; ``clas`` is the LAS of content words."""

    tokens: float
    sentences: float
    words: float
    upos: float
    xpos: float
    feats: float
    all_tags: float
    lemmas: float
    uas: float
    las: float
    clas: float

    def items(self) -> list[tuple[str, float]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]


@dataclass(frozen=True)
class _Word:
    """A word of a text; ``head`` is its head's index in the text, from 0; -1 is the root."""

    form: str
    span: Span
    multiword: bool
    head: int
    relation: str
    coarse: str
    fine: str
    features: tuple[tuple[str, str], ...]
    lemma: str

    @property
    def is_content(self) -> bool:
        return self.relation not in NO_CONTENT


@dataclass(frozen=True)
class _Text:
    """A text as spans of its characters."""

    characters: str
    sentences: list[Span]
    tokens: list[Span]
    words: list[_Word]


def compare(gold: Iterable[Sentence], found: Iterable[Sentence]) -> PipelineScores:
    """Return the scores of an analysis against the gold standard of the same text.

    Raises :class:`InputError` if the texts differ in characters other than blanks.
    """
    right, ours = _text(gold), _text(found)
    if right.characters != ours.characters:
        at = next(
            (k for k, (a, b) in enumerate(zip(right.characters, ours.characters, strict=False)) if a != b),
            min(len(right.characters), len(ours.characters)),
        )
        raise InputError(f"expected two analyses of one text, but they differ at character {at + 1}, ignoring blanks")
    pairs = _align_words(right.words, ours.words)
    of_ours = {b: a for a, b in pairs}

    def same_head(a: _Word, b: _Word) -> bool:
        return a.head == (b.head if b.head < 0 else of_ours.get(b.head, -2))

    def of_words(equal: Callable[[_Word, _Word], bool]) -> float:
        good = sum(equal(right.words[a], ours.words[b]) for a, b in pairs)
        return _f1(good, len(right.words), len(ours.words))

    content = sum(
        same_head(right.words[a], ours.words[b])
        and right.words[a].relation == ours.words[b].relation
        and right.words[a].is_content
        for a, b in pairs
    )
    return PipelineScores(
        tokens=_f1(len({*right.tokens} & {*ours.tokens}), len(right.tokens), len(ours.tokens)),
        sentences=_f1(len({*right.sentences} & {*ours.sentences}), len(right.sentences), len(ours.sentences)),
        words=_f1(len(pairs), len(right.words), len(ours.words)),
        upos=of_words(lambda a, b: a.coarse == b.coarse),
        xpos=of_words(lambda a, b: a.fine == b.fine),
        feats=of_words(lambda a, b: a.features == b.features),
        all_tags=of_words(lambda a, b: (a.coarse, a.fine, a.features) == (b.coarse, b.fine, b.features)),
        lemmas=of_words(lambda a, b: a.lemma in ("_", b.lemma)),
        uas=of_words(same_head),
        las=of_words(lambda a, b: same_head(a, b) and a.relation == b.relation),
        clas=_f1(content, sum(w.is_content for w in right.words), sum(w.is_content for w in ours.words)),
    )


def _f1(good: int, right: int, found: int) -> float:
    return 200.0 * good / max(right + found, 1)


def _text(sentences: Iterable[Sentence]) -> _Text:
    text = _Text("", [], [], [])
    pieces: list[str] = []
    at = 0
    for sentence in sentences:
        begin, offset, k = at, len(text.words), 0
        heads = sentence.heads or (0,) * len(sentence)
        for token in tokens_of(sentence):
            form = "".join(token.form.split())
            pieces.append(form)
            span = (at, at + len(form))
            text.tokens.append(span)
            at = span[1]
            for word in token.words:
                head = heads[k]
                text.words.append(
                    _Word(
                        word,
                        span,
                        token.is_multiword,
                        offset + head - 1 if head else -1,
                        (sentence.relations[k] if sentence.relations else "_").partition(":")[0],
                        sentence.coarse[k],
                        sentence.fine[k],
                        tuple(sorted(sentence.morphology[k].items())),
                        sentence.lemmas[k],
                    )
                )
                k += 1
        text.sentences.append((begin, at))
    return _Text("".join(pieces), text.sentences, text.tokens, text.words)


# --- word alignment --------------------------------------------------------------------------------------------------


def _align_words(right: Sequence[_Word], ours: Sequence[_Word]) -> list[tuple[int, int]]:
    """Return the index pairs of aligned words, ascending in both."""
    pairs: list[tuple[int, int]] = []
    a = b = 0
    while a < len(right) and b < len(ours):
        first, second = right[a], ours[b]
        if first.multiword or second.multiword:
            begin_a, begin_b, a, b = _multiword_block(right, ours, a, b)
            forms_a = [word.form.lower() for word in right[begin_a:a]]
            forms_b = [word.form.lower() for word in ours[begin_b:b]]
            pairs += [(begin_a + i, begin_b + j) for i, j in _common_subsequence(forms_a, forms_b)]
        elif first.span == second.span:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif first.span[0] <= second.span[0]:
            a += 1
        else:
            b += 1
    return pairs


def _multiword_block(right: Sequence[_Word], ours: Sequence[_Word], a: int, b: int) -> tuple[int, int, int, int]:
    """Return the range of the smallest block around a multiword token, in both."""
    if right[a].multiword:
        end = right[a].span[1]
        b += not ours[b].multiword and ours[b].span[0] < right[a].span[0]
    else:
        end = ours[b].span[1]
        a += not right[a].multiword and right[a].span[0] < ours[b].span[0]
    begin_a, begin_b = a, b
    while not (_is_beyond(right, a, end) and _is_beyond(ours, b, end)):
        if a < len(right) and (b >= len(ours) or right[a].span[0] <= ours[b].span[0]):
            word, a = right[a], a + 1
        else:
            word, b = ours[b], b + 1
        if word.multiword:
            end = max(end, word.span[1])
    return begin_a, begin_b, a, b


def _is_beyond(words: Sequence[_Word], place: int, end: int) -> bool:
    if place >= len(words):
        return True
    span = words[place].span
    return span[0] >= end if words[place].multiword else span[1] > end


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return the index pairs of a longest common subsequence."""
    length = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in reversed(range(len(first))):
        for j in reversed(range(len(second))):
            same = length[i + 1][j + 1] + 1 if first[i] == second[j] else 0
            length[i][j] = max(same, length[i + 1][j], length[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif length[i][j] == length[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
