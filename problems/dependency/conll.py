"""Treebank files: CoNLL-U (Universal Dependencies) and CoNLL-X (2006 shared task), ten columns per token."""

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
"""Maximum number of digits of a token number; no readable file has more tokens."""

_LONGEST = 40
"""Maximum length of a cell in messages."""


def read_conll(
    path: Path | str, *, single_root: bool = False, skip: Callable[[str], None] | None = None
) -> list[Sentence]:
    """Read the sentences of a file in CoNLL-U or CoNLL-X.

    The file has ten columns separated by tabs (CoNLL-X: eight or more) and an empty line after each sentence.  Lines
    that begin with ``#`` are comments.  Comments, multiword tokens (``6-7``) and empty nodes (``8.1``) of CoNLL-U are
    kept for writing and otherwise ignored: tokens are the syntactic words.  A sentence whose heads are all ``_`` is
    unparsed.

    Parameters
    ----------
    single_root
        Whether to refuse trees with several tokens attached to the root.
    skip
        Function called with the error of each malformed sentence, which is then skipped.

    Raises
    ------
    InputError
        If the format is wrong or heads do not form a tree; the message names the file and the line.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {at}: not a text file in UTF-8") from None
    sentences = list(parse_conll(text.split("\n"), name=str(path), single_root=single_root, skip=skip))
    if not sentences:
        raise InputError(f"{path} contains no sentences: expected a file in CoNLL-U or CoNLL-X")
    return sentences


def parse_conll(
    lines: Iterable[str],
    *,
    name: str = "input",
    single_root: bool = False,
    skip: Callable[[str], None] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of lines in the format of :func:`read_conll`; ``name`` appears in messages."""
    block: list[str] = []
    number = 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        if line.strip():
            block.append(line)
        elif block:
            yield from _read_or_skip(block, name, number - len(block), single_root, skip)
            block = []
    if block:
        yield from _read_or_skip(block, name, number - len(block) + 1, single_root, skip)


def _read_or_skip(
    block: list[str], name: str, first: int, single_root: bool, skip: Callable[[str], None] | None
) -> Iterator[Sentence]:
    """Yield the sentence of a block of lines, or report it to ``skip`` if it is malformed."""
    try:
        yield from _read_sentence(block, name, first, single_root)
    except InputError as error:
        if skip is None:
            raise
        skip(f"{error}; the sentence is skipped")


def _read_sentence(block: list[str], name: str, first: int, single_root: bool) -> Iterator[Sentence]:
    """Yield the sentence of a block of lines; nothing if there are only comments."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    last, spanned = 0, first  # last word of the latest multiword token, and its line
    for number, line in enumerate(block, first):
        if line.startswith("#"):
            continue
        where = f"{name}, line {number}"
        row = [cell.strip() for cell in line.split("\t")]
        if len(row) < HEAD + 1:
            raise InputError(f"{where}: expected {NUM_COLUMNS} columns separated by tabs, got {len(row)}")
        span = _MULTIWORD.match(row[ID])
        if span is not None:
            begin, end = (int(digits[: _DIGITS + 1]) for digits in span.groups())
            if not max(len(rows), last) + 1 == begin < end:
                raise InputError(
                    f"{where}: multiword token {_shorten(row[ID])} must precede its words, span at least two, and not "
                    "overlap with another multiword token"
                )
            last, spanned = end, number
            continue
        if _EMPTY.match(row[ID]):
            continue
        if row[ID] != str(len(rows) + 1):
            found = _shorten(row[ID])
            raise InputError(f"{where}: expected token number {len(rows) + 1} in the first column, not {found!r}")
        if not row[FORM]:
            raise InputError(f"{where}: the form in the second column is missing")
        rows.append(row)
        numbers.append(number)
    if last > len(rows):
        raise InputError(
            f"{name}, line {spanned}: the multiword token ends with word {_shorten(str(last))}, but the sentence has "
            f"only {len(rows)} words"
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


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]}..."


def _morphology(cell: str) -> dict[str, str]:
    """Return ``Case=Ine|Number=Sing`` as a mapping; a feature without a value (CoNLL-X) gets "yes"."""
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
                f"{_shorten(cell)!r}"
            )
        heads.append(int(cell.lstrip("0") or "0"))
    try:
        check_tree(heads, single_root=single_root)
    except InputError as error:
        raise InputError(f"{name}, lines {numbers[0]} to {numbers[-1]}: {error}") from None
    return tuple(heads)


def _relations(rows: list[list[str]]) -> tuple[str, ...] | None:
    cells = tuple((row[RELATION] if len(row) > RELATION else "") or "_" for row in rows)
    return None if all(cell == "_" for cell in cells) else cells


# --- writing ---------------------------------------------------------------------------------------------------------


def conll_lines(sentence: Sentence) -> list[str]:
    """Return the lines of a sentence with its heads in column seven and relations in column eight.

    A sentence read from a file keeps its comments, multiword tokens, empty nodes and other columns.  If it has no
    relations, those of the file remain, except for changed arcs, whose relations become ``_``.
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
    """Write sentences to a file or an open text stream, with an empty line after each."""
    if isinstance(file, (Path, str)):
        with writing(file) as stream:
            write_conll(sentences, stream)
        return
    for sentence in sentences:
        file.write("\n".join(conll_lines(sentence)) + "\n\n")
