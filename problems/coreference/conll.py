"""The column files of the CoNLL shared tasks of 2011 and 2012, which hold documents with mentions; OntoGUM's as well.

OntoGUM has three columns, ``# begin document`` with a blank, and brackets with nothing between them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from colgen import InputError
from colgen.core.files import read_bytes, write_text
from colgen.problems.coreference.corefud import is_corefud, parse_corefud
from colgen.problems.coreference.document import NOTHING, NUM_COLUMNS, WORD, Document, Mention, Row, in_reading_order

_BEGIN = re.compile(r"#begin document\s*(?:\((?P<name>.*)\))?\s*;?\s*(?:part\s+(?P<part>\S+))?\s*$")
_BEGIN_ONTOGUM = re.compile(r"# begin document\s*(?P<name>\S+)?\s*$")
_ITEM = re.compile(r"(?P<open>\()?(?P<cluster>[^()|\s]+)(?P<close>\))?$")
_BETWEEN = re.compile(r"(?<=[^(|])(?=\()|(?<=\))(?=[^()|])")
"""Where one bracket of OntoGUM ends and the next begins."""

_ONTOGUM_COLUMNS = 3
_BEGINNINGS = ("#begin document", "# begin document")

Skip = Callable[[str], None]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_conll(path: Path | str, *, skip: Skip | None = None) -> list[Document]:
    """Read the documents of a file in the CoNLL-2011/2012 columns, in OntoGUM's or in CorefUD's.

    Of the shared tasks' columns the fourth has words, the last coreference.  They are separated by tabs, where a line
    has any, or else by white space.  In the last column ``(7`` opens a mention of cluster 7, ``7)`` closes the one of
    cluster 7 that was opened last, ``(7)`` is a mention of one word, ``|`` stands between several of these, and ``-``,
    ``_`` or nothing says that there is none.  Documents share no clusters.  OntoGUM's files begin with
    ``# begin document``; CorefUD's (:mod:`colgen.problems.coreference.corefud`) begin with comments, ``# newdoc`` or
    ``# global`` among them, or have the ten columns of CoNLL-U.

    Parameters
    ----------
    skip
        Told of each document that is malformed, which is then left out; None: it is an error.

    Raises
    ------
    InputError
        With file and line, where the file is something else.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {at}: not a text file in UTF-8") from None
    documents = list(parse_conll(text.split("\n"), name=str(path), default=path.stem, skip=skip))
    if not documents and (skip is None or "document" not in text):
        raise InputError(f"{path}: expected a line '#begin document (NAME); part NUMBER', there is none")
    return documents


def parse_conll(
    lines: Iterable[str], *, name: str = "input", default: str = "document", skip: Skip | None = None
) -> Iterator[Document]:
    """Documents of lines, one after the other, as :func:`read_conll` reads them.

    Parameters
    ----------
    name
        What the lines come from, for messages.
    default
        Name of a document that has none.
    skip
        As of :func:`read_conll`.
    """
    source = iter(lines)
    first: list[str] = []
    for line in source:
        first.append(line)
        if line.startswith(_BEGINNINGS) or (line.strip() and not line.startswith("#")):
            break
    every = itertools.chain(first, source)
    if is_corefud(first):
        yield from parse_corefud(every, name=name, default=default, skip=skip)
    else:
        yield from _parse_columns(every, name, default, skip)


def _parse_columns(lines: Iterable[str], name: str, default: str, skip: Skip | None) -> Iterator[Document]:
    current: _Reading | None = None
    bad = False  # the lines of a malformed document are passed over up to the next

    def refuse(error: InputError, what: str) -> None:
        if skip is None:
            raise error
        skip(f"{error}; {what} is left out")

    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        where = f"{name}, line {number}"
        begins = line.startswith(_BEGINNINGS)
        try:
            if begins:
                bad = False
                if current is not None:
                    unended = f"{where}: a document begins, but that of line {current.line} has no '#end document'"
                    refuse(InputError(unended), f"document {current.name}")
                    current = None
                current = _Reading(name, number, line, default)
            elif bad:
                continue
            elif line.startswith(("#end document", "# end document")):
                if current is None:
                    raise InputError(f"{where}: '#end document' without a '#begin document'")
                found, current = current, None
                document = found.document()
                yield document
            elif not line.strip():
                if current is not None:
                    current.end_sentence()
            elif line.startswith("#") and (current is None or not current.is_row(line)):
                continue  # a comment
            elif current is None:
                raise InputError(f"{where}: expected '#begin document (NAME); part NUMBER' before the first word")
            else:
                current.add(where, number, line)
        except InputError as error:
            refuse(error, "its document" if current is None else f"document {current.name}")
            current, bad = None, True
    if current is not None:
        text = f"{name}, line {current.line}: the document that begins here has no '#end document'"
        refuse(InputError(text), f"document {current.name}")


