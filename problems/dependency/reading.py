"""What the parsers' commands read and write: sentences from a file or the standard input, trees as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from colgen import InputError
from colgen.cli.template import Material, whole_number
from problems.dependency.conll import parse_conll, read_conll
from problems.dependency.sentence import Sentence

SENTENCE = "number of the sentence to solve, counted from 1; all of them by default"
"""The option that chooses one of the sentences."""


def read_sentences(material: Material) -> Iterable[Sentence]:
    """A file's sentences, once all of it has been read; those of the standard input as they come."""
    if material.path is not None:
        return read_conll(material.path, skip=material.skip)
    return parse_conll(material.lines(), name=material.name, skip=material.skip)


def choose_sentence(material: Material, options: Mapping[str, str]) -> Sentence:
    """The sentence whose number the option ``sentence`` says.

    Raises
    ------
    InputError
        If there is no such sentence, or the material is something else.
    """
    number = whole_number(options, "sentence", 1)
    sentences = list(read_sentences(material))
    if number > len(sentences):
        raise InputError(
            f"option sentence: {material.name} has {len(sentences)} sentences, there is no number {number}"
        )
    return sentences[number - 1]


def heads_data(
    words: Sequence[str | None], heads: Sequence[int], relations: Sequence[str] | None = None
) -> list[dict[str, int | str | None]]:
    """A tree as plain data for JSON."""
    data: list[dict[str, int | str | None]] = [
        {"number": number, "word": word, "head": head}
        for number, (word, head) in enumerate(zip(words, heads, strict=True), 1)
    ]
    for token, relation in zip(data, relations or (), strict=bool(relations)):
        token["relation"] = relation
    return data
