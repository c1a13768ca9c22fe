"""Segmentation of raw text: tokens by labelling a chain of atoms, then sentences of tokens.

Atoms are found by rule; in languages without blanks between words they are the characters.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from colgen.core.errors import InputError
from colgen.problems.chain_map.characters import CharacterTagger, train_characters
from colgen.problems.chain_map.corpus import Tagged
from colgen.problems.chain_map.learning import TaggedExamples, Tagger, train_perceptron
from colgen.problems.pipeline.breaks import Breaks, learn_breaks
from colgen.problems.pipeline.clusters import UNSPACED, cluster_begins, letters_of, outline
from colgen.problems.pipeline.splitting import Splitter, learn_splitter
from colgen.problems.pipeline.texts import Token, check_characters

TOKEN, SAME = "token", "same"
LABELS = (SAME, TOKEN)
"""Whether an atom begins a token or continues the previous one."""

TASK = "segments"

EPOCHS = 20

MISSED = 0.05
"""Maximum share of tokens that begin inside an atom, if atoms are labelled instead of characters."""

PIECE = 10
"""Number of sentences per training example if the text is a single paragraph; each is one perceptron step."""

SHORT_PIECE = 2
"""The same for chains of characters, which are longer; so more steps are taken, and some sentence ends are inside."""

_WORD = rf"[^\W{UNSPACED}]"
_ATOM = re.compile(
    rf"""
    (?P<blanks> \s* )
    (?P<atom>
        (?: https?:// | www\. ) [^\s<>]* [^\s<>.,;:!?)\]"']   # addresses, without punctuation at the end
        | (?: {_WORD} | [.+-] ){{1,64}} @ (?: {_WORD} | - ){{1,63}} (?: \. (?: {_WORD} | - ){{1,63}} )+
        | {_WORD} (?: {_WORD} | - ){{0,63}} (?: \. (?: {_WORD} | - ){{1,63}} ){{0,9}} \.
          (?: com | org | net | edu | gov | html? | pdf | doc | xls | txt | jpe?g | gif | zip ) \b
        | [:;=8] [-'o]? [)(DPp|/\\] (?! \w | / )                  # emoticons
        | [{UNSPACED}] | [^\W\d_{UNSPACED}]+ | \d+ (?: [.,] \d+ )*
        | (?P<one> [^\w\s()\[\]{{}}"'] | _ ) (?P=one)*           # "!!!", "--", "...", but each bracket and quote
        | \S
    )
    """,
    re.VERBOSE,
)
_SPACED = "\N{LOWER ONE EIGHTH BLOCK}"
"""Prefix of atoms preceded by blanks."""

_UNSPACED = re.compile(f"[{UNSPACED}]")

_MAY_END = re.compile(r"""[.!?:;)"'\]…»”>-]+""")
"""Signs that may end a sentence."""

_WITHOUT_LENGTH = str.maketrans("IMWiew", "UUUlll")
"""Reduces the kind of an atom that follows a sign to its case."""


@dataclass(frozen=True)
class Atoms:
    """The atoms of a paragraph with their positions.

    Names are their characters, prefixed if blanks precede them; those of signs that may end a sentence also encode the
    kinds of their neighbours.
    """

    names: tuple[str, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]


def atoms_of(paragraph: str) -> Atoms:
    """Return the atoms: addresses, runs of letters, numbers, runs of one sign, and single brackets and quotes.

    Letters of scripts without blanks between words are separate atoms.  Grapheme clusters
    (:mod:`colgen.problems.pipeline.clusters`) are never split.
    """
    clusters = cluster_begins(paragraph)
    found = list(_ATOM.finditer(outline(paragraph, clusters)))
    clusters.append(len(paragraph))
    begins = tuple(clusters[match.start("atom")] for match in found)
    ends = tuple(clusters[match.end("atom")] for match in found)
    names = [
        _SPACED * bool(match["blanks"] or not match.start()) + paragraph[begin:end]
        for match, begin, end in zip(found, begins, ends, strict=True)
    ]
    marked = tuple(_name_atom(*three) for three in zip(["", *names], names, [*names[1:], ""], strict=False))
    return Atoms(marked, begins, ends)


def characters_of(paragraph: str) -> Atoms:
    """Return all grapheme clusters but blanks as atoms; names do not depend on neighbours."""
    clusters = [*cluster_begins(paragraph), len(paragraph)]
    spans = [(b, e) for b, e in itertools.pairwise(clusters) if not paragraph[b:e].isspace()]
    ends = [0, *(end for _, end in spans)]
    names = tuple(_SPACED * (b > before) + paragraph[b:e] for (b, e), before in zip(spans, ends, strict=False))
    return Atoms(names, tuple(b for b, _ in spans), tuple(e for _, e in spans))


def _name_atom(before: str, name: str, after: str) -> str:
    """Return the name of an atom, which for a full stop depends on the neighbours, such as "Mr" or a capital."""
    if not _MAY_END.fullmatch(name.removeprefix(_SPACED)):
        return name
    spaced = "s" if after.startswith(_SPACED) else ""
    return f"{name}{_SPACED}{_kind(before)}{spaced}{_kind(after)[:1].translate(_WITHOUT_LENGTH)}"


def _kind(name: str) -> str:
    """Return the kind of an atom: case and length of letters, digits, other, or nothing."""
    text = letters_of(name.removeprefix(_SPACED))
    if not text:
        return "-"
    if text.isalpha():
        return ("I" if len(text) == 1 else "Mr" if len(text) <= 3 else "Word") if text[0].isupper() else _lower(text)
    return "0" if text[0].isdigit() else "."


def _lower(text: str) -> str:
    return "i" if len(text) <= 2 else "etc" if len(text) == 3 else "word"


@dataclass(frozen=True)
class Segmenter:
    """Splits a paragraph into sentences, tokens and words.

    ``tagger`` labels atoms or characters, ``breaks`` predicts sentence ends, and ``splitter`` splits tokens into words.
    """

    tagger: Tagger | CharacterTagger
    breaks: Breaks
    splitter: Splitter

    def segment(self, paragraphs: Sequence[str]) -> list[list[list[Token]]]:
        """Return the sentences of each paragraph as tokens; a paragraph of blanks has none."""
        cut = characters_of if isinstance(self.tagger, CharacterTagger) else atoms_of
        atoms = [cut(paragraph) for paragraph in paragraphs]
        labels = iter(self._label([a.names for a in atoms if a.names]))
        spans = [_spans(p, a, next(labels)) if a.names else [] for p, a in zip(paragraphs, atoms, strict=True)]
        words = iter(self.splitter.split([form for own in spans for form, _ in own]))
        tokens = [[Token(form, next(words), spaced) for form, spaced in own] for own in spans]
        for paragraph, own in zip(paragraphs, tokens, strict=True):
            check_characters(paragraph, own)
        return [self.breaks.split(own) for own in tokens]

    def _label(self, names: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the label of each atom."""
        if not names:
            return []
        if isinstance(self.tagger, CharacterTagger):
            return [[LABELS[label] for label in labels] for labels in self.tagger.tag(names)]
        return self.tagger.tag(names)


def _spans(paragraph: str, atoms: Atoms, labels: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the form of each token, and whether blanks or the end of the text follow."""
    starts = [k for k, label in enumerate(labels) if label != SAME or not k]
    spans: list[tuple[str, bool]] = []
    for first, after in zip(starts, [*starts[1:], len(labels)], strict=True):
        begin, end = atoms.begins[first], atoms.ends[after - 1]
        spans.append((" ".join(paragraph[begin:end].split()), after == len(labels) or atoms.begins[after] > end))
    return spans


def label_atoms(paragraph: Iterable[Sequence[Token]], *, characters: bool = False) -> tuple[str, Tagged]:
    """Return a paragraph's text, and its atoms with their labels.

    A token that begins inside an atom ("cannot" as two tokens) is ignored, because atoms are not split.
    """
    text, begins = _begins(paragraph)
    atoms = characters_of(text) if characters else atoms_of(text)
    return text, Tagged(atoms.names, tuple(TOKEN if begin in begins else SAME for begin in atoms.begins))


def _tokens_of(tagged: Tagged) -> list[tuple[str, ...]]:
    """Return the characters of each token."""
    starts = [k for k, tag in enumerate(tagged.tags) if tag == TOKEN or not k]
    return [tagged.words[a:b] for a, b in zip(starts, [*starts[1:], len(tagged.tags)], strict=True)]


def needs_characters(paragraphs: Iterable[Sequence[Sequence[Token]]]) -> bool:
    """Return whether any character may begin a token, because blanks do not separate words.

    This is the case if most tokens begin with a letter of a script without blanks, or more than :data:`MISSED` of them
    begin inside an atom.  Raises :class:`InputError` if text in such a script has blanks between all tokens.
    """
    count, missed, unspaced, joined = 0, 0, 0, 0
    for paragraph in paragraphs:
        text, begins = _begins(paragraph)
        count, missed = count + len(begins), missed + len(begins - {*atoms_of(text).begins})
        for token in (token for sentence in paragraph for token in sentence):
            unspaced += _UNSPACED.match(token.form) is not None
            joined += not token.space_after
    if 2 * unspaced > count and not joined:
        raise InputError(
            "most tokens are in a script without blanks between words, but all are followed by blanks: add "
            "SpaceAfter=No to the last column of tokens that are not"
        )
    return 2 * unspaced > count or missed > MISSED * count


def _begins(paragraph: Iterable[Sequence[Token]]) -> tuple[str, set[int]]:
    """Return a paragraph's text, and the positions where its tokens begin."""
    text, begins = [], set()
    length = 0
    for sentence in paragraph:
        for token in sentence:
            begins.add(length)
            text.append(token.form + " " * token.space_after)
            length += len(text[-1])
    return "".join(text), begins


def learn_segmenter(
    paragraphs: Sequence[Sequence[Sequence[Token]]],
    *,
    tune: Sequence[Sequence[Sequence[Token]]] = (),
    seed: int = 0,
    say: Callable[[str], None] = print,
) -> Segmenter:
    """Return a segmenter learned from paragraphs of sentences of tokens; ``tune`` sets the threshold of breaks."""
    characters = needs_characters(paragraphs)
    pieces = list(paragraphs)
    if len(pieces) == 1:  # paragraphs are not annotated
        pieces = [pieces[0][begin : begin + PIECE] for begin in range(0, len(pieces[0]), PIECE)]

    def progress(line: str) -> None:
        say(f"segmentation: {line}")

    tagger: Tagger | CharacterTagger
    if characters:
        sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        short = [sentences[begin : begin + SHORT_PIECE] for begin in range(0, len(sentences), SHORT_PIECE)]
        tagged = [label_atoms(piece, characters=True)[1] for piece in short]
        labels = [[LABELS.index(tag) for tag in one.tags] for one in tagged]
        words = [_tokens_of(one) for one in tagged]
        tagger = train_characters([one.words for one in tagged], labels, words, epochs=EPOCHS, seed=seed, say=progress)
    else:
        examples = TaggedExamples.of([label_atoms(piece)[1] for piece in pieces], LABELS)
        tagger = train_perceptron(TASK, examples, epochs=EPOCHS, seed=seed, say=progress)
    tokens = (token for paragraph in paragraphs for sentence in paragraph for token in sentence)
    splitter = learn_splitter(tokens, seed=seed, say=lambda line: say(f"multiword tokens: {line}"))
    return Segmenter(tagger, learn_breaks(pieces, tune=tune), splitter)
