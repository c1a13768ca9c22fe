"""Tokens of raw text: atoms by rule, a chain's best labelling says what begins at each; then sentences of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from colgen.core.errors import InputError
from colgen.problems.chain_map.corpus import Tagged
from colgen.problems.chain_map.learning import TaggedExamples, Tagger, train_perceptron
from colgen.problems.pipeline.breaks import Breaks, learn_breaks
from colgen.problems.pipeline.clusters import UNSPACED, cluster_begins, letters_of, outline
from colgen.problems.pipeline.suffixes import SuffixRules, learn_suffixes
from colgen.problems.pipeline.texts import Token, check_characters

TOKEN, SAME = "token", "same"
LABELS = (SAME, TOKEN)
"""Whether a token begins at an atom, or the atom belongs to the token before."""

TASK = "segments"

EPOCHS = 20

MISSED = 0.05
"""Share of the tokens that may begin inside an atom: of languages with blanks between words these are far fewer."""

PIECE = 10
"""Sentences that are learned from at once where all are one paragraph: a step of the perceptron a piece."""

_WORD = rf"[^\W{UNSPACED}]"
_ATOM = re.compile(
    rf"""
    (?P<blanks> \s* )
    (?P<atom>
        (?: https?:// | www\. ) [^\s<>]* [^\s<>.,;:!?)\]"']   # addresses, without the punctuation that follows
        | (?: {_WORD} | [.+-] ){{1,64}} @ (?: {_WORD} | - ){{1,63}} (?: \. (?: {_WORD} | - ){{1,63}} )+
        | {_WORD} (?: {_WORD} | - ){{0,63}} (?: \. (?: {_WORD} | - ){{1,63}} ){{0,9}} \.
          (?: com | org | net | edu | gov | html? | pdf | doc | xls | txt | jpe?g | gif | zip ) \b
        | [:;=8] [-'o]? [)(DPp|/\\] (?! \w | / )                  # faces
        | [{UNSPACED}] | [^\W\d_{UNSPACED}]+ | \d+ (?: [.,] \d+ )*
        | (?P<one> [^\w\s()\[\]{{}}"'] | _ ) (?P=one)*           # "!!!", "--", "...", but each bracket and quote
        | \S
    )
    """,
    re.VERBOSE,
)
_SPACED = "\N{LOWER ONE EIGHTH BLOCK}"
"""Before the characters of an atom that blanks stand before."""

_UNSPACED = re.compile(f"[{UNSPACED}]")

_MAY_END = re.compile(r"""[.!?:;)"'\]…»”>-]+""")
"""Signs that sentences may end with."""

_WITHOUT_LENGTH = str.maketrans("IMWiew", "UUUlll")
"""Of what follows a sign the case is told alone."""


@dataclass(frozen=True)
class Atoms:
    """The atoms of a paragraph.

    Attributes
    ----------
    names
        Their characters, with a mark where blanks stand before them; those of signs that may end a sentence say as well
        of what kind their neighbours are.
    begins, ends
        Where they stand in the paragraph.
    """

    names: tuple[str, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]


def atoms_of(paragraph: str) -> Atoms:
    """Addresses, runs of letters, numbers, runs of one sign, and brackets and quotes one by one.

    Letters of scripts that are written without blanks between words are atoms of their own.  Characters that belong
    together (:mod:`colgen.problems.pipeline.clusters`) are in one atom.
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
    marked = tuple(_marked(*three) for three in zip(["", *names], names, [*names[1:], ""], strict=False))
    return Atoms(marked, begins, ends)


def _marked(before: str, name: str, after: str) -> str:
    """The name of an atom: a full stop after "Mr" is another than one after a long word, before a capital or not."""
    if not _MAY_END.fullmatch(name.removeprefix(_SPACED)):
        return name
    spaced = "s" if after.startswith(_SPACED) else ""
    return f"{name}{_SPACED}{_kind(before)}{spaced}{_kind(after)[:1].translate(_WITHOUT_LENGTH)}"


def _kind(name: str) -> str:
    """Case and length of letters, digits, something else, or nothing."""
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
    """Parts a paragraph into sentences, tokens and words.

    Attributes
    ----------
    tagger
        Labels atoms.
    breaks
        Says where sentences end among tokens.
    words
        Rewrites a token to its words, with blanks between them.
    """

    tagger: Tagger
    breaks: Breaks
    words: SuffixRules

    def segment(self, paragraphs: Sequence[str]) -> list[list[list[Token]]]:
        """The sentences of each paragraph as tokens; a paragraph of blanks has none."""
        atoms = [atoms_of(paragraph) for paragraph in paragraphs]
        labels = iter(self.tagger.tag([a.names for a in atoms if a.names]) if any(a.names for a in atoms) else [])
        tokens = [self._tokens(p, a, next(labels)) if a.names else [] for p, a in zip(paragraphs, atoms, strict=True)]
        for paragraph, own in zip(paragraphs, tokens, strict=True):
            check_characters(paragraph, own)
        return [self.breaks.parted(own) for own in tokens]

    def _tokens(self, paragraph: str, atoms: Atoms, labels: Sequence[str]) -> list[Token]:
        starts = [k for k, label in enumerate(labels) if label != SAME or not k]
        tokens: list[Token] = []
        for first, after in zip(starts, [*starts[1:], len(labels)], strict=True):
            begin, end = atoms.begins[first], atoms.ends[after - 1]
            form = " ".join(paragraph[begin:end].split())
            spaced = after == len(labels) or atoms.begins[after] > end
            tokens.append(Token(form, self._words(form), spaced))
        return tokens

    def _words(self, form: str) -> tuple[str, ...]:
        words = () if " " in form else tuple(filter(None, self.words.of(form).split(" ")))
        return words if len(words) > 1 else (form,)


def labelled_atoms(paragraph: Iterable[Sequence[Token]]) -> tuple[str, Tagged]:
    """A paragraph's text, and its atoms with what begins at each.

    Where two tokens meet inside an atom ("cannot" as two tokens), nothing begins: atoms are the finest there is.
    """
    text, begins = _begins(paragraph)
    atoms = atoms_of(text)
    return text, Tagged(atoms.names, tuple(TOKEN if begin in begins else SAME for begin in atoms.begins))


def check_blanks(paragraphs: Iterable[Sequence[Sequence[Token]]]) -> None:
    """Refuse texts whose tokens cannot be found.

    Raises
    ------
    InputError
        If more than :data:`MISSED` of the tokens begin inside an atom, or a script without blanks is written with them.
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
            f"{100 * missed / count:.0f}% of the tokens begin inside a run of letters (the first before {example!r}): "
            "the pipeline finds tokens at blanks, at signs and between letters of scripts without blanks, so it cannot "
            "learn from these texts"
        )
    if 2 * unspaced > count and not joined:
        raise InputError(
            "most tokens are in a script without blanks between words, and all have blanks around them: expected "
            "SpaceAfter=No in the last column of tokens that no blank follows"
        )


def _begins(paragraph: Iterable[Sequence[Token]]) -> tuple[str, set[int]]:
    """A paragraph's text, and where its tokens begin."""
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
    """A segmenter from paragraphs of sentences of tokens; others, to tune on, say how eagerly sentences are ended.

    Raises
    ------
    InputError
        If tokens cannot be found in these texts, see :func:`check_blanks`.
    """
    check_blanks(paragraphs)
    pieces = list(paragraphs)
    if len(pieces) == 1:  # nobody has said where paragraphs begin
        pieces = [pieces[0][begin : begin + PIECE] for begin in range(0, len(pieces[0]), PIECE)]
    examples = TaggedExamples.of([labelled_atoms(piece)[1] for piece in pieces], LABELS)
    tagger = train_perceptron(TASK, examples, epochs=EPOCHS, seed=seed, say=lambda line: say(f"segmentation: {line}"))
    tokens = (token for paragraph in paragraphs for sentence in paragraph for token in sentence)
    plain = (token for token in tokens if all(len(text.split()) == 1 for text in (token.form, *token.words)))
    pairs = (("", token.form, " ".join(token.words)) for token in plain)
    return Segmenter(tagger, learn_breaks(pieces, tune=tune), learn_suffixes(pairs, lowers=False, covered=True))
