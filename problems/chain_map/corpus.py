"""Tagged sentences, read from tab-separated files with one token per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from colgen.core.errors import InputError
from colgen.core.files import read_text
from colgen.problems.dependency.conll import COARSE, FINE, MORPHOLOGY, RELATION, parse_conll
from colgen.problems.dependency.sentence import Sentence

ENTITIES = ("LOC", "ORG", "PER")
"""Kinds of named entities that tags distinguish. Other annotated kinds count as outside."""

_CONLL_COLUMNS = 8

COLUMNS = {"UPOS": COARSE, "XPOS": FINE, "FEATS": MORPHOLOGY, "DEPREL": RELATION}
"""Columns of CoNLL-U whose entries can be tags."""

_MISC = 9


@dataclass(frozen=True)
class Tagged:
    """A sentence and its tags, one per word."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A tagging task."""

    name: str
    entities: int | None = None  # column of the entities that tags include; None for parts of speech alone
    marks: str = ""  # prefixes of the entity labels, "BI" or "BILU"
    column: str = ""  # of a CoNLL-U file, see :func:`read_tagged`; by default UPOS

    def tag(self, fields: Sequence[str]) -> str:
        """Return the tag of a line: ``NNP``, or ``NNP|B-PER``.

        Raises
        ------
        InputError
            If the mark of an entity label is not one of the task's.
        """
        if self.entities is None:
            return fields[1]
        entity = fields[self.entities]
        if entity.rpartition("-")[2] not in ENTITIES:
            entity = "O"
        elif entity not in self.labels:
            raise InputError(f"expected an entity label among {', '.join(self.labels)}, got {entity!r}")
        return f"{fields[1]}|{entity}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity labels, the first of which is ``O``."""
        return ("O", *(f"{mark}-{kind}" for kind in ENTITIES for mark in self.marks))

    def tags(self, seen: Iterable[str]) -> tuple[str, ...]:
        """Return all tags of the task, given the tags of the training data; with entities, the complete product."""
        if self.entities is None:
            return tuple(sorted(set(seen)))
        parts = sorted({tag.rpartition("|")[0] for tag in seen})  # the part of speech may contain "|" as well
        return tuple(f"{part}|{label}" for part in parts for label in self.labels)


TASKS = {
    task.name: task
    for task in (Task("pos"), Task("joint", entities=2, marks="BI"), Task("joint_bilou", entities=3, marks="BILU"))
}
"""Parts of speech; parts of speech with entities in BIO labels; the same in BILOU labels."""


def read_tagged(path: Path, task: Task) -> list[Tagged]:
    """Read the sentences of a file with one token per line.

    The fields, separated by tabs, are the word, the part of speech, and the entity in BIO and in BILOU. A blank line
    ends a sentence. Files in CoNLL-U or CoNLL-X give the tags of the task's column: UPOS, XPOS, FEATS, DEPREL, or a key
    of MISC, such as ``NER`` of ``SpaceAfter=No|NER=B-PER``. Words without that key are tagged ``O``.

    Raises
    ------
    InputError
        If a line has too few fields, or the file does not have the column; the message names the line.
    """
    lines = read_text(path).split("\n")
    if not _is_conll(lines):
        if task.column:
            raise InputError(f"{path}: the option column needs a file in CoNLL-U, with ten fields separated by tabs")
        return list(_sentences(lines, path, task))
    if task.entities is not None:
        raise InputError(
            f"{path}: the task {task.name} needs entity labels in fields of their own; in a CoNLL-U file they can be a "
            "key of MISC, for the option column"
        )
    return _tagged_column(list(parse_conll(lines, name=str(path))), task.column or "UPOS", path)


def _tagged_column(sentences: Sequence[Sentence], column: str, path: Path) -> list[Tagged]:
    """Return sentences with the entries of a column, or of a key of MISC, as tags."""
    words = [
        [row for line in sentence.lines if (row := line.split("\t"))[0].strip().isdigit()] for sentence in sentences
    ]
    if column in COLUMNS:
        number = COLUMNS[column]
        tags = [[(row[number].strip() if len(row) > number else "") or "_" for row in rows] for rows in words]
        if all(tag == "_" for own in tags for tag in own):
            raise InputError(f"{path}: expected {column} in column {number + 1} of the CoNLL-U file, found none")
    else:
        held = [[_misc(row) for row in rows] for rows in words]
        keys = sorted({key for own in held for misc in own for key in misc})
        if column not in keys:
            raise InputError(
                f"{path}: there is no column {column!r}: expected {', '.join(COLUMNS)} or a key of MISC "
                f"({', '.join(keys[:20]) or 'none occurs'})"
            )
        tags = [[misc.get(column, "O") for misc in own] for own in held]
    return [Tagged(sentence.forms, tuple(own)) for sentence, own in zip(sentences, tags, strict=True)]


def _misc(row: Sequence[str]) -> dict[str, str]:
    """Return the keys and values of the last of ten columns."""
    cell = row[_MISC].strip() if len(row) > _MISC else "_"
    pairs = (item.partition("=") for item in cell.split("|"))
    return {key: value for key, separator, value in pairs if separator and value}


def _is_conll(lines: Sequence[str]) -> bool:
    """Return whether the first line that is not a comment looks like CoNLL-U or CoNLL-X: number 1, enough columns."""
    row = next((line.split("\t") for line in lines if line.strip() and not line.startswith("#")), [])
    return len(row) >= _CONLL_COLUMNS and row[0].strip().partition("-")[0] in ("1", "0.1")


def _sentences(lines: Sequence[str], path: Path, task: Task) -> Iterator[Tagged]:
    needed = 2 if task.entities is None else task.entities + 1
    words: list[str] = []
    tags: list[str] = []
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if fields == [""]:
            if words:
                yield Tagged(tuple(words), tuple(tags))
            words, tags = [], []
            continue
        if len(fields) < needed or not all(fields[:needed]):
            raise InputError(
                f"{path}, line {number}: expected at least {needed} fields separated by tabs (word, part of "
                f"speech{'' if needed == 2 else ', entity labels'}), found {len(fields)}"
            )
        if "\0" in line:
            raise InputError(f"{path}, line {number}: expected text, found a NUL character")
        words.append(fields[0])
        try:
            tags.append(task.tag(fields))
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    if words:
        yield Tagged(tuple(words), tuple(tags))
