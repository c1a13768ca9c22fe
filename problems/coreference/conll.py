"""Column files with coreference annotations: those of the CoNLL shared tasks of 2011 and 2012, and OntoGUM's.

OntoGUM has three columns, ``# begin document`` with a blank, and brackets without separators.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from colgen import InputError
from colgen.core.files import read_bytes, write_text
from colgen.problems.coreference.corefud import is_corefud, parse_corefud
from colgen.problems.coreference.document import NOTHING, NUM_COLUMNS, WORD, Document, Mention, Row, sort_mentions

_BEGIN = re.compile(r"#begin document\s*(?:\((?P<name>.*)\))?\s*;?\s*(?:part\s+(?P<part>\S+))?\s*$")
_BEGIN_ONTOGUM = re.compile(r"# begin document\s*(?P<name>\S+)?\s*$")
_ITEM = re.compile(r"(?P<open>\()?(?P<cluster>[^()|\s]+)(?P<close>\))?$")
_BETWEEN = re.compile(r"(?<=[^(|])(?=\()|(?<=\))(?=[^()|])")
"""Boundaries between two brackets in OntoGUM."""

_ONTOGUM_COLUMNS = 3
_BEGINNINGS = ("#begin document", "# begin document")

Skip = Callable[[str], None]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_conll(path: Path | str, *, skip: Skip | None = None) -> list[Document]:
    """Read the documents of a file in the columns of CoNLL-2011/2012, OntoGUM or CorefUD.

    In the shared tasks' format, the fourth column has words and the last has coreference. Columns are separated by tabs
    if a line has any, otherwise by white space. In the last column, ``(7`` opens a mention of cluster 7, ``7)`` closes
    the latest open mention of cluster 7, and ``(7)`` is a mention of one word. Several of these are separated by ``|``;
    ``-``, ``_`` or nothing means none. Clusters do not extend over documents. OntoGUM's files begin with ``# begin
    document``. CorefUD's (:mod:`colgen.problems.coreference.corefud`) have the ten columns of CoNLL-U, or begin with
    comments including ``# newdoc`` or ``# global``.

    Parameters
    ----------
    skip
        Called with a message for each malformed document, which is then omitted. None raises an error.

    Raises
    ------
    InputError
        If the file is malformed; the message has the file and the line.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {at}: expected a text file in UTF-8") from None
    documents = list(parse_conll(text.split("\n"), name=str(path), default=path.stem, skip=skip))
    if not documents and (skip is None or "document" not in text):
        raise InputError(f"{path}: expected a line '#begin document (NAME); part NUMBER', found none")
    return documents


def parse_conll(
    lines: Iterable[str], *, name: str = "input", default: str = "document", skip: Skip | None = None
) -> Iterator[Document]:
    """Yield the documents of lines in the formats of :func:`read_conll`.

    ``name`` is the source of the lines in messages; ``default`` is the name of documents without a name.
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
    bad = False  # the lines of a malformed document are skipped

    def reject(error: InputError, what: str) -> None:
        if skip is None:
            raise error
        skip(f"{error}; {what} is skipped")

    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        where = f"{name}, line {number}"
        begins = line.startswith(_BEGINNINGS)
        try:
            if begins:
                bad = False
                if current is not None:
                    message = (
                        f"{where}: a document begins before '#end document' of the document in line {current.line}"
                    )
                    reject(InputError(message), f"document {current.name}")
                    current = None
                current = _Reading(name, number, line, default)
            elif bad:
                continue
            elif line.startswith(("#end document", "# end document")):
                if current is None:
                    raise InputError(f"{where}: '#end document' without '#begin document'")
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
            reject(error, "its document" if current is None else f"document {current.name}")
            current, bad = None, True
    if current is not None:
        text = f"{name}, line {current.line}: the document that begins here has no '#end document'"
        reject(InputError(text), f"document {current.name}")


class _Reading:
    """A partly read document."""

    def __init__(self, source: str, line: int, text: str, default: str) -> None:
        header = _BEGIN.match(text) or _BEGIN_ONTOGUM.match(text)
        if header is None:
            raise InputError(f"{source}, line {line}: expected '#begin document (NAME); part NUMBER'")
        self.is_ontogum = header.re is _BEGIN_ONTOGUM
        self.source, self.line = source, line
        self.name, self.part = header["name"] or default, header.groupdict().get("part") or "0"
        self.rows: list[list[Row]] = [[]]
        self.position = 0
        self.open: dict[str, list[tuple[int, int, int]]] = {}  # by cluster: sentence, start and line of open mentions
        self.mentions: list[Mention] = []

    def is_row(self, line: str) -> bool:
        """Return whether a line that begins with ``#`` is a word, because its document's name begins with ``#``."""
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
                    f"{where}: expected (NUMBER, NUMBER) or (NUMBER), separated by |, or nothing in the last "
                    f"column, not {last!r}"
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
        """Return all columns but the last in the shared tasks' format, and the last one."""
        row = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.split())]
        if self.is_ontogum:
            if len(row) != _ONTOGUM_COLUMNS:
                raise InputError(f"{where}: expected {_ONTOGUM_COLUMNS} columns, not {len(row)}")
            columns = [self.name, self.part, str(len(self.rows[-1])), row[1], *["_"] * (NUM_COLUMNS - WORD - 2)]
            return columns, _BETWEEN.sub("|", row[2])
        if len(row) < WORD + 2:
            raise InputError(
                f"{where}: expected at least {WORD + 2} columns with the word in the fourth, not {len(row)}"
            )
        return row[:-1], row[-1]

    def document(self) -> Document:
        unclosed = [(line, cluster) for cluster, opened in self.open.items() for _, _, line in opened]
        if unclosed:
            line, cluster = min(unclosed)
            where = f"{self.source}, line {line}"
            raise InputError(f"{where}: the mention of cluster {cluster} that is opened here is never closed")
        rows = tuple(tuple(sentence) for sentence in self.rows if sentence)
        words = tuple(tuple(row[WORD] for row in sentence) for sentence in rows)
        return Document(self.name, words, sort_mentions(self.mentions), self.part, rows)


# --- writing ---------------------------------------------------------------------------------------------------------


def conll_lines(document: Document, clustering: Iterable[Sequence[int]]) -> list[str]:
    """Return the document's lines, separated by tabs, with a clustering of its mentions in the last column.

    Raises
    ------
    InputError
        If a mention is in no cluster, or two of one cluster cross, which the format cannot distinguish from nesting.
    """
    number_of = {mention: number for number, cluster in enumerate(clustering) for mention in cluster}
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[str]] = {}
    open_ends: dict[int, list[int]] = {}  # by cluster: last words of open mentions
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
                f"{document.name}: mention {index} crosses another mention of cluster {number}, which CoNLL "
                "columns cannot express"
            )
        ends.append(mention.end)
        opening.setdefault(mention.start, []).append(f"({number}")
        closing.setdefault(mention.end, []).insert(0, f"{number})")  # the latest opened mention closes first
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
    """Write the document with a clustering of its mentions in the format of :func:`read_conll`."""
    write_text(path, "\n".join(conll_lines(document, clustering)) + "\n")
