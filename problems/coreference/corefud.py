"""Documents with mentions in the CorefUD format: CoNLL-U with entities in the last column.

``Entity=(e1-person-1-`` opens a mention of entity e1, ``Entity=e1)`` closes it, and ``(e1-person-1-)`` is a mention of
one word; several brackets follow each other without separators. Only the entity is read from an opening bracket; the
comment ``# global.Entity`` gives its position (``eid`` or ``GRP``). Only the first piece of a discontinuous mention
(``e1[1/2]``) is read. An empty node counts as a word if a mention begins or ends at it; otherwise it is skipped.

Source: A. Nedoluzhko, M. Novák, M. Popel, Z. Žabokrtský, A. Zeldes, D. Zeman, *CorefUD 1.0: coreference meets universal
dependencies*, LREC (2022).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from colgen import InputError
from colgen.problems.coreference.document import NUM_COLUMNS, WORD, Document, Mention, Row, sort_mentions

_DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(?P<name>.*\S))?\s*$")
_FIELDS = re.compile(r"#\s*global\.Entity\s*=\s*(?P<fields>\S+)\s*$")
_ITEM = re.compile(r"(?P<open>\()?(?P<entity>[^()\s]+)(?P<close>\))?")
_PIECE = re.compile(r"(?P<entity>.+)\[(?P<piece>\d+)/\d+\]$")
_ENTITY = "Entity="
_NUM_COLUMNS = 10
_NODE = re.compile(r"\d+(\.\d+)?$")
_FIRST = re.compile(r"1(-\d+)?$|0\.1$")


def is_corefud(lines: Iterable[str]) -> bool:
    """Return whether a file is CorefUD, given its first lines up to the first that is not a comment."""
    lines = [line.rstrip("\r") for line in lines if line.strip()]
    if any(_DOCUMENT.match(line) or line.replace(" ", "").startswith("#global.") for line in lines):
        return True
    row = lines[-1].split("\t") if lines else []
    return len(row) == _NUM_COLUMNS and bool(_FIRST.match(row[0].strip()))


def parse_corefud(
    lines: Iterable[str], *, name: str = "input", default: str = "document", skip: Callable[[str], None] | None = None
) -> Iterator[Document]:
    """Yield the documents of lines; see :func:`~colgen.problems.coreference.conll.parse_conll` for the parameters.

    Raises
    ------
    InputError
        If a line is malformed; the message has the line.
    """
    current: _Reading | None = None
    place = 0

    def finish(reading: _Reading | None) -> Iterator[Document]:
        if reading is None:
            return
        try:
            found = reading.document()
        except InputError as error:
            if skip is None:
                raise
            skip(f"{error}; document {reading.name} is skipped")
        else:
            yield found

    bad = False
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        begins, declared = _DOCUMENT.match(line), _FIELDS.match(line)
        if begins:
            if not bad:
                yield from finish(current)
            current, bad = _Reading(begins["name"] or default, f"{name}, line {number}", place), False
        elif declared:
            fields = declared["fields"].split("-")
            place = next((k for k, field in enumerate(fields) if field in ("eid", "GRP")), 0)
            if current is not None:
                current.place = place
        elif bad or line.startswith("#"):
            continue
        else:
            if current is None:
                if not line.strip():
                    continue
                current = _Reading(default, f"{name}, line {number}", place)
            try:
                current.add(line, f"{name}, line {number}")
            except InputError as error:
                if skip is None:
                    raise
                skip(f"{error}; document {current.name} is skipped")
                bad = True
    if not bad:
        yield from finish(current)


class _Reading:
    """A partly read document; ``place`` is the position of the entity among the fields of a bracket."""

    def __init__(self, name: str, where: str, place: int) -> None:
        self.name, self.where, self.place = name, where, place
        self.rows: list[list[Row]] = [[]]
        self.position = 0
        self.open: dict[
            str, list[tuple[int, int, str]]
        ] = {}  # by entity: sentence, start and location of open mentions
        self.mentions: list[Mention] = []

    def add(self, line: str, where: str) -> None:
        if not line.strip():
            if self.rows[-1]:
                self.rows.append([])
            return
        row = [cell.strip() for cell in line.split("\t")]
        if len(row) != _NUM_COLUMNS:
            raise InputError(f"{where}: expected {_NUM_COLUMNS} columns separated by tabs, found {len(row)}")
        if "-" in row[0]:
            return
        if not _NODE.match(row[0]):
            raise InputError(f"{where}: expected a number in the first column, not {row[0]!r}")
        if not row[1]:
            raise InputError(f"{where}: the word in the second column is missing")
        entity = next((item.removeprefix(_ENTITY) for item in row[9].split("|") if item.startswith(_ENTITY)), "")
        if "." in row[0] and not entity:
            return
        for item in _items(entity, where):
            self._bracket(item, where)
        tag = row[4] if row[4] != "_" else row[3]
        columns = (self.name, "0", str(len(self.rows[-1])), row[1], tag)
        self.rows[-1].append((*columns, *["_"] * (NUM_COLUMNS - WORD - 3)))
        self.position += 1

    def _bracket(self, item: re.Match[str], where: str) -> None:
        fields = item["entity"].split("-")
        entity = fields[self.place] if len(fields) > self.place else fields[0]
        piece = _PIECE.match(entity)
        if piece is not None:
            if piece["piece"].lstrip("0") not in ("", "1"):
                return
            entity = piece["entity"]
        if item["open"]:
            self.open.setdefault(entity, []).append((len(self.rows) - 1, self.position, where))
        if item["close"]:
            if not self.open.get(entity):
                raise InputError(f"{where}: {item[0]} closes a mention of entity {entity}, but none is open")
            sentence, start, _ = self.open[entity].pop()
            self.mentions.append(Mention(sentence, start, self.position, entity))

    def document(self) -> Document:
        for entity, opened in self.open.items():
            for _, _, where in opened:
                raise InputError(f"{where}: the mention of entity {entity} that is opened here is never closed")
        rows = tuple(tuple(sentence) for sentence in self.rows if sentence)
        if not rows:
            raise InputError(f"{self.where}: expected words in document {self.name}, found none")
        words = tuple(tuple(row[WORD] for row in sentence) for sentence in rows)
        return Document(self.name, words, sort_mentions(self.mentions), columns=rows)


def _items(text: str, where: str) -> list[re.Match[str]]:
    """Return the brackets of a word."""
    items = list(_ITEM.finditer(text))
    if "".join(item[0] for item in items) != text or not all(item["open"] or item["close"] for item in items):
        raise InputError(
            f"{where}: expected one or several of (ENTITY, ENTITY) and (ENTITY) after Entity=, not {text!r}"
        )
    return items
