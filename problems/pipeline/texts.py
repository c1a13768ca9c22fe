"""Raw text and the tokens of annotated sentences, including multiword tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.problems.dependency.conll import FORM, ID, NUM_COLUMNS, conll_lines, parse_conll
from colgen.problems.dependency.sentence import Sentence

_MISC = NUM_COLUMNS - 1
_NO_SPACE = "SpaceAfter=No"


@dataclass(frozen=True)
class Token:
    """A token of a text.

    ``words`` are its syntactic words: the token itself, or several words.  ``space_after`` is True if blanks or the end
    of the text follow.
    """

    form: str
    words: tuple[str, ...]
    space_after: bool = True

    @property
    def is_multiword(self) -> bool:
        """Whether the token has several words, or a single word with another spelling."""
        return self.words != (self.form,)


def tokens_of(sentence: Sentence) -> list[Token]:
    """Return the tokens of a sentence read from a file; otherwise its forms, separated by blanks."""
    if not sentence.lines:
        return [Token(form, (form,)) for form in sentence.forms]
    tokens: list[Token] = []
    pending: list[str] = []
    form, space, last = "", True, 0
    for line in sentence.lines:
        row = line.split("\t")
        if line.startswith("#") or len(row) < 2 or "." in row[ID]:
            continue
        spaced = len(row) <= _MISC or _NO_SPACE not in row[_MISC].split("|")
        first, dash, end = row[ID].partition("-")
        if dash:
            form, space, last = row[FORM].strip(), spaced, int(end)
        elif int(first) <= last:
            pending.append(row[FORM].strip())
            if int(first) == last:
                tokens.append(Token(form, tuple(pending), space))
                pending = []
        else:
            tokens.append(Token(row[FORM].strip(), (row[FORM].strip(),), spaced))
    return tokens


def paragraphs_of(sentences: Iterable[Sentence]) -> Iterator[list[list[Token]]]:
    """Yield the paragraphs of a treebank as lists of sentences, which are lists of tokens.

    A comment ``newpar`` or ``newdoc`` begins a paragraph.
    """
    paragraph: list[list[Token]] = []
    for sentence in sentences:
        begins = any(line.startswith(("# newpar", "# newdoc")) for line in sentence.lines)
        if begins and paragraph:
            yield paragraph
            paragraph = []
        paragraph.append(tokens_of(sentence))
    if paragraph:
        yield paragraph


def text_of(paragraph: Iterable[Sequence[Token]]) -> str:
    """Return the raw text of a paragraph."""
    tokens = (token for sentence in paragraph for token in sentence)
    return "".join(token.form + " " * token.space_after for token in tokens).rstrip()


def check_characters(text: str, tokens: Iterable[Token]) -> None:
    """Raise :class:`InfeasibleAnswerError` unless tokens contain the characters of a text, ignoring blanks."""
    found, right = "".join("".join(token.form.split()) for token in tokens), "".join(text.split())
    if found != right:
        at = next(
            (k for k, (a, b) in enumerate(zip(found, right, strict=False)) if a != b), min(len(found), len(right))
        )
        raise InfeasibleAnswerError(
            f"the tokens of a text differ from it at character {at + 1}, ignoring blanks: {found[at : at + 20]!r} "
            f"instead of {right[at : at + 20]!r}"
        )


def check_written(sentence: Sentence) -> None:
    """Raise :class:`InfeasibleAnswerError` unless a sentence can be read back from the lines written for it."""
    lines = conll_lines(sentence)
    try:
        read = list(parse_conll(lines, name="the sentence"))
    except InputError as error:
        raise InfeasibleAnswerError(f"the output of the pipeline cannot be read: {error}") from None
    if read != [sentence] or tokens_of(read[0]) != tokens_of(sentence):
        raise InfeasibleAnswerError(
            f"the output of the pipeline for {' '.join(sentence.forms)[:60]!r} differs when it is read back"
        )


def read_paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of a text, separated by empty lines; other line ends count as blanks."""
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)
