"""Tagged text: sentences with a tag a token, read from tab-separated files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from colgen.core.errors import InputError
from colgen.core.files import read_text
from colgen.problems.dependency.conll import parse_conll

ENTITIES = ("LOC", "ORG", "PER")
"""Kinds of named entities that tags tell apart; what else is annotated counts as outside."""

_CONLL_COLUMNS = 8


@dataclass(frozen=True)
class Tagged:
    """A sentence and its tags.

    Attributes
    ----------
    words, tags
        One of each a token.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """What is to be tagged.

    Attributes
    ----------
    name
        What it is called.
    entities
        The column of named entities that joins the part of speech in a tag, None for the part of speech alone.
    marks
        Prefixes of the entity labels, ``BI`` or ``BILU``.
    """

    name: str
    entities: int | None = None
    marks: str = ""

    def tag(self, fields: Sequence[str]) -> str:
        """The tag of a line: ``NNP``, or ``NNP|B-PER``.

        Raises
        ------
        InputError
            If an entity's label has another mark than the task's.
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
        """The entity labels."""
        return ("O", *(f"{mark}-{kind}" for kind in ENTITIES for mark in self.marks))

    def tags(self, seen: Iterable[str]) -> tuple[str, ...]:
        """All tags of the task, given those of the training data: with entities the complete product."""
        if self.entities is None:
            return tuple(sorted(set(seen)))
        parts = sorted({tag.rpartition("|")[0] for tag in seen})  # a part of speech may hold the sign as well
        return tuple(f"{part}|{label}" for part in parts for label in self.labels)


TASKS = {
    task.name: task
    for task in (Task("pos"), Task("joint", entities=2, marks="BI"), Task("joint_bilou", entities=3, marks="BILU"))
}
"""Part of speech; part of speech and entity in BIO labels; the same in BILOU labels."""


def read_tagged(path: Path, task: Task) -> list[Tagged]:
    """Sentences of a file with one token a line: word, part of speech, entity in BIO and in BILOU, separated by tabs.

    A blank line ends a sentence.  A file in CoNLL-U or CoNLL-X has universal (coarse) parts of speech, and no entities.

    Raises
    ------
    InputError
        Names the line that has too few fields.
    """
    lines = read_text(path).split("\n")
    if not _is_conll(lines):
        return list(_sentences(lines, path, task))
    if task.entities is not None:
        raise InputError(f"{path}: a file in CoNLL-U has no entity labels, which the task {task.name} needs")
    parsed = list(parse_conll(lines, name=str(path)))
    if all(tag == "_" for sentence in parsed for tag in sentence.coarse):
        raise InputError(f"{path}: expected parts of speech in the fourth column of CoNLL-U, there are none")
    return [Tagged(sentence.forms, sentence.coarse) for sentence in parsed]


def _is_conll(lines: Sequence[str]) -> bool:
    """Whether the first line that is no comment begins with the number 1 and has the columns of CoNLL-U or CoNLL-X."""
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
                f"{path}, line {number}: expected {needed} fields or more, separated by tabs (word, part of speech"
                f"{'' if needed == 2 else ', entity labels'}), found {len(fields)}"
            )
        if "\0" in line:
            raise InputError(f"{path}, line {number}: expected a text, found the character NUL")
        words.append(fields[0])
        try:
            tags.append(task.tag(fields))
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    if words:
        yield Tagged(tuple(words), tuple(tags))