class _Reading:
    """A document of which some lines have been read."""

    def __init__(self, source: str, line: int, text: str, default: str) -> None:
        header = _BEGIN.match(text) or _BEGIN_ONTOGUM.match(text)
        if header is None:
            raise InputError(f"{source}, line {line}: expected '#begin document (NAME); part NUMBER'")
        self.is_ontogum = header.re is _BEGIN_ONTOGUM
        self.source, self.line = source, line
        self.name, self.part = header["name"] or default, header.groupdict().get("part") or "0"
        self.rows: list[list[Row]] = [[]]
        self.position = 0
        self.open: dict[str, list[tuple[int, int, int]]] = {}  # of each cluster: sentence, start and line
        self.mentions: list[Mention] = []

    def is_row(self, line: str) -> bool:
        """Whether a line that begins with ``#`` is a word, since the name of its document does."""
        return not self.is_ontogum and (line.split("\t") if "\t" in line else line.split())[0].strip() == self.name

    def end_sentence(self) -> None:
        if self.rows[-1]:
            self.rows.append([])

    def add(self, where: str, number: int, line: str) -> None:
        columns, last = self._columns(where, line)
        if not columns[WORD]:
            column = "second" if self.is_ontogum else "fourth"
            raise InputError(f"{where}: the word in the {column} column is missing")
        for item in () if last in NOTHING else last.split("|"):
            found = _ITEM.match(item)
            if found is None or not (found["open"] or found["close"]):
                raise InputError(
                    f"{where}: expected (NUMBER, NUMBER) or (NUMBER) with | between several, or nothing, "
                    f"in the last column, not {last!r}"
                )
            cluster = found["cluster"]
            if found["open"]:
                self.open.setdefault(cluster, []).append((len(self.rows) - 1, self.position, number))
            if found["close"]:
                if not self.open.get(cluster):
                    raise InputError(f"{where}: {item} closes a mention of cluster {cluster}, but none is open")
                sentence, start, _ = self.open[cluster].pop()
                self.mentions.append(Mention(sentence, start, self.position, cluster))
        self.rows[-1].append(tuple(columns))
        self.position += 1

    def _columns(self, where: str, line: str) -> tuple[list[str], str]:
        """The columns of the shared tasks but the last, and that."""
        row = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.split())]
        if self.is_ontogum:
            if len(row) != _ONTOGUM_COLUMNS:
                raise InputError(f"{where}: expected {_ONTOGUM_COLUMNS} columns, not {len(row)}")
            columns = [self.name, self.part, str(len(self.rows[-1])), row[1], *["_"] * (NUM_COLUMNS - WORD - 2)]
            return columns, _BETWEEN.sub("|", row[2])
        if len(row) < WORD + 2:
            raise InputError(f"{where}: expected {WORD + 2} columns or more, the word in the fourth, not {len(row)}")
        return row[:-1], row[-1]

    def document(self) -> Document:
        unclosed = [(line, cluster) for cluster, opened in self.open.items() for _, _, line in opened]
        if unclosed:
            line, cluster = min(unclosed)
            where = f"{self.source}, line {line}"
            raise InputError(f"{where}: the mention of cluster {cluster} opened here is never closed")
        rows = tuple(tuple(sentence) for sentence in self.rows if sentence)
        words = tuple(tuple(row[WORD] for row in sentence) for sentence in rows)
        return Document(self.name, words, in_reading_order(self.mentions), self.part, rows)


# --- writing ---------------------------------------------------------------------------------------------------------


def conll_lines(document: Document, clustering: Iterable[Sequence[int]]) -> list[str]:
    """The document's lines with a clustering of its mentions (by number) in the last column, separated by tabs.

    Raises
    ------
    InputError
        If a mention is in no cluster, or two of one cluster cross: the columns cannot tell them from nested ones.
    """
    number_of = {mention: number for number, cluster in enumerate(clustering) for mention in cluster}
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[str]] = {}
    open_ends: dict[int, list[int]] = {}  # of each cluster: the last words of the mentions that are open
    for index, mention in enumerate(document.mentions):
        if index not in number_of:
            raise InputError(f"{document.name}: mention {index} is in no cluster")
        number = number_of[index]
        if mention.start == mention.end:
            opening.setdefault(mention.start, []).append(f"({number})")
            continue
        ends = open_ends[number] = [end for end in open_ends.get(number, []) if end >= mention.start]
        if ends and ends[-1] < mention.end:
            raise InputError(
                f"{document.name}: mention {index} crosses another of its cluster, which columns cannot say"
            )
        ends.append(mention.end)
        opening.setdefault(mention.start, []).append(f"({number}")
        closing.setdefault(mention.end, []).insert(0, f"{number})")  # what opened last closes first
    lines = [f"#begin document ({document.name}); part {document.part}"]
    position = 0
    for number, sentence in enumerate(document.sentences):
        for index, word in enumerate(sentence):
            if document.columns is None:
                columns: Row = (document.name, document.part, str(index), word, *["_"] * (NUM_COLUMNS - WORD - 1))
            else:
                columns = document.columns[number][index]
            items = closing.get(position, []) + opening.get(position, [])
            lines.append("\t".join([*columns, "|".join(items) or "-"]))
            position += 1
        lines.append("")
    lines.append("#end document")
    return lines


def write_conll(document: Document, clustering: Iterable[Sequence[int]], path: Path | str) -> None:
    """Write the document with a clustering of its mentions, as :func:`read_conll` reads it."""
    write_text(path, "\n".join(conll_lines(document, clustering)) + "\n")
