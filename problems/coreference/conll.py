"""Documents with mentions, and the column files of the CoNLL shared tasks of 2011 and 2012 that hold them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from colgen import InputError
from colgen.core.files import read_bytes, write_text
from problems.coreference.clusters import Cluster, as_clusters

Row: TypeAlias = tuple[str, ...]
"""The columns of one word but the last: document, part, number, word, part of speech, ..."""

WORD, TAG, SPEAKER, ENTITY = 3, 4, 9, 10
NUM_COLUMNS = 12
"""Columns that :func:`conll_lines` fills for a document that was not read from a file."""

_BEGIN = re.compile(r"#begin document\s*(?:\((?P<name>.*)\))?\s*;?\s*(?:part\s+(?P<part>\S+))?\s*$")
_ITEM = re.compile(r"(?P<open>\()?(?P<cluster>[^()|\s]+)(?P<close>\))?$")
_NOTHING = ("", "-", "_")


@dataclass(frozen=True)
class Mention:
    """A span of words that refers to something.

    Attributes
    ----------
    sentence
        Number of the sentence in the document.
    start, end
        Positions of its first and last word, counted through the document.
    cluster
        What the annotator says it refers to; None where nobody says.
    """

    sentence: int
    start: int
    end: int
    cluster: Hashable | None = None


@dataclass(frozen=True)
class Document:
    """A text and its mentions in reading order: by their start, of two with the same start the longer first.

    Parameters
    ----------
    sentences
        Words of each sentence.
    part
        What the file calls this part of a long document.
    columns
        For each sentence the row of each of its words, where the document was read from a file.

    Raises
    ------
    InputError
        If a word is empty, or a mention is outside the text or out of order.
    """

    name: str
    sentences: tuple[tuple[str, ...], ...]
    mentions: tuple[Mention, ...]
    part: str = "0"
    columns: tuple[tuple[Row, ...], ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        length = sum(map(len, self.sentences))
        if not all(word for sentence in self.sentences for word in sentence):
            raise InputError(f"{self.name}: expected words of one character or more")
        for number, mention in enumerate(self.mentions):
            if not 0 <= mention.start <= mention.end < length:
                raise InputError(
                    f"{self.name}: mention {number} covers words {mention.start} to {mention.end}, "
                    f"the document has {length}"
                )
        order = [(mention.start, -mention.end) for mention in self.mentions]
        if order != sorted(order):
            raise InputError(f"{self.name}: expected the mentions in reading order, the longer first")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All words."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def words(self, mention: Mention) -> tuple[str, ...]:
        """Words of a mention."""
        return self.tokens[mention.start : mention.end + 1]

    def column(self, index: int) -> tuple[str, ...] | None:
        """A column for each word: ``TAG``, ``SPEAKER`` or ``ENTITY``; None where the file says nothing in it."""
        if self.columns is None:
            return None
        values = tuple(row[index] if index < len(row) else "_" for rows in self.columns for row in rows)
        return values if any(value not in _NOTHING for value in values) else None

    @property
    def labels(self) -> tuple[str, ...]:
        """Each mention's text."""
        return tuple(" ".join(self.words(mention)) for mention in self.mentions)

    @property
    def gold(self) -> list[Cluster]:
        """The annotated clustering; a mention of which nobody says what it refers to is alone."""
        keys = [object() if mention.cluster is None else mention.cluster for mention in self.mentions]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return as_clusters([numbers[key] for key in keys])

    def truncated(self, num_mentions: int) -> Document:
        """The document cut after the sentence that completes its first mentions, with no other mentions."""
        if num_mentions < 1:
            raise InputError(f"a document is cut at one mention or more, not at {num_mentions}")
        mentions = self.mentions[:num_mentions]
        if len(mentions) == len(self.mentions):
            return self
        last = max(mention.end for mention in mentions)
        kept, length = 0, 0
        while length <= last:
            length += len(self.sentences[kept])
            kept += 1
        columns = None if self.columns is None else self.columns[:kept]
        return Document(self.name, self.sentences[:kept], mentions, self.part, columns)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_conll(path: Path | str) -> list[Document]:
    """Read the documents of a file in the CoNLL-2011/2012 columns; words in the fourth, coreference in the last.

    Columns are separated by tabs, where a line has any, or else by white space.  In the last column ``(7`` opens a
    mention of cluster 7, ``7)`` closes the one of cluster 7 that was opened last, ``(7)`` is a mention of one word,
    ``|`` stands between several of these, and ``-``, ``_`` or nothing says that there is none.  Documents share no
    clusters.

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
    documents = list(parse_conll(text.split("\n"), name=str(path), default=path.stem))
    if not documents:
        raise InputError(f"{path}: expected a line '#begin document (NAME); part NUMBER', there is none")
    return documents


def parse_conll(lines: Iterable[str], *, name: str = "input", default: str = "document") -> Iterator[Document]:
    """Documents of lines, one after the other, as :func:`read_conll` reads them.

    Parameters
    ----------
    name
        What the lines come from, for messages.
    default
        Name of a document that has none.
    """
    current: _Reading | None = None
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        where = f"{name}, line {number}"
        if line.startswith("#begin document"):
            if current is not None:
                raise InputError(f"{where}: a document begins, but that of line {current.line} has no '#end document'")
            current = _Reading(name, number, line, default)
        elif line.startswith("#end document"):
            if current is None:
                raise InputError(f"{where}: '#end document' without a '#begin document'")
            yield current.document()
            current = None
        elif not line.strip():
            if current is not None:
                current.end_sentence()
        elif line.startswith("#") and "\t" not in line and len(line.split()) < WORD + 2:
            continue  # a comment
        elif current is None:
            raise InputError(f"{where}: expected '#begin document (NAME); part NUMBER' before the first word")
        else:
            current.add(where, number, line)
    if current is not None:
        raise InputError(f"{name}, line {current.line}: the document that begins here has no '#end document'")


class _Reading:
    """A document of which some lines have been read."""

    def __init__(self, source: str, line: int, text: str, default: str) -> None:
        header = _BEGIN.match(text)
        if header is None:
            raise InputError(f"{source}, line {line}: expected '#begin document (NAME); part NUMBER'")
        self.source, self.line = source, line
        self.name, self.part = header["name"] or default, header["part"] or "0"
        self.rows: list[list[Row]] = [[]]
        self.position = 0
        self.open: dict[str, list[tuple[int, int, int]]] = {}  # of each cluster: sentence, start and line
        self.mentions: list[Mention] = []

    def end_sentence(self) -> None:
        if self.rows[-1]:
            self.rows.append([])

    def add(self, where: str, number: int, line: str) -> None:
        row = line.split("\t") if "\t" in line else line.split()
        if len(row) < WORD + 2:
            raise InputError(f"{where}: expected {WORD + 2} columns or more, the word in the fourth, not {len(row)}")
        *columns, last = (cell.strip() for cell in row)
        if not columns[WORD]:
            raise InputError(f"{where}: the word in the fourth column is missing")
        for item in () if last in _NOTHING else last.split("|"):
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

    def document(self) -> Document:
        unclosed = [(line, cluster) for cluster, opened in self.open.items() for _, _, line in opened]
        if unclosed:
            line, cluster = min(unclosed)
            where = f"{self.source}, line {line}"
            raise InputError(f"{where}: the mention of cluster {cluster} opened here is never closed")
        rows = tuple(tuple(sentence) for sentence in self.rows if sentence)
        words = tuple(tuple(row[WORD] for row in sentence) for sentence in rows)
        mentions = sorted(self.mentions, key=lambda mention: (mention.start, -mention.end))
        return Document(self.name, words, tuple(mentions), self.part, rows)


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
