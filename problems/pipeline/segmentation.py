"""Segmentation of raw text: atoms by rule, tokens by labelling the chain of atoms, then sentences of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from colgen.core.errors import InputError
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
"""Maximum share of tokens that begin inside an atom; languages with blanks between words have far fewer."""

PIECE = 10
"""Number of sentences per training example if the text is a single paragraph; each is one perceptron step."""

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

    ``tagger`` labels atoms, ``breaks`` predicts sentence ends, and ``splitter`` splits tokens into words.
    """

    tagger: Tagger
    breaks: Breaks
    splitter: Splitter

    def segment(self, paragraphs: Sequence[str]) -> list[list[list[Token]]]:
        """Return the sentences of each paragraph as tokens; a paragraph of blanks has none."""
        atoms = [atoms_of(paragraph) for paragraph in paragraphs]
        labels = iter(self.tagger.tag([a.names for a in atoms if a.names]) if any(a.names for a in atoms) else [])
        spans = [_spans(p, a, next(labels)) if a.names else [] for p, a in zip(paragraphs, atoms, strict=True)]
        words = iter(self.splitter.split([form for own in spans for form, _ in own]))
        tokens = [[Token(form, next(words), spaced) for form, spaced in own] for own in spans]
        for paragraph, own in zip(paragraphs, tokens, strict=True):
            check_characters(paragraph, own)
        return [self.breaks.split(own) for own in tokens]


def _spans(paragraph: str, atoms: Atoms, labels: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the form of each token, and whether blanks or the end of the text follow."""
    starts = [k for k, label in enumerate(labels) if label != SAME or not k]
    spans: list[tuple[str, bool]] = []
    for first, after in zip(starts, [*starts[1:], len(labels)], strict=True):
        begin, end = atoms.begins[first], atoms.ends[after - 1]
        spans.append((" ".join(paragraph[begin:end].split()), after == len(labels) or atoms.begins[after] > end))
    return spans


def label_atoms(paragraph: Iterable[Sequence[Token]]) -> tuple[str, Tagged]:
    """Return a paragraph's text, and its atoms with their labels.

    A token that begins inside an atom ("cannot" as two tokens) is ignored, because atoms are not split.
    """
    text, begins = _begins(paragraph)
    atoms = atoms_of(text)
    return text, Tagged(atoms.names, tuple(TOKEN if begin in begins else SAME for begin in atoms.begins))


def check_blanks(paragraphs: Iterable[Sequence[Sequence[Token]]]) -> None:
    """Raise :class:`InputError` for texts whose tokens cannot be found.

    This is the case if more than :data:`MISSED` of the tokens begin inside an atom, or if text in a script without
    blanks has them.
    """
    count, missed, example, unspaced, joined = 0, 0, "", 0, 0
    for paragraph in paragraphs:
        text, begins = _begins(paragraph)
        inside = sorted(begins - {*atoms_of(text).begins})
        example = example or (text[inside[0] :].split() or [""])[0][:20] if inside else example
        count, missed = count + len(begins), missed + len(inside)
        for token in (token for sentence in paragraph for token in sentence):
            unspaced += _UNSPACED.match(token.form) is not None
            joined += not token.space_after
    if missed > MISSED * count:
        raise InputError(
            f"{100 * missed / count:.0f}% of the tokens begin inside a run of letters (the first before {example!r}), "
            f"expected at most {100 * MISSED:.0f}%: the pipeline only splits at blanks, at signs and between letters "
            "of scripts without blanks"
        )
    if 2 * unspaced > count and not joined:
        raise InputError(
            "most tokens are in a script without blanks between words, but all are followed by blanks: add "
            "SpaceAfter=No to the last column of tokens that are not"
        )


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
    check_blanks(paragraphs)
    pieces = list(paragraphs)
    if len(pieces) == 1:  # paragraphs are not annotated
        pieces = [pieces[0][begin : begin + PIECE] for begin in range(0, len(pieces[0]), PIECE)]
    examples = TaggedExamples.of([label_atoms(piece)[1] for piece in pieces], LABELS)
    tagger = train_perceptron(TASK, examples, epochs=EPOCHS, seed=seed, say=lambda line: say(f"segmentation: {line}"))
    tokens = (token for paragraph in paragraphs for sentence in paragraph for token in sentence)
    splitter = learn_splitter(tokens, seed=seed, say=lambda line: say(f"multiword tokens: {line}"))
    return Segmenter(tagger, learn_breaks(pieces, tune=tune), splitter)
