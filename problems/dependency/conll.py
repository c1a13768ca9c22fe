"""Treebank files: CoNLL-U (Universal Dependencies) and CoNLL-X (the shared task of 2006), ten columns a token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from colgen import InputError
from colgen.core.files import read_bytes, writing
from colgen.problems.dependency.sentence import Sentence, check_tree

NUM_COLUMNS = 10
ID, FORM, LEMMA, COARSE, FINE, MORPHOLOGY, HEAD, RELATION = range(8)

_MULTIWORD = re.compile(r"([0-9]+)-([0-9]+)$")
_EMPTY = re.compile(r"[0-9]+\.[0-9]+$")
_DIGITS = 9
"""No number of a token has more: a file that holds them is larger than any that is read."""

_LONGEST = 40
"""Characters of a cell that messages show."""


def read_conll(
    path: Path | str, *, single_root: bool = False, skip: Callable[[str], None] | None = None
) -> list[Sentence]:
    """Read the sentences of a file in CoNLL-U or CoNLL-X.

    Ten columns (CoNLL-X: eight or more) separated by tabs, an empty line after each sentence.  A line that begins with
    ``#`` is a comment.  Of CoNLL-U, comments, multiword tokens (``6-7``) and empty nodes (``8.1``) are kept for writing
    and otherwise passed over: the syntactic words are the tokens.  A sentence whose heads are all ``_`` has not been
    parsed.

    Parameters
    ----------
    single_root
        Refuse trees with several tokens that hang from the root.
    skip
        Told of each sentence that is malformed, which is then left out; None: it is an error.

    Raises
    ------
    InputError
        With file and line, where the file is something else or heads are no tree.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {at}: not a text file in UTF-8") from None
    sentences = list(parse_conll(text.split("\n"), name=str(path), single_root=single_root, skip=skip))
    if not sentences:
        raise InputError(f"{path}: expected sentences in CoNLL-U or CoNLL-X, there are none")
    return sentences


def parse_conll(
    lines: Iterable[str],
    *,
    name: str = "input",
    single_root: bool = False,
    skip: Callable[[str], None] | None = None,
) -> Iterator[Sentence]:
    """Sentences of lines, one after the other, as :func:`read_conll` reads them; ``name`` is for messages."""
    block: list[str] = []
    number = 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        if line.strip():
            block.append(line)
        elif block:
            yield from _unless_bad(block, name, number - len(block), single_root, skip)
            block = []
    if block:
        yield from _unless_bad(block, name, number - len(block) + 1, single_root, skip)


def _unless_bad(
    block: list[str], name: str, first: int, single_root: bool, skip: Callable[[str], None] | None
) -> Iterator[Sentence]:
    """The sentence of a block of lines, unless it is malformed and may be left out."""
    try:
        yield from _sentence(block, name, first, single_root)
    except InputError as error:
        if skip is None:
            raise
        skip(f"{error}; the sentence is left out")


