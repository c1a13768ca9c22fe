"""Raw text and the tokens of annotated sentences: what stands where, and what is one token or several words."""

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
    """A token as it stands in the text.

    Attributes
    ----------
    form
        Its characters.
    words
        The syntactic words that it is: itself, or several.
    space_after
        Whether blanks, or the end of the text, follow.
    """

    form: str
    words: tuple[str, ...]
    space_after: bool = True

    @property
    def is_multiword(self) -> bool:
        """Whether it is several words, or one that is written differently."""
        return self.words != (self.form,)


def tokens_of(sentence: Sentence) -> list[Token]:
    """The tokens of a sentence that was read from a file; those of another are its forms, with blanks between them."""
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
    """Sentences as tokens, those of a paragraph together, as comments ``newpar`` and ``newdoc`` say."""
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
    """The raw text of a paragraph."""
    tokens = (token for sentence in paragraph for token in sentence)
    return "".join(token.form + " " * token.space_after for token in tokens).rstrip()


def check_characters(text: str, tokens: Iterable[Token]) -> None:
    """Check that tokens are the characters of a text, blanks apart.

    Raises
    ------
    InfeasibleAnswerError
        If one is missing or added: a mistake of this project's.
    """
    found, right = "".join("".join(token.form.split()) for token in tokens), "".join(text.split())
    if found != right:
        at = next(
            (k for k, (a, b) in enumerate(zip(found, right, strict=False)) if a != b), min(len(found), len(right))
        )
        raise InfeasibleAnswerError(
            f"the tokens of a text differ from it at character {at + 1}, blanks not counted: {found[at : at + 20]!r} "
            f"in place of {right[at : at + 20]!r}"
        )


def check_written(sentence: Sentence) -> None:
    """Check that a sentence comes back from the lines that are written of it.

    Raises
    ------
    InfeasibleAnswerError
        If it does not: a mistake of this project's.
    """
    lines = conll_lines(sentence)
    try:
        read = list(parse_conll(lines, name="the sentence"))
    except InputError as error:
        raise InfeasibleAnswerError(f"what the pipeline writes cannot be read: {error}") from None
    if read != [sentence] or tokens_of(read[0]) != tokens_of(sentence):
        raise InfeasibleAnswerError(f"what the pipeline writes of {' '.join(sentence.forms)[:60]!r} does not come back")


def read_paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """The paragraphs of a text: an empty line ends one, other ends of lines are blanks."""
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)