def _sentence(block: list[str], name: str, first: int, single_root: bool) -> Iterator[Sentence]:
    """The sentence of a block of lines; nothing for comments alone."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    last, spanned = 0, first  # the last word of a multiword token, and the line of that
    for number, line in enumerate(block, first):
        if line.startswith("#"):
            continue
        where = f"{name}, line {number}"
        row = [cell.strip() for cell in line.split("\t")]
        if len(row) < HEAD + 1:
            raise InputError(f"{where}: expected {NUM_COLUMNS} columns separated by tabs, there are {len(row)}")
        span = _MULTIWORD.match(row[ID])
        if span is not None:
            begin, end = (int(digits[: _DIGITS + 1]) for digits in span.groups())
            if not max(len(rows), last) + 1 == begin < end:
                raise InputError(
                    f"{where}: multiword token {_shown(row[ID])} does not stand before the first of its two words or "
                    "more, or overlaps with another"
                )
            last, spanned = end, number
            continue
        if _EMPTY.match(row[ID]):
            continue
        if row[ID] != str(len(rows) + 1):
            found = _shown(row[ID])
            raise InputError(f"{where}: expected token number {len(rows) + 1} in the first column, not {found!r}")
        if not row[FORM]:
            raise InputError(f"{where}: the form in the second column is missing")
        rows.append(row)
        numbers.append(number)
    if last > len(rows):
        raise InputError(
            f"{name}, line {spanned}: expected a multiword token that ends with its sentence of {len(rows)} words or "
            f"before, not with word {_shown(str(last))}"
        )
    if not rows:
        return
    heads = _heads(rows, numbers, name, single_root)
    yield Sentence(
        forms=tuple(row[FORM] for row in rows),
        lemmas=tuple(row[LEMMA] or "_" for row in rows),
        coarse=tuple(row[COARSE] or "_" for row in rows),
        fine=tuple(row[FINE] or "_" for row in rows),
        morphology=tuple(_morphology(row[MORPHOLOGY]) for row in rows),
        heads=heads,
        relations=None if heads is None else _relations(rows),
        lines=tuple(block),
    )


def _shown(cell: str) -> str:
    """A cell for messages, shortened."""
    return cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]}..."


def _morphology(cell: str) -> dict[str, str]:
    """``Case=Ine|Number=Sing`` as a mapping; a feature without a value, as CoNLL-X has them, is worth "yes"."""
    if cell in ("", "_"):
        return {}
    pairs = (item.partition("=") for item in cell.split("|"))
    return {key: value or "yes" for key, _, value in pairs}


def _heads(rows: list[list[str]], numbers: list[int], name: str, single_root: bool) -> tuple[int, ...] | None:
    cells = [row[HEAD] for row in rows]
    if all(cell == "_" for cell in cells):
        return None
    heads = []
    for cell, number in zip(cells, numbers, strict=True):
        if not (cell.isascii() and cell.isdigit() and int(cell.lstrip("0")[: _DIGITS + 1] or "0") <= len(rows)):
            raise InputError(
                f"{name}, line {number}: expected a head from 0 to {len(rows)} in the seventh column, not "
                f"{_shown(cell)!r}"
            )
        heads.append(int(cell.lstrip("0") or "0"))
    try:
        check_tree(heads, single_root=single_root)
    except InputError as error:
        raise InputError(f"{name}, lines {numbers[0]} to {numbers[-1]}: {error}") from None
    return tuple(heads)


def _relations(rows: list[list[str]]) -> tuple[str, ...] | None:
    """None where none is told."""
    cells = tuple((row[RELATION] if len(row) > RELATION else "") or "_" for row in rows)
    return None if all(cell == "_" for cell in cells) else cells


# --- writing ---------------------------------------------------------------------------------------------------------


def conll_lines(sentence: Sentence) -> list[str]:
    """Lines of a sentence with its heads in the seventh column, and its relations in the eighth.

    A sentence that was read keeps everything else: comments, multiword tokens, empty nodes and all columns.  Where it
    has no relations, those of the lines stay, but for arcs that changed, whose relations become ``_``.
    """
    heads, relations = sentence.heads, sentence.relations
    if not sentence.lines:
        return [
            "\t".join(
                (
                    str(token + 1),
                    sentence.forms[token],
                    sentence.lemmas[token],
                    sentence.coarse[token],
                    sentence.fine[token],
                    "|".join(f"{k}={v}" for k, v in sentence.morphology[token].items()) or "_",
                    "_" if heads is None else str(heads[token]),
                    "_" if relations is None else relations[token],
                    "_",
                    "_",
                )
            )
            for token in range(len(sentence))
        ]
    lines = []
    token = 0
    for line in sentence.lines:
        row = line.split("\t")
        if "\t" in line and row[ID].strip().isdigit():
            head = "_" if heads is None else str(heads[token])
            if row[HEAD].strip() != head:
                row[HEAD] = head
                if len(row) > RELATION:
                    row[RELATION] = "_"
            if relations is not None and len(row) > RELATION:
                row[RELATION] = relations[token]
            token += 1
            line = "\t".join(row)
        lines.append(line)
    return lines


def write_conll(sentences: Iterable[Sentence], file: Path | str | IO[str]) -> None:
    """Write sentences to a file or an open text stream, an empty line after each."""
    if isinstance(file, (Path, str)):
        with writing(file) as stream:
            write_conll(sentences, stream)
        return
    for sentence in sentences:
        file.write("\n".join(conll_lines(sentence)) + "\n\n")
